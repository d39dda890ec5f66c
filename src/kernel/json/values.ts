/** JSON values as they are retained: compared with what a caller sends, kept so that the caller cannot change them. */
import type { Json, JsonObject } from './json.js';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a text has nothing to read in it. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** The value, so that nobody changes it any more: itself if it is frozen to its last member, else a copy. Equal strings stay shared. */
export function keep(value: unknown): Json {
  return isFrozen(value) ? (value as Json) : copy(value);
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!Object.isFrozen(value)) return false;
  for (const key of Object.keys(value)) {
    // Not by reading it: what a getter gives now, it need not give again.
    const member = Object.getOwnPropertyDescriptor(value, key)!.value as unknown;
    if (member === undefined || !isFrozen(member)) return false;
  }
  return true;
}

function copy(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  if (Array.isArray(value)) return Object.freeze(value.map(keep)) as Json[];
  const made: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) put(made, key, keep(member));
  }
  return Object.freeze(made) as JsonObject;
}

/** Sets a member, also one that is named like the prototype. */
export function put(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

/** Freezes a value that nobody else holds. */
export function freeze<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Array.isArray(value) ? value : Object.values(value)) freeze(member);
  return Object.freeze(value) as T;
}

/** Whether the JSON text of a value is longer than this, about; looks at no more of it than it needs. */
export const isLongerThan = (value: Json, limit: number): boolean => left(value, limit) < 0;

function left(value: Json, limit: number): number {
  if (typeof value === 'string') return limit - value.length - 2;
  if (typeof value !== 'object' || value === null) return limit - 5;
  let rest = limit - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i++) rest = left(value[i]!, rest - 1);
    return rest;
  }
  for (const key of Object.keys(value)) {
    if (rest < 0) break;
    rest = left(value[key]!, rest - key.length - 4);
  }
  return rest;
}

/** One or several, as they were sent. */
export const asList = <T>(value: T | readonly T[] | null | undefined): readonly T[] =>
  value === null || value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];
