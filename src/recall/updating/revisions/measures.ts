/** Values that are recognised by their form, in several languages: amounts, shares, days, times, intervals and codes. */

export type MeasureKind = 'amount' | 'money' | 'share' | 'weekday' | 'day' | 'clock' | 'interval' | 'code';

export interface Measure {
  readonly kind: MeasureKind;
  /** Of an amount what is counted, if the text says so; of money what it is paid for, such as `month`. */
  readonly unit: string;
  /** In one spelling. */
  readonly value: string;
  /** Position in the text, in UTF-16 units, with the unit. */
  readonly start: number;
  readonly end: number;
  /** Position of the number, if it has a unit: what is counted is a subject of the text. */
  readonly number: { readonly start: number; readonly end: number };
}

const table = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .trim()
      .split(/\s*;\s*/)
      .flatMap((row, at) => row.split(' ').map((word) => [word, at] as const)),
  );

const WEEKDAYS = table(`
  sunday sonntag dimanche domingo domenica zondag; monday montag lundi lunes lunedì segunda-feira maandag;
  tuesday tue tues dienstag mardi martes martedì terça-feira dinsdag;
  wednesday mittwoch mercredi miércoles mercoledì quarta-feira woensdag;
  thursday thu thurs donnerstag jeudi jueves giovedì quinta-feira donderdag;
  friday fri freitag vendredi viernes venerdì sexta-feira vrijdag; saturday samstag sonnabend samedi sábado sabato zaterdag`);
const MONTHS = table(`
  january jan januar janvier enero gennaio janeiro januari; february feb februar février febrero febbraio fevereiro februari;
  march mar märz mars marzo março maart; april apr avril abril aprile; may mai mayo maggio maio mei; june jun juni juin junio giugno junho;
  july jul juli juillet julio luglio julho; august aug août agosto augustus;
  september sept sep septembre septiembre settembre setembro; october oct oktober octobre octubre ottobre outubro;
  november nov novembre noviembre novembro; december dec dezember décembre diciembre dicembre dezembro`);
const NUMBERS = table(`
  zero; one ein; two zwei deux dos due dois twee couple twice; three drei trois tres tre três drie thrice; four vier quatre cuatro quattro quatro;
  five fünf cinq cinco cinque vijf; six sechs seis sei zes; seven sieben sept siete sette sete zeven; eight acht huit ocho otto oito;
  nine neun neuf nueve nove negen; ten zehn dix diez dieci dez tien; eleven elf onze once undici; twelve zwölf douze doce dodici doze twaalf;
  thirteen dreizehn; fourteen vierzehn quatorze catorce; fifteen fünfzehn quinze quindici; sixteen; seventeen; eighteen; nineteen; twenty zwanzig vingt veinte venti`);
const TENS = table(
  '; ; ; thirty dreißig trente treinta; forty vierzig quarante; fifty fünfzig; sixty sechzig; seventy; eighty; ninety',
);

const words = (known: ReadonlyMap<string, number>): string =>
  [...known.keys()]
    .filter((word) => word !== '')
    .sort((a, b) => b.length - a.length)
    .join('|');

const DIGITS = "\\d+(?:[.,'’]\\d+)*";
const NUMBER_WORD = `(?:${words(NUMBERS)}|${words(TENS)})`;
const NUMBER = `(?:${DIGITS}[km]?|${NUMBER_WORD})(?![\\p{L}\\p{N}])`;
const HAN_NUMBER = '[〇零一二两三四五六七八九十百千万亿\\d]+';
const CURRENCY =
  'dollars?|bucks|usd|euros?|eur|pounds?|quid|gbp|francs?|chf|yen|yuan|rupees?|rand|crowns?|kronor|kroner|złoty|zloty|lira|lari|dirhams?|pesos?|reais|cents?|pence|€|£|\\$|元|块|円|₹|¥|원';
const WEEKDAY = words(WEEKDAYS);
const MONTH = words(MONTHS);
const UNIT_OF_TIME =
  'seconds?|minutes?|hours?|days?|nights?|weeks?|fortnights?|months?|quarters?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans?|días?|semanas?|mes(?:es)?|años?';

const B = '(?<![\\p{L}\\p{N}])';
const E = '(?![\\p{L}\\p{N}])';
const i = (source: string): RegExp => new RegExp(source, 'giu');

const lower = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

const HAN_DIGITS = '零一二三四五六七八九';
const HAN_UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000, 万: 10_000, 亿: 100_000_000 };

