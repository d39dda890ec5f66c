/** Renders statements with the values that hold now, each with those before it. */
import { parseDate } from '../../../text/index.js';
import type { TextSource } from '../sources.js';
import type { StatedValue } from './values.js';

/** A value of a statement in place of which another one holds. */
export interface Replacement {
  readonly old: StatedValue;
  readonly since: string;
  /** The values before the present one, the oldest last. */
  readonly before: readonly string[];
  readonly now: string;
}

/** The present value with those before it. */
export const marked = ({ old, now, since, before }: Replacement): string =>
  now.startsWith(`${old.text} (`) ? now : `${now} (${since}before: ${before.join(', ')})`;

/** A text with its present values. */
export function withReplacements(text: string, replaced: readonly Replacement[]): string {
  let result = text;
  for (const one of [...replaced].sort((a, b) => b.old.index - a.old.index)) {
    const { index, text: old } = one.old;
    result = `${result.slice(0, index)}${marked(one)}${result.slice(index + old.length)}`;
  }
  return result;
}

/** The day of the correction, unless both were said on the same day. */
export function sinceOf(old: TextSource, news: TextSource): string {
  const [before, at] = [parseDate(old.occurred_at), parseDate(news.occurred_at)];
  if (before === undefined || at === undefined) return '';
  const day = new Date(at).toISOString().slice(0, 10);
  return new Date(before).toISOString().slice(0, 10) === day ? '' : `since ${day}; `;
}

/** A bare number gets the unit of the value that it replaces. */
export const withUnits = (news: readonly StatedValue[], olds: readonly StatedValue[]): StatedValue[] =>
  olds.map((old, n) => {
    const now = news[Math.min(n, news.length - 1)]!;
    if (now.kind !== 'number' || old.kind === 'number') return now;
    return { ...now, text: old.text.replace(/\d+(?:[.,\u202f\u00a0 ]\d{3})*(?:[.,]\d+)?/u, now.text) };
  });

/** "Munich now" is Munich. */
export const withoutNow = (value: string): string =>
  value.replace(/,? (?:now|from now on|already|instead|after all)$/i, '');

/** Whether two values share characters of their text. */
export const overlaps = (one: StatedValue, other: StatedValue): boolean =>
  one.index < other.index + other.text.length && other.index < one.index + one.text.length;
