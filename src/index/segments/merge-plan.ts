/** Which segments should become one. */
import type { SegmentRow } from './store.js';

/** Segments of about the same size that are merged into one. */
const FAN_IN = 8;
/** Larger segments are not merged: purging one document reads the whole segment. */
const MAX_MERGED = 131_072;

/** Adjacent segments that should become one, the oldest first; undefined if none should. */
export function dueMerge(rows: readonly SegmentRow[]): readonly SegmentRow[] | undefined {
  for (let to = rows.length; to >= FAN_IN; to--) {
    const some = rows.slice(to - FAN_IN, to);
    const docs = some.reduce((sum, one) => sum + one.docs, 0);
    const largest = Math.max(...some.map((one) => one.docs));
    if (docs <= MAX_MERGED && FAN_IN * largest <= 2 * docs + FAN_IN) return some;
  }
  return undefined;
}
