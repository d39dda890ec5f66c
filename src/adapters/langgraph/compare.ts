/**
 * Whether a value is still what it was when its JSON was made. Callers change values in place, so being the same
 * object says nothing: own enumerable members are compared. Strings that are shared compare at once.
 */
import type { Json, JsonObject } from '../../model/json.js';
import { isUndefined, MAX_VALUE_DEPTH } from './codec.js';

/** An object of a class, as it was: its class, and a copy of its members. */
class Copied {
  readonly prototype: object;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(prototype: object, members: Readonly<Record<string, unknown>>) {
    this.prototype = prototype;
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
  const prototype = Object.getPrototypeOf(value) as object;
  if (prototype === Array.prototype) {
    const list: unknown[] = [];
    for (const element of value as unknown[]) {
      const copy = copyOf(element, depth + 1);
      if (copy === OPAQUE) return OPAQUE;
      list.push(copy);
    }
    return list;
  }
  const plain = isPlain(prototype);
  if (!plain && !isMessage(value)) return OPAQUE;
  const members: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const copy = copyOf((value as Record<string, unknown>)[key], depth + 1);
    if (copy === OPAQUE) return OPAQUE;
    members[key] = copy;
  }
  return plain ? members : new Copied(prototype, members);
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
  if (typeof value !== 'object' || value === null)
    return value === undefined && isUndefined(known as JsonObject);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Array.prototype)
    return Array.isArray(known) && sameElements(value as unknown[], known as unknown[]);
  if (isPlain(prototype))
    return (
      !Array.isArray(known) && !(known instanceof Copied) && sameMembers(value as Members, known as Members)
    );
  const copy = known instanceof Copied ? known : copies.get(known);
  return (
    copy instanceof Copied && copy.prototype === prototype && sameMembers(value as Members, copy.members)
  );
}

function sameElements(value: readonly unknown[], known: readonly unknown[]): boolean {
  if (value.length !== known.length) return false;
  for (let i = 0; i < value.length; i++) if (value[i] !== known[i] && !same(value[i], known[i])) return false;
  return true;
}

type Members = Readonly<Record<string, unknown>>;

function sameMembers(value: Members, known: Members): boolean {
  const keys = Object.keys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const member = value[key];
    const before = known[key];
    if (member !== before ? !same(member, before) : member === undefined && !Object.hasOwn(known, key))
      return false;
  }
  return keys.length === Object.keys(known).length;
}
