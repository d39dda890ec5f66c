/** Merges segments, and puts one in place of others, in small transactions beside live traffic. */
import { type Driver, longQuery, type Tx } from '../../driver/index.js';
import type { Segment } from './making.js';
import type { Merge } from './merge-job.js';
import { dueMerge } from './merge-plan.js';
import { BLOCKS_PER_WRITE, removeOrphans } from './purging.js';
import {
  areUnchanged,
  countBlocks,
  deleteSegmentRow,
  forgetDead,
  insertBlocks,
  insertSegment,
  listSegments,
  lockIndex,
  raiseRevision,
  type SegmentRow,
} from './store.js';

const MERGE = new URL('./merge-job.js', import.meta.url);

/** Merges segments, if some are due; false if none were. */
export async function mergeSegments(driver: Driver, tenant: string): Promise<boolean> {
  if (!dueMerge(await listSegments(longQuery(driver, tenant)))) return false;
  const merge = await driver.away<Merge | undefined>(tenant, MERGE, {});
  if (!merge) return false;
  await replaceSegments(driver, tenant, merge.rows, merge.merged, merge.dead);
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
