/** Cooperative yields: whatever waits for the event loop goes first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const SHARE_MS = 10;

/** Runs work that comes in steps, some milliseconds of it in each turn of the loop. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (let since = performance.now(); ; ) {
    const next = steps.next();
    if (next.done) return next.value;
    if (performance.now() - since < SHARE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
}
