/** Deeply frozen JSON. State is replaced and never changed, so a snapshot copies lists, not their elements. */
import { z } from 'zod';
import { type Json, type JsonObject, jsonFault } from '../kernel/contract.js';
import { invalid, parseAs, setJsonMember } from '../kernel/index.js';

type Plain = string | number | boolean | null | undefined;

/** A deeply read-only value. */
export type Frozen<T> = T extends Plain
  ? T
  : T extends readonly (infer E)[]
    ? readonly Frozen<E>[]
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** Values frozen here: they need no second copy and stay the same objects. */
const known = new WeakSet<object>();

/** A frozen copy of checked JSON; the value itself if it was frozen here. Leaves out undefined members. */
export const frozenCopy = <T>(value: T): Frozen<T> => copy(value) as Frozen<T>;

function copy(value: unknown): unknown {
  // JSON has no negative zero: it would be read back as 0.
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null || known.has(value)) return value;
  if (Array.isArray(value)) return sealed(value.map(copy));
  const made: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) setJsonMember(made, key, copy(member) as Json);
  }
  return sealed(made);
}

/** Freezes an object whose members are all frozen. */
export function sealed<T extends object>(value: T): Frozen<T> {
  known.add(Object.freeze(value));
  return value as Frozen<T>;
}

/** The frozen output of a schema; `what` names the value in errors. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, what: string): Frozen<z.output<S>> {
  return frozenCopy(parseAs(schema, value, what)) as Frozen<z.output<S>>;
}

/**
 * Like `checked`, but keeps objects that were frozen here before; for schemas that do not transform. Drops members that the
 * schema does not know: a document may have them, but a run has no use for them.
 */
export function checkedWhole<S extends z.ZodType>(schema: S, value: unknown, what: string): Frozen<z.output<S>> {
  parseAs(schema, value, what);
  return frozenCopy(knownOnly(schema, value) as z.output<S>);
}

/** The value without members that its schema does not know. */
function knownOnly(schema: z.ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (typeof value !== 'object' || value === null || known.has(value)) return value;
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((element) => knownOnly(inner.element as z.ZodType, element));
  if (!(inner instanceof z.ZodObject) || Array.isArray(value)) return value;
  const shape = inner.shape as Readonly<Record<string, z.ZodType>>;
  const members = Object.entries(value).filter(([name]) => Object.hasOwn(shape, name));
  return Object.fromEntries(members.map(([name, member]) => [name, knownOnly(shape[name]!, member)]));
}

/** Any JSON, frozen. `depth` is its level in the value whose depth is limited. */
export function checkedJson(value: unknown, what: string, depth = 0): Frozen<Json> {
  const fault = value === undefined ? 'a value is needed' : jsonFault(value, depth);
  if (fault) throw invalid(`${what}: ${fault}`);
  return frozenCopy(value as Json);
}
