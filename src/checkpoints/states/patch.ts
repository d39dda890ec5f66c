/** Applies the changes that `diff.ts` computes: the old state and the changes give the new state. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { invalid, pointerNames, sameJson, setJsonMember } from '../../kernel/index.js';
import type { Changes } from '../checkpoints/model.js';

/** The changes as a tree, so that every object and list is rebuilt once, however many changes it has. */
interface ChangeNode {
  readonly path: string;
  change?: Changes[string];
  below?: Map<string, ChangeNode>;
}

/**
 * Alters neither argument; the result shares values with both. Every `before` must equal the current value, so changes
 * cannot be applied to another state than their own.
 */
export function applyChanges(state: Json, changes: Changes): Json {
  const after = applyNode(treeOf(changes), state);
  return after === undefined ? refuse('', 'it would remove the whole state') : after;
}

function refuse(path: string, why: string): never {
  throw invalid(`the change at "${path}" does not fit: ${why}`, { path });
}

function treeOf(changes: Changes): ChangeNode {
  const root: ChangeNode = { path: '' };
  for (const path of Object.keys(changes)) {
    let node = root;
    for (const name of pointerNames(path) ?? refuse(path, 'it is not a JSON Pointer')) {
      node.below ??= new Map();
      let next = node.below.get(name);
      if (!next) node.below.set(name, (next = { path }));
      node = next;
    }
    node.change = changes[path]!;
  }
  return root;
}

/** The new value; undefined stands for an absent member. */
function applyNode({ path, change, below }: ChangeNode, value: Json | undefined): Json | undefined {
  if (!change) return below ? applyBelow(below, value) : value;
  const { before, after } = change;
  if (below) refuse(path, 'another change lies within it');
  if (before === undefined && after === undefined) refuse(path, 'it has neither `before` nor `after`');
  if (before === undefined && value !== undefined) refuse(path, 'the member exists already');
  if (before !== undefined && value === undefined) refuse(path, 'the member does not exist');
  if (!sameJson(before, value)) refuse(path, '`before` differs from the current value');
  return after;
}

function applyBelow(below: ReadonlyMap<string, ChangeNode>, value: Json | undefined): Json {
  if (Array.isArray(value)) return applyToList(below, value);
  if (typeof value === 'object' && value !== null) return applyToObject(below, value);
  const [first] = below.values();
  return refuse(first!.path, 'its path leads into a value that is neither an object nor a list');
}

function applyToObject(below: ReadonlyMap<string, ChangeNode>, object: JsonObject): Json {
  const after = { ...object };
  for (const [name, node] of below) {
    const value = applyNode(node, Object.hasOwn(object, name) ? object[name] : undefined);
    if (value === undefined) delete after[name];
    else setJsonMember(after, name, value);
  }
  return after;
}

function applyToList(below: ReadonlyMap<string, ChangeNode>, list: readonly Json[]): Json {
  const ranges = [...below].map(([name, node]) => rangeOf(name, node, list.length));
  ranges.sort((a, b) => a.start - b.start || a.end - b.end);
  const after: Json[] = [];
  let at = 0;
  for (const { start, end, node, isRange } of ranges) {
    if (start < at) refuse(node.path, 'it overlaps with another change');
    while (at < start) after.push(list[at++]!);
    if (isRange) for (const value of replacement(node, list.slice(start, end))) after.push(value);
    else after.push(applyBelow(node.below!, list[start]));
    at = end;
  }
  while (at < list.length) after.push(list[at++]!);
  return after;
}

/** The elements that a step of a path means: `3`, or `3:5`. */
function rangeOf(name: string, node: ChangeNode, length: number) {
  const [, first, last] = /^(0|[1-9]\d{0,15})(?::(0|[1-9]\d{0,15}))?$/.exec(name) ?? [];
  const isRange = last !== undefined;
  const start = Number(first ?? Number.NaN);
  const end = isRange ? Number(last) : start + 1;
  if (!(start <= end && end <= length)) refuse(node.path, `the list has ${length} elements`);
  if (!isRange && node.change) refuse(node.path, 'an element is replaced by a range, such as 3:4');
  return { start, end, node, isRange };
}

function replacement({ path, change, below }: ChangeNode, current: Json[]): Json[] {
  if (!change || below) refuse(path, 'a range of a list is replaced as a whole');
  if (!Array.isArray(change.before) || !Array.isArray(change.after))
    refuse(path, '`before` and `after` of a range must be lists');
  if (!sameJson(change.before, current)) refuse(path, '`before` differs from the current value');
  return change.after;
}
