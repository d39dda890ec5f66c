/**
 * Stands for the recorded time until the commit knows it. Rows are written before that, so that other changes of the
 * same commit find them, and get their time from `settle` of the packet. It is the last moment of a Date, and behind
 * every as_of.
 */
export const PENDING = 8_640_000_000_000_000;
