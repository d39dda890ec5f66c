/** Purges hidden documents from segments, in small transactions beside live traffic; a purge writes each block once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Driver, longQuery, type Tx } from '../../driver/index.js';
import type { Purge, PurgeRequest } from './purge-job.js';
import {
  areUnchanged,
  deleteOrphanBlocks,
  deleteSegmentRow,
  forgetDead,
  indexState,
  lockIndex,
  orphanBlocks,
  raiseRevision,
  replaceBlocks,
  replaceHeader,
  setSegmentDocs,
  setSegmentRevision,
} from './store.js';

const PURGE = new URL('./purge-job.js', import.meta.url);

/** Blocks per transaction: about 2 ms of other writers' time. */
export const BLOCKS_PER_WRITE = 64;
/** Hidden documents that one transaction forgets. */
const FORGOTTEN_PER_WRITE = 2000;
const MAX_PAUSE_MS = 2000;

/** The purge of each tenant that was asked for last: two at once would undo each other's work. */
const lastPurges = new WeakMap<Driver, Map<string, Promise<void>>>();

/**
 * Removes the documents that are hidden when it begins from the segments of which at least this share is hidden
 * (default: from all). Afterwards neither they nor a merge under way hold their terms. Looks at each segment once: what is
 * hidden meanwhile may wait for the next purge.
 */
export function purgeHidden(driver: Driver, tenant: string, least_share = 0): Promise<void> {
  let purges = lastPurges.get(driver);
  if (!purges) lastPurges.set(driver, (purges = new Map()));
  const before = purges.get(tenant);
  const begin = () => purgeSegments(driver, tenant, least_share);
  const purge = before ? before.then(begin, begin) : begin();
  purges.set(tenant, purge);
  const end = () => {
    if (purges.get(tenant) === purge) purges.delete(tenant);
  };
  purge.then(end, end);
  return purge;
}

async function purgeSegments(driver: Driver, tenant: string, least_share: number): Promise<void> {
  const { folded } = await indexState(driver.at(tenant));
  if (folded === 0) return;
  for (let [after, conflicts] = [0, 0]; ; ) {
    const request: PurgeRequest = { after, up_to: folded, least_share };
    const purge = await driver.away<Purge | undefined>(tenant, PURGE, request);
    if (!purge) break;
    if (await storePurge(driver, tenant, purge)) [after, conflicts] = [purge.row.last_doc, 0];
    // Another process may be purging it.
    else await sleep(Math.random() * Math.min(MAX_PAUSE_MS, 10 * 2 ** conflicts++));
  }
  await removeOrphans(driver, tenant);
}

/** False if another purge or a merge has changed the segment, since its blocks must not get earlier postings again. */
async function storePurge(driver: Driver, tenant: string, purge: Purge): Promise<boolean> {
  const { row, dead, header, blocks, docs } = purge;
  const { segment } = row;
  let revision: number | undefined = row.revision;
  /** Returns the new revision of the segment; undefined if it was changed. */
  const step = async (work: (tx: Tx, known: number) => Promise<number>): Promise<void> => {
    const known = revision;
    if (known === undefined) return;
    revision = await driver.write(tenant, async (tx) => {
      await lockIndex(tx);
      return (await areUnchanged(tx, [{ segment, revision: known }])) ? work(tx, known) : undefined;
    });
  };
  for (let at = 0; at < blocks.length; at += BLOCKS_PER_WRITE)
    await step(async (tx, known) => {
      await replaceBlocks(tx, segment, blocks.slice(at, at + BLOCKS_PER_WRITE));
      if (at > 0) return known;
      const next = await raiseRevision(tx);
      await setSegmentRevision(tx, segment, next);
      return next;
    });
  // The segment counts a hidden document until that is forgotten.
  for (let at = 0; at < dead.length; at += FORGOTTEN_PER_WRITE)
    await step(async (tx) => {
      const left = docs + Math.max(0, dead.length - at - FORGOTTEN_PER_WRITE);
      const next = await raiseRevision(tx);
      if (left === 0) await deleteSegmentRow(tx, segment);
      else if (at === 0) await replaceHeader(tx, { segment, docs: left, revision: next }, header);
      else await setSegmentDocs(tx, { segment, docs: left, revision: next });
      await forgetDead(tx, dead.slice(at, at + FORGOTTEN_PER_WRITE));
      return next;
    });
  return revision !== undefined;
}

/** Deletes the blocks of segments that were merged, purged of all documents, or never finished. */
export async function removeOrphans(driver: Driver, tenant: string): Promise<void> {
  for (;;) {
    const segment = await orphanBlocks(longQuery(driver, tenant));
    if (segment === undefined) return;
    while ((await driver.write(tenant, (tx) => deleteOrphanBlocks(tx, segment, BLOCKS_PER_WRITE))) > 0);
  }
}
