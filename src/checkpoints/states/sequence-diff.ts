/** Compares two lists: Myers' greedy algorithm with a bound on its steps. */

/** Elements `start` to before `end` of the old list are replaced by `from` to before `to` of the new one. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** With more insertions and removals, everything between the common start and end counts as replaced. */
const MAX_STEPS = 128;

export function diffSequences(
  oldLength: number,
  newLength: number,
  same: (oldIndex: number, newIndex: number) => boolean,
): Hunk[] {
  let head = 0;
  while (head < oldLength && head < newLength && same(head, head)) head++;
  let oldEnd = oldLength;
  let newEnd = newLength;
  while (oldEnd > head && newEnd > head && same(oldEnd - 1, newEnd - 1)) {
    oldEnd--;
    newEnd--;
  }
  if (head === oldEnd && head === newEnd) return [];
  const whole = [{ start: head, end: oldEnd, from: head, to: newEnd }];
  if (head === oldEnd || head === newEnd) return whole;
  if (oldEnd !== newEnd) return search(head, oldEnd, newEnd, same, MAX_STEPS) ?? whole;
  // Edits in place are the common case. A window that moved on looks like many of them, but takes fewer steps.
  const edits = inPlace(head, oldEnd, same);
  const edited = edits.reduce((count, { start, end }) => count + end - start, 0);
  return search(head, oldEnd, newEnd, same, Math.min(edited - 1, MAX_STEPS)) ?? edits;
}

/** For lists of equal length: each run of elements that differ. */
function inPlace(head: number, end: number, same: (a: number, b: number) => boolean): Hunk[] {
  const hunks: Hunk[] = [];
  for (let i = head; i < end; i++) {
    if (same(i, i)) continue;
    const start = i;
    while (i < end && !same(i, i)) i++;
    hunks.push({ start, end: i, from: start, to: i });
  }
  return hunks;
}

function search(
  head: number,
  oldEnd: number,
  newEnd: number,
  same: (a: number, b: number) => boolean,
  maxSteps: number,
): Hunk[] | undefined {
  const n = oldEnd - head;
  const m = newEnd - head;
  const offset = maxSteps + 1;
  const furthest = new Int32Array(2 * maxSteps + 3);
  const trail: Int32Array[] = [];
  for (let steps = 0; steps <= maxSteps; steps++) {
    trail.push(furthest.slice());
    for (let k = -steps; k <= steps; k += 2) {
      const down = isDown(furthest, k, steps);
      let x = down ? furthest[offset + k + 1]! : furthest[offset + k - 1]! + 1;
      while (x < n && x - k < m && x - k >= 0 && same(head + x, head + x - k)) x++;
      furthest[offset + k] = x;
      if (x >= n && x - k >= m) return walkBack(trail, n, m, head);
    }
  }
  return undefined;
}

/** Whether the best path to diagonal `k` ends with an insertion; `furthest` has its middle at diagonal 0. */
function isDown(furthest: Int32Array, k: number, steps: number): boolean {
  const middle = furthest.length >> 1;
  return k === -steps || (k !== steps && furthest[middle + k - 1]! < furthest[middle + k + 1]!);
}

/** Collects the single steps from the end, and joins adjacent ones. */
function walkBack(trail: readonly Int32Array[], n: number, m: number, head: number): Hunk[] {
  const hunks: { start: number; end: number; from: number; to: number }[] = [];
  let x = n;
  let y = m;
  for (let steps = trail.length - 1; steps > 0; steps--) {
    const furthest = trail[steps]!;
    const down = isDown(furthest, x - y, steps);
    const k = down ? x - y + 1 : x - y - 1;
    x = furthest[(furthest.length >> 1) + k]!;
    y = x - k;
    // The step inserts or removes one element; the elements behind it are common.
    const start = head + x;
    const from = head + y;
    const end = down ? start : start + 1;
    const to = down ? from + 1 : from;
    const next = hunks.at(-1);
    if (next && next.start === end && next.from === to) Object.assign(next, { start, from });
    else hunks.push({ start, end, from, to });
  }
  return hunks.reverse();
}
