/** Who is granted a resource next. The line is kept in the order of asking: nobody overtakes. */
import type { LockMode } from './model.js';

/**
 * How many from the front of the line are granted beside those who hold it: an exclusive one when nobody does, or all
 * shared ones up to the first exclusive.
 */
export function grantable(holders: readonly LockMode[], line: readonly LockMode[]): number {
  if (line.length === 0 || holders.includes('Exclusive')) return 0;
  const firstExclusive = line.indexOf('Exclusive');
  if (firstExclusive === 0) return holders.length === 0 ? 1 : 0;
  return firstExclusive < 0 ? line.length : firstExclusive;
}

/** For how long a grant waits for the one who waited; if nobody takes it up, the next is granted. */
export const PICK_UP_MS = 5000;
/** A place in the line is lost when whoever waits has not been heard of for this long. */
export const PLACE_MS = 5000;
/** How often whoever waits says that it still does. */
export const KEEP_PLACE_EVERY_MS = 1500;
/** As far ahead as the end of a lock may be moved. */
export const LONGEST_LEASE_MS = 24 * 3_600_000;

export const pickUpMs = (lease_ms: number): number => Math.min(lease_ms, PICK_UP_MS);
