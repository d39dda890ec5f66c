/** Forms of values in words, and how a value of a wrong form would be written in the form of its field. */
import { z } from 'zod';
import { coreOf } from '../../engine/contract.js';
import type { Value } from '../syntax/ast.js';
import { milliseconds, numericValue } from '../syntax/numbers.js';
import { quoteText } from '../syntax/strings.js';

export type AnySchema = z.core.$ZodType;
type Def = z.core.$ZodTypeDef & Record<string, unknown>;
export const defOf = (schema: AnySchema): Def => schema._zod.def as Def;

export const alternatives = (list: readonly string[], word = 'or'): string =>
  list.length < 2 ? (list[0] ?? 'nothing') : `${list.slice(0, -1).join(', ')} ${word} ${list.at(-1)}`;

/** What a field takes, by the type of its schema. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block',
  record: 'a block',
};

/** What a field takes, in words. */
export function wordsFor(core: AnySchema): readonly string[] {
  const { type, entries } = defOf(core) as unknown as { type: string; entries?: object };
  return type === 'enum' ? Object.keys(entries!) : [KINDS[type] ?? type];
}

export type Scalar = Extract<Value, { readonly type: 'text' | 'number' | 'boolean' }>;

/** What was written, in words. */
export const FORMS: Readonly<Record<Value['type'], string>> = {
  text: 'text',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
  duration: 'a duration',
  name: 'a name',
  list: 'a list',
  object: 'a block',
};

/** Spellings of constants in other languages. */
export const CONSTANTS: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  null: 'null',
  none: 'null',
  nil: 'null',
};
const BOOLEANS: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  yes: 'true',
  no: 'false',
  on: 'true',
  off: 'false',
};

const MAX_REWRITTEN = 60;

/** The value as the type of the field would be written, if that is clear. */
export function rewritten(
  { type, value }: Pick<Scalar, 'type' | 'value'> | { readonly type: 'name'; readonly value: string },
  core: AnySchema,
): string | undefined {
  const def = defOf(core);
  const text = String(value);
  if (text.length > MAX_REWRITTEN) return undefined;
  const written = type === 'text' ? quoteText(text) : text;
  if (def.type === 'array') {
    const element = defOf(coreOf(def.element as AnySchema)).type;
    return (element === 'string' || element === 'enum') && type !== 'number' && type !== 'boolean'
      ? `[${written}]`
      : undefined;
  }
  if (def.type === 'string' && (type === 'number' || type === 'boolean')) return quoteText(text);
  if (def.type === 'number' && type === 'text') {
    const read = numericValue(text);
    return 'type' in read && read.type === 'number' ? text : undefined;
  }
  return def.type === 'boolean' && type !== 'boolean' ? BOOLEANS[text.toLowerCase()] : undefined;
}

/** Whether a text is a duration that the field takes. */
export const isDurationFor = (core: AnySchema, text: string): boolean => {
  const read = text.length <= MAX_REWRITTEN && numericValue(text);
  return read !== false && 'type' in read && read.type === 'duration' && z.safeParse(core, milliseconds(read)).success;
};

/** Texts above this length are prose, which is always quoted. */
const MAX_BARE_TEXT = 1000;

export const isLongText = (schema: AnySchema): boolean =>
  (((schema as z.ZodString).maxLength as number | null) ?? MAX_BARE_TEXT) > MAX_BARE_TEXT;

const SCALARS = ['string', 'enum', 'literal', 'number', 'boolean'];

const isFree = (schema: AnySchema): boolean => defOf(coreOf(schema)).type === 'unknown';

export const tagsOf = (option: AnySchema, tag: string): string[] =>
  (defOf((defOf(option).shape as Record<string, AnySchema>)[tag]!).values as unknown[]).map(String);

/** Whether an alternative of a union takes values of this form. */
export const takes = (option: AnySchema, form: keyof typeof TYPES): boolean =>
  isFree(option) || (TYPES[form] as readonly string[]).includes(defOf(coreOf(option)).type);

const TYPES = { object: ['object', 'record'], list: ['array'], scalar: SCALARS } as const;

/** The alternative of a union that takes values of this form. */
export const optionOf = (options: readonly AnySchema[], form: keyof typeof TYPES): AnySchema => {
  const types: readonly string[] = TYPES[form];
  return options.find((one) => types.includes(defOf(coreOf(one)).type)) ?? options.find(isFree) ?? options[0]!;
};
