/** Puts stored parts together to the state that they show. */
import type { Json } from '../../kernel/contract.js';
import { freeze } from '../../kernel/index.js';
import type { ListNode, Node, ObjectNode, Ref, Run } from './parts.js';
import { listNode, objectNode } from './tree.js';

/** A part as it is stored. */
export interface StoredPart {
  /** How many branchings its line is away from the one that is shown. */
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
  /** The value as JSON, where it was read before; frozen, if others share it. */
  readonly parsed?: Json | undefined;
}

/** By container: the parts that show in it. */
type Shown = Map<number, StoredPart[]>;

export interface Assembly {
  list(id: number): ListNode;
  object(id: number): ObjectNode;
}

/** Of a line alone all parts show. */
function show(parts: readonly StoredPart[]): Shown {
  if (parts.some(({ depth, kind }) => depth > 0 || kind === 'gone')) return showOver(parts);
  const shown: Shown = new Map();
  for (const part of parts) {
    const there = shown.get(part.parent);
    if (there) there.push(part);
    else shown.set(part.parent, [part]);
  }
  return shown;
}

/** What a line has put in the place of what its base shows, or taken out of it, holds. */
function showOver(parts: readonly StoredPart[]): Shown {
  const slots = new Map<number, Map<string | number, StoredPart>>();
  for (const part of parts.toSorted((a, b) => b.depth - a.depth || a.added - b.added)) {
    let there = slots.get(part.parent);
    if (!there) slots.set(part.parent, (there = new Map()));
    const slot = part.key ?? part.position;
    if (part.kind === 'gone') there.delete(slot);
    else there.set(slot, part);
  }
  return new Map([...slots].map(([parent, there]) => [parent, [...there.values()]]));
}

/** With `retained` the values are frozen, so that states to come can be compared with them. */
export function assemble(parts: readonly StoredPart[], retained: boolean): Assembly {
  const shown = show(parts);
  const refOf = ({ line, added, ordinal }: StoredPart): Ref => ({ stamp: { line, revision: added }, ordinal });
  const read = (part: StoredPart): Json => {
    if (part.parsed !== undefined) return part.parsed;
    const value = JSON.parse(part.value!) as Json;
    return retained ? freeze(value) : value;
  };
  const list = (id: number, own: Ref | null = null): ListNode => {
    const parts = (shown.get(id) ?? []).sort((a, b) => a.position - b.position);
    const value: Json[] = [];
    const runs = parts.map((part): Run => {
      const ref = refOf(part);
      const { position, kind } = part;
      if (kind === 'object' || kind === 'list') {
        const node = cut(part, ref);
        value.push(node.value as Json);
        return { ref, position, length: 1, size: node.size, node };
      }
      const elements = kind === 'element' ? [read(part)] : (read(part) as Json[]);
      for (const element of elements) value.push(element);
      return { ref, position, length: elements.length, size: part.value?.length ?? 0, node: null };
    });
    return listNode(id, value, runs, own);
  };
  const object = (id: number, ref: Ref | null = null): ObjectNode => {
    const members = new Map<string, Node>();
    const parts = (shown.get(id) ?? []).sort((a, b) => (a.key! < b.key! ? -1 : 1));
    for (const part of parts) {
      const own = refOf(part);
      members.set(
        part.key!,
        part.kind === 'value'
          ? { kind: 'value', ref: own, value: read(part), size: part.value?.length ?? 0 }
          : cut(part, own),
      );
    }
    return objectNode(id, members, ref);
  };
  const cut = (part: StoredPart, ref: Ref): ListNode | ObjectNode =>
    part.kind === 'list' ? list(part.child!, ref) : object(part.child!, ref);
  return { list, object };
}
