/** Dates in texts: which a question names, and the words by which a moment is found. */
import { dayOfNumbers, MONTHS, monthOf } from './parse-date.js';

/** What is known of a date: a question may name a month of any year, or a year alone. Months are counted from 0. */
export interface DateMention {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
}

const NUMBERS = /(?<![\d.])(\d{1,4})([-./])(\d{1,2})\2(\d{2,4})(?![\d.]\d)/g;
const YEAR = /^(?:19|20)\d\d$/;
const DAY = /^([0-3]?\d)(?:st|nd|rd|th)?$/i;
/** Names of months that are words as well: only with a capital, or beside a number. */
const WORDS_TOO = new Set(['may', 'march', 'mar']);
const WITHIN = new Set(['of', 'the', 'in']);

const dayIn = (word: string | undefined): number | undefined => {
  const found = word === undefined ? null : DAY.exec(word);
  const day = found === null ? 0 : Number(found[1]);
  return day >= 1 && day <= 31 ? day : undefined;
};

/** The month that a word is the name of, as people write it: whole, or its first three letters. */
function namedMonth(words: readonly string[], at: number): number | undefined {
  const word = words[at]!;
  const lower = word.toLowerCase();
  const month = lower.length === 3 || lower === 'sept' || MONTHS.includes(lower) ? monthOf(lower) : undefined;
  if (month === undefined || !WORDS_TOO.has(lower)) return month;
  const capital = word[0] !== lower[0] && at > 0;
  const beside = [words[at - 1], words[at + 1]].some((one) => one !== undefined && /^\d/.test(one));
  return capital || beside ? month : undefined;
}

/** The dates that a text names, each with what it says of it. */
export function dateMentions(text: string): DateMention[] {
  const found: DateMention[] = [];
  const rest = text.replace(NUMBERS, (all, a: string, mark: string, b: string, c: string) => {
    // With points or dashes and no full year it may as well be a version.
    const isDate = mark === '/' || a.length === 4 || c.length === 4;
    const day = isDate ? dayOfNumbers(a, mark, b, c) : undefined;
    if (day === undefined) return all;
    found.push(day);
    return ' ';
  });
  const words = (rest.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !WITHIN.has(word));
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

const DAY_MS = 86_400_000;
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const RELATIVE =
  /\b(?:today|yesterday|(?:this|last) (?:week|month|year)|(?:on|last) (?:sun|mon|tues|wednes|thurs|fri|satur)day)\b/gi;

const dayAt = (at: number): DateMention => {
  const date = new Date(at);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() };
};

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

/** The dates that a text names by how far they are from now: yesterday, last week, on Monday. */
export const relativeMentions = (text: string, now: number): DateMention[] =>
  (text.match(RELATIVE) ?? []).flatMap((words) => relativeMention(words, now));

/** Whether a moment lies where a mention says. */
export function isWithin(mention: DateMention, at: number): boolean {
  const date = new Date(at);
  return (
    (mention.year ?? date.getUTCFullYear()) === date.getUTCFullYear() &&
    (mention.month ?? date.getUTCMonth()) === date.getUTCMonth() &&
    (mention.day ?? date.getUTCDate()) === date.getUTCDate()
  );
}

/** The words that stand for a moment in the text that is searched: day, month and year. */
export function dateWords(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
