/**
 * The parts of a stored state, each a row: members of objects and runs of list elements. Consecutive states share the
 * parts in which they do not differ.
 */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { toImmutable } from '../../kernel/index.js';

/** A value with more characters of JSON is split into its members or elements. */
export const SPLIT_ABOVE = 4096;
/** Elements added together share a part of up to this many characters, unless they are split. */
export const MAX_RUN_SIZE = 1024;
/** Distance between neighbouring positions, which leaves room for insertions. */
export const POSITION_GAP = 2 ** 20;
/** A container's number is the revision that created it, times this, plus its place in that revision. */
const CONTAINERS_PER_REVISION = 2 ** 20;

/** Container numbers of the lists and the object that every state has; no part stands for them. */
export const ROOTS = { thoughts: 1, tool_calls: 2, messages: 3, variables: 4, memory: 5, pending: 6 } as const;

/** Consecutive checkpoints, and where they branched off another line. */
export interface LineRow {
  readonly line: number;
  readonly base_line: number | null;
  readonly base_revision: number | null;
}

/** The checkpoint that wrote a part. Filled in by the transaction that stores it. */
export interface Stamp {
  line: number;
  revision: number;
}

/** Identifies the row of a part. */
export interface Ref {
  readonly stamp: Stamp;
  readonly ordinal: number;
}

/** A container of parts: a root, or one that a part stands for. */
export type ContainerId = number | { readonly stamp: Stamp; readonly place: number };

export const containerNumber = (id: ContainerId): number =>
  typeof id === 'number' ? id : id.stamp.revision * CONTAINERS_PER_REVISION + id.place;

/** The place of a part in its container: members have a key, parts of lists a position. */
export interface Slot {
  readonly parent: ContainerId;
  readonly key: string | null;
  readonly position: number;
}

export interface Part extends Slot {
  readonly ref: Ref;
  readonly kind: 'value' | 'object' | 'list';
  /** The container that it stands for, unless it has a value. */
  readonly child: ContainerId | null;
  /** The value of a member, or the list of elements of a run. */
  readonly value: Json | null;
  /** The JSON text of the value. */
  readonly text: string | null;
}

export interface End extends Slot {
  readonly ref: Ref;
  /** Its container ended as well, so a branch needs no `gone` part for it. */
  readonly inner: boolean;
}

/** The difference between one stored state and the next. */
export interface Edit {
  readonly added: readonly Part[];
  readonly ended: readonly End[];
}

interface BaseNode {
  readonly ref: Ref | null;
  /** Characters of JSON text. */
  readonly size: number;
}
interface LeafNode extends BaseNode {
  readonly kind: 'value';
  readonly value: Json;
}
export interface ObjectNode extends BaseNode {
  readonly kind: 'object';
  readonly id: ContainerId;
  readonly value: JsonObject;
  readonly members: ReadonlyMap<string, Node>;
}
export interface ListNode extends BaseNode {
  readonly kind: 'list';
  readonly id: ContainerId;
  readonly value: readonly Json[];
  readonly runs: readonly Run[];
}
export type Node = LeafNode | ObjectNode | ListNode;

/** List elements that share a part; a split element has a run and a node of its own. */
export interface Run {
  readonly ref: Ref;
  readonly position: number;
  readonly length: number;
  readonly size: number;
  readonly node: ObjectNode | ListNode | null;
}

export const identity = (value: Json): Json => value;

/** Collects the edit while two states are compared. */
export class EditBuilder {
  /** Throws if a value is invalid; set for each part of a snapshot. */
  check: (value: unknown, depth: number) => void = () => undefined;
  /** The stored form of an element of the current list. */
  stored: (kept: Json) => Json = identity;
  /** Current depth of the comparison within the part. */
  depth = 0;
  readonly stamp: Stamp = { line: 0, revision: 0 };
  readonly added: Part[] = [];
  readonly ended: End[] = [];
  #containers = 0;

  add(slot: Slot, { kind, child, value, text }: Pick<Part, 'kind' | 'child' | 'value' | 'text'>): Ref {
    const ref = { stamp: this.stamp, ordinal: this.added.length };
    const { parent, key, position } = slot;
    // By name: spreading objects of several shapes takes many times as long.
    this.added.push({ parent, key, position, ref, kind, child, value, text });
    return ref;
  }

  /** A checked copy that the caller cannot change. */
  keep(value: unknown): Json {
    this.check(value, this.depth);
    return this.stored(toImmutable(value));
  }

  container(): ContainerId {
    return { stamp: this.stamp, place: this.#containers++ };
  }

  /** Returns a function that discards everything collected since. */
  savepoint(): () => void {
    const added = this.added.length;
    const ended = this.ended.length;
    return () => {
      this.added.length = added;
      this.ended.length = ended;
    };
  }

  end({ parent, key, position }: Slot, ref: Ref, inner: boolean): void {
    this.ended.push({ parent, key, position, ref, inner });
  }
}

/** Slots that an edit leaves empty. A branch stores them as `gone`, or parts of its base would be visible again. */
export function vacatedSlots({ added, ended }: Edit): Slot[] {
  const name = ({ parent, key, position }: Slot) => JSON.stringify([containerNumber(parent), key, position]);
  const outer = ended.filter(({ inner }) => !inner);
  if (outer.length === 0) return [];
  const taken = new Set(added.map(name));
  return outer.filter((slot) => !taken.has(name(slot)));
}