/** "一万一千二" is 11,200: the last digit is of the next lower unit. */
function hanNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  let [whole, part, digit, unit] = [0, 0, 0, 1];
  for (const letter of text.replace(/两/g, '二').replace(/〇/g, '零')) {
    const factor = HAN_UNITS[letter];
    if (factor === undefined) digit = /\d/.test(letter) ? digit * 10 + Number(letter) : HAN_DIGITS.indexOf(letter);
    else if (factor >= 10_000) {
      whole = (whole + part + digit) * factor;
      [part, digit, unit] = [0, 0, factor];
    } else {
      part += (digit === 0 ? 1 : digit) * factor;
      [digit, unit] = [0, factor];
    }
  }
  return whole + part + digit * (unit > 10 && !text.includes('零') ? unit / 10 : 1);
}

/** A number in digits or as a word, in one spelling. */
function numberIn(text: string): string {
  const word = lower(text);
  const named = NUMBERS.get(word) ?? (TENS.has(word) ? 10 * TENS.get(word)! : undefined);
  if (named !== undefined) return String(named);
  const digits = word.replace(/(?<=\d)[,'’.](?=\d{3}(?:\D|$))/g, '').replace(/(?<=\d),(?=\d)/g, '.');
  const thousands = /^(.+)k$/.exec(digits);
  return thousands ? String(Number(thousands[1]) * 1000) : digits.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

const dayNumber = (word: string, known: ReadonlyMap<string, number>): string => {
  const name = lower(word);
  return String(known.get(name) ?? known.get(name.replace(/s$/, '')) ?? name);
};
const HAN_WEEK = '日一二三四五六';
const hanWeekday = (letter: string): string => String(Math.max(0, HAN_WEEK.indexOf(letter)));

const PER = `(?: ?/ ?| (?:a|an|per|each|every|par|pro|por|im|al|am|je|la|le) )(?<per>\\p{L}+)`;
const clockOf = (hour: string, minute: string | undefined, half: string | undefined): string => {
  const given = Number(numberIn(hour));
  const late = half !== undefined && /^p/i.test(half) && given < 12;
  return `${late ? given + 12 : given}:${minute ?? '00'}`;
};

type Read = (found: Readonly<Record<string, string | undefined>>, whole: string) => Pick<Measure, 'unit' | 'value'>;
type Form = readonly [kind: MeasureKind, form: RegExp, read: Read];

const plain: Read = (_, whole) => ({ unit: '', value: lower(whole) });

/** Tried in order; what one form has matched is hidden from the others. */
const FORMS: readonly Form[] = [
  ['code', i(`${B}(?:https?://\\S+|[\\w.+-]+@[\\w-]+\\.[\\w.-]+)`), plain],
  ['day', i(`${B}\\d{4}-\\d\\d-\\d\\d${E}`), plain],
  // Years alone say when something happened.
  ['code', i(`${B}\\+?\\d[\\d ()/-]{6,}\\d${E}`), (_, whole) => ({ unit: '', value: whole.replace(/\D/g, '') })],
  [
    'money',
    i(
      `(?<number>${HAN_NUMBER})(?:元|块|円)|(?<=[还付租贷价费资薪额到月])(?<bare>[〇零一二两三四五六七八九十百千万亿]{2,})`,
    ),
    ({ number, bare }) => ({ unit: '', value: String(hanNumber((number ?? bare)!)) }),
  ],
  [
    'interval',
    i(
      `${B}(?:(?:once|twice|(?:${NUMBER}) times?|einmal|zweimal) (?:a|per|each|every|im|pro) (?:${UNIT_OF_TIME})|(?:every|each|alle|jeden?|jede|tous les|toutes les|cada|todos los|todas las|ogni|elke) (?:(?:other|second|two|third|fourth|last|first|zweiten?|deux|dos|${NUMBER}) )?(?:${UNIT_OF_TIME})|daily|weekly|monthly|quarterly|yearly|annually|hourly|nightly|fortnightly|bi-?weekly|täglich|wöchentlich|monatlich|jährlich)${E}|每(?:${HAN_NUMBER}|半)?(?:天|周|个?月|年)(?!六|日)`,
    ),
    plain,
  ],
  [
    'money',
    i(`(?<sign>[€£$¥₹]) ?(?<number>${DIGITS}[km]?)(?![\\p{L}\\p{N}])(?:${PER})?`),
    ({ number, per }) => ({ unit: lower(per ?? ''), value: numberIn(number!) }),
  ],
  [
    'money',
    i(`${B}(?<number>${NUMBER}) ?(?:${CURRENCY})(?![\\p{L}\\p{N}])(?:${PER})?`),
    ({ number, per }) => ({ unit: lower(per ?? ''), value: numberIn(number!) }),
  ],
  [
    'share',
    i(`${B}(?<number>${NUMBER}) ?(?:%|percent|per cent|prozent|pour cent|por ciento)`),
    ({ number }) => ({ unit: '', value: numberIn(number!) }),
  ],
  [
    'clock',
    i(
      `${B}(?<hour>\\d{1,2})(?:[:h](?<minute>\\d\\d)(?: ?(?<half>[ap])\\.?m\\.?)?|(?:\\.\\d\\d)? ?(?<half2>[ap])\\.?m\\.?| ?(?:uhr|h|o'clock))${E}`,
    ),
    ({ hour, minute, half, half2 }) => ({ unit: '', value: clockOf(hour!, minute, half ?? half2) }),
  ],
  [
    'clock',
    i(
      `${B}(?:half|quarter) (?:past|to) ${NUMBER}|${B}(?:noon|midnight|midday|mittags|mitternacht|midi|minuit|mediodía)${E}`,
    ),
    plain,
  ],
  [
    'clock',
    i(
      `(?<=\\b(?:at|by|until|till|from|um|ab|bis|à|a las?) )(?<hour>\\d{1,2}|${NUMBER_WORD})${E}(?! ?(?:%|\\p{Ll}|[€£$]))`,
    ),
    ({ hour }) => ({ unit: '', value: clockOf(hour!, undefined, undefined) }),
  ],
  [
    'clock',
    i(`(?:凌晨|早上|上午|中午|下午|晚上)?(?<hour>${HAN_NUMBER})点(?:半|钟)?`),
    ({ hour }) => ({ unit: '', value: `${hanNumber(hour!)}:00` }),
  ],
  [
    'day',
    i(
      `${B}(?<day>\\d{1,2})(?:st|nd|rd|th|\\.)?(?: ?[–-] ?(?<last>\\d{1,2}))?(?:st|nd|rd|th|\\.)?(?: (?:to|until|bis|and) \\d{1,2}(?:st|nd|rd|th|\\.)?)? (?:of |de |di )?(?<month>${MONTH})${E}`,
    ),
    ({ day, last, month }) => ({ unit: '', value: `${dayNumber(month!, MONTHS)}-${day}${last ? `-${last}` : ''}` }),
  ],
  [
    'day',
    i(`${B}(?<month>${MONTH})\\.? (?<day>\\d{1,2})(?:st|nd|rd|th)?${E}(?!:)`),
    ({ day, month }) => ({ unit: '', value: `${dayNumber(month!, MONTHS)}-${day}` }),
  ],
  ['day', i(`${B}the (?<day>\\d{1,2})(?:st|nd|rd|th)${E}`), ({ day }) => ({ unit: '', value: `?-${day}` })],
  ['day', i(`${HAN_NUMBER}月(?:${HAN_NUMBER}[日号])?`), plain],
  [
    'weekday',
    i(`(?<!\\b(?:last|next|this|past|coming) )${B}(?<name>${WEEKDAY})s?${E}`),
    ({ name }) => ({ unit: '', value: dayNumber(name!, WEEKDAYS) }),
  ],
  [
    'weekday',
    /(?:周|星期|礼拜)([一二三四五六日天])/gu,
    (_, whole) => ({ unit: '', value: hanWeekday(whole.at(-1)!.replace('天', '日')) }),
  ],
  [
    'weekday',
    /([日月火水木金土])曜/gu,
    (_, whole) => ({ unit: '', value: String('日月火水木金土'.indexOf(whole[0]!)) }),
  ],
  ['code', i(`${B}(?=[\\w-]*\\p{L})(?=[\\w-]*\\d)[\\p{L}\\d][\\p{L}\\d_-]{3,}${E}`), plain],
  ['amount', i(`${B}\\d{1,4}:\\d{1,4}${E}`), plain],
];

const AMOUNT = new RegExp(
  `${B}(?<number>${NUMBER})(?:(?<join>[ -]?)(?<unit>[µ°]?\\p{L}+)(?:(?: a | an | per |/)(?<per>\\p{L}+))?)?`,
  'giu',
);
const HAN_AMOUNT = new RegExp(
  `(?<large>(?=[一二两三四五六七八九十]*[百千万亿])[〇零一二两三四五六七八九十百千万亿]{2,})|(?<number>${HAN_NUMBER})(?<unit>房间|楼|层|号|室|度|个|次|岁|克|公斤|斤|米|公里|分钟|小时|天|年|片|杯|人|平|平米)`,
  'gu',
);
/** Words after a number that are no unit. */
const NO_UNIT =
  /^(?:and|or|to|in|on|at|by|for|from|of|the|a|an|is|are|was|were|will|with|per|each|now|since|because|but|so|as|if|when|until|till|after|before|over|then|than|that|this|too|only|instead|again|und|oder|ab|bis|seit|jetzt|im|pro|et|ou|par|de|y|o|por|al|depuis|desde|maintenant|ahora|old|new|other|last|next|more|less|times?|am|pm|die|der|das|le|la|les|has|have|had|holds?|costs?|takes?|runs?|gets?|needs?|comes?|goes|leaves?|arrive[sd]?|start(?:s|ed)?|ends?|opens?|closes?|lasts?|expires?|belongs?|contains?|supports?|works?|uses?|play(?:s|ed)|killed|failed|passed|ist|hat|est|es)$/i;
/** Two spellings of a unit. */
const UNITS: ReadonlyMap<string, string> = new Map(
  'second s sec secs;minute min mins;hour h hr hrs;people person persons head heads;kg kilo kilos kilogram;g gram gramme grams;degree °c degrees'
    .split(';')
    .flatMap((row) => {
      const [word, ...others] = row.split(' ');
      return others.map((other) => [other, word!] as const);
    }),
);

function unitOf(word: string): string {
  const unit = lower(word);
  return UNITS.get(unit) ?? UNITS.get(unit.replace(/s$/, '')) ?? unit.replace(/(?<=\p{L}{3})s$/u, '');
}

const YEAR = /^(?:19|20)\d\d$/;
/** "One of them" counts nothing. */
const VAGUE = /^(?:one|ein|once|couple|twice|a)$/i;

/** "2009 Sprinter" and "Python 3.9 everywhere" count nothing. */
function isUnit(word: string, number: string, before: string): boolean {
  if (NO_UNIT.test(word) || (/^\p{Lu}/u.test(word) && YEAR.test(number))) return false;
  return !/\p{Lu}[\p{L}.\d]* $/u.test(before) || /^\p{Lu}|s$/u.test(word);
}

function amountsIn(text: string): Measure[] {
  const found: Measure[] = [];
  for (const match of [...text.matchAll(AMOUNT), ...text.matchAll(HAN_AMOUNT)]) {
    const { unit, join, per, large } = match.groups as Record<'unit' | 'join' | 'per' | 'large', string | undefined>;
    const number = large ?? match.groups!.number!;
    const isHan = large !== undefined || (join === undefined && unit !== undefined && !/^[a-z°µ]/i.test(unit));
    const counted =
      unit !== undefined && (isHan || isUnit(unit, number, text.slice(0, match.index))) ? unit : undefined;
    // "Two new teeth" counts something further on.
    const isOpen =
      counted === undefined && !/^\d/.test(number) && /^ ?\p{L}/u.test(text.slice(match.index + number.length));
    if (VAGUE.test(number) || isOpen) continue;
    const value = isHan ? String(hanNumber(number)) : numberIn(number);
    if (counted === undefined && YEAR.test(value)) continue;
    const end = match.index + (counted === undefined ? number.length : match[0].length);
    const rate = per === undefined || counted === undefined ? '' : `/${unitOf(per)}`;
    const unit_name = counted === undefined ? '' : unitOf(counted) + rate;
    const start = match.index;
    found.push({ kind: 'amount', unit: unit_name, value, start, end, number: { start, end: start + number.length } });
  }
  return found;
}

/** The values of a text, in order. */
export function measuresIn(text: string): Measure[] {
  let rest = text;
  const found: Measure[] = [];
  for (const [kind, form, read] of FORMS)
    rest = rest.replace(form, (...args: unknown[]) => {
      const groups = (typeof args.at(-1) === 'object' ? args.at(-1) : {}) as Record<string, string | undefined>;
      const at = args.findIndex((one) => typeof one === 'number');
      const [whole, start] = [args[0] as string, args[at] as number];
      const inside = groups.number === undefined || kind === 'share' ? whole : groups.number;
      const from = start + whole.indexOf(inside);
      const number = { start: from, end: from + inside.length };
      found.push({ kind, ...read(groups, whole), start, end: start + whole.length, number });
      return '\u0000'.repeat(whole.length);
    });
  return [...found, ...amountsIn(rest)].sort((a, b) => a.start - b.start);
}
