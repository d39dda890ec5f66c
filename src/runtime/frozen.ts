/** State as the runtime holds it: plain JSON, frozen to its last member, replaced and never changed. So a capture copies lists, not what is in them. */
import { z } from 'zod';
import { type Json, type JsonObject, jsonFault } from '../kernel/contract.js';
import { type CairnError, describeIssues, invalid, put } from '../kernel/index.js';

type Plain = string | number | boolean | null | undefined;

/** A value of which nothing can be changed. What is handed out is of this kind, and what is taken may be. */
export type Frozen<T> = T extends Plain
  ? T
  : T extends readonly (infer E)[]
    ? readonly Frozen<E>[]
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** What was frozen here: it needs no second copy, and stays the same object wherever it goes. */
const known = new WeakSet<object>();

/** A frozen copy of JSON that was checked; itself, if it came from here. Members that are undefined are left out. */
export function frozenCopy<T>(value: T): Frozen<T> {
  return copy(value) as Frozen<T>;
}

function copy(value: unknown): unknown {
  // JSON has no negative zero: it would come back as another number.
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null || known.has(value)) return value;
  if (Array.isArray(value)) return sealed(value.map(copy));
  const made: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) put(made, key, copy(member) as Json);
  }
  return sealed(made);
}

/** Freezes an object of ours, all of whose members are frozen. */
export function sealed<T extends object>(value: T): Frozen<T> {
  known.add(Object.freeze(value));
  return value as Frozen<T>;
}

/** What the schema makes of a value, frozen; refuses by name what does not fit. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, what: string): Frozen<z.output<S>> {
  return frozenCopy(parse(schema, value, what));
}

/**
 * Like `checked`, but keeps the very objects that were frozen here before. For schemas that only check. Members that the
 * schema does not know are left out: a document may have them, and a run would not know what to do with them.
 */
export function checkedWhole<S extends z.ZodType>(schema: S, value: unknown, what: string): Frozen<z.output<S>> {
  parse(schema, value, what);
  return frozenCopy(knownOnly(schema, value) as z.output<S>);
}

/** The value without members that its schema does not know; itself where there are none. */
function knownOnly(schema: z.ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (typeof value !== 'object' || value === null || known.has(value)) return value;
  if (Array.isArray(value)) {
    if (!(inner instanceof z.ZodArray)) return value;
    return value.map((element) => knownOnly(inner.element as z.ZodType, element));
  }
  if (!(inner instanceof z.ZodObject)) return value;
  const shape = inner.shape as Readonly<Record<string, z.ZodType>>;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => Object.hasOwn(shape, name))
      .map(([name, member]) => [name, knownOnly(shape[name]!, member)]),
  );
}

/** What the schema makes of a value, which may hold parts that are yet to be checked. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = describeIssues(parsed.error);
  throw refusal(`${what}: ${errors[0]}`, { errors });
}

/** Any JSON, frozen. `depth` is how deep it will stand in a value whose depth is limited. */
export function checkedJson(value: unknown, what: string, depth = 0): Frozen<Json> {
  const fault = value === undefined ? 'a value is needed' : jsonFault(value, depth);
  if (fault) throw refusal(`${what}: ${fault}`);
  return frozenCopy(value as Json);
}

export const refusal = (message: string, details?: Readonly<Record<string, unknown>>): CairnError =>
  invalid(message, details);
