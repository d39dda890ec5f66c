/**
 * SQLite answers at once, so a chain of statements never lets the event loop turn by itself: a long transaction, or a
 * read of many pages, would keep every other request waiting. After some milliseconds it waits for the next turn.
 */
const SHARE_MS = 20;

/** When the first statement of the present turn ran. */
let since: number | undefined;

/** Whether the statements of the present turn have gone on for long enough. Asked after each. */
export function isShareUsed(): boolean {
  if (since === undefined) {
    since = performance.now();
    setImmediate(() => (since = undefined));
    return false;
  }
  return performance.now() - since > SHARE_MS;
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
