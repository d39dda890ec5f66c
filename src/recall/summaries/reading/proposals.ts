/** Questions that propose something, and what is decided by the reply: "Should we use Stripe or Mollie?" – "Mollie it is." */
import { stem, stopWords, wordsOf } from '../../../text/index.js';
import { acceptanceOf, isAmong } from './acceptance.js';
import { withoutAgreement } from './speech-acts.js';

const LEAD = '(?:(?:and|so|then|ok(?:ay)?|great|good|perfect|right|all right|now|well|or|noted|understood)[,. ]+)*';
/** What is proposed, in the form of an infinitive or a thing. */
const PROPOSING: readonly RegExp[] = [
  `(?:should|shall) (?:we|i) (.+)`,
  `(?:do|would) you (?:want|like|prefer) (?:me|us) to (.+)`,
  `(?:want|like) me to (.+)`,
  `(?:can|could|may|might) (?:we|i) (.+)`,
  `why (?:not|don['’]t (?:we|i)) (.+)`,
  `(?:how|what) about (.+)`,
  `soll(?:en|te|ten)? (?:ich|wir) (.+)`,
  `(?:dois-je|devons-nous|voulez-vous que je|veux-tu que je|est-ce qu(?:e je|['’]on)) (.+)`,
  `(?:debo|debemos|quieres que|devo|dobbiamo|vuoi che|zal ik|zullen we|moeten we) (.+)`,
].map((form) => new RegExp(`^(?:[^?]{1,60}?[,:;—–] )?${LEAD}${form}$`, 'iu'));
/** "Should the crate go in the hall?" */
const SHOULD = new RegExp(
  `^${LEAD}(?:should|shall|must|will) ((?:the|our|my|your|this|that|these|those|all|both|every|each|[\\p{L}'’-]+s|\\p{Lu}[\\p{L}'’-]+)(?: [\\p{L}\\d'’-]+){0,4}?) (be|go|have|stay|come|start|get|happen|take|run|use|stand|end|open|close|remain|arrive|leave|include|cover|contain|support|pay|bring|make|cost|last|show|look|keep|cut|face|hang|sit|lie) (.+)$`,
  'iu',
);
/** These ask for a choice, and propose nothing alone. */
const CHOOSING = new RegExp(
  `^${LEAD}(?:do you (?:want|prefer|need|like)|would you (?:rather|prefer|like)|is it|will it be) (.+)$`,
  'iu',
);
/** An agreement with these says little: "What about the piano?" – "ok." */
const TOPIC = new RegExp(`^${LEAD}what about `, 'iu');

interface Proposal {
  readonly text: string;
  readonly alone: boolean;
}

