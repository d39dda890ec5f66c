/**
 * Whether a statement revises a known one that the forms of claims do not cover: it tells of a change, the two share what
 * they are about, and what differs is a value of one kind, a name, or what is said to have ended.
 */
import type { WordSpan } from './change-words.js';
import type { ContentWord } from './content-words.js';
import { endedWords, shiftedWords } from './ended-words.js';
import { isExact, LIGHT, type Overlap, overlapOf, type SharedWord } from './overlap.js';
import { type Reading, tellsOfChange } from './reading.js';
import { measureRevised } from './revised-measure.js';

export interface Revision {
  /** How much the two have in common, by rarity. */
  readonly strength: number;
  /** Position of the former value in the known text. */
  readonly part: WordSpan;
  /** Position of the new value. */
  readonly own: WordSpan;
  /** Whether the known statement states nothing else. */
  readonly whole: boolean;
}

/** Strengths from which a revision is found. */
const BY_MEASURE = 0.09;
/** Numbers that count nothing. */
const BY_NUMBER = 0.13;
/** The unit is open. */
const BY_LIKE_MEASURE = 0.3;
const BY_END = 0.45;
const BY_END_OF_VALUE = 0.19;
const BY_DENIAL = 0.25;
const BY_SHIFT = 0.55;
const BY_NAME = 0.7;
const BY_EXPLICIT_NAME = 0.12;
const BY_NEW_NAME = 0.8;
const BY_WORDING = 2;
/** Shares of a text that is about little else. */
const NEARLY_ALL = 0.9;
const MOSTLY = 0.6;
const HALF = 0.5;

const isRare = ({ known: { weight, is_name } }: SharedWord): boolean => is_name || weight >= 0.6;

