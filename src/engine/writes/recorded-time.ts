/**
 * Placeholder for the recorded time in rows that are written before the commit knows it, so that other changes of the
 * commit see them; `settle` of the packet replaces it. The maximum of a Date, hence after every `as_of`.
 */
export const PENDING = 8_640_000_000_000_000;
