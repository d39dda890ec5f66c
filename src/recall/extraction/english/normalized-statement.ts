/**
 * The normal form of a statement: two statements with the same form say the same. Only words that surely change nothing
 * are left out or unified. A missed match is harmless; a wrong match would claim something false.
 */
import { baseForm, isInflected } from '../../../text/index.js';

interface Token {
  /** In lower case, unless its case may matter: a unit, an option, an abbreviation. */
  readonly word: string;
  /** A name, number or address, used verbatim. */
  readonly literal: boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words before a statement that are no part of it. */
const OPENING =
  /^(?:(?:ok(?:ay)?|well|so|yes|and|also)\s*,\s+|(?:please|kindly)\s+|(?:please )?(?:(?:note|remember) that|remember to|(?:make|be) sure to)\s+)+/i;
const OPENERS = /^["'“”(«`¿¡]+/u;
const CLOSERS = /["'“”)»`.,;:!?…。！？，、；：]+$/u;
/** "5'" and '5"' are feet and inches. */
const CLOSERS_OF_NUMBER = /[”)»`.,;:!?…。！？，、；：]+$/u;
const STOPS = /[.,;:!?…。！？，、；：]+$/u;
/** Not "_id" or "__init__", which are names. */
const EMPHASISED = /^(\*{1,3}|_)(\p{L}[\p{L}\p{M}'-]*)\1$/u;
const GROUPED_DIGITS = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

const ARTICLES = set('a an the');
/** Capitals only stress these. */
const STRESSED = set(
  'not never no none must should always do does did have has need needs to all every each please only cannot',
);
const POLITE = set('please kindly');
const ALL = set('all every each');
const BE = set('am is are was were be been being');
const PAST = set('was were');
const HAVE = set('have has had');
const DO = set('do does did');
const DUTY = set('must should');
const NEGATIONS = set('not no');
/** Words that do not occur in a noun phrase that is a subject. */
const NO_SUBJECT = set(
  'if when while unless until because since although though after before as but that which who whom whose what where how in on at by for from to with without of off out over under above below between into through during about against i he she it they we you one this these those there not no never be am is are was were have has had do does did can could will would may might must should shall',
);

const NUMBERS: ReadonlyMap<string, string> = new Map([
  ...'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
    .split(' ')
    .map((word, at) => [word, String(at)] as const),
  ...'first second third fourth fifth sixth seventh eighth ninth tenth'
    .split(' ')
    .map((word, at) => [word, ['1st', '2nd', '3rd'][at] ?? `${at + 1}th`] as const),
]);

// Maps: "constructor" as a word must not find a member of Object.prototype.
const NEGATED_VERBS = new Map(Object.entries({ ca: 'can', wo: 'will', sha: 'shall', ai: 'be' }));
const CONTRACTED_VERBS = new Map(Object.entries({ re: 'be', m: 'be', ve: 'have', ll: 'will' }));

/** Expands a contraction. */
function uncontracted(word: string): readonly string[] {
  if (word === 'cannot') return ['can', 'not'];
  const negated =
    /^([a-z]+)n't$/.exec(word)?.[1] ?? /^(do|does|did|is|are|was|were|ca|wo|should|must)nt$/.exec(word)?.[1];
  if (negated !== undefined) return [NEGATED_VERBS.get(negated) ?? negated, 'not'];
  if (word === "let's") return ['let', 'us'];
  const [head, tail = ''] = word.split("'") as [string, string | undefined];
  const verb = CONTRACTED_VERBS.get(tail);
  if (verb !== undefined) return [head, verb];
  return tail === 's' && /^(?:it|that|there|here|he|she|what|who)$/.test(head) ? [head, 'be'] : [word];
}

/** A word without punctuation around it; a word of only signs stays: "use * for lists". */
function bare(one: string): string {
  const inner = one.replace(OPENERS, '');
  const measured = inner === one && /^[-+]?\d[\d.,]*["']/.test(one);
  const kept = inner.replace(measured ? CLOSERS_OF_NUMBER : CLOSERS, '');
  if (/[^\p{P}]/u.test(kept)) return EMPHASISED.exec(kept)?.[2] ?? kept;
  return one.replace(STOPS, '') || one;
}

/** A word in lower case, unless its case may make it another word. */
function inItsCase(one: string, at: number, before: string | undefined, shouted: boolean): string {
  const word = one.toLowerCase();
  // "5 MB" is not "5 Mb".
  if (/^\p{L}{1,3}$/u.test(one) && /\d$/.test(before ?? '')) return one;
  const capitals = /^\p{Lu}[\p{Lu}\p{M}]*$/u.test(one) && (one.length > 1 || (at > 0 && one !== 'I'));
  return capitals && !shouted && !STRESSED.has(word) ? one : word;
}

function tokensOf(text: string): Token[] {
  const plain = text.normalize('NFKC').replace(/[‘’]/g, "'").trim().replace(OPENING, '');
  const found = plain
    .split(/\s+/)
    .filter((one) => one !== '')
    .map(bare)
    .flatMap((one) => (/^\p{L}+(?:-\p{L}+)+$/u.test(one) ? one.split('-') : [one]));
  // Without any word in lower case, capitals mark no names.
  const cased = found.some((one, at) => at > 0 && /^\p{Ll}{4,}/u.test(one));
  const shouted = !found.some((one) => /^\p{Ll}{2}/u.test(one) || /^\p{Lu}\p{Ll}/u.test(one));
  return found.flatMap((one, at): Token[] => {
    if (GROUPED_DIGITS.test(one)) return [{ word: one.replaceAll(',', ''), literal: true }];
    if (!/^[\p{L}\p{M}']+$/u.test(one) || !/\p{L}/u.test(one)) return [{ word: one, literal: true }];
    const word = inItsCase(one, at, found[at - 1], shouted);
    if (word !== one.toLowerCase()) return [{ word, literal: true }];
    const literal = cased && at > 0 && /^\p{Lu}/u.test(one) && !STRESSED.has(word);
    return uncontracted(word).map((part) => ({ word: part, literal }));
  });
}

const is = (token: Token | undefined, words: ReadonlySet<string>): boolean =>
  token !== undefined && words.has(token.word);
const isWord = (token: Token | undefined, word: string): boolean => token?.word === word;
const plain = (word: string): Token => ({ word, literal: false });

/** Unifies negations and obligations. */
function unified(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    const next = tokens[at + 1];
    if (is(token, POLITE) || (is(token, DO) && (isWord(next, 'not') || isWord(next, 'never')))) continue;
    if (isWord(token, 'never')) kept.push(plain('not'));
    // "Not have to" is no obligation.
    else if (/^(?:have|has|need|needs)$/.test(token.word) && isWord(next, 'to') && !isWord(kept.at(-1), 'not')) {
      kept.push(plain('must'));
      at++;
    } else kept.push(token);
  }
  return kept;
}

/** "the boundary of the system" is "the system boundary". */
function compounds(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const [token, of, article, other] = tokens.slice(at, at + 4);
    const named = is(kept.at(-1), ARTICLES) || is(kept.at(-1), ALL);
    if (named && isWord(of, 'of') && isWord(article, 'the') && other) {
      kept.push(other, token!);
      at += 3;
    } else kept.push(token!);
  }
  return kept;
}

/** Turns obligations into requests: "inputs must be validated" into "validate inputs". */
function asRequest(tokens: readonly Token[]): Token[] {
  if (/^(?:we|you|one)$/.test(tokens[0]?.word ?? '') && is(tokens[1], DUTY)) return asRequest(tokens.slice(2));
  if (isWord(tokens[0], 'always')) return tokens.slice(1);
  const duty = tokens.findIndex((token) => is(token, DUTY));
  if (duty < 1) return [...tokens];
  const subject = tokens.slice(0, duty);
  let at = duty + 1;
  const negation = isWord(tokens[at], 'not') ? [tokens[at++]!] : [];
  if (isWord(tokens[at], 'always')) at++;
  const done = tokens[at + 1];
  if (!isWord(tokens[at], 'be') || !done || done.literal || !isInflected(done.word)) return [...tokens];
  if (subject.length > 5 || subject.some((token) => is(token, NO_SUBJECT))) return [...tokens];
  return [...negation, plain(baseForm(done.word)), ...subject, ...tokens.slice(at + 2)];
}

/** Whether it only marks a tense, as in "has failed" and "is failing"; not in the passive, nor in "has limited access". */
function isTense(token: Token, [next, after]: readonly (Token | undefined)[]): boolean {
  if (!next || next.literal) return false;
  if (is(token, BE)) return !is(token, PAST) && /...ing$/.test(next.word);
  if (!is(token, HAVE)) return false;
  return isWord(next, 'been') || (isInflected(next.word) && (!after || is(after, ARTICLES) || is(after, NO_SUBJECT)));
}

function keyOf({ word, literal }: Token, at: number): string {
  if (BE.has(word)) return PAST.has(word) ? 'was' : 'be';
  const number = NUMBERS.get(word);
  if (number !== undefined) return number;
  // At the start, "validated inputs" reports and "validate inputs" requests.
  return literal || (at === 0 && isInflected(word)) ? word : baseForm(word);
}

export function normalizedStatement(text: string): string {
  const tokens = asRequest(compounds(unified(tokensOf(text))));
  // "Not all" means some; otherwise "all" changes nothing.
  const negated = tokens.some((token) => is(token, NEGATIONS));
  return tokens
    .filter((token, at) => !isTense(token, tokens.slice(at + 1, at + 3)))
    .filter((token) => !is(token, ARTICLES) && (negated || !is(token, ALL)))
    .map(keyOf)
    .join(' ');
}

/** A normalized statement without negations, in lower case: equal for a statement and its denial. */
export const withoutNegation = (statement: string): string =>
  statement
    .toLowerCase()
    .split(' ')
    .filter((word) => !NEGATIONS.has(word))
    .join(' ');
