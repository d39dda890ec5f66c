/** Merges segments and purges hidden documents from them, in small transactions beside live traffic. */
import { type Driver, longQuery, type Tx } from '../../driver/index.js';
import type { Segment } from './making.js';
import type { Merge } from './merge-job.js';
import { dueMerge } from './merge-plan.js';
import type { Purge } from './purge-job.js';
import {
  areUnchanged,
  countBlocks,
  deleteOrphanBlocks,
  deleteSegmentRow,
  forgetDead,
  insertBlocks,
  insertSegment,
  listSegments,
  lockIndex,
  orphanBlocks,
  raiseRevision,
  replaceBlocks,
  replaceHeader,
  type SegmentRow,
  setSegmentRevision,
} from './store.js';

const MERGE = new URL('./merge-job.js', import.meta.url);
const PURGE = new URL('./purge-job.js', import.meta.url);

/** Blocks per transaction: about 2 ms of other writers' time. */
const BLOCKS_PER_WRITE = 64;

/** Merges segments, if some are due; false if none were. */
export async function mergeSegments(driver: Driver, tenant: string): Promise<boolean> {
  if (!dueMerge(await listSegments(longQuery(driver, tenant)))) return false;
  const merge = await driver.away<Merge | undefined>(tenant, MERGE, {});
  if (!merge) return false;
  await replaceSegments(driver, tenant, merge.rows, merge.merged);
  return true;
}

/**
 * Puts one segment in place of adjacent ones, unless they were changed since they were read. Its blocks are written
 * before it can be seen. `dead`: hidden documents that it does not have, but the replaced ones do.
 */
export async function replaceSegments(
  driver: Driver,
  tenant: string,
  replaced: readonly SegmentRow[],
  { header, blocks }: Segment,
  dead: readonly number[] = [],
): Promise<void> {
  const number = await driver.write(tenant, (tx) => raiseRevision(tx));
  const ifUnchanged = (work: (tx: Tx) => Promise<void>) =>
    driver.write(tenant, async (tx) => {
      await lockIndex(tx);
      const isSame = await areUnchanged(tx, replaced);
      if (isSame) await work(tx);
      return isSame;
    });
  let isCurrent = true;
  for (let at = 0; at < blocks.length && isCurrent; at += BLOCKS_PER_WRITE)
    isCurrent = await ifUnchanged((tx) => insertBlocks(tx, number, blocks.slice(at, at + BLOCKS_PER_WRITE), at));
  if (isCurrent)
    await ifUnchanged(async (tx) => {
      // A purge may have deleted blocks that had no segment yet.
      if ((await countBlocks(tx, number)) < blocks.length) return;
      const revision = await raiseRevision(tx);
      for (const { segment } of replaced) await deleteSegmentRow(tx, segment);
      const [first_doc, last_doc] = [replaced[0]!.first_doc, replaced.at(-1)!.last_doc];
      if (header.doc_nos.length > 0)
        await insertSegment(tx, { segment: number, first_doc, last_doc, revision }, header);
      await forgetDead(tx, dead);
    });
  await removeOrphans(driver, tenant);
}

/** Deletes the blocks of segments that were merged or never finished. */
async function removeOrphans(driver: Driver, tenant: string): Promise<void> {
  for (;;) {
    const segment = await orphanBlocks(longQuery(driver, tenant));
    if (segment === undefined) return;
    while ((await driver.write(tenant, (tx) => deleteOrphanBlocks(tx, segment, BLOCKS_PER_WRITE))) > 0);
  }
}

/** Removes all hidden documents from the segments. Afterwards neither they nor a merge under way hold their terms. */
export async function purgeHidden(driver: Driver, tenant: string): Promise<void> {
  let isPurged = false;
  for (;;) {
    const purge = await driver.away<Purge | undefined>(tenant, PURGE, {});
    if (!purge) break;
    await storePurge(driver, tenant, purge);
    isPurged = true;
  }
  if (isPurged) await removeOrphans(driver, tenant);
}

/** Gives up if another purge or a merge has changed the segment, since its blocks must not get earlier postings again. */
async function storePurge(driver: Driver, tenant: string, { row, dead, purged }: Purge): Promise<void> {
  const { segment } = row;
  const blocks = purged.docs === 0 ? [] : purged.blocks;
  let revision: number | undefined = row.revision;
  for (let at = 0; revision !== undefined && (at === 0 || at < blocks.length); at += BLOCKS_PER_WRITE) {
    const known: number = revision;
    const isLast = at + BLOCKS_PER_WRITE >= blocks.length;
    revision = await driver.write(tenant, async (tx) => {
      await lockIndex(tx);
      if (!(await areUnchanged(tx, [{ segment, revision: known }]))) return undefined;
      await replaceBlocks(tx, segment, blocks.slice(at, at + BLOCKS_PER_WRITE));
      if (at > 0 && !isLast) return known;
      const next = await raiseRevision(tx);
      if (!isLast) await setSegmentRevision(tx, segment, next);
      else if (purged.docs === 0) await deleteSegmentRow(tx, segment);
      else await replaceHeader(tx, segment, next, purged);
      if (isLast) await forgetDead(tx, dead);
      return next;
    });
  }
}
