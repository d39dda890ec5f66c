/**
 * Work that is done on the event loop in many small steps. All of it together has a few milliseconds in each turn of the
 * loop; what goes on beyond that waits in line, and each turn lets one go on: however many compute at once, what is
 * quick is answered between them.
 */

/** Asked between steps. A promise when it is time to wait, undefined when the work may go on; throws when it is to stop. */
export type GiveWay = () => Promise<void> | undefined;

/** Counts tokens, at once or later. */
export type TokenCounter = (text: string) => number | Promise<number>;

const AT_ONCE_MS = 4;

/** When the present turn of the loop began, as far as work is concerned. */
let since = 0;
let isTurning = false;
const waiting: (() => void)[] = [];

function turn(): void {
  since = performance.now();
  const next = waiting.shift();
  if (next) {
    setImmediate(turn);
    next();
  } else isTurning = false;
}

function giveWay(): Promise<void> | undefined {
  if (!isTurning) {
    isTurning = true;
    since = performance.now();
    setImmediate(turn);
  }
  if (waiting.length === 0 && performance.now() - since < AT_ONCE_MS) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

/** Of one piece of work; once the signal is aborted the work ends with its reason. */
export const givingWay =
  (signal?: AbortSignal): GiveWay =>
  () => {
    signal?.throwIfAborted();
    return giveWay();
  };

const SLICE_MS = 5;
let slicesSince: number | undefined;

/** At once, or when the event loop has turned, if such work has gone on for some milliseconds, whoever it was for. */
export async function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
  while (slicesSince !== undefined && performance.now() - slicesSince > SLICE_MS)
    await new Promise((resolve) => setImmediate(resolve));
  if (slicesSince === undefined) {
    slicesSince = performance.now();
    setImmediate(() => void (slicesSince = undefined));
  }
  return work();
}

/** Begun at once: more would take their first steps in one turn of the loop. */
const BEGUN_AT_ONCE = 16;

/** Prepares many things, some at a time: a batch of a thousand does not hold the event loop. */
export async function eachInTurn<I, T>(
  items: readonly I[],
  prepare: (item: I, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const settled: PromiseSettledResult<T>[] = [];
  while (settled.length < items.length) {
    const from = settled.length;
    const some = items.slice(from, from + BEGUN_AT_ONCE);
    settled.push(...(await inTurn(() => Promise.allSettled(some.map((item, i) => prepare(item, from + i))))));
  }
  return settled;
}
