/** Lets others have their turn on the event loop when work has gone on for a few milliseconds. */
import { setImmediate } from 'node:timers/promises';
import type { GiveWay } from '../domain/giving-way.js';

const TURN_MS = 3;

/** Of one piece of work; once the signal is aborted the work ends with its reason. */
export function givingWay(signal?: AbortSignal): GiveWay {
  let since = performance.now();
  return () => {
    signal?.throwIfAborted();
    if (performance.now() - since < TURN_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}
