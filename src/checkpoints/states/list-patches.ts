/** Where a list changes: which stretches of it go, what comes in their place, and at which positions. */
import { GAP, type ListNode, type Run } from './parts.js';
import type { Hunk } from './sequence-diff.js';

/** The parts from `first` to before `end` go, and these elements come in their place. */
export interface Patch {
  readonly first: number;
  readonly end: number;
  readonly elements: readonly unknown[];
}

/** Hunks of elements as patches of parts: what shares a part with something that goes is written again. */
export function patchesOf(node: ListNode, hunks: readonly Hunk[], sent: readonly unknown[]): Patch[] {
  const grouped: { first: number; start: number; end: number; until: number; hunks: Hunk[] }[] = [];
  let run = 0;
  let start = 0;
  for (const hunk of hunks) {
    while (run < node.runs.length && start + node.runs[run]!.length <= hunk.start) start += node.runs[run++]!.length;
    let end = run;
    let until = start;
    // The part that the hunk begins in, if it does not begin between two, and those that it takes elements out of.
    while (end < node.runs.length && (until < hunk.end || (end === run && start < hunk.start)))
      until += node.runs[end++]!.length;
    const last = grouped.at(-1);
    if (last && run < last.end) {
      last.hunks.push(hunk);
      if (end > last.end) Object.assign(last, { end, until });
    } else
      grouped.push({
        first: run,
        start: end === run ? hunk.start : start,
        end,
        until: end === run ? hunk.start : until,
        hunks: [hunk],
      });
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

export interface Room {
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** The positions of what goes, and behind them others in the room that is left. */
export function positionsFor(count: number, replaced: readonly Run[], { after, before }: Room): number[] | undefined {
  const positions = replaced.slice(0, count).map(({ position }) => position);
  const more = count - positions.length;
  if (more === 0) return positions;
  const last = positions.at(-1) ?? after;
  if (last === undefined && before !== undefined)
    return Array.from({ length: more }, (_, i) => before - (more - i) * GAP);
  const step = before === undefined ? GAP : Math.floor((before - last!) / (more + 1));
  if (step < 1) return undefined;
  const start = last ?? -GAP;
  for (let i = 1; i <= more; i++) positions.push(start + i * step);
  return positions;
}
