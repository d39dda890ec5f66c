// When a process has nothing to do any more: background work shows in its CPU time, whatever it is.
import { setTimeout as pause } from 'node:timers/promises';

const WINDOW_MS = 250;
/** Of the windows, one after another, in which the process took less than this share of a core. */
const WINDOWS = 4;
const IDLE_SHARE = 0.04;

/** Waits until the process is idle, with its threads; gives the time at which it became so. */
export async function whenQuiet() {
  let since = performance.now();
  for (let idle = 0; idle < WINDOWS; ) {
    const before = process.cpuUsage();
    const started = performance.now();
    await pause(WINDOW_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < IDLE_SHARE * (performance.now() - started)) idle++;
    else {
      idle = 0;
      since = performance.now();
    }
  }
  return since;
}

/** A side of which the background work is over when the next one is measured. */
export const thenQuiet = (side) => async (round) => {
  const rate = await side(round);
  await whenQuiet();
  return rate;
};
