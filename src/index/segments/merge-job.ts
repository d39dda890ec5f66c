/** Reads segments that should become one and merges them, off the event loop (`driver.away`). */
import type { Query } from '../../driver/index.js';
import { cooperativeYield, runWithYields } from '../../kernel/index.js';
import { mergeSteps, type Segment } from './making.js';
import { dueMerge } from './merge-plan.js';
import { deadDocs, listSegments, readSegment, type SegmentRow } from './store.js';

export interface Merge {
  /** The segments as they were read. */
  readonly rows: readonly SegmentRow[];
  readonly merged: Segment;
  /** Hidden documents that were purged already, but are still listed: a purge was cut off. */
  readonly dead: readonly number[];
}

/** Undefined if no merge is due. */
export async function run(query: Query): Promise<Merge | undefined> {
  const rows = dueMerge(await listSegments(query));
  if (!rows) return undefined;
  const read: Segment[] = [];
  for (const { segment } of rows) read.push(await readSegment(query, segment));
  const merged = await runWithYields(mergeSteps(read), cooperativeYield());
  const hidden = await deadDocs(query, rows[0]!.first_doc - 1, Number.MAX_SAFE_INTEGER, rows.at(-1)!.last_doc);
  const left = new Set(hidden.length === 0 ? [] : merged.header.doc_nos);
  return { rows, merged, dead: hidden.filter((doc_no) => !left.has(doc_no)) };
}
