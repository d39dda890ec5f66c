/** How far recorded times may be ahead of the clock, and how it is said that they are. */

/** Clocks of several servers differ, but not by more than this. */
export const CLOCK_TOLERANCE_MS = 3_600_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const lengthOf = (ms: number): string =>
  ms >= 2 * DAY_MS ? `${Math.round(ms / DAY_MS)} days` : `${Math.round(ms / HOUR_MS)} hours`;

/** What an operator is told: which of the two is wrong, the clock or the record, only they can know. */
export const clockWarning = (ahead_ms: number): string =>
  `the newest record is ${lengthOf(ahead_ms)} ahead of the clock, and new ones get its time: correct the clock if it is ` +
  'behind; if it was ahead for a while and is right now, run `cairn clock recover`';
