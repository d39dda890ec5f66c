/** Computes what a segment is without its hidden documents, off the event loop (`driver.away`). */
import type { Query } from '../../driver/index.js';
import { cooperativeYield, runWithYields } from '../../kernel/index.js';
import { type Purged, purgeSteps } from './making.js';
import { deadDocs, listSegments, readSegment, type SegmentRow } from './store.js';

export interface Purge {
  /** The segment with the oldest hidden documents, as it was read. */
  readonly row: SegmentRow;
  readonly dead: readonly number[];
  readonly purged: Purged;
}

/** Undefined if there is nothing to purge. */
export async function run(query: Query): Promise<Purge | undefined> {
  const [first] = await deadDocs(query, 0, 1);
  if (first === undefined) return undefined;
  const row = (await listSegments(query)).find(({ first_doc, last_doc }) => first_doc <= first && first <= last_doc);
  if (!row) throw new Error(`no segment has the folded document ${first}`);
  const dead = await deadDocs(query, first - 1, row.docs + 1, row.last_doc);
  const steps = purgeSteps(await readSegment(query, row.segment), new Set(dead));
  return { row, dead, purged: await runWithYields(steps, cooperativeYield()) };
}
