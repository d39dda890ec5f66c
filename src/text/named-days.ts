/** The day that a sentence names: "on 12 March", "next Tuesday", "three days ago", relative to when it was said. */
import { type CalendarDay, DAY_MS, dayAt, dayOfNumbers, monthOf, validDay, WEEKDAYS } from './parse-date.js';

export interface NamedDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** The words that name it. */
  readonly words: string;
  readonly index: number;
  /** Whether the day depends on when the words were said. */
  readonly relative: boolean;
}

export type Tense = 'past' | 'coming' | 'any';

const WEEKDAY = `(${WEEKDAYS.join('|')})`;
const MONTH =
  '(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\\.?';
const COUNTS = 'one two three four five six seven eight nine ten'.split(' ');
const COUNT = `(\\d{1,3}|an?|${COUNTS.join('|')})`;

type Read = (found: RegExpExecArray, said_at: number | undefined, tense: Tense) => CalendarDay | undefined;

const shifted = (said_at: number | undefined, days: number): CalendarDay | undefined =>
  said_at === undefined ? undefined : dayAt(said_at + days * DAY_MS);

const countOf = (word: string): number => {
  const small = word.toLowerCase();
  if (small === 'a' || small === 'an') return 1;
  const named = COUNTS.indexOf(small);
  return named < 0 ? Number(small) : named + 1;
};

const ABSOLUTE: readonly (readonly [RegExp, Read])[] = [
  [/(?<![\w.])(\d{1,4})([-./])(\d{1,2})\2(\d{2,4})(?![\d.]\d)/, ([, a, mark, b, c]) => dayOfNumbers(a!, mark!, b!, c!)],
  [
    /(\d{4})年(\d{1,2})月(\d{1,2})日/,
    ([, year, month, day]) => validDay({ year: Number(year), month: Number(month) - 1, day: Number(day) }),
  ],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? (\\d{4}))?\\b`, 'i'),
    ([, day, month, year], said_at, tense) => monthDay([month!, day!, year], said_at, tense),
  ],
  [
    new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?!\\d)(?:,? (\\d{4}))?\\b`, 'i'),
    ([, month, day, year], said_at, tense) => monthDay([month!, day!, year], said_at, tense),
  ],
];

const RELATIVE: typeof ABSOLUTE = [
  [
    /\bthe day (after tomorrow|before yesterday)\b/i,
    ([, which], said_at) => shifted(said_at, which!.startsWith('a') ? 2 : -2),
  ],
  [
    /\b(today|tonight|this (?:morning|afternoon|evening)|tomorrow|yesterday)\b/i,
    ([, word], said_at) => shifted(said_at, { tomorrow: 1, yesterday: -1 }[word!.toLowerCase()] ?? 0),
  ],
  [
    new RegExp(
      `(?<!\\b(?:a|every|each|most|some|any) )\\b(next|this|last|on|this coming|coming|this past|by)? ?${WEEKDAY}(?! (?:morning|night)s\\b)\\b`,
      'i',
    ),
    ([, which, weekday], said_at, tense) => weekdayOf(which?.toLowerCase(), weekday!, said_at, tense),
  ],
  [
    new RegExp(`\\bin ${COUNT} (days?|weeks?)\\b(?! of\\b)`, 'i'),
    ([, count, unit], said_at) => shifted(said_at, countOf(count!) * daysOf(unit!)),
  ],
  [
    new RegExp(`\\b${COUNT} (days?|weeks?) ago\\b`, 'i'),
    ([, count, unit], said_at) => shifted(said_at, -countOf(count!) * daysOf(unit!)),
  ],
];

/** Tried in order, so longer forms come first. */
const FORMS: typeof ABSOLUTE = [...ABSOLUTE, ...RELATIVE];

const daysOf = (unit: string): number => (unit.toLowerCase().startsWith('week') ? 7 : 1);

/** The first day that a sentence of this tense names; undefined if there is none, or it is ambiguous. */
export function namedDay(sentence: string, said_at: number | undefined, tense: Tense): NamedDay | undefined {
  for (const [form, read] of FORMS) {
    const found = form.exec(sentence);
    const day = found && read(found, said_at, tense);
    if (found && day)
      return {
        day: new Date(Date.UTC(day.year, day.month, day.day)).toISOString().slice(0, 10),
        words: found[0].trim(),
        index: found.index + found[0].length - found[0].trimStart().length,
        relative: RELATIVE.some(([one]) => one === form),
      };
  }
  return undefined;
}

/** Without a year: the last such day in the past tense, the next one in the future, else the nearest. */
function monthDay(
  [month_name, day_digits, year_digits]: readonly [string, string, string | undefined],
  said_at: number | undefined,
  tense: Tense,
): CalendarDay | undefined {
  const month = monthOf(month_name)!;
  const day = Number(day_digits);
  if (year_digits !== undefined) return validDay({ year: Number(year_digits), month, day });
  if (said_at === undefined) return undefined;
  const today = Math.floor(said_at / DAY_MS) * DAY_MS;
  const { year } = dayAt(said_at);
  const distance = (one: CalendarDay): number => Math.abs(Date.UTC(one.year, one.month, one.day) - today);
  return [year - 1, year, year + 1]
    .flatMap((one) => validDay({ year: one, month, day }) ?? [])
    .filter((one) => {
      const ahead = Date.UTC(one.year, one.month, one.day) - today;
      return tense === 'any' || (tense === 'past' ? ahead <= 0 : ahead >= 0);
    })
    .sort((a, b) => distance(a) - distance(b))[0];
}

/** "Next" means the next week, from Monday; otherwise the nearest such day except today. */
function weekdayOf(which: string | undefined, weekday: string, said_at: number | undefined, tense: Tense) {
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
