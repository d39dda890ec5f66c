/** JSON as Cairn stores it: limits, and zod schemas that check without copying. */
import { z } from 'zod';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** JSON from callers: lists may be read-only, undefined members are dropped. */
export type JsonInput = null | boolean | number | string | readonly JsonInput[] | JsonObjectInput;
export type JsonObjectInput = { readonly [key: string]: JsonInput | undefined };

export const MAX_DEPTH = 64;

/** The reason why a database could not return a value unaltered, if there is one. */
export function jsonFault(value: unknown, depth = 0, path = ''): string | undefined {
  switch (typeof value) {
    case 'string':
      return textFault(value, path);
    case 'number':
      return Number.isFinite(value) ? undefined : `${at(path)} is ${value}, which JSON cannot hold`;
    case 'boolean':
      return undefined;
    case 'object':
      break;
    default:
      return `${at(path)} is a ${typeof value}, which JSON cannot hold`;
  }
  if (value === null) return undefined;
  if (depth >= MAX_DEPTH) return `${at(path)} is nested deeper than ${MAX_DEPTH} levels`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = jsonFault(value[i], depth + 1, `${path}[${i}]`);
      if (fault) return fault;
    }
    return undefined;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return `${at(path)} is not a plain object: convert it to JSON first`;
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    // An absent member and an undefined one are the same on the wire.
    if (member === undefined) continue;
    const fault = textFault(key, path) ?? jsonFault(member, depth + 1, path ? `${path}.${key}` : key);
    if (fault) return fault;
  }
  return undefined;
}

export function textFault(text: string, path = ''): string | undefined {
  // PostgreSQL cannot store NUL in text, and UTF-8 cannot carry half a surrogate pair.
  if (text.includes('\u0000')) return `${at(path)} contains a NUL character`;
  if (!text.isWellFormed()) return `${at(path)} contains half of a surrogate pair`;
  return undefined;
}

const at = (path: string) => (path ? `"${path}"` : 'the value');

const refuse = (fault: string | undefined, ctx: z.RefinementCtx) => {
  if (fault) ctx.addIssue({ code: 'custom', message: fault });
};

export const jsonValue = z
  .unknown()
  .superRefine((value, ctx) => refuse(value === undefined ? 'is required' : jsonFault(value), ctx))
  .meta({ description: 'any JSON value' }) as unknown as z.ZodType<Json, JsonInput>;

export const jsonObject = z
  .unknown()
  .superRefine((value, ctx) =>
    refuse(
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? jsonFault(value)
        : value === undefined
          ? 'is required'
          : 'must be an object',
      ctx,
    ),
  )
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<JsonObject, JsonObjectInput>;

/** A string that both databases can store. With a minimum length it must not be blank either. */
export const text = (max: number, min = 0) => {
  const bounded = z.string().min(min).max(max);
  return (min === 0 ? bounded : bounded.regex(/\S/, 'must not be blank')).refine(
    (value) => textFault(value) === undefined,
    'contains NUL or half of a surrogate pair',
  );
};

/** Tool calls of a message: a list, or one call. */
export const toolCalls = z.union([z.array(jsonObject).max(1000), jsonObject], {
  error: 'must be an object or a list of objects',
});

/** Tool results: a list of any values, or one object. */
export const toolResults = z.union([z.array(jsonValue).max(1000), jsonObject], {
  error: 'must be a list or an object',
});

const MAX_METADATA_BYTES = 64 * 1024;

/** Stored in rows that are written often, so its limit is lower than that of a card. */
export const smallMetadata = jsonObject
  .superRefine((value, ctx) => {
    // `jsonObject` has already reported a value that is not JSON; measuring it must not throw.
    const bytes = new TextEncoder().encode(JSON.stringify(value) ?? '').length;
    if (bytes > MAX_METADATA_BYTES)
      ctx.addIssue({ code: 'custom', message: `is ${bytes} bytes, the limit is ${MAX_METADATA_BYTES}` });
  })
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<JsonObject, JsonObjectInput>;
