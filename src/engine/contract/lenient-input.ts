/** Lenient reading of an input, before its schema checks it: null as absence, enumerations in any case. */
import { z } from 'zod';
import { isObject } from '../../kernel/index.js';

/** Returns the value as its schema spells it; the same object if nothing changes. */
type Reader = (value: unknown) => unknown;

/** Schemas whose null is never read as absence: unrestricted rights must be explicit. */
const neverNull = new WeakSet<z.ZodType>();

/** Refuses null for an optional member, where it otherwise means absence. */
export function refusesNull<T extends z.ZodType>(schema: T): T {
  neverNull.add(schema);
  return schema;
}

const patches = new WeakSet<z.ZodType>();

/** Marks the body of a PATCH inside another input, such as a batch, where null clears a member. */
export function asPatch<T extends z.ZodType>(schema: T): T {
  patches.add(schema);
  return schema;
}

const readLike = new WeakMap<object, z.ZodType>();

/** Reads an unchecked value by another schema. A frozen value was read before, and may be large. */
export function readsLike<T extends z.ZodType>(schema: T, other: z.ZodType): T {
  readLike.set(schema, other);
  return schema;
}

/** A member of a PATCH that null resets to its default at creation. */
export const clearable = <T extends z.ZodType>(schema: T, cleared: z.output<T> | undefined) =>
  schema
    .nullish()
    .transform((value) => (value === null ? cleared : value) as z.output<T> | undefined)
    .optional();

/** An enumeration that typed callers may spell in any case, too: both `user` and `User` are common. */
export const inAnyCase = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values) as unknown as z.ZodType<T[number], string>;

type AnySchema = z.core.$ZodType;
type Def = z.core.$ZodTypeDef & Record<string, unknown>;

const defOf = (schema: AnySchema): Def => schema._zod.def as Def;

const WRAPPERS = new Set(['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'readonly', 'catch']);

/** The input side of a pipe; undefined if a transform comes first. */
function inputOf(def: Def): AnySchema | undefined {
  if (def.type !== 'pipe') return undefined;
  const first = def.in as AnySchema;
  return defOf(first).type === 'transform' ? undefined : first;
}

/** A schema without its optional and nullable wrappers. */
export function coreOf(schema: AnySchema): AnySchema {
  const def = defOf(schema);
  const inner = WRAPPERS.has(def.type) ? (def.innerType as AnySchema) : inputOf(def);
  return inner ? coreOf(inner) : schema;
}

const acceptsNull = (schema: AnySchema): boolean => z.safeParse(schema, null).success;

/** Whether null of a member is read as absence. Free JSON may be null as a value. */
export function nullIsAbsence(member: AnySchema): boolean {
  if (member._zod.optin !== 'optional') return false;
  const core = coreOf(member);
  return !neverNull.has(core as z.ZodType) && !acceptsNull(core);
}

/** Whether null clears members of this object instead of meaning absence. */
export const isPatch = (schema: AnySchema): boolean => patches.has(schema as z.ZodType);

function objectReader(shape: Readonly<Record<string, AnySchema>>, patch: boolean): Reader | undefined {
  const members = Object.entries(shape).flatMap(([name, member]) => {
    const read = readerOf(member);
    const drops = !patch && nullIsAbsence(member);
    return read || drops ? [{ name, read, drops }] : [];
  });
  if (members.length === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return value;
    let copy: Record<string, unknown> | undefined;
    for (const { name, read, drops } of members) {
      const given = value[name];
      if (given === undefined) continue;
      if (given === null) {
        if (drops) delete (copy ??= { ...value })[name];
        continue;
      }
      const kept = read ? read(given) : given;
      if (kept !== given) (copy ??= { ...value })[name] = kept;
    }
    return copy ?? value;
  };
}

function arrayReader(element: AnySchema): Reader | undefined {
  const read = readerOf(element);
  if (!read) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return value;
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const kept = read(value[i]);
      if (kept !== value[i]) (copy ??= [...(value as unknown[])])[i] = kept;
    }
    return copy ?? value;
  };
}

