/** Compares a state that was sent with the one retained, and says which parts to add and which to end. */
import { canonical } from '../../kernel/canonical.js';
import { CairnError } from '../../kernel/errors.js';
import { type Json, type JsonObject, textFault } from '../../kernel/json.js';
import { sameJson } from '../../kernel/json-equality.js';
import { isLongerThan, isObject, put } from '../../kernel/json-values.js';
import type { Steps } from '../../kernel/steps.js';
import { endRuns, growList, updateList } from './lists.js';
import {
  type ContainerId,
  CUT_ABOVE,
  type Editing,
  type ListNode,
  type Node,
  type ObjectNode,
  type Ref,
  type Slot,
} from './parts.js';

/** Whether a value is to be cut into its members or elements. */
export const isCut = (value: Json): value is JsonObject | Json[] =>
  typeof value === 'object' && value !== null && isLongerThan(value, CUT_ABOVE);

/** A member that is new, or takes the place of one that ended. */
export function* growMember(editing: Editing, parent: ContainerId, key: string, sent: unknown): Steps<Node> {
  const slot = { parent, key, position: 0 };
  const fault = textFault(key);
  if (fault)
    throw new CairnError('INVALID_INPUT', `a name in snapshot.context.variables is refused: ${fault}`);
  const value = editing.keep(sent);
  if (isCut(value)) return yield* growCut(editing, slot, value);
  const text = canonical(value);
  const ref = editing.add(slot, { kind: 'value', child: null, value, text });
  return { kind: 'value', ref, value, size: text.length };
}

/** A value that is too long for one part: a part that stands for it, and below that its members or elements. */
export function* growCut(
  editing: Editing,
  slot: Slot,
  value: JsonObject | Json[],
): Steps<(ObjectNode | ListNode) & { readonly ref: Ref }> {
  const id = editing.container();
  const kind = Array.isArray(value) ? 'list' : 'object';
  const ref = editing.add(slot, { kind, child: id, value: null, text: null });
  if (Array.isArray(value)) return { ...(yield* growList(editing, id, value)), ref };
  const members = new Map<string, Node>();
  for (const key of Object.keys(value).sort()) {
    members.set(key, yield* growMember(editing, id, key, value[key]!));
    yield;
  }
  return { ...objectNode(id, members, ref), ref };
}

export function objectNode(
  id: ContainerId,
  members: ReadonlyMap<string, Node>,
  ref: ObjectNode['ref'],
): ObjectNode {
  const value: JsonObject = {};
  let size = 0;
  for (const [key, member] of members) {
    put(value, key, member.value as Json);
    size += member.size + key.length;
  }
  return { kind: 'object', id, value, members, ref, size };
}

/** The object as it was sent; the same node when nothing in it differs. */
export function* updateObject(
  editing: Editing,
  node: ObjectNode,
  sent: Record<string, unknown>,
): Steps<ObjectNode> {
  let members: Map<string, Node> | undefined;
  let found = 0;
  for (const key of Object.keys(sent)) {
    const value = sent[key];
    if (value === undefined) continue;
    yield;
    const before = node.members.get(key);
    if (before) found++;
    const after = before
      ? yield* updateMember(editing, node.id, key, before, value)
      : yield* growMember(editing, node.id, key, value);
    if (after !== before) (members ??= new Map(node.members)).set(key, after);
  }
  if (found < node.members.size) {
    members ??= new Map(node.members);
    for (const [key, member] of node.members) {
      if (Object.hasOwn(sent, key) && sent[key] !== undefined) continue;
      endNode(editing, { parent: node.id, key, position: 0 }, member, false);
      members.delete(key);
    }
  }
  return members ? objectNode(node.id, members, node.ref) : node;
}

function* updateMember(
  editing: Editing,
  parent: ContainerId,
  key: string,
  node: Node,
  sent: unknown,
): Steps<Node> {
  const updated = yield* updateInPlace(editing, node, sent);
  if (updated) return updated;
  endNode(editing, { parent, key, position: 0 }, node, false);
  return yield* growMember(editing, parent, key, sent);
}

/** The node as it was sent, if it can stay where it is; undefined if another has to take its place. */
export function* updateInPlace(editing: Editing, node: Node, sent: unknown): Steps<Node | undefined> {
  if (node.kind === 'value') return sameJson(node.value, sent as Json) ? node : undefined;
  if (node.kind === 'list' ? !Array.isArray(sent) : !isObject(sent)) return undefined;
  editing.depth++;
  const updated =
    node.kind === 'list'
      ? yield* updateList(editing, node, sent as unknown[])
      : yield* updateObject(editing, node, sent as Record<string, unknown>);
  editing.depth--;
  return updated;
}

/** Ends the part of a node and all below it. */
export function endNode(editing: Editing, slot: Slot, node: Node, inner: boolean): void {
  if (node.ref) editing.end(slot, node.ref, inner);
  if (node.kind === 'object') {
    for (const [key, member] of node.members)
      endNode(editing, { parent: node.id, key, position: 0 }, member, true);
  } else if (node.kind === 'list') endRuns(editing, node.id, node.runs, true);
}