/** From the first to the last of words that follow each other. */
function spanOf(text: string, words: readonly ContentWord[]): WordSpan {
  const [first, ...others] = [...words].sort((a, b) => a.start - b.start);
  let { start, end } = first!;
  for (const one of others) if (/^[\s-]*$/.test(text.slice(end, one.start))) end = one.end;
  const possessive = /['’]s$/.exec(text.slice(start, end));
  // "iPhone" of "iPhone 12".
  const number = /^ \d+(?![\p{L}\d])/u.exec(text.slice(end))?.[0].length ?? 0;
  return { start, end: end - (possessive?.[0].length ?? 0) + number };
}

const GERMAN = /\b(?:der|die|das|und|ist|ein|eine|wir|nicht|mit|für|auf|hat|im|den)\b/giu;
/** Where every noun has a capital, capitals say nothing. */
const isGerman = (...texts: readonly string[]): boolean => (texts.join(' ').match(GERMAN)?.length ?? 0) >= 2;
/** More of these are no other ones. */
const MANIFOLD =
  /\b(?:support|supports|speak|speaks|like|likes|love|loves|enjoy|enjoys|know|knows|learn|learns|visit|visited|play|plays|read|reads|watch|watched|bought|buy|added|hired|joined|met|sing|sings)\b/i;

const allOf = ({ text }: Reading): WordSpan => ({ start: 0, end: text.length });

function byEnd(own: Reading, known: Reading, overlap: Overlap): WordSpan | undefined {
  const { strength, own_names, known_names } = overlap;
  const isReplaced = own.change.changed.length > 0 || own_names.length > 0;
  const ended = endedWords(own, overlap);
  const isValue = ended.some((one) => isRare(one) && known.all_words.indexOf(one.known) > 0);
  if (ended.some(isRare) && (strength >= BY_END || (isValue && isReplaced && strength >= BY_END_OF_VALUE)))
    return spanOf(
      known.text,
      ended.map((one) => one.known),
    );
  if (own.change.denied.length > 0 && ended.some(isRare) && strength >= BY_DENIAL) return allOf(known);
  const shifted = shiftedWords(own, overlap).filter(isRare);
  if (shifted.length === 0 || strength < BY_SHIFT || !isReplaced) return undefined;
  return known_names[0] ? spanOf(known.text, known_names) : allOf(known);
}

/** "Switched to N26". */
const TO_NAME = /(?:switched|changed|moved|migrated|converted|upgraded|went)(?: over| back)? to (?:the |an? )?$/i;

function byName(own: Reading, known: Reading, overlap: Overlap): WordSpan | undefined {
  const { shared, own_names, known_names, mass, strength_without_names: strength } = overlap;
  const [first] = own_names;
  if (!first || isGerman(own.text, known.text) || MANIFOLD.test(own.text)) return undefined;
  if (!shared.some((one) => !one.known.is_name && isExact(one))) return undefined;
  if (known_names.length > 0) {
    const isExplicit = TO_NAME.test(own.text.slice(0, first.start)) && strength >= BY_EXPLICIT_NAME;
    const isAll = mass >= LIGHT && strength >= NEARLY_ALL * mass;
    return strength >= BY_NAME || isExplicit || isAll ? spanOf(known.text, known_names) : undefined;
  }
  // Both name what is replaced: "flags are in Unleash, LaunchDarkly got too expensive".
  const former = shared.filter(({ known: word }) => word.is_name && known.all_words.indexOf(word) > 0);
  if (former.length === 0 || own.change.changed.length === 0 || strength < BY_NEW_NAME) return undefined;
  return spanOf(
    known.text,
    former.map((one) => one.known),
  );
}

const PLACED = /\b(in|at|on|to|with|by|from|as|behind|under|near) (?:the |an? |our |my |his |her |their )?$/i;

/** "Sleeps in the hall now" for "sleeps in the kitchen": one word differs, after the same preposition. */
function byPlace(own: Reading, known: Reading): Parts | undefined {
  const lacks = ({ words }: Reading, { stem }: ContentWord) => words.every((other) => other.stem !== stem);
  const [is, ...more] = own.words.filter((one) => lacks(known, one));
  const [was, ...others] = known.words.filter((one) => lacks(own, one));
  if (!is || !was || more.length + others.length > 0 || own.words.length < MIN_WORDS_OF_PLACE) return undefined;
  if (own.change.changed.length === 0 || MANIFOLD.test(own.text)) return undefined;
  const place = PLACED.exec(own.text.slice(0, is.start))?.[1];
  return place !== undefined && place === PLACED.exec(known.text.slice(0, was.start))?.[1]
    ? { own: is, part: was, whole: known.clauses.length === 1 && known.measures.length === 0 }
    : undefined;
}

/** Besides the place, who and what. */
const MIN_WORDS_OF_PLACE = 3;

type Parts = Pick<Revision, 'own' | 'part'> & { readonly whole?: boolean };

function byMeasure(own: Reading, known: Reading, overlap: Overlap): Parts | undefined {
  const { strength } = overlap;
  const revised = strength < BY_MEASURE ? undefined : measureRevised(own, known, overlap);
  if (!revised) return undefined;
  const [is, was] = revised;
  const isOfOneKind = is.kind === was.kind && is.unit === was.unit;
  if (is.kind === 'amount' && is.unit === '' && strength < BY_NUMBER) return undefined;
  return isOfOneKind || strength >= BY_LIKE_MEASURE ? { own: is, part: was } : undefined;
}

function partsRevised(own: Reading, known: Reading, overlap: Overlap): Parts | undefined {
  const { strength, own_names, shared, covered } = overlap;
  const { added, continued, changed } = own.change;
  const isAdded = added.length > 0;
  const measured = isAdded ? undefined : byMeasure(own, known, overlap);
  if (measured || continued.length > 0) return measured;
  const newest = own_names[0] ? spanOf(own.text, own_names) : allOf(own);
  const part = byEnd(own, known, overlap) ?? (isAdded ? undefined : byName(own, known, overlap));
  if (part) return { own: newest, part };
  const placed = isAdded ? undefined : byPlace(own, known);
  if (placed) return placed;
  const isReworded = changed.length > 0 && shared.length >= 3 && covered[0] >= MOSTLY && strength >= BY_WORDING;
  return isReworded && !isAdded ? { own: allOf(own), part: allOf(known) } : undefined;
}

/** Texts with more words may state more than one thing. */
const MAX_WORDS = 12;

const statesOnlyThis = (
  { clauses, measures, text }: Reading,
  { covered, strength, known_names }: Overlap,
  { start, end }: WordSpan,
): boolean =>
  known_names.every((one) => one.start >= start && one.end <= end) &&
  clauses.length === 1 &&
  measures.length <= 1 &&
  text.split(/\s+/).length <= MAX_WORDS &&
  covered[0] >= HALF &&
  strength >= BY_END_OF_VALUE;

/** Whether `own`, which is the newer, revises `known`. */
export function revisionOf(own: Reading, known: Reading): Revision | undefined {
  if (!tellsOfChange(own)) return undefined;
  const overlap = overlapOf(own, known);
  const parts = overlap.shared.length > 0 ? partsRevised(own, known, overlap) : undefined;
  return parts && { whole: statesOnlyThis(known, overlap, parts.part), ...parts, strength: overlap.strength };
}

/** Of several known statements, how much less than the best one may have in common with the own one. */
const LEAST_SHARE = 0.45;

/** Those that are revised in truth: what has much less in common than another is about something else. */
export function strongest<T extends { readonly revision: Revision }>(found: readonly T[]): T[] {
  const most = Math.max(0, ...found.map(({ revision }) => revision.strength));
  return found.filter(({ revision }) => revision.strength >= LEAST_SHARE * most);
}
