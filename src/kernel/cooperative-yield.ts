/** Cooperative yields: long work on the event loop runs in steps and lets other requests in between. */

/** Called between steps: a promise if the work must wait, undefined if it may continue. Throws if it must stop. */
export type CooperativeYield = () => Promise<void> | undefined;

/** Counts tokens, synchronously or not. */
export type TokenCounter = (text: string) => number | Promise<number>;

/** Work as a generator that yields after each small step. */
export type Steps<T> = Generator<void, T, void>;

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A share of each turn of the event loop, for all work that calls the same function. The work that exceeds the share
 * waits in a queue, from which each turn resumes the given number of pieces (default: all).
 */
export function turnShare(share_ms: number, resumed_per_turn = Number.POSITIVE_INFINITY): CooperativeYield {
  /** Start of the share in the current turn; undefined while there is no work. */
  let since: number | undefined;
  const waiting: (() => void)[] = [];
  const startTurn = () => {
    since = performance.now();
    setImmediate(endTurn);
  };
  const endTurn = () => {
    const resumed = waiting.splice(0, resumed_per_turn);
    if (resumed.length > 0) startTurn();
    else since = undefined;
    for (const resume of resumed) resume();
  };
  return () => {
    if (since === undefined) startTurn();
    if (waiting.length === 0 && performance.now() - since! < share_ms) return undefined;
    return new Promise((resolve) => waiting.push(resolve));
  };
}

/** Computation resumes one piece per turn: however many compute at once, quick requests are answered between them. */
const computing = turnShare(4, 1);

/** The yield of one computation, which ends with the reason of `signal` once that is aborted. */
export const cooperativeYield =
  (signal?: AbortSignal): CooperativeYield =>
  () => {
    signal?.throwIfAborted();
    return computing();
  };

/** Runs work after a yield, or at once if there is time in this turn. */
export async function afterYield<T>(work: () => T | Promise<T>): Promise<T> {
  // Not `await computing()`, which would defer the work even without a wait, so that it would not count for later calls.
  const wait = computing();
  if (wait) await wait;
  return work();
}

/** Items that start between two yields: each runs its first step in the same turn of the loop. */
const CHUNK = 16;

/** Prepares many items in chunks, so that a batch of a thousand does not hold the event loop. */
export async function settleInChunks<I, T>(
  items: readonly I[],
  prepare: (item: I, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const settled: PromiseSettledResult<T>[] = [];
  while (settled.length < items.length) {
    const from = settled.length;
    const chunk = items.slice(from, from + CHUNK);
    settled.push(...(await afterYield(() => Promise.allSettled(chunk.map((item, i) => prepare(item, from + i))))));
  }
  return settled;
}

export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done) return next.value;
  }
}

export async function runWithYields<T>(steps: Steps<T>, maybeYield: CooperativeYield): Promise<T> {
  for (;;) {
    // Before the first step too, which is then counted.
    const wait = maybeYield();
    if (wait) await wait;
    const next = steps.next();
    if (next.done) return next.value;
  }
}
