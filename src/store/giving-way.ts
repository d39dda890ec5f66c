/** Searches let others have their turn: on PostgreSQL they compute on the event loop. */
import type { GiveWay } from '../domain/giving-way.js';

/** Of the time that one piece of work may take at once. */
const AT_ONCE_MS = 4;

export function givingWay(): GiveWay {
  let since = performance.now();
  return () => {
    if (performance.now() - since < AT_ONCE_MS) return undefined;
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
