/** The values that a text states: dates, times, amounts and numbers with a unit, each of a kind that can be compared. */
import { stem } from '../../../text/index.js';

export interface StatedValue {
  /** Values of one kind replace each other: `date`, `weekday`, `time`, `money`, `percent`, `label:<noun>`, `phone`, `code`, a unit, or `number`. */
  readonly kind: string;
  readonly text: string;
  readonly index: number;
  /** Its digits, or a weekday. */
  readonly key: string;
  /** Of a date, the month if it names one. */
  readonly month?: string | undefined;
}

const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'nl', 'pt'];

/** The names of months or weekdays in several languages, in lower case, the longest first. */
function namesOf(form: Intl.DateTimeFormatOptions, days: readonly number[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const language of LANGUAGES) {
    const format = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC' });
    for (const [at, day] of days.entries()) {
      const name = format.format(day).toLowerCase().replace(/\.$/, '');
      if (!names.has(name)) names.set(name, at);
    }
  }
  return names;
}

const DAY = 86_400_000;
const months = Array.from({ length: 12 }, (_, month) => Date.UTC(2024, month, 15));
const MONTHS = new Map([...namesOf({ month: 'short' }, months), ...namesOf({ month: 'long' }, months)]);
/** From Monday, 1 January 2024. */
const WEEKDAYS = namesOf(
  { weekday: 'long' },
  Array.from({ length: 7 }, (_, day) => Date.UTC(2024, 0, 1) + day * DAY),
);
const oneOf = (names: Iterable<string>): string => [...names].sort((a, b) => b.length - a.length).join('|');

const MONTH = `(?:${oneOf(MONTHS.keys())})(?!\\p{L})`;
const WEEKDAY = `(?:${oneOf(WEEKDAYS.keys())})s?(?!\\p{L})`;
const ORDINAL = '\\d{1,2}(?:st|nd|rd|th|er|º|ª)';
const DATE = `(?:${WEEKDAY},? )?(?:(?:the|le|el|il|am|den|op|the) )?(?:\\d{1,2}(?:st|nd|rd|th|er|º|ª|\\.)?(?: (?:of|de))? ${MONTH}|${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?!\\d)|${ORDINAL}(?!\\p{L}))(?:,? \\d{4})?|\\d{4}-\\d\\d-\\d\\d|\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}`;
const TIME = '\\d{1,2}(?::\\d\\d(?: ?[ap]m)?| ?h(?: ?\\d\\d)?(?![\\p{L}])| ?[ap](?:\\.m\\.|m)(?!\\p{L})| uhr)';
const MONEY =
  '[£$€] ?\\d+(?:[.,]\\d+)*k?|\\d+(?:[.,]\\d+)*k? ?(?:€|euros?|dollars?|pounds?|usd|eur|gbp|francs?)(?!\\p{L})';
const PERCENT = '\\d+(?:[.,]\\d+)? ?(?:%|percent|per cent|prozent|pour ?cent|por ciento|per cento|procent)';
const NUMBER = '\\d+(?:[.,\\u202f\\u00a0 ]\\d{3})*(?:[.,]\\d+)?(?:(?: |-)?[\\p{L}²³]+)?';

/** "Room 12", "gate B4": the number names the thing. */
const LABELLED =
  '(?:room|gate|platform|seat|line|bus|tram|track|bay|hall|floor|terminal|pitch|court|stand|booth|raum|zimmer|gleis|linie|halle|salle|quai|porte|sala|andén|binario)s? (?:no\\.? ?)?[a-z]?\\d+[a-z]?(?![\\d.,]*\\d)';
const NUMBER_WORDS = new Map(
  Object.entries({
    2: 'two zwei deux dos due twee',
    3: 'three drei trois tres tre drie',
    4: 'four vier quatre cuatro quattro',
    5: 'five fünf cinq cinco cinque vijf',
    6: 'six sechs sei zes',
    7: 'seven sieben sept siete sette zeven',
    8: 'eight acht huit ocho otto',
    9: 'nine neun neuf nueve nove negen',
    10: 'ten zehn dix diez dieci tien',
    11: 'eleven elf onze once undici',
    12: 'twelve zwölf douze doce dodici twaalf',
    15: 'fifteen fünfzehn quinze quince quindici vijftien',
    20: 'twenty zwanzig vingt veinte venti twintig',
    30: 'thirty dreißig trente treinta trenta dertig',
    40: 'forty vierzig quarante cuarenta quaranta veertig',
    50: 'fifty fünfzig cinquante cincuenta cinquanta vijftig',
  }).flatMap(([digits, words]) => words.split(' ').map((word) => [word, digits] as const)),
);
/** Before a noun: "three weeks". */
const SPELT = `(?:${oneOf(NUMBER_WORDS.keys())}) [\\p{L}]{3,}`;

