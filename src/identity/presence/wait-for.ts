/** Waiting calls: poll when a key is woken, at most ten times a second. */
import { type Call, expireDueLeases, storeClosed } from '../../engine/index.js';
import { recordCallHeartbeat } from './heartbeats.js';

/** Maximum number of polls per interval: a single wake is followed at once, a burst is not. */
const POLLS = 2;
const POLLS_MS = 200;
const HEARTBEAT_MS = 10_000;

/**
 * Calls `look` at first and after each wake of a key, until it returns a value; undefined on timeout or abort. `until`,
 * called after an empty poll, returns the time (of `performance.now()`) of the next poll without a wake.
 */
export async function waitFor<T>(
  call: Call,
  keys: readonly string[],
  timeout_ms: number,
  look: () => Promise<T | undefined>,
  until: () => number = () => Number.POSITIVE_INFINITY,
): Promise<T | undefined> {
  const { signal } = call.options;
  const end = performance.now() + timeout_ms;
  // Before the first poll, so that no wake after it is missed.
  const waiter = call.wakes.join(call.tenant, keys);
  try {
    const polls: number[] = [];
    let alive = performance.now();
    for (;;) {
      if (call.wakes.closed) throw storeClosed();
      if (signal?.aborted) return undefined;
      const now = performance.now();
      const wait_ms = (polls.at(-POLLS) ?? Number.NEGATIVE_INFINITY) + POLLS_MS - now;
      if (wait_ms > 0) {
        await new Promise((resolve) => setTimeout(resolve, wait_ms));
        continue;
      }
      if (polls.push(now) > POLLS) polls.shift();
      const found = await look();
      if (found !== undefined || now >= end) return found;
      // A timer may fire a fraction of a millisecond early.
      const next = Math.min(end, until(), alive + HEARTBEAT_MS);
      await waiter.wait(Math.ceil(next - performance.now()) + 1, signal);
      if (performance.now() < alive + HEARTBEAT_MS) continue;
      alive = performance.now();
      await recordCallHeartbeat(call);
    }
  } finally {
    waiter.leave();
  }
}

/** `waitFor` something that the expiry of a lease may cause: handles expired leases before each poll. */
export function waitForExpiry<T>(
  call: Call,
  keys: readonly string[],
  timeout_ms: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let next_ms = Number.POSITIVE_INFINITY;
  const noticing = async () => {
    next_ms = (await expireDueLeases(call)) ?? Number.POSITIVE_INFINITY;
    return look();
  };
  return waitFor(call, keys, timeout_ms, noticing, () => performance.now() + next_ms);
}
