/** Assembles stored parts into a state. */
import type { Json } from '../../kernel/contract.js';
import { freeze, groupBy } from '../../kernel/index.js';
import { listNode, objectNode } from './node-updates.js';
import type { ListNode, Node, ObjectNode, Ref, Run } from './parts.js';

export interface StoredPart {
  /** Number of branchings between its line and the line of the state. */
  readonly depth: number;
  readonly line: number;
  readonly added: number;
  readonly ordinal: number;
  readonly parent: number;
  readonly key: string | null;
  readonly position: number;
  readonly kind: 'value' | 'object' | 'list' | 'element' | 'gone';
  readonly child: number | null;
  readonly value: string | null;
  /** The parsed value, if known already; frozen if states share it. */
  readonly parsed?: Json | undefined;
}

type PartsByContainer = Map<number, StoredPart[]>;

/** On a line without a base all parts are visible. */
const visibleParts = (parts: readonly StoredPart[]): PartsByContainer =>
  parts.some(({ depth, kind }) => depth > 0 || kind === 'gone')
    ? overlaidParts(parts)
    : groupBy(parts, ({ parent }) => parent);

/** Parts of a line replace or remove those of its base in the same slot. */
function overlaidParts(parts: readonly StoredPart[]): PartsByContainer {
  const slots = new Map<number, Map<string | number, StoredPart>>();
  for (const part of parts.toSorted((a, b) => b.depth - a.depth || a.added - b.added)) {
    let container = slots.get(part.parent);
    if (!container) slots.set(part.parent, (container = new Map()));
    const slot = part.key ?? part.position;
    if (part.kind === 'gone') container.delete(slot);
    else container.set(slot, part);
  }
  return new Map([...slots].map(([parent, container]) => [parent, [...container.values()]]));
}

/** With `retained` the values are frozen, so that later states can be compared with them. */
export function assemble(parts: readonly StoredPart[], retained: boolean) {
  const visible = visibleParts(parts);
  const refOf = ({ line, added, ordinal }: StoredPart): Ref => ({ stamp: { line, revision: added }, ordinal });
  const read = (part: StoredPart): Json => {
    if (part.parsed !== undefined) return part.parsed;
    const value = JSON.parse(part.value!) as Json;
    return retained ? freeze(value) : value;
  };
  const list = (id: number, ref: Ref | null = null): ListNode => {
    const value: Json[] = [];
    const sorted = (visible.get(id) ?? []).sort((a, b) => a.position - b.position);
    const runs = sorted.map((part): Run => {
      const { position, kind } = part;
      if (kind === 'object' || kind === 'list') {
        const node = container(part);
        value.push(node.value as Json);
        return { ref: node.ref!, position, length: 1, size: node.size, node };
      }
      const elements = kind === 'element' ? [read(part)] : (read(part) as Json[]);
      for (const element of elements) value.push(element);
      return { ref: refOf(part), position, length: elements.length, size: part.value?.length ?? 0, node: null };
    });
    return listNode(id, value, runs, ref);
  };
  const object = (id: number, ref: Ref | null = null): ObjectNode => {
    const sorted = (visible.get(id) ?? []).sort((a, b) => (a.key! < b.key! ? -1 : 1));
    const members = sorted.map((part): [string, Node] => [
      part.key!,
      part.kind === 'value'
        ? { kind: 'value', ref: refOf(part), value: read(part), size: part.value?.length ?? 0 }
        : container(part),
    ]);
    return objectNode(id, new Map(members), ref);
  };
  const container = (part: StoredPart): ListNode | ObjectNode =>
    part.kind === 'list' ? list(part.child!, refOf(part)) : object(part.child!, refOf(part));
  return { list, object };
}
