/** Long computations on the event loop, sliced so that others have their turn in between. */

const TURN_MS = 5;
let since: number | undefined;

/** At once, or when the event loop has turned, if such work has gone on for some milliseconds, whoever it was for. */
export async function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
  while (since !== undefined && performance.now() - since > TURN_MS)
    await new Promise((resolve) => setImmediate(resolve));
  if (since === undefined) {
    since = performance.now();
    setImmediate(() => void (since = undefined));
  }
  return work();
}

/** Begun at once: more would take their first steps in one turn of the loop. */
const AT_ONCE = 16;

/** Prepares many things, some at a time: a batch of a thousand does not hold the event loop. */
export async function eachInTurn<I, T>(
  items: readonly I[],
  prepare: (item: I, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const settled: PromiseSettledResult<T>[] = [];
  while (settled.length < items.length) {
    const from = settled.length;
    const some = items.slice(from, from + AT_ONCE);
    settled.push(...(await inTurn(() => Promise.allSettled(some.map((item, i) => prepare(item, from + i))))));
  }
  return settled;
}