/** A telephone number, an address on the net, a code of letters and digits. */
const PHONE = '(?:\\+\\d{1,3}|0\\d{1,4})(?:[ /-]?\\d{2,8}){1,4}|\\d{3}-\\d{4}';
const CODE =
  '[^\\s,;:@]+@[^\\s,;:@]+\\.[\\p{L}]{2,}|(?=[\\p{L}\\d-]*\\d)(?=[\\p{L}\\d-]*\\p{L})[\\p{L}\\d]+(?:-[\\p{L}\\d]+)+';

const VALUE = new RegExp(
  `(?<![\\p{L}\\d_./:#-])(?:(?<label>${LABELLED})|(?<phone>${PHONE})|(?<date>${DATE})|(?<time>${TIME})|(?<money>${MONEY})|(?<percent>${PERCENT})|(?<weekday>${WEEKDAY})|(?<code>${CODE})|(?<number>${NUMBER})|(?<spelt>${SPELT}))(?![\\d_/])`,
  'giu',
);

export function valuesIn(text: string): StatedValue[] {
  const values: StatedValue[] = [];
  for (const { groups, index, 0: found } of text.matchAll(VALUE)) {
    const [kind, whole] = Object.entries(groups!).find(([, value]) => value !== undefined)!;
    const digits = (whole.match(/\d+/g) ?? []).join('');
    if (kind === 'weekday') {
      const name = whole.toLowerCase();
      const day = WEEKDAYS.get(name) ?? WEEKDAYS.get(name.replace(/s$/, ''));
      values.push({ kind, text: whole, index, key: `${day}` });
    } else if (kind === 'phone' || kind === 'code') {
      values.push({ kind, text: whole, index, key: kind === 'phone' ? digits : whole.toLowerCase() });
    } else if (kind === 'number') {
      values.push(numberOf(found, index));
    } else if (kind === 'spelt') {
      const [word, unit] = whole.toLowerCase().split(' ') as [string, string];
      if (!NO_UNIT.test(unit)) values.push({ kind: stem(unit), text: whole, index, key: NUMBER_WORDS.get(word)! });
    } else if (kind === 'label') {
      const label = stem(/^\p{L}+/u.exec(whole)![0].toLowerCase());
      values.push({
        kind: `label:${label}`,
        text: whole,
        index,
        key: /[a-z]?\d+[a-z]?$/i.exec(whole)![0].toLowerCase(),
      });
    } else if (kind === 'date') {
      const month = new RegExp(MONTH, 'iu').exec(whole)?.[0].toLowerCase();
      const at = month === undefined ? undefined : `${MONTHS.get(month)}`;
      values.push({ kind, text: whole, index, key: `${digits}/${at ?? ''}`, month: at });
    } else {
      const currency = kind === 'money' && /€|eur/i.test(whole) ? ':eur' : '';
      values.push({ kind: `${kind}${currency}`, text: whole, index, key: digits });
    }
  }
  return values;
}

const UNIT = /^(.*?\d)(?:(?: |-)?([\p{L}²³]+))?$/u;
/** Words after a number that are no unit. */
const NO_UNIT =
  /^(?:is|was|are|were|and|or|but|i|we|then|now|not|in|on|at|for|to|from|of|with|the|a|an|as|so|if|before|already|by|it|that|all|et|ou|le|la|en|au|pour|est|und|oder|ist|y|o|es|e|maar)$/i;

function numberOf(found: string, index: number): StatedValue {
  const [, number, unit] = UNIT.exec(found) as unknown as [string, string, string | undefined];
  const key = number.replace(/\D/g, '');
  if (unit === undefined || NO_UNIT.test(unit)) return { kind: 'number', text: number, index, key };
  return { kind: stem(unit.toLowerCase()), text: found, index, key };
}
