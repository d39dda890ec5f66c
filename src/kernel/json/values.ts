/** JSON values: compared, frozen against changes by the caller, measured. */
import type { Json, JsonObject } from './json.js';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isBlank = (text: string): boolean => text.trim() === '';

/** An immutable form of the value: itself if it is deeply frozen, else a frozen copy that shares its strings. */
export function toImmutable(value: unknown): Json {
  return isFrozen(value) ? (value as Json) : copy(value);
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!Object.isFrozen(value)) return false;
  for (const key of Object.keys(value)) {
    // By descriptor: a getter may return another value next time.
    const member = Object.getOwnPropertyDescriptor(value, key)!.value as unknown;
    if (member === undefined || !isFrozen(member)) return false;
  }
  return true;
}

function copy(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  if (Array.isArray(value)) return Object.freeze(value.map(toImmutable)) as Json[];
  const made: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) setJsonMember(made, key, toImmutable(member));
  }
  return Object.freeze(made) as JsonObject;
}

/** Sets a member, also one named `__proto__`. */
export function setJsonMember(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

/** Freezes in place: the caller must hold the only reference. */
export function freeze<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Array.isArray(value) ? value : Object.values(value)) freeze(member);
  return Object.freeze(value) as T;
}

/** Whether the JSON text of a value is longer than about `limit`; stops as soon as that is known. */
export const isLongerThan = (value: Json, limit: number): boolean => roomLeft(value, limit) < 0;

function roomLeft(value: Json, limit: number): number {
  if (typeof value === 'string') return limit - value.length - 2;
  if (typeof value !== 'object' || value === null) return limit - 5;
  let room = limit - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && room >= 0; i++) room = roomLeft(value[i]!, room - 1);
    return room;
  }
  for (const key of Object.keys(value)) {
    if (room < 0) break;
    room = roomLeft(value[key]!, room - key.length - 4);
  }
  return room;
}

/** Equal in any order of members; undefined is absent. Identical objects are not compared: freeze one side. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false;
    return true;
  }
  return sameMembers(a, b);
}

/** `sameJson` of two objects, except for the member `ignored`. */
export function sameMembers(a: JsonObject, b: JsonObject, ignored?: string): boolean {
  let members = 0;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined || key === ignored) continue;
    members++;
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false;
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined && key !== ignored) members--;
  return members === 0;
}

/** A list from one value, several or none. */
export const asList = <T>(value: T | readonly T[] | null | undefined): readonly T[] =>
  value === null || value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];
