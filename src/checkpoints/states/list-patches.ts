/** How a list changes: which parts are replaced, by which elements, and at which positions. */
import { type ListNode, POSITION_GAP, type Run } from './parts.js';
import type { Hunk } from './sequence-diff.js';

/** Replaces the runs from `first` to before `end` by these elements. */
export interface Patch {
  readonly first: number;
  readonly end: number;
  readonly elements: readonly unknown[];
}

/** Converts hunks of elements to patches of runs: a run that loses an element is rewritten as a whole. */
export function patchesOf(node: ListNode, hunks: readonly Hunk[], sent: readonly unknown[]): Patch[] {
  const grouped: { first: number; start: number; end: number; until: number; hunks: Hunk[] }[] = [];
  let run = 0;
  let start = 0;
  for (const hunk of hunks) {
    while (run < node.runs.length && start + node.runs[run]!.length <= hunk.start) start += node.runs[run++]!.length;
    let end = run;
    let until = start;
    // Covers the run that the hunk begins inside of, and those that it removes elements from.
    while (end < node.runs.length && (until < hunk.end || (end === run && start < hunk.start)))
      until += node.runs[end++]!.length;
    const last = grouped.at(-1);
    if (last && run < last.end) {
      last.hunks.push(hunk);
      if (end > last.end) Object.assign(last, { end, until });
    } else {
      const range = end === run ? { start: hunk.start, until: hunk.start } : { start, until };
      grouped.push({ first: run, end, ...range, hunks: [hunk] });
    }
  }
  return grouped.map(({ first, start: from, end, until, hunks: inside }) => {
    const elements: unknown[] = [];
    let at = from;
    for (const hunk of inside) {
      for (; at < hunk.start; at++) elements.push(node.value[at]!);
      for (let i = hunk.from; i < hunk.to; i++) elements.push(sent[i]);
      at = hunk.end;
    }
    for (; at < until; at++) elements.push(node.value[at]!);
    return { first, end, elements };
  });
}

/** Positions of the neighbours of a patch. */
export interface Room {
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** Reuses the positions of the replaced runs, then takes free ones behind them; undefined if there are too few. */
export function positionsFor(count: number, replaced: readonly Run[], { after, before }: Room): number[] | undefined {
  const positions = replaced.slice(0, count).map(({ position }) => position);
  const more = count - positions.length;
  if (more === 0) return positions;
  const last = positions.at(-1) ?? after;
  if (last === undefined && before !== undefined)
    return Array.from({ length: more }, (_, i) => before - (more - i) * POSITION_GAP);
  const step = before === undefined ? POSITION_GAP : Math.floor((before - last!) / (more + 1));
  if (step < 1) return undefined;
  const start = last ?? -POSITION_GAP;
  for (let i = 1; i <= more; i++) positions.push(start + i * step);
  return positions;
}
