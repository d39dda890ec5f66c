/** How one list becomes another: the stretches to replace. Myers' greedy comparison, bounded, so that it never takes long. */

/** Elements `start` to before `end` of the old list are replaced by `from` to before `to` of the new one. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** Beyond so many single steps, what lies between the common start and end counts as replaced. */
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
  // Edits in place are the common case. A window that moved on looks like many of them, and is fewer steps.
  const edits = inPlace(head, oldEnd, same);
  const edited = edits.reduce((count, { start, end }) => count + end - start, 0);
  return search(head, oldEnd, newEnd, same, Math.min(edited - 1, MAX_STEPS)) ?? edits;
}

/** Of lists of one length: each run of elements that differ. */
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
      const down = k === -steps || (k !== steps && furthest[offset + k - 1]! < furthest[offset + k + 1]!);
      let x = down ? furthest[offset + k + 1]! : furthest[offset + k - 1]! + 1;
      while (x < n && x - k < m && x - k >= 0 && same(head + x, head + x - k)) x++;
      furthest[offset + k] = x;
      if (x >= n && x - k >= m) return walkBack(trail, steps, n, m, head, offset);
    }
  }
  return undefined;
}

/** From the end, the single steps that led there, joined to stretches. */
function walkBack(
  trail: readonly Int32Array[],
  steps: number,
  n: number,
  m: number,
  head: number,
  offset: number,
): Hunk[] {
  const hunks: { start: number; end: number; from: number; to: number }[] = [];
  let x = n;
  let y = m;
  for (let d = steps; d > 0; d--) {
    const before = trail[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && before[offset + k - 1]! < before[offset + k + 1]!);
    const fromK = down ? k + 1 : k - 1;
    const fromX = before[offset + fromK]!;
    const fromY = fromX - fromK;
    // The step itself: one element put in, or one taken out; what follows it is common.
    const start = head + fromX;
    const from = head + fromY;
    const end = down ? start : start + 1;
    const to = down ? from + 1 : from;
    const next = hunks.at(-1);
    if (next && next.start === end && next.from === to) {
      next.start = start;
      next.from = from;
    } else hunks.push({ start, end, from, to });
    x = fromX;
    y = fromY;
  }
  return hunks.reverse();
}
