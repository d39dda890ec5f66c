/** Dates as people and programs write them, parsed to epoch milliseconds; in UTC if they name no zone. */

export const MONTHS: readonly string[] = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];

/** The month, from 0, by its name or at least three letters of it ("sept"). */
export function monthOf(word: string): number | undefined {
  if (word.length < 3) return undefined;
  const lower = word.toLowerCase();
  const at = MONTHS.findIndex((month) => month.startsWith(lower));
  return at < 0 ? undefined : at;
}

/** Months count from 0. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const MAX_TEXT = 100;
const MAX_MS = 8.64e15;
/** A number of ten digits below this is in seconds: in milliseconds it would lie before 1974. */
const SECONDS_BELOW = 1e11;

const TIME = /(?:^|[\sT,])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s?([ap])\.?m\b\.?)?/i;
const HOUR = /(?:^|[\s,])(\d{1,2})\s?([ap])\.?m\b\.?/i;
/** Directly after a time, optionally with its name in brackets. */
const ZONE = /^\s?(?:(?:utc|gmt)?([+-])(\d{2}):?(\d{2})?|utc|gmt|z)(?![\p{L}\p{N}])(?:\s?\([\p{L} ]{1,40}\))?/iu;
const FILLERS = /^(?:on|at|of|the|st|nd|rd|th|t|mon|tues?|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?$/i;

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
export const DAY_MS = 86_400_000;

export function dayAt(ms: number): CalendarDay {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() };
}

export function validDay(found: CalendarDay): CalendarDay | undefined {
  const { year, month, day } = found;
  const isValid = year >= 1000 && month >= 0 && month < 12 && day >= 1 && day <= daysIn(year, month);
  return isValid ? found : undefined;
}

/** A year of two digits lies in 1970 to 2069. */
const fullYear = (digits: string): number => {
  const year = Number(digits);
  if (digits.length > 2) return year;
  return year < 70 ? 2000 + year : 1900 + year;
};

/** Year first, or day before month with a point or dash, month before day with a slash; the reverse if that is no date. */
export function dayOfNumbers(a: string, mark: string, b: string, c: string): CalendarDay | undefined {
  if (a.length === 4) return validDay({ year: Number(a), month: Number(b) - 1, day: Number(c) });
  if (a.length > 2 || (c.length !== 4 && c.length !== 2)) return undefined;
  const year = fullYear(c);
  const dayFirst = validDay({ year, month: Number(b) - 1, day: Number(a) });
  const monthFirst = validDay({ year, month: Number(a) - 1, day: Number(b) });
  return mark === '/' ? (monthFirst ?? dayFirst) : (dayFirst ?? monthFirst);
}

/** The date in a text without time and zone; only weekdays and filler words may stand beside it. */
function dayOf(text: string): CalendarDay | undefined {
  const numbers = /^\D*?(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})(?!\d)/.exec(text);
  if (numbers !== null) {
    const rest = text.replace(numbers[0].replace(/^\D*/, ''), ' ');
    return isFiller(rest) ? dayOfNumbers(numbers[1]!, numbers[2]!, numbers[3]!, numbers[4]!) : undefined;
  }
  const words = text.match(/\p{L}+|\p{N}+/gu) ?? [];
  const named = words.filter((word) => monthOf(word) !== undefined && !FILLERS.test(word));
  const digits = words.filter((word) => /^\d+$/.test(word));
  const rest = words.filter((word) => !named.includes(word) && !digits.includes(word));
  if (named.length !== 1 || digits.length !== 2 || !isFiller(rest.join(' '))) return undefined;
  const [first, second] = digits as [string, string];
  const [year, day] = first.length === 4 ? [first, second] : [second, first];
  if (year.length !== 4 || day.length > 2) return undefined;
  return validDay({ year: Number(year), month: monthOf(named[0]!)!, day: Number(day) });
}

const isFiller = (text: string): boolean => (text.match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => FILLERS.test(word));

/** Minutes by which the zone is ahead of UTC. */
const offsetOf = (zone: RegExpExecArray | null): number =>
  zone?.[1] === undefined ? 0 : (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 60 + Number(zone[3] ?? 0));

/** Milliseconds since midnight; undefined for an impossible time. */
function timeOf(found: RegExpExecArray | null): number | undefined {
  if (found === null) return 0;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = '', half] = found;
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  return ((hour * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + milliseconds;
}

function hourOf(text: string): RegExpExecArray | null {
  const found = HOUR.exec(text);
  // In the form of TIME, with undefined minutes, seconds and fraction.
  if (found !== null) found.splice(2, 1, undefined as never, undefined as never, undefined as never, found[2]!);
  return found;
}

function ofNumber(value: number): number | undefined {
  const at = Math.abs(value) < SECONDS_BELOW && Math.abs(value) >= 1e9 ? value * 1000 : value;
  return Number.isFinite(at) && Math.abs(at) <= MAX_MS ? Math.trunc(at) : undefined;
}

/**
 * Epoch milliseconds of a number (milliseconds, or seconds with ten digits) or a text: ISO 8601, RFC 2822,
 * "8 May 2023, 1:56 pm", "March-15-2024", "29.12.2023, 00:51:12", "12/29/2023". Undefined if it is no date.
 */
export function parseDate(value: unknown): number | undefined {
  if (typeof value === 'number') return ofNumber(value);
  if (typeof value !== 'string' || value.length > MAX_TEXT) return undefined;
  let text = value.normalize('NFKC').trim();
  if (/^-?\d{9,16}$/.test(text)) return ofNumber(Number(text));
  const time = TIME.exec(text) ?? hourOf(text);
  let zone: RegExpExecArray | null = null;
  if (time !== null) {
    const behind = text.slice(time.index + time[0].length);
    zone = ZONE.exec(behind);
    text = `${text.slice(0, time.index)} ${behind.slice(zone?.[0].length ?? 0)}`;
  }
  const day = dayOf(text);
  const within = timeOf(time);
  if (day === undefined || within === undefined) return undefined;
  return Date.UTC(day.year, day.month, day.day) + within - offsetOf(zone) * 60_000;
}
