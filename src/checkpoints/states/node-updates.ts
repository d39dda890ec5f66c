/** Compares a sent state with the retained one, collecting parts to add and to end: an append costs its own size. */
import { type Json, type JsonObject, textFault } from '../../kernel/contract.js';
import { invalid, isLongerThan, isObject, type Steps, sameJson, setJsonMember } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { type Patch, patchesOf, positionsFor, type Room } from './list-patches.js';
import {
  type ContainerId,
  type EditBuilder,
  type ListNode,
  MAX_RUN_SIZE,
  type Node,
  type ObjectNode,
  POSITION_GAP,
  type Ref,
  ROOTS,
  type Run,
  type Slot,
  SPLIT_ABOVE,
} from './parts.js';
import { diffSequences } from './sequence-diff.js';

const isSplit = (value: Json): value is JsonObject | Json[] =>
  typeof value === 'object' && value !== null && isLongerThan(value, SPLIT_ABOVE);

/** Adds a member, new or in the slot of one that ended. */
function* addMember(edit: EditBuilder, parent: ContainerId, key: string, sent: unknown): Steps<Node> {
  const slot = { parent, key, position: 0 };
  const fault = textFault(key);
  if (fault) throw invalid(`snapshot.context.variables has an invalid name: ${fault}`);
  const value = edit.keep(sent);
  if (isSplit(value)) return yield* addContainer(edit, slot, value);
  const text = canonical(value);
  const ref = edit.add(slot, { kind: 'value', child: null, value, text });
  return { kind: 'value', ref, value, size: text.length };
}

/** Adds a value that is too long for one part: a part that stands for it, and its members or elements below. */
function* addContainer(
  edit: EditBuilder,
  slot: Slot,
  value: JsonObject | Json[],
): Steps<(ObjectNode | ListNode) & { readonly ref: Ref }> {
  const id = edit.container();
  const kind = Array.isArray(value) ? 'list' : 'object';
  const ref = edit.add(slot, { kind, child: id, value: null, text: null });
  if (Array.isArray(value)) return { ...(yield* addList(edit, id, value)), ref };
  const members = new Map<string, Node>();
  for (const key of Object.keys(value).sort()) {
    members.set(key, yield* addMember(edit, id, key, value[key]!));
    yield;
  }
  return { ...objectNode(id, members, ref), ref };
}

export function objectNode(id: ContainerId, members: ReadonlyMap<string, Node>, ref: ObjectNode['ref']): ObjectNode {
  const value: JsonObject = {};
  let size = 0;
  for (const [key, member] of members) {
    setJsonMember(value, key, member.value as Json);
    size += member.size + key.length;
  }
  return { kind: 'object', id, value, members, ref, size };
}

/** The object as sent; the same node if nothing differs. Members are sorted, so that their order changes no stored row. */
export function* updateObject(edit: EditBuilder, node: ObjectNode, sent: Record<string, unknown>): Steps<ObjectNode> {
  let members: Map<string, Node> | undefined;
  let found = 0;
  for (const key of Object.keys(sent).sort()) {
    const value = sent[key];
    if (value === undefined) continue;
    yield;
    const before = node.members.get(key);
    if (before) found++;
    let after = before && (yield* updateInPlace(edit, before, value));
    if (!after) {
      if (before) endNode(edit, { parent: node.id, key, position: 0 }, before, false);
      after = yield* addMember(edit, node.id, key, value);
    }
    if (after !== before) (members ??= new Map(node.members)).set(key, after);
  }
  if (found < node.members.size) {
    members ??= new Map(node.members);
    for (const [key, member] of node.members) {
      if (Object.hasOwn(sent, key) && sent[key] !== undefined) continue;
      endNode(edit, { parent: node.id, key, position: 0 }, member, false);
      members.delete(key);
    }
  }
  return members ? objectNode(node.id, members, node.ref) : node;
}

/** The node as sent, if it can keep its part; undefined if another part has to replace it. */
function* updateInPlace(edit: EditBuilder, node: Node, sent: unknown): Steps<Node | undefined> {
  if (node.kind === 'value') return sameJson(node.value, sent as Json) ? node : undefined;
  if (node.kind === 'list' ? !Array.isArray(sent) : !isObject(sent)) return undefined;
  edit.depth++;
  const updated =
    node.kind === 'list'
      ? yield* updateList(edit, node, sent as unknown[])
      : yield* updateObject(edit, node, sent as Record<string, unknown>);
  edit.depth--;
  return updated;
}

/** Ends the part of a node and all parts below it. */
function endNode(edit: EditBuilder, slot: Slot, node: Node, inner: boolean): void {
  if (node.ref) edit.end(slot, node.ref, inner);
  if (node.kind === 'object') {
    for (const [key, member] of node.members) endNode(edit, { parent: node.id, key, position: 0 }, member, true);
  } else if (node.kind === 'list') endRuns(edit, node.id, node.runs, true);
}

/** Each thought, tool call, message and memory entry is a part of its own, so that it can be found and edited alone. */
const isElementwise = (id: ContainerId): boolean => typeof id === 'number' && id !== ROOTS.pending;

