/** Which waiters are granted a resource. First come, first served: no request overtakes another. */
import type { LockMode } from './model.js';

/** How many waiters are granted: one exclusive if there is no holder, or all shared ones up to the first exclusive. */
export function grantable(holders: readonly LockMode[], waiters: readonly LockMode[]): number {
  if (waiters.length === 0 || holders.includes('Exclusive')) return 0;
  const firstExclusive = waiters.indexOf('Exclusive');
  if (firstExclusive === 0) return holders.length === 0 ? 1 : 0;
  return firstExclusive < 0 ? waiters.length : firstExclusive;
}

/** How long a grant waits to be picked up; after that the next waiter is granted. */
const PICK_UP_MS = 5000;
/** Lease of a waiter: without a heartbeat for this long it loses its place. */
export const WAITER_LEASE_MS = 5000;
/** Heartbeat interval of a waiter. */
export const WAITER_HEARTBEAT_MS = 1500;
/** How far ahead the end of a lease may lie. */
export const LONGEST_LEASE_MS = 24 * 3_600_000;

export const pickUpMs = (lease_ms: number): number => Math.min(lease_ms, PICK_UP_MS);
