/** Waiting until a look finds something: woken by keys, never looking more than ten times a second. */
import { type Call, noticeDue, storeClosed } from '../../engine/index.js';
import { signOfLife } from './heartbeats.js';

/** So many looks within so much time: the first wake is followed at once, many in a row are not. */
const LOOKS = 2;
const LOOKS_MS = 200;
/** How often who waits says that it is still there. */
const ALIVE_MS = 10_000;

/**
 * Looks, and looks again whenever one of the keys is woken, until it finds something. Undefined when the time is over or
 * the caller went away. `until` is asked after a look that found nothing, and says when to look again without a
 * wake, such as when a lease ends: a moment of `performance.now()`.
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
  // Before the first look, so that what happens behind it is heard.
  const waiter = call.wakes.join(call.tenant, keys);
  try {
    const looked: number[] = [];
    let alive = performance.now();
    for (;;) {
      if (call.wakes.closed) throw storeClosed();
      if (signal?.aborted) return undefined;
      const now = performance.now();
      const wait_ms = (looked.at(-LOOKS) ?? Number.NEGATIVE_INFINITY) + LOOKS_MS - now;
      if (wait_ms > 0) {
        await new Promise((resolve) => setTimeout(resolve, wait_ms));
        continue;
      }
      if (looked.push(now) > LOOKS) looked.shift();
      const found = await look();
      if (found !== undefined || now >= end) return found;
      // A timer may be a fraction of a millisecond early, and the look would be in vain.
      const next = Math.min(end, until(), alive + ALIVE_MS);
      await waiter.wait(Math.ceil(next - performance.now()) + 1, signal);
      if (performance.now() < alive + ALIVE_MS) continue;
      alive = performance.now();
      await signOfLife(call);
    }
  } finally {
    waiter.leave();
  }
}

/** Waits as `waitFor` does, for something that may come of a lease's end: what is over is noticed before each look. */
export function waitForEnd<T>(
  call: Call,
  keys: readonly string[],
  timeout_ms: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let next_ms = Number.POSITIVE_INFINITY;
  const noticing = async () => {
    next_ms = (await noticeDue(call)) ?? Number.POSITIVE_INFINITY;
    return look();
  };
  return waitFor(call, keys, timeout_ms, noticing, () => performance.now() + next_ms);
}
