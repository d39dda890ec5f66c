/** Reads segments that should become one and merges them, off the event loop (`driver.away`). */
import type { Query } from '../../driver/index.js';
import { cooperativeYield, runWithYields } from '../../kernel/index.js';
import { mergeSteps, type Segment } from './making.js';
import { dueMerge } from './merge-plan.js';
import { listSegments, readSegment, type SegmentRow } from './store.js';

export interface Merge {
  /** The segments as they were read. */
  readonly rows: readonly SegmentRow[];
  readonly merged: Segment;
}

/** Undefined if no merge is due. */
export async function run(query: Query): Promise<Merge | undefined> {
  const rows = dueMerge(await listSegments(query));
  if (!rows) return undefined;
  const read: Segment[] = [];
  for (const { segment } of rows) read.push(await readSegment(query, segment));
  return { rows, merged: await runWithYields(mergeSteps(read), cooperativeYield()) };
}
