/**
 * SQLite answers at once, so a chain of statements never lets the event loop turn by itself: a long transaction, or a
 * read of many pages, would keep every other request waiting. After some milliseconds an answer waits for the next turn.
 */
const SHARE_MS = 20;

/** When the first statement of the present turn ran. */
let since: number | undefined;

/** What a statement gave: at once, or in the next turn once this one has gone on for too long. */
export function inShare<T>(result: T): T | Promise<T> {
  if (since === undefined) {
    since = performance.now();
    setImmediate(() => (since = undefined));
    return result;
  }
  if (performance.now() - since < SHARE_MS) return result;
  return new Promise((resolve) => setImmediate(() => resolve(result)));
}