function* addList(edit: EditBuilder, id: ContainerId, elements: readonly unknown[]): Steps<ListNode> {
  const kept = yield* keepAll(edit, elements);
  const runs: Run[] = [];
  for (const group of yield* groupElements(id, kept))
    runs.push(yield* addRun(edit, id, group, runs.length * POSITION_GAP));
  return listNode(id, kept, runs, null);
}

function* keepAll(edit: EditBuilder, elements: readonly unknown[]): Steps<Json[]> {
  const kept: Json[] = [];
  for (const element of elements) {
    kept.push(edit.keep(element));
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

/** Groups of elements, each to share a part. */
function* groupElements(id: ContainerId, elements: readonly Json[]): Steps<Json[][]> {
  if (isElementwise(id)) return elements.map((element) => [element]);
  const groups: Json[][] = [];
  let length = MAX_RUN_SIZE;
  for (const element of elements) {
    yield;
    const size = isSplit(element) ? MAX_RUN_SIZE : canonical(element).length;
    if (length + size > MAX_RUN_SIZE) {
      groups.push([element]);
      length = size;
    } else {
      groups.at(-1)!.push(element);
      length += size;
    }
  }
  return groups;
}

function* addRun(edit: EditBuilder, parent: ContainerId, group: readonly Json[], position: number): Steps<Run> {
  yield;
  const slot = { parent, key: null, position };
  const [first] = group;
  if (group.length === 1 && !isElementwise(parent) && isSplit(first!)) {
    const node = yield* addContainer(edit, slot, first);
    return { ref: node.ref, position, length: 1, size: node.size, node };
  }
  const text = canonical(group as Json[]);
  const ref = edit.add(slot, { kind: 'value', child: null, value: group as Json[], text });
  return { ref, position, length: group.length, size: text.length, node: null };
}

type Same = (before: Json, sent: unknown) => boolean;
const isSame: Same = (before, sent) => sameJson(before, sent as Json);

/** The list as sent; the same node if nothing differs. */
export function* updateList(
  edit: EditBuilder,
  node: ListNode,
  sent: readonly unknown[],
  same: Same = isSame,
): Steps<ListNode> {
  const { value: before } = node;
  // Most elements are the same object: told without a call for each.
  const hunks = diffSequences(before.length, sent.length, (i, j) => before[i] === sent[j] || same(before[i]!, sent[j]));
  if (hunks.length === 0) return node;
  const rollBack = edit.savepoint();
  const patches = patchesOf(node, hunks, sent);
  // Most lists grow at their end: everything before the first patch is copied at once.
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
    const made = yield* replaceRuns(edit, node, patch, room);
    if (!made) {
      // No free positions between the neighbours: the whole list gets new ones.
      rollBack();
      endRuns(edit, node.id, node.runs, false);
      return { ...(yield* addList(edit, node.id, sent)), ref: node.ref };
    }
    for (const each of made.runs) runs.push(each);
    for (const each of made.value) value.push(each);
    for (; run < patch.end; run++) element += node.runs[run]!.length;
  }
  pass(node.runs.length);
  return listNode(node.id, value, runs, node.ref);
}

/** Replaces runs; undefined if there are too few free positions. */
function* replaceRuns(
  edit: EditBuilder,
  node: ListNode,
  patch: Patch,
  room: Room,
): Steps<{ runs: Run[]; value: Json[] } | undefined> {
  const replaced = node.runs.slice(patch.first, patch.end);
  if (replaced.length === patch.elements.length && replaced.every(({ length }) => length === 1)) {
    const made: { runs: Run[]; value: Json[] } = { runs: [], value: [] };
    for (const [i, run] of replaced.entries()) {
      const one = yield* replaceRun(edit, node.id, run, patch.elements[i]);
      made.runs.push(one.run);
      made.value.push(one.value);
    }
    return made;
  }
  const value = yield* keepAll(edit, patch.elements);
  const groups = yield* groupElements(node.id, value);
  const positions = positionsFor(groups.length, replaced, room);
  if (!positions) return undefined;
  endRuns(edit, node.id, replaced, false);
  const runs: Run[] = [];
  for (const group of groups) runs.push(yield* addRun(edit, node.id, group, positions[runs.length]!));
  return { runs, value };
}

/** Replaces one element; of a split element of the same kind only the parts that differ. */
function* replaceRun(
  edit: EditBuilder,
  parent: ContainerId,
  run: Run,
  sent: unknown,
): Steps<{ run: Run; value: Json }> {
  const updated = run.node ? ((yield* updateInPlace(edit, run.node, sent)) as Run['node']) : undefined;
  if (updated) return { run: { ...run, node: updated, size: updated.size }, value: updated.value as Json };
  endRuns(edit, parent, [run], false);
  const value = edit.keep(sent);
  return { run: yield* addRun(edit, parent, [value], run.position), value };
}

function endRuns(edit: EditBuilder, parent: ContainerId, runs: readonly Run[], inner: boolean): void {
  for (const { ref, position, node } of runs) {
    const slot = { parent, key: null, position };
    if (node) endNode(edit, slot, node, inner);
    else edit.end(slot, ref, inner);
  }
}
