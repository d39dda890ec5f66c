/**
 * What a stored state is made of. It is cut into parts, each a row: members of objects and stretches of lists. States
 * that follow each other share the parts in which they do not differ.
 */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { keep } from '../../kernel/index.js';

/** A value of more than so many characters is cut into its members or elements. */
export const CUT_ABOVE = 4096;
/** Elements that come at once and need no cutting share a part of up to so many characters. */
export const STRETCH = 1024;
/** Between the positions of neighbours, so that others fit in between. */
export const GAP = 2 ** 20;
/** A container's number is the revision that made it, times this, plus its place among those of that revision. */
export const CONTAINERS_PER_REVISION = 2 ** 20;

/** The lists and the object that every state has, which are no parts of anything. */
export const ROOTS = { thoughts: 1, tool_calls: 2, messages: 3, variables: 4, memory: 5, pending: 6 } as const;

/** What wrote a part. A new part gets its numbers within the transaction that stores it. */
export interface Stamp {
  line: number;
  revision: number;
}

/** Which row a part is. */
export interface Ref {
  readonly stamp: Stamp;
  readonly ordinal: number;
}

/** A container of parts: one of the roots, or one that a part stands for. */
export type ContainerId = number | { readonly stamp: Stamp; readonly place: number };

export const containerNumber = (id: ContainerId): number =>
  typeof id === 'number' ? id : id.stamp.revision * CONTAINERS_PER_REVISION + id.place;

/** Where in its container a part stands: members have a key, parts of lists a position. */
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
  /** Of a member its value; of a part of a list, the list of its elements. */
  readonly value: Json | null;
  /** The JSON text of the value. */
  readonly text: string | null;
}

export interface End extends Slot {
  readonly ref: Ref;
  /** In a container that ended as well: nobody comes to it, so that a branch need not say that it is gone. */
  readonly inner: boolean;
}

/** What it takes to get from one stored state to the next. */
export interface Edit {
  readonly added: readonly Part[];
  readonly ended: readonly End[];
}

interface Held {
  readonly ref: Ref | null;
  /** Characters of JSON text in it. */
  readonly size: number;
}
export interface LeafNode extends Held {
  readonly kind: 'value';
  readonly value: Json;
}
export interface ObjectNode extends Held {
  readonly kind: 'object';
  readonly id: ContainerId;
  readonly value: JsonObject;
  readonly members: ReadonlyMap<string, Node>;
}
export interface ListNode extends Held {
  readonly kind: 'list';
  readonly id: ContainerId;
  readonly value: readonly Json[];
  readonly runs: readonly Run[];
}
export type Node = LeafNode | ObjectNode | ListNode;

/** Elements of a list that share a part; one that is cut has a node of its own. */
export interface Run {
  readonly ref: Ref;
  readonly position: number;
  readonly length: number;
  readonly size: number;
  readonly node: ObjectNode | ListNode | null;
}

export const itself = (kept: Json): Json => kept;

/** Collects the edit while a state is compared. */
export class Editing {
  /** Refuses what may not be kept; given for each part of a snapshot. */
  check: (value: unknown, depth: number) => void = () => undefined;
  /** What is stored of an element of the list that is looked at. */
  stored: (kept: Json) => Json = itself;
  /** How deep in the part the comparison is. */
  depth = 0;
  readonly stamp: Stamp = { line: 0, revision: 0 };
  readonly added: Part[] = [];
  readonly ended: End[] = [];
  #containers = 0;

  add(slot: Slot, part: Pick<Part, 'kind' | 'child' | 'value' | 'text'>): Ref {
    const ref = { stamp: this.stamp, ordinal: this.added.length };
    const { parent, key, position } = slot;
    const { kind, child, value, text } = part;
    // By name: to spread objects of several shapes takes many times as long.
    this.added.push({ parent, key, position, ref, kind, child, value, text });
    return ref;
  }

  /** What was sent, checked, so that nobody changes it any more. */
  keep(value: unknown): Json {
    this.check(value, this.depth);
    return this.stored(keep(value));
  }

  container(): ContainerId {
    return { stamp: this.stamp, place: this.#containers++ };
  }

  /** Gives what takes back all that is collected from now on. */
  mark(): () => void {
    const added = this.added.length;
    const ended = this.ended.length;
    return () => {
      this.added.length = added;
      this.ended.length = ended;
    };
  }

  end(slot: Slot, ref: Ref, inner: boolean): void {
    this.ended.push({ parent: slot.parent, key: slot.key, position: slot.position, ref, inner });
  }
}

/**
 * Where nothing takes the place of what ended. On a line with a base this has to be said, or what the base has there
 * would show again.
 */
export function emptied({ added, ended }: Edit): Slot[] {
  const name = ({ parent, key, position }: Slot) => JSON.stringify([containerNumber(parent), key, position]);
  const open = ended.filter(({ inner }) => !inner);
  if (open.length === 0) return [];
  const taken = new Set(added.map(name));
  return open.filter((slot) => !taken.has(name(slot)));
}
