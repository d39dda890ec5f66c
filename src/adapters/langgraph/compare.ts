/**
 * Whether a value is still what it was when its JSON was made. Callers change values in place, so being the same
 * object says nothing: own enumerable members are compared. Strings that are shared compare at once.
 */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isUndefined, MAX_VALUE_DEPTH } from './codec.js';

/** An object as it was: what class it is of, the names of its members, and a copy of each. */
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

/** By its JSON, what a value looked like that is not plain data. */
const copies = new WeakMap<object, unknown>();

/** A value that cannot be compared: it may hold what its members do not show. */
const OPAQUE = Symbol('opaque');

const isPlain = (prototype: unknown): boolean => prototype === Object.prototype || prototype === null;

export function isPlainObject(value: object): value is Record<string, unknown> {
  return isPlain(Object.getPrototypeOf(value));
}

/** A message of LangChain: its JSON follows from its class and its members. */
export function isMessage(value: object): boolean {
  const { lc_serializable, getType, _getType } = value as Record<string, unknown>;
  return lc_serializable === true && (typeof getType === 'function' || typeof _getType === 'function');
}

function copyOf(value: unknown, depth = 0): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return OPAQUE;
  if (typeof value !== 'object' || value === null) return value;
  // Also where a value contains itself.
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

/** Messages have many members that are empty. */
const EMPTY = new Copied(Object.prototype, [], []);
const EMPTY_LIST: readonly unknown[] = [];

/** The names of members that were copied last: most objects have those of another one before. */
const lastKeys: (readonly string[])[] = [];
const MAX_KEYS = 16;

function sharedKeys(keys: readonly string[]): readonly string[] {
  for (const known of lastKeys) if (isSameList(known, keys)) return known;
  if (lastKeys.length >= MAX_KEYS) lastKeys.shift();
  lastKeys.push(keys);
  return keys;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Remembers what a value looks like now, beside the JSON that was made of it. */
export function remember(json: Json | undefined, value: unknown): void {
  if (typeof json !== 'object' || json === null) return;
  rememberCopy(json, takeCopy(value));
}

/** What to remember of a value once its JSON is there. */
export const takeCopy = (value: unknown): unknown => copyOf(value);

export function rememberCopy(json: Json | undefined, copy: unknown): void {
  if (copy !== OPAQUE && typeof json === 'object' && json !== null) copies.set(json, copy);
}

/** Whether a value looks as it did when this JSON was made, and remembered with it. */
export function sameAsRemembered(value: unknown, json: Json): boolean {
  if (typeof json !== 'object' || json === null) return false;
  const copy = copies.get(json);
  return copy !== undefined && same(value, copy);
}

/** Whether a value is what a copy, or the JSON of plain data, says. */
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
 * Most of the time of a step goes here. A loop over `in` is half of what Object.keys takes; should it meet inherited
 * members, or the same in another order, then it counts as changed, which is safe.
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
    // What every object inherits is not a member of the JSON.
    if (member === before ? isInherited(key, member) : !same(member, before)) return false;
    count++;
  }
  return count === Object.keys(known).length;
}

const isInherited = (key: string, member: unknown): boolean =>
  member === undefined || typeof member === 'function' || key === '__proto__';
