/** The frame of a statement that gives a value: all but the value. Two with the same frame give the same thing a value. */
import type { WordSpan } from './change-words.js';
import { labelOf } from './labels.js';
import type { Measure, MeasureKind } from './measures.js';
import type { Reading } from './reading.js';

export interface Frame {
  /** Equal for statements that differ in their values alone. */
  readonly key: string;
  readonly values: readonly Measure[];
}

/** Days and times repeat: another one is one more. */
const KINDS: ReadonlySet<MeasureKind> = new Set(['amount', 'money', 'share', 'code']);
const MAX_LENGTH = 120;
/** Something holds, rather than happened. */
const STATE =
  /\b(?:is|are|costs?|takes?|lasts?|has|have|needs?|allows?|holds?|seats?|weighs?|measures?|limit(?:ed)? to|set to|pays?|earns?|gets?|charges?|expires? (?:in|after)|runs? on|beträgt|kostet|dauert|liegt bei|hat|braucht|ist|est|coûte|dure|es|cuesta|dura|tiene|costa|pesa|kost|duurt)\b|^[^:.]{2,40}: |是|每/iu;
/** It happened once. */
const EVENT =
  /\b(?:was|were|had|did|paid|bought|sold|ran|walked|swam|rode|drove|went|came|won|lost|spent|got|gave|took|scored|finished|met|ate|slept|today|yesterday|ago|last|this (?:morning|week|month|time))\b/i;

const isIn = (span: WordSpan, one: WordSpan): boolean => one.start >= span.start && one.end <= span.end;

/** Undefined for a statement that gives no value that excludes others. */
export function frameOf(reading: Reading): Frame | undefined {
  const { text, all_words, measures, change, stated } = reading;
  if (
    text.length > MAX_LENGTH ||
    change.added.length > 0 ||
    stated.length !== 1 ||
    !isIn(stated[0]!, { start: 0, end: text.length })
  )
    return undefined;
  if (!STATE.test(text) || EVENT.test(text)) return undefined;
  // "Parcel 3" is another one than parcel 4.
  const values = measures.filter((one) => KINDS.has(one.kind) && labelOf(reading, one) === undefined);
  const words = all_words.filter((word) => !values.some((one) => one.kind === 'code' && isIn(one, word)));
  const weight = words.reduce((sum, one) => sum + one.weight, 0);
  if (values.length === 0 || weight < LEAST_WEIGHT) return undefined;
  const others = measures.filter((one) => !values.includes(one)).map(({ kind, value }) => `${kind} ${value}`);
  const forms = values.map(({ kind, unit }) => `${kind} ${unit}`);
  return { key: JSON.stringify([[...new Set(words.map(({ stem }) => stem))].sort(), others, forms]), values };
}

/** Of a statement about something named. */
const LEAST_WEIGHT = 0.3;

/** The first value that differs, in both; undefined if none does. */
export function valuesDiffer(own: Frame, known: Frame): readonly [Measure, Measure] | undefined {
  if (own.key !== known.key) return undefined;
  const at = own.values.findIndex(({ value }, i) => value !== known.values[i]!.value);
  return at < 0 ? undefined : [own.values[at]!, known.values[at]!];
}