/** Replaces a text by the schema's spelling if only the case differs. */
function spellingReader(values: readonly unknown[]): Reader | undefined {
  const texts = values.filter((value): value is string => typeof value === 'string');
  if (texts.every((text) => text.toLowerCase() === text.toUpperCase())) return undefined;
  const known = new Set(texts);
  const spellings = new Map(texts.map((text) => [text.toLowerCase(), text]));
  return (value) =>
    typeof value !== 'string' || known.has(value) ? value : (spellings.get(value.toLowerCase()) ?? value);
}

/** The first alternative that accepts the value as read by itself counts. */
function unionReader(options: readonly AnySchema[]): Reader | undefined {
  const readers = options.flatMap((option) => {
    const read = readerOf(option);
    return read ? [{ option, read }] : [];
  });
  if (readers.length === 0) return undefined;
  return (value) => {
    for (const { option, read } of readers) {
      const kept = read(value);
      if (kept !== value && z.safeParse(option, kept).success) return kept;
    }
    return value;
  };
}

/** The alternative that the discriminator names reads the value, valid or not. */
function taggedReader(tag: string, options: readonly AnySchema[]): Reader {
  const tagged = options.map((option) => ({
    readTag: readerOf((defOf(option).shape as Record<string, AnySchema>)[tag]!) ?? ((value: unknown) => value),
    tags: (defOf((defOf(option).shape as Record<string, AnySchema>)[tag]!).values ?? []) as unknown[],
    read: readerOf(option),
  }));
  return (value) => {
    if (!isObject(value)) return value;
    const meant = tagged.find(({ readTag, tags }) => tags.includes(readTag(value[tag])));
    return meant?.read ? meant.read(value) : value;
  };
}

function makeReader(schema: AnySchema): Reader | undefined {
  const def = defOf(schema);
  const other = readLike.get(schema);
  if (other) {
    const read = readerOf(other);
    return read && ((value) => (Object.isFrozen(value) ? value : read(value)));
  }
  if (WRAPPERS.has(def.type)) return readerOf(def.innerType as AnySchema);
  switch (def.type) {
    case 'object':
      return objectReader(def.shape as Record<string, AnySchema>, isPatch(schema));
    case 'array':
      return arrayReader(def.element as AnySchema);
    case 'enum':
      return spellingReader(Object.values(def.entries as Record<string, unknown>));
    case 'literal':
      return spellingReader(def.values as unknown[]);
    case 'union':
      return typeof def.discriminator === 'string'
        ? taggedReader(def.discriminator, def.options as AnySchema[])
        : unionReader(def.options as AnySchema[]);
    case 'lazy':
      // Created with the first value: a recursive schema would never end.
      return (value) => readerOf((def.getter as () => AnySchema)())?.(value) ?? value;
    case 'pipe': {
      const first = inputOf(def);
      return first && readerOf(first);
    }
    default:
      return undefined;
  }
}

type Readers = WeakMap<AnySchema, Reader | null>;

const readers: Readers = new WeakMap();
const patchReaders: Readers = new WeakMap();

function cached(cache: Readers, schema: AnySchema, make: () => Reader | undefined): Reader | undefined {
  if (!cache.has(schema)) cache.set(schema, make() ?? null);
  return cache.get(schema) ?? undefined;
}

const readerOf = (schema: AnySchema): Reader | undefined => cached(readers, schema, () => makeReader(schema));

/** The value as the schema is to check it. With `patch`, null stays if it clears a member of the outermost object. */
export function readLeniently(schema: z.ZodType, value: unknown, patch = false): unknown {
  const read =
    patch && schema instanceof z.ZodObject
      ? cached(patchReaders, schema, () => objectReader(schema.shape as Record<string, AnySchema>, true))
      : readerOf(schema);
  return read ? read(value) : value;
}
