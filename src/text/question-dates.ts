/** Dates that a question names, and the search words of a date. */
import { DAY_MS, dayAt, dayOfNumbers, MONTHS, monthOf, WEEKDAYS } from './parse-date.js';

/** The known parts of a date: a question may name only a month or a year. Months count from 0. */
export interface DateMention {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
}

const NUMBERS = /(?<![\d.])(\d{1,4})([-./])(\d{1,2})\2(\d{2,4})(?![\d.]\d)/g;
const YEAR = /^(?:19|20)\d\d$/;
const DAY = /^([0-3]?\d)(?:st|nd|rd|th)?$/i;
/** Month names that are also words: they count only in capitals or beside a number. */
const AMBIGUOUS_MONTHS = new Set(['may', 'march', 'mar']);
const FILLERS = new Set(['of', 'the', 'in']);

const dayIn = (word: string | undefined): number | undefined => {
  const found = word === undefined ? null : DAY.exec(word);
  const day = found === null ? 0 : Number(found[1]);
  return day >= 1 && day <= 31 ? day : undefined;
};

/** The month of a word, written in full or as its first three letters. */
function namedMonth(words: readonly string[], at: number): number | undefined {
  const word = words[at]!;
  const lower = word.toLowerCase();
  const month = lower.length === 3 || lower === 'sept' || MONTHS.includes(lower) ? monthOf(lower) : undefined;
  if (month === undefined || !AMBIGUOUS_MONTHS.has(lower)) return month;
  const capital = word[0] !== lower[0] && at > 0;
  const beside = [words[at - 1], words[at + 1]].some((one) => one !== undefined && /^\d/.test(one));
  return capital || beside ? month : undefined;
}

/** The dates that a text names. */
export function dateMentions(text: string): DateMention[] {
  const found: DateMention[] = [];
  const rest = text.replace(NUMBERS, (all, a: string, mark: string, b: string, c: string) => {
    // With points or dashes and without a full year it may be a version.
    const isDate = mark === '/' || a.length === 4 || c.length === 4;
    const day = isDate ? dayOfNumbers(a, mark, b, c) : undefined;
    if (day === undefined) return all;
    found.push(day);
    return ' ';
  });
  const words = (rest.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !FILLERS.has(word));
  let yearTaken = -1;
  words.forEach((word, at) => {
    const month = namedMonth(words, at);
    if (month !== undefined) {
      const before = dayIn(words[at - 1]);
      const day = before ?? dayIn(words[at + 1]);
      const yearAt = before === undefined && day !== undefined ? at + 2 : at + 1;
      const year = YEAR.test(words[yearAt] ?? '') ? Number(words[yearAt]) : undefined;
      if (year !== undefined) yearTaken = yearAt;
      found.push({ month, ...(day !== undefined && { day }), ...(year !== undefined && { year }) });
    } else if (YEAR.test(word) && at !== yearTaken) found.push({ year: Number(word) });
  });
  return found;
}

const RELATIVE =
  /\b(?:today|yesterday|(?:this|last) (?:week|month|year)|(?:on|last) (?:sun|mon|tues|wednes|thurs|fri|satur)day)\b/gi;

function relativeMention(words: string, now: number): DateMention[] {
  const [first, unit = ''] = words.toLowerCase().split(' ') as [string, string?];
  const today = new Date(now);
  const back = first === 'last' ? 1 : 0;
  if (first === 'today') return [dayAt(now)];
  if (first === 'yesterday') return [dayAt(now - DAY_MS)];
  if (unit === 'year') return [{ year: today.getUTCFullYear() - back }];
  if (unit === 'month') {
    const month = today.getUTCFullYear() * 12 + today.getUTCMonth() - back;
    return [{ year: Math.floor(month / 12), month: month % 12 }];
  }
  if (unit === 'week') {
    const monday = now - ((today.getUTCDay() + 6) % 7) * DAY_MS - back * 7 * DAY_MS;
    return WEEKDAYS.map((_, at) => dayAt(monday + at * DAY_MS));
  }
  const since = (today.getUTCDay() - WEEKDAYS.indexOf(unit) + 6) % 7;
  return [dayAt(now - (since + 1) * DAY_MS)];
}

/** The dates that a text names relative to now: yesterday, last week, on Monday. */
export const relativeMentions = (text: string, now: number): DateMention[] =>
  (text.match(RELATIVE) ?? []).flatMap((words) => relativeMention(words, now));

/** Whether a time matches a mention. */
export function isWithin(mention: DateMention, at: number): boolean {
  const date = dayAt(at);
  return (['year', 'month', 'day'] as const).every((part) => (mention[part] ?? date[part]) === date[part]);
}

/** The search words of a date: day, month and year. */
export function dateWords(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
