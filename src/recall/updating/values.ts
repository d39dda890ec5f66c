/** Values of statements: where they end in a sentence, what kind they are, and whether two are the same. */
import { keyOf } from '../extraction/english/drafts.js';
import { EVALUATIVE } from '../extraction/english/sentences.js';
import { wordingOf } from '../extraction/english/wordings.js';

/** Says that something has changed. */
export const CHANGED =
  /\b(?:now|nowadays|these days|no longer|any ?more|any longer|from now on|instead|as of|starting|correction|correcting|update|new|since (?:january|february|march|april|may|june|july|august|september|october|november|december|last|this|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d))\b/i;

/** Says that a value was wrong, not that it has changed. */
export const CORRECTED = /\b(?:actually|correction|correcting|in fact|not .+ but|i was wrong|wrongly|mistaken|typo)\b/i;

/** Says that a value joins others. */
export const ADDED = /\b(?:also|too|as well|additionally|another|in addition|a second|besides)\b/i;

/** The end of a value: a reason, a circumstance, or a second statement. */
const REASON =
  /,? (?:because|'?cause|since|so that|so(?= (?:i|we|he|she|they|the|that|it)\b)|due to|thanks to|now that|after|in order to|which|who|as (?:he|she|they|it|we|i|the|of)\b)(?: .*|$)/i;
const TAIL =
  /[,;]?\s+(?:now|nowadays|these days|currently|instead|from now on|as of .+|starting .+|any ?more|any longer|again|already|for good|at the moment|right now|this time|today|yesterday|finally|last (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|since .+|this (?:week|month|year|spring|summer|autumn|winter|morning)|in (?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?|(?:a|two|three|few|couple of) (?:days?|weeks?|months?|years?) ago|in (?:19|20)\d\d|together)$/i;
const SECOND =
  /(?:;| [–—-] |,? but |,? while |,? (?:and|or) (?=(?:also |now |currently |he |she |they |it |we |i |is |has |was |will |can |does |doesn't |[\p{Ll}]+s )(?!.*\d$))|, (?=(?:and|but|he|she|they|it|we|i|who|which|with|has|is|was|a|an|the|my|our|so|plus|not|no)\b)).*$/iu;

interface ValueSpan {
  readonly value: string;
  /** Length of the value within the text that it begins. */
  readonly length: number;
  /** Whether the text says more than the value and its circumstances. */
  readonly more: boolean;
}

/** The value at the beginning of a text, which is the rest of its sentence. */
export function valueAt(text: string): ValueSpan {
  let rest = text.replace(/[.!\s"')\]]+$/, (end) => (/^[.!\s]*$/.test(end) ? '' : end.replace(/[.!\s]+$/, '')));
  const second = SECOND.exec(rest);
  if (second) rest = rest.slice(0, second.index);
  const reason = REASON.exec(rest);
  if (reason) rest = rest.slice(0, reason.index);
  for (let shorter = rest.replace(TAIL, ''); shorter !== rest; shorter = rest.replace(TAIL, '')) rest = shorter;
  rest = rest.replace(/[,;:\s.!]+$/, '');
  return { value: rest, length: rest.length, more: second !== null };
}

const DATE =
  /\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|tomorrow|noon|midnight|weekly|monthly|daily|weekend|quarter|q[1-4])\b|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)/i;

type ValueKind = 'date' | 'number' | 'text';

function kindOf(value: string): ValueKind {
  if (DATE.test(value)) return 'date';
  return /^(?:about |around |roughly |over |under |at least |at most |up to |sub |max\.? )?[$€£¥]?\s?\d/.test(value)
    ? 'number'
    : 'text';
}

/** A state or an opinion, which is no value of an attribute. */
const STATE =
  /^(?:not|too|very|quite|really|so|still|almost|nearly|being|getting|going|gone|coming|tight|strict|flexible|broken|down|full|empty|over|open|closed|late|missing|unknown|unclear|secret|approved|done|finished|ready|important|here|there|up|out|off|on hold|about|what|when|where|how|why|that|this|these|those|some|someone|something|nothing|anything|everything|all|any|more|less|enough|fixed|set|known|red hot|in danger|at risk|past|near|close|soon|required|needed|mandatory|optional|based|given|usually|often|always|never|slipping|approaching|looming|delayed|cancelled|canceled|one of)\b/i;

export const isState = (value: string): boolean =>
  value === '' || STATE.test(value) || (EVALUATIVE.test(value) && !/\d/.test(value) && !/^\p{Lu}/u.test(value));

/** A name, number, date, address or quoted text. */
export const isSolid = (value: string): boolean =>
  /^(?:(?:at|in|on|by|the|a|an|mr|mrs|ms|dr|about|around|every|sub|under|over|up to|from)\.? )*(?:[\p{Lu}`"'#@$€£~+\d]|https?:|\S+@\S+)/u.test(
    value,
  ) ||
  /^\S*\p{L}[-_./]?\d\S*$/u.test(value) ||
  DATE.test(value);

const UNITS: Readonly<Record<string, string>> = { $: 'usd ', '€': 'eur ', '£': 'gbp ' };

/** Lower case, without articles, with one spelling of numbers and names of months. */
function normal(value: string): string {
  return value
    .toLowerCase()
    .replace(/[$€£]/g, (sign) => UNITS[sign]!)
    .replace(/(?<=\d)[,' ](?=\d{3}\b)/g, '')
    .replace(/(\d)(?:st|nd|rd|th)\b/g, '$1')
    .replace(/\bdollars?\b/g, 'usd')
    .replace(/\beuros?\b/g, 'eur')
    .replace(/\b(jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b/g, '$1')
    .replace(/(\d)\s?([ap])\.?m\b\.?/g, '$1 $2m')
    .replace(/^(?:the|an?|our|my|on|at|in|by) /, '')
    .trim();
}

const numbersOf = (value: string): string[] => value.match(/\d+(?:[.:]\d+)*/g) ?? [];

type ValueRelation = 'same' | 'other' | 'unlike';

/** `unlike`: of different kinds, so that both may be true: a date and a place. */
export function compareValues(a: string, b: string): ValueRelation {
  const [one, other] = [normal(a), normal(b)];
  if (one === other) return 'same';
  const [kind, its] = [kindOf(a), kindOf(b)];
  if (kind !== its) return 'unlike';
  const [numbers, others] = [numbersOf(one), numbersOf(other)];
  const common = numbers.filter((number) => others.includes(number)).length;
  if (common < Math.min(numbers.length, others.length)) return 'other';
  if (kind === 'number' && (numbers.length === 0) !== (others.length === 0)) return 'other';
  // Of addresses and codes every letter counts.
  if (/^\S*[@\d./_:]\S*$/.test(one) && /^\S*[@\d./_:]\S*$/.test(other)) return 'other';
  const [stems, its_stems] = [wordingOf(one).stems, wordingOf(other).stems];
  if (stems.size === 0 || its_stems.size === 0) return 'other';
  const [few, many] = stems.size <= its_stems.size ? [stems, its_stems] : [its_stems, stems];
  const isWithin = [...few].every((stem) => many.has(stem));
  // "Munich" is "Munich, Germany", "Postgres" is not "Postgres 16".
  return isWithin && numbers.length === others.length ? 'same' : 'other';
}

/** The words of a phrase without those that say which of several in time is meant. */
export const attributeKey = (phrase: string): string =>
  keyOf(
    phrase
      .toLowerCase()
      .replace(
        /\b(?:new|newest|current|currently|latest|updated|revised|final|present|old|former|previous|original)\b/g,
        ' ',
      )
      .replace(/\be-mail\b/g, 'email')
      .replace(/\b(?:email|mail) address\b/g, 'email')
      .replace(/\b(?:tele)?phone number\b/g, 'phone')
      .replace(/\b(?:mobile|cell)(?: phone)?(?: number)?\b/g, 'mobile')
      .replace(/\bfavourite\b/g, 'favorite')
      .replace(/\bcolour\b/g, 'color')
      .replace(/\b(?:due date|cutoff date|cut-off date)\b/g, 'deadline')
      .replace(/\b(launch|release|start|end|move|wedding|moving|submission|renewal) date\b/g, '$1')
      .replace(/'s\b/g, ' '),
  );
