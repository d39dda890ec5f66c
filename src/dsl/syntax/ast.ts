/** The syntax tree of a source: definitions, values, comments and mistakes, each with its position. */

/** Lines and columns begin with 1; a column counts UTF-16 code units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A part of the source. Offsets are for the formatter. */
export interface Span extends Position {
  readonly start: number;
  /** Offset behind the last character. */
  readonly end: number;
}

/** Units of durations, in milliseconds. */
export const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type Unit = keyof typeof UNITS;

export type Value = Span &
  (
    | { readonly type: 'text'; readonly value: string }
    | { readonly type: 'number'; readonly value: number }
    | { readonly type: 'boolean'; readonly value: boolean }
    | { readonly type: 'null' }
    | { readonly type: 'duration'; readonly value: number; readonly unit: Unit }
    /** A bare word: an enumeration value, a short text or a reference. */
    | { readonly type: 'name'; readonly value: string }
    | { readonly type: 'list'; readonly items: readonly Value[] }
    | { readonly type: 'object'; readonly fields: readonly Field[] }
  );
export type ObjectValue = Extract<Value, { readonly type: 'object' }>;

/** A name as written: bare or quoted. */
export interface Name extends Span {
  readonly value: string;
  readonly quoted: boolean;
}

export interface Field {
  readonly key: Name;
  readonly value: Value;
}

export interface Definition extends Span {
  readonly kind: Name;
  readonly name: Name | null;
  /** The definition whose fields it takes over. */
  readonly base: Name | null;
  readonly body: ObjectValue;
}

export interface Comment extends Span {
  readonly text: string;
}

export type MistakeCode =
  | 'syntax'
  | 'unknown_kind'
  | 'unknown_field'
  | 'missing_field'
  | 'duplicate'
  | 'type_mismatch'
  | 'invalid_value'
  | 'invalid_duration'
  | 'undefined_reference'
  | 'circular_dependency'
  | 'limit';

export interface Mistake extends Position {
  readonly code: MistakeCode;
  readonly message: string;
  /** What would fit here. */
  readonly expected?: readonly string[];
  /** The text to write instead. */
  readonly suggestion?: string;
}

export interface Document {
  readonly definitions: readonly Definition[];
  readonly comments: readonly Comment[];
}

export interface Parsed {
  /** The definitions without a syntax error. */
  readonly document: Document;
  readonly mistakes: readonly Mistake[];
}

/** Maximum length of a source, in UTF-16 code units. */
export const MAX_SOURCE = 1024 * 1024;
export const MAX_DEFINITIONS = 1000;
/** Maximum number of tokens and comments in a source: each takes a hundred times its length in memory while it is parsed. */
export const MAX_TOKENS = 200_000;
/** Bounds the time for which one definition holds the event loop. */
export const MAX_TOKENS_PER_DEFINITION = 20_000;
/** Below the limit of stored JSON (64), a list and a block come on top. */
export const MAX_NESTING = 72;
/** Maximum number of values that definitions take over by `extends`, in all. */
export const MAX_INHERITED = 20_000;
/** Further mistakes are not reported. */
export const MAX_MISTAKES = 100;

const WORD = /^[A-Za-z_][\w.-]*$/;
const RESERVED: ReadonlySet<string> = new Set(['true', 'false', 'null', 'extends']);

/** Whether a text can be written without quotes. */
export const isBareWord = (text: string): boolean => text === '*' || (WORD.test(text) && !RESERVED.has(text));
