/**
 * Compares values with their JSON, or with a copy taken beside it. Callers change values in place, so identity proves
 * nothing: own enumerable members are compared. Shared strings compare at once.
 */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isUndefined, MAX_VALUE_DEPTH } from './codec.js';

class Copied {
  readonly prototype: object | null;
  readonly keys: readonly string[];
  readonly members: readonly unknown[];

  constructor(prototype: object | null, keys: readonly string[], members: readonly unknown[]) {
    this.prototype = prototype;
    this.keys = keys;
    this.members = members;
  }
}

/** Copies of values that are not plain data, by their JSON. */
const copies = new WeakMap<object, unknown>();

/** A value that cannot be compared: its members may not show all of its state. */
const OPAQUE = Symbol('opaque');

const isPlain = (prototype: unknown): boolean => prototype === Object.prototype || prototype === null;

export const isPlainObject = (value: object): value is Record<string, unknown> => isPlain(Object.getPrototypeOf(value));

/** A message of LangChain: its JSON follows from its class and its members. */
export function isMessage(value: object): boolean {
  const { lc_serializable, getType, _getType } = value as Record<string, unknown>;
  return lc_serializable === true && (typeof getType === 'function' || typeof _getType === 'function');
}

export function copyOf(value: unknown, depth = 0): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return OPAQUE;
  if (typeof value !== 'object' || value === null) return value;
  // This also ends cycles.
  if (depth >= MAX_VALUE_DEPTH) return OPAQUE;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Array.prototype) return copyList(value as unknown[], depth);
  if (!isPlain(prototype) && !isMessage(value)) return OPAQUE;
  const keys = Object.keys(value);
  if (keys.length === 0 && prototype === Object.prototype) return EMPTY;
  const members: unknown[] = new Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const copy = copyOf((value as Members)[keys[i]!], depth + 1);
    if (copy === OPAQUE) return OPAQUE;
    members[i] = copy;
  }
  return new Copied(prototype, sharedKeys(keys), members);
}

function copyList(values: readonly unknown[], depth: number): unknown {
  if (values.length === 0) return EMPTY_LIST;
  const all: unknown[] = new Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const copy = copyOf(values[i], depth + 1);
    if (copy === OPAQUE) return OPAQUE;
    all[i] = copy;
  }
  return all;
}

/** Messages have many empty members. */
const EMPTY = new Copied(Object.prototype, [], []);
const EMPTY_LIST: readonly unknown[] = [];

/** Recent lists of member names: most objects share them with an earlier one. */
const lastKeys: (readonly string[])[] = [];
const MAX_KEYS = 16;

function sharedKeys(keys: readonly string[]): readonly string[] {
  for (const known of lastKeys) if (sameElements(known, keys)) return known;
  if (lastKeys.length >= MAX_KEYS) lastKeys.shift();
  lastKeys.push(keys);
  return keys;
}

export function keepCopy(json: Json | undefined, copy: unknown): void {
  if (copy !== OPAQUE && typeof json === 'object' && json !== null) copies.set(json, copy);
}

/** Whether a value equals the copy that was kept with its JSON. */
export function sameAsKept(value: unknown, json: Json): boolean {
  if (typeof json !== 'object' || json === null) return false;
  const copy = copies.get(json);
  return copy !== undefined && same(value, copy);
}

/** Whether a value equals a copy, or the JSON of plain data. */
export function same(value: unknown, known: unknown): boolean {
  if (value === known) return true;
  if (typeof known !== 'object' || known === null) return false;
  if (typeof value !== 'object' || value === null) return value === undefined && isUndefined(known as JsonObject);
  if (known instanceof Copied) return sameAsCopied(value as Members, known);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Array.prototype)
    return Array.isArray(known) && sameElements(value as unknown[], known as unknown[]);
  if (isPlain(prototype)) return !Array.isArray(known) && sameMembers(value as Members, known as Members);
  const copy = copies.get(known);
  return copy instanceof Copied && sameAsCopied(value as Members, copy);
}

function sameElements(value: readonly unknown[], known: readonly unknown[]): boolean {
  if (value.length !== known.length) return false;
  for (let i = 0; i < value.length; i++) if (value[i] !== known[i] && !same(value[i], known[i])) return false;
  return true;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The hot path of a step. `for in` takes half the time of Object.keys; inherited members or another order count as a change,
 * which is safe.
 */
function sameAsCopied(value: Members, { prototype, keys, members }: Copied): boolean {
  if (Object.getPrototypeOf(value) !== prototype) return false;
  let i = 0;
  for (const key in value) {
    if (key !== keys[i]) return false;
    const member = value[key];
    const before = members[i++];
    if (member !== before && !same(member, before)) return false;
  }
  return i === keys.length;
}

function sameMembers(value: Members, known: Members): boolean {
  let count = 0;
  for (const key in value) {
    const member = value[key];
    const before = known[key];
    // Members that every object inherits are not in the JSON.
    if (member === before ? isInherited(key, member) : !same(member, before)) return false;
    count++;
  }
  // JSON has no inherited members; Object.keys would make a list for each element of a long list.
  for (const _ in known) count--;
  return count === 0;
}

const isInherited = (key: string, member: unknown): boolean =>
  member === undefined || typeof member === 'function' || key === '__proto__';
