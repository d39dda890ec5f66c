/** Bringing times of a wrong clock back to the present without changing what came before what. */

/**
 * Gives each time a new one from `now` on, as near to it as can be. What was sealed before something was deleted keeps
 * it, and what was sealed with or after that does not: so a deletion behind a seal stays behind it, and a seal stays
 * at or behind the deletions before it. `now` itself may be the time of a seal.
 */
export function broughtBack(now: number, sealed: Iterable<number>, deleted: Iterable<number>): Map<number, number> {
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
