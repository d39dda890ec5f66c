/** Lists in a stored state: which stretches to add and to end, so that an append costs what is appended. */
import { canonical } from '../../kernel/canonical.js';
import type { Json } from '../../kernel/json.js';
import { sameJson } from '../../kernel/json-equality.js';
import type { Steps } from '../../kernel/steps.js';
import { type ContainerId, type Editing, GAP, type ListNode, ROOTS, type Run, STRETCH } from './parts.js';
import { diffSequences, type Hunk } from './sequence-diff.js';
import { endNode, growCut, isCut, updateInPlace } from './tree.js';

/** Of thoughts, tool calls and messages every element is a part of its own, so that it can be found and edited alone. */
const isApart = (id: ContainerId): boolean => typeof id === 'number' && id !== ROOTS.pending;

export function* growList(editing: Editing, id: ContainerId, elements: readonly unknown[]): Steps<ListNode> {
  const kept = yield* keptOf(editing, elements);
  const runs: Run[] = [];
  for (const group of yield* stretches(id, kept))
    runs.push(yield* growRun(editing, id, group, runs.length * GAP));
  return listNode(id, kept, runs, null);
}

function* keptOf(editing: Editing, elements: readonly unknown[]): Steps<Json[]> {
  const kept: Json[] = [];
  for (const element of elements) {
    kept.push(editing.keep(element));
    yield;
  }
  return kept;
}

export function listNode(
  id: ContainerId,
  value: readonly Json[],
  runs: readonly Run[],
  ref: ListNode['ref'],
): ListNode {
  let size = 0;
  for (const run of runs) size += run.size;
  return { kind: 'list', id, value, runs, ref, size };
}

/** Elements that share a part. */
function* stretches(id: ContainerId, elements: readonly Json[]): Steps<Json[][]> {
  if (isApart(id)) return elements.map((element) => [element]);
  const made: Json[][] = [];
  let length = STRETCH;
  for (const element of elements) {
    yield;
    const cut = isCut(element);
    const size = cut ? STRETCH : canonical(element).length;
    if (length + size > STRETCH || cut) {
      made.push([element]);
      length = cut ? STRETCH : size;
    } else {
      made.at(-1)!.push(element);
      length += size;
    }
  }
  return made;
}

function* growRun(
  editing: Editing,
  parent: ContainerId,
  group: readonly Json[],
  position: number,
): Steps<Run> {
  yield;
  const slot = { parent, key: null, position };
  const [first] = group;
  if (group.length === 1 && !isApart(parent) && isCut(first!)) {
    const node = yield* growCut(editing, slot, first);
    return { ref: node.ref, position, length: 1, size: node.size, node };
  }
  const text = canonical(group as Json[]);
  const ref = editing.add(slot, { kind: 'value', child: null, value: group as Json[], text });
  return { ref, position, length: group.length, size: text.length, node: null };
}

type Same = (before: Json, sent: unknown) => boolean;
const isSame: Same = (before, sent) => sameJson(before, sent as Json);

/** The list as it was sent; the same node when nothing in it differs. */
export function* updateList(
  editing: Editing,
  node: ListNode,
  sent: readonly unknown[],
  same: Same = isSame,
): Steps<ListNode> {
  const hunks = diffSequences(node.value.length, sent.length, (i, j) => same(node.value[i]!, sent[j]));
  if (hunks.length === 0) return node;
  const undo = editing.mark();
  const patches = patchesOf(node, hunks, sent);
  // Most lists grow at their end: what is before that is taken over in one go.
  let run = patches[0]!.first;
  let element = 0;
  for (let i = 0; i < run; i++) element += node.runs[i]!.length;
  const value = node.value.slice(0, element);
  const runs = node.runs.slice(0, run);
  const pass = (until: number) => {
    for (; run < until; run++) {
      for (let left = node.runs[run]!.length; left > 0; left--) value.push(node.value[element++]!);
      runs.push(node.runs[run]!);
    }
  };
  for (const patch of patches) {
    pass(patch.first);
    const room = { after: runs.at(-1)?.position, before: node.runs[patch.end]?.position };
    const made = yield* replaceRuns(editing, node, patch, room);
    if (!made) {
      // No room between its neighbours: the whole list gets new positions.
      undo();
      endRuns(editing, node.id, node.runs, false);
      return { ...(yield* growList(editing, node.id, sent)), ref: node.ref };
    }
    for (const each of made.runs) runs.push(each);
    for (const each of made.value) value.push(each);
    for (; run < patch.end; run++) element += node.runs[run]!.length;
  }
  pass(node.runs.length);
  return listNode(node.id, value, runs, node.ref);
}

/** The parts from `first` to before `end` go, and these elements come in their place. */
interface Patch {
  readonly first: number;
  readonly end: number;
  readonly elements: readonly unknown[];
}

/** Hunks of elements as patches of parts: what shares a part with something that goes is written again. */
function patchesOf(node: ListNode, hunks: readonly Hunk[], sent: readonly unknown[]): Patch[] {
  const grouped: { first: number; start: number; end: number; until: number; hunks: Hunk[] }[] = [];
  let run = 0;
  let start = 0;
  for (const hunk of hunks) {
    while (run < node.runs.length && start + node.runs[run]!.length <= hunk.start)
      start += node.runs[run++]!.length;
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

interface Room {
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** The parts that take the place of others; undefined when there is no room for them. */
function* replaceRuns(
  editing: Editing,
  node: ListNode,
  patch: Patch,
  room: Room,
): Steps<{ runs: Run[]; value: Json[] } | undefined> {
  const replaced = node.runs.slice(patch.first, patch.end);
  if (replaced.length === patch.elements.length && replaced.every(({ length }) => length === 1)) {
    const made: { runs: Run[]; value: Json[] } = { runs: [], value: [] };
    for (const [i, run] of replaced.entries()) {
      const one = yield* replaceRun(editing, node.id, run, patch.elements[i]);
      made.runs.push(one.run);
      made.value.push(one.value);
    }
    return made;
  }
  const value = yield* keptOf(editing, patch.elements);
  const groups = yield* stretches(node.id, value);
  const positions = positionsFor(groups.length, replaced, room);
  if (!positions) return undefined;
  endRuns(editing, node.id, replaced, false);
  const runs: Run[] = [];
  for (const group of groups) runs.push(yield* growRun(editing, node.id, group, positions[runs.length]!));
  return { runs, value };
}

/** One element in the place of another: within it only what differs, if it is cut and stays of its kind. */
function* replaceRun(
  editing: Editing,
  parent: ContainerId,
  run: Run,
  sent: unknown,
): Steps<{ run: Run; value: Json }> {
  const updated = run.node ? ((yield* updateInPlace(editing, run.node, sent)) as Run['node']) : undefined;
  if (updated) return { run: { ...run, node: updated, size: updated.size }, value: updated.value as Json };
  endRuns(editing, parent, [run], false);
  const value = editing.keep(sent);
  return { run: yield* growRun(editing, parent, [value], run.position), value };
}

/** The positions of what goes, and behind them others in the room that is left. */
function positionsFor(
  count: number,
  replaced: readonly Run[],
  { after, before }: Room,
): number[] | undefined {
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

export function endRuns(editing: Editing, parent: ContainerId, runs: readonly Run[], inner: boolean): void {
  for (const { ref, position, node } of runs) {
    const slot = { parent, key: null, position };
    if (node) endNode(editing, slot, node, inner);
    else editing.end(slot, ref, inner);
  }
}
