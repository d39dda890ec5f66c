/** Times as numbers and texts, and clock tolerance. Without schemas: the search thread loads no zod. */
let last = { ms: 0, iso: new Date(0).toISOString() };

/** Caches the last value: many calls in a row are for the same millisecond. */
export function toIso(ms: number): string {
  if (ms !== last.ms) last = { ms, iso: new Date(ms).toISOString() };
  return last.iso;
}

export const toMs = (iso: string): number => Date.parse(iso);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Maximum difference between the clocks of several servers. */
export const CLOCK_TOLERANCE_MS = HOUR_MS;

/** Names both causes: only the operator knows whether the clock or the record is wrong. */
export function clockWarning(ahead_ms: number): string {
  const length =
    ahead_ms >= 2 * DAY_MS ? `${Math.round(ahead_ms / DAY_MS)} days` : `${Math.round(ahead_ms / HOUR_MS)} hours`;
  return (
    `the newest record is ${length} ahead of the clock, and new records get its time: correct the clock if it is ` +
    'behind; if it ran ahead earlier and is right now, run `cairn clock recover`'
  );
}
