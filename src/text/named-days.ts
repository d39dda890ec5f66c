/** Which day a sentence names: "on 12 March", "next Tuesday", "three days ago", seen from the moment it was said. */
import { type CalendarDay, dayOfNumbers, isDay, monthOf } from './parse-date.js';

export interface NamedDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** The words that name it, as they stand. */
  readonly words: string;
  readonly index: number;
  /** The words alone would not tell: another day was meant when they were said another day. */
  readonly relative: boolean;
}

/** What a sentence tells: of what was, of what is to come, or of both. */
export type Tense = 'past' | 'coming' | 'any';

const DAY_MS = 86_400_000;
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const WEEKDAY = '(sunday|monday|tuesday|wednesday|thursday|friday|saturday)';
const MONTH =
  '(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\\.?';
const COUNTS = 'one two three four five six seven eight nine ten'.split(' ');
const COUNT = `(\\d{1,3}|an?|${COUNTS.join('|')})`;

type Read = (found: RegExpExecArray, said_at: number | undefined, tense: Tense) => CalendarDay | undefined;

const calendar = (ms: number): CalendarDay => {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() };
};

const shifted = (said_at: number | undefined, days: number): CalendarDay | undefined =>
  said_at === undefined ? undefined : calendar(said_at + days * DAY_MS);

const countOf = (word: string): number => {
  const small = word.toLowerCase();
  if (small === 'a' || small === 'an') return 1;
  const named = COUNTS.indexOf(small);
  return named < 0 ? Number(small) : named + 1;
};

/** The first form that is found counts, so the longer ones come first. */
const FORMS: readonly { readonly form: RegExp; readonly relative: boolean; readonly read: Read }[] = [
  {
    form: /(?<![\w.])(\d{1,4})([-./])(\d{1,2})\2(\d{2,4})(?![\d.]\d)/,
    relative: false,
    read: ([, a, mark, b, c]) => dayOfNumbers(a!, mark!, b!, c!),
  },
  {
    form: /(\d{4})年(\d{1,2})月(\d{1,2})日/,
    relative: false,
    read: ([, year, month, day]) => checked(Number(year), Number(month) - 1, Number(day)),
  },
  {
    form: new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? (\\d{4}))?\\b`, 'i'),
    relative: false,
    read: ([, day, month, year], said_at, tense) => monthDay(month!, day!, year, said_at, tense),
  },
  {
    form: new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?!\\d)(?:,? (\\d{4}))?\\b`, 'i'),
    relative: false,
    read: ([, month, day, year], said_at, tense) => monthDay(month!, day!, year, said_at, tense),
  },
  {
    form: /\bthe day (after tomorrow|before yesterday)\b/i,
    relative: true,
    read: ([, which], said_at) => shifted(said_at, which!.startsWith('a') ? 2 : -2),
  },
  {
    form: /\b(today|tonight|this (?:morning|afternoon|evening)|tomorrow|yesterday)\b/i,
    relative: true,
    read: ([, word], said_at) => shifted(said_at, { tomorrow: 1, yesterday: -1 }[word!.toLowerCase()] ?? 0),
  },
  {
    form: new RegExp(
      `(?<!\\b(?:a|every|each|most|some|any) )\\b(next|this|last|on|this coming|coming|this past|by)? ?${WEEKDAY}(?! (?:morning|night)s\\b)\\b`,
      'i',
    ),
    relative: true,
    read: ([, which, weekday], said_at, tense) => weekdayOf(which?.toLowerCase(), weekday!, said_at, tense),
  },
  {
    form: new RegExp(`\\bin ${COUNT} (days?|weeks?)\\b(?! of\\b)`, 'i'),
    relative: true,
    read: ([, count, unit], said_at) => shifted(said_at, countOf(count!) * daysOf(unit!)),
  },
  {
    form: new RegExp(`\\b${COUNT} (days?|weeks?) ago\\b`, 'i'),
    relative: true,
    read: ([, count, unit], said_at) => shifted(said_at, -countOf(count!) * daysOf(unit!)),
  },
];

const daysOf = (unit: string): number => (unit.toLowerCase().startsWith('week') ? 7 : 1);

/** The first day that a sentence of this tense names. Undefined when it names none, or none for sure. */
export function namedDay(sentence: string, said_at: number | undefined, tense: Tense): NamedDay | undefined {
  for (const { form, relative, read } of FORMS) {
    const found = form.exec(sentence);
    const day = found && read(found, said_at, tense);
    if (found && day)
      return {
        day: new Date(Date.UTC(day.year, day.month, day.day)).toISOString().slice(0, 10),
        words: found[0].trim(),
        index: found.index + found[0].length - found[0].trimStart().length,
        relative,
      };
  }
  return undefined;
}

const checked = (year: number, month: number, day: number): CalendarDay | undefined =>
  isDay({ year, month, day }) ? { year, month, day } : undefined;

/** Without a year it is the next such day, the last one where the past is told, or the nearest. */
function monthDay(
  month_name: string,
  day_digits: string,
  year_digits: string | undefined,
  said_at: number | undefined,
  tense: Tense,
): CalendarDay | undefined {
  const month = monthOf(month_name)!;
  const day = Number(day_digits);
  if (year_digits !== undefined) return checked(Number(year_digits), month, day);
  if (said_at === undefined) return undefined;
  const today = Math.floor(said_at / DAY_MS) * DAY_MS;
  const { year } = calendar(said_at);
  const distance = (one: CalendarDay): number => Math.abs(Date.UTC(one.year, one.month, one.day) - today);
  return [year - 1, year, year + 1]
    .flatMap((one) => checked(one, month, day) ?? [])
    .filter((one) => {
      const ahead = Date.UTC(one.year, one.month, one.day) - today;
      return tense === 'any' || (tense === 'past' ? ahead <= 0 : ahead >= 0);
    })
    .sort((a, b) => distance(a) - distance(b))[0];
}

/** "Next" is of the next week, which begins on Monday; the others are the nearest, without today. */
function weekdayOf(
  which: string | undefined,
  weekday: string,
  said_at: number | undefined,
  tense: Tense,
): CalendarDay | undefined {
  if (said_at === undefined) return undefined;
  const today = new Date(said_at).getUTCDay();
  const wanted = WEEKDAYS.indexOf(weekday.toLowerCase());
  if (which === 'next') {
    const monday = ((today + 6) % 7) - 7;
    return shifted(said_at, -monday + ((wanted + 6) % 7));
  }
  const back = which === 'last' || which === 'this past' || (tense === 'past' && which !== 'this coming');
  const ahead = (wanted - today + 7) % 7 || 7;
  return shifted(said_at, back ? ahead - 7 || -7 : ahead);
}
