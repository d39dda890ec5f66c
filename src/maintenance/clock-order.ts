/** Moves times of a clock that was ahead back to the present, and keeps their order. */

/**
 * Maps each time to a new one, as close to `now` as possible. A deletion after a seal stays after it, since the box keeps
 * that card; a seal at or after a deletion stays at or after it. `now` itself may be the time of a seal.
 */
export function shiftedTimes(now: number, sealed: Iterable<number>, deleted: Iterable<number>): Map<number, number> {
  const seals = new Set(sealed);
  const deletions = new Set(deleted);
  const times = new Map<number, number>();
  let moment = now;
  let isSealed = true;
  for (const time of [...new Set([...seals, ...deletions])].sort((a, b) => a - b)) {
    if (isSealed && deletions.has(time)) {
      moment++;
      isSealed = false;
    }
    times.set(time, moment);
    isSealed ||= seals.has(time);
  }
  return times;
}