function proposedIn(question: string): Proposal | undefined {
  const asked = question.replace(/\s*\?+["'”’)\s]*$/, '').trim();
  for (const form of PROPOSING) {
    const text = form.exec(asked)?.[1];
    if (text !== undefined) return { text: mine(text), alone: !TOPIC.test(asked) };
  }
  const should = SHOULD.exec(asked);
  if (should) return { text: mine(`${should[1]} should ${should[2]} ${should[3]}`), alone: true };
  const choosing = CHOOSING.exec(asked)?.[1];
  return choosing === undefined ? undefined : { text: mine(choosing.replace(/^to /i, '')), alone: false };
}

/** "Your" is the reader's. */
const mine = (text: string): string =>
  text.replace(/(?:,? (?:for you|then|instead|meanwhile|now|too|as well))+$/i, '').trim();

/** `refused`: there is nothing to keep. */
type Decision =
  /** `rest`: what the sentence says besides. */
  { readonly kind: 'decided'; readonly text: string; readonly rest: string } | { readonly kind: 'refused' };

/** What the first sentence of a reply decides of a question; undefined if it decides nothing. */
export function decisionOf(question: string, sentence: string): Decision | undefined {
  const proposal = proposedIn(question);
  if (proposal === undefined) return undefined;
  const reply = acceptanceOf(sentence);
  if (reply === undefined) return undefined;
  if (reply.kind === 'refused') return proposal.alone ? reply : undefined;
  const { text } = proposal;
  const several = optionsIn(text) !== undefined;
  // Nobody agrees with one of two by "yes".
  if (reply.kind === 'agreed' || reply.kind === 'reserved') {
    if (several || !proposal.alone) return undefined;
    return reply.kind === 'agreed' ? decided(text, withoutAgreement(sentence)) : decided(`${text}, ${reply.but}`, '');
  }
  const { choice, open } = reply;
  const rest = /[,;:—–]/.test(sentence) ? sentence : '';
  if (!isAmong(text, choice)) return open ? decided(`${choice} (asked: ${text})`, rest) : undefined;
  if (several) return decided(chosen(text, choice) ?? `${choice} (asked: ${text})`, rest);
  return proposal.alone ? decided(text, rest) : undefined;
}

/** What is decided of a proposal in the form of a statement: "I'd suggest Mollie or Stripe" – "Mollie it is." */
export function decidedOf(proposed: string, sentence: string): string | undefined {
  const reply = acceptanceOf(sentence);
  if (reply === undefined || reply.kind === 'refused' || reply.kind === 'reserved') return undefined;
  const several = optionsIn(proposed) !== undefined;
  if (reply.kind === 'agreed') return proposed;
  if (!isAmong(proposed, reply.choice)) return undefined;
  return several ? (chosen(proposed, reply.choice) ?? `${reply.choice} (asked: ${proposed})`) : proposed;
}

const decided = (text: string, rest: string): Decision => ({
  kind: 'decided',
  text: `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
  rest,
});

const OR = /^(?:or|oder|ou|o)$/i;

/** The words before and after "or". */
function optionsIn(text: string): { readonly left: string[]; readonly right: string[] } | undefined {
  const words = text.split(/\s+/);
  const at = words.findLastIndex(
    (word, i) => i > 0 && i < words.length - 1 && OR.test(word) && !/^(?:so|more|less|not)$/i.test(words[i + 1]!),
  );
  return at < 0 ? undefined : { left: words.slice(0, at), right: words.slice(at + 1) };
}

const PREPOSITION =
  /^(?:for|on|in|at|to|with|by|from|of|until|till|as|when|during|after|before|near|via|per|into|under|over)$/i;
const DETERMINER = /^(?:the|an?|my|our|your|his|her|their|this|that)$/i;
/** Options are compared by how they begin. */
const beginning = (word: string): string => {
  if (PREPOSITION.test(word)) return 'preposition';
  if (DETERMINER.test(word)) return 'determiner';
  if (/^\p{Lu}/u.test(word)) return 'name';
  return /^\d/.test(word) ? 'number' : 'word';
};

/** The text with one of its options alone; undefined where it is not clear how far the options reach. */
function chosen(text: string, choice: string): string | undefined {
  const options = optionsIn(text)!;
  const left = options.left.map((word) => word.replace(/,$/, ''));
  const commas = new Set(options.left.flatMap((word, i) => (word.endsWith(',') ? [i] : [])));
  const { right } = options;
  if (isAmong(right.join(' '), choice)) {
    const [first, last] = placeOf(right, choice)!;
    // "Book a firm or rent a van", "post it or drop it off": the option has a verb of its own.
    if (hasVerb(right) || right.slice(0, first).some((word) => beginning(word) === 'word')) return right.join(' ');
    const start = startOf(left, commas, right.slice(0, last + 1));
    if (start === undefined) return undefined;
    return [...left.slice(0, start), ...right].join(' ');
  }
  const place = placeOf(left, choice);
  if (place === undefined || hasVerb(right)) return undefined;
  let [start] = place;
  const [, end] = place;
  while (start > 0 && isSmall(left[start - 1]!)) start -= 1;
  // An option ends with a comma, or before "or".
  if (end !== left.length - 1 && !commas.has(end)) return undefined;
  const length = optionLength(right);
  const alike = beginning(left[start]!) === beginning(right[0]!);
  // "Online or at the door" ends with the text.
  if (!alike && !(beginning(right[0]!) === 'preposition' && length === right.length)) return undefined;
  if (alike && beginning(right[0]!) === 'word' && length !== end - start + 1) return undefined;
  const from = commas.size === 0 ? start : Math.min(start, startOf(left, commas, left.slice(start, end + 1)) ?? start);
  return [...left.slice(0, from), ...left.slice(start, end + 1), ...right.slice(length)].join(' ');
}

const isSmall = (word: string): boolean => /^(?:preposition|determiner)$/.test(beginning(word));
/** "Rent a van", "drop it off". */
const hasVerb = ([first, second = '']: readonly string[]): boolean =>
  beginning(first!) === 'word' && (DETERMINER.test(second) || /^(?:it|them|him|her|us|me|some|one|all)$/i.test(second));

/** The first and last of the words that have those of a choice. */
function placeOf(words: readonly string[], choice: string): [first: number, last: number] | undefined {
  const wanted = new Set(
    wordsOf(choice)
      .filter((word) => !stopWords.has(word))
      .map(stem),
  );
  const found = words.flatMap((word, i) => (wordsOf(word).some((one) => wanted.has(stem(one))) ? [i] : []));
  return found.length === 0 ? undefined : [found[0]!, found.at(-1)!];
}

/** Words of an option that begins with a name or a number. */
const MAX_OPTION = 4;

/** Where the first of the options begins that stand before "or". */
function startOf(left: readonly string[], commas: ReadonlySet<number>, [first]: readonly string[]): number | undefined {
  // "In the bedroom or in the hall": options that begin with the same word.
  const parallel = left.map((word) => word.toLowerCase()).lastIndexOf(first!.toLowerCase());
  if (parallel >= 0 && beginning(first!) !== 'word') return overCommas(left, commas, parallel);
  const kind = beginning(first!);
  if (kind === 'name' || kind === 'number') {
    // "20 chairs or 30 chairs"
    const at = left.findLastIndex((word) => beginning(word) === kind);
    if (at < left.length - MAX_OPTION) return undefined;
    return overCommas(left, commas, wholeName(left, commas, at));
  }
  let start = wholeName(left, commas, left.length - 1);
  if (kind !== 'word') while (start > 0 && isSmall(left[start - 1]!)) start -= 1;
  return overCommas(left, commas, start);
}

/** A name has all its words: "Deutsche Bank or Sparkasse". */
function wholeName(words: readonly string[], commas: ReadonlySet<number>, at: number): number {
  let start = at;
  const isName = (i: number): boolean => beginning(words[i]!) === 'name';
  while (start > 0 && isName(start) && isName(start - 1) && !commas.has(start - 1)) start -= 1;
  return start;
}

/** The start of a list of options with commas. */
function overCommas(words: readonly string[], commas: ReadonlySet<number>, at: number): number {
  let start = at;
  while (start > 0 && commas.has(start - 1)) start = wholeName(words, commas, start - 1);
  return start;
}

/** Number of words of the option at the start of a text. */
function optionLength(words: readonly string[]): number {
  let length = 0;
  while (length < words.length && /^(?:preposition|determiner)$/.test(beginning(words[length]!))) length += 1;
  if (length < words.length) length += 1;
  while (length < words.length && beginning(words[length]!) !== 'preposition') length += 1;
  return length;
}
