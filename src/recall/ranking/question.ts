/** A question as the ranking reads it: its terms and their weights, its dates and names, and what it asks for. */
import {
  contentWords,
  type DateMention,
  dateMentions,
  rarityOf,
  relativeMentions,
  stem,
  stopWords,
  vectorIdOf,
  wordsOf,
} from '../../text/index.js';
import { relatedTerms } from './related-terms.js';

/** Further terms and text are ignored. */
const MAX_QUESTION_TERMS = 64;
const MAX_QUESTION_TEXT = 10_000;

export interface Question {
  /** Distinct; frequencies and statistics are in this order. */
  readonly terms: readonly string[];
  /** The word of which each term is the stem. */
  readonly asked: readonly string[];
  /** For each term, terms of the kind that it names: they affect the ranking but are not searched. */
  readonly related: readonly (readonly string[])[];
  /** Weight of each term besides its rarity. */
  readonly weights: readonly number[];
  /** All words, case-folded. */
  readonly words: ReadonlySet<string>;
  /** The capitalised words. */
  readonly names: ReadonlySet<string>;
  readonly dates: readonly DateMention[];
  readonly asks: Asks;
}

/** The kind of answer that is wanted; several may hold. */
interface Asks {
  readonly when: boolean;
  readonly where: boolean;
  /** Asks for a proposal or an action, not for a past statement. */
  readonly advice: boolean;
  /** Asks for an earlier statement of the assistant. */
  readonly you: boolean;
  /** Asks for a summary of both sides of a conversation. */
  readonly summary: boolean;
  /** Concerns many conversations. */
  readonly broad: boolean;
}

/** Words of asking, which say little about the subject. */
const FRAME = `
mention say tell talk discuss discussion conversation chat message question ask bring list order summary summarize
summarise comprehensive overview describe explain provide give walk different various aspect across throughout item
many much long often kind type sort way thing total specific ever clear complete detailed one two three four five six
seven eight nine ten recent recently currently like consider likely accord base know think suggest recommend help
please want
`;
const frameTerms: ReadonlySet<string> = new Set(FRAME.trim().split(/\s+/).map(stem));
const FRAME_WEIGHT = 0.8;
const NAME_WEIGHT = 1.2;

const WHEN = /\b(?:when|(?:what|which) (?:time|date|day|week|month|year)|how long ago)\b/i;
const WHERE = /\b(?:where|(?:what|which) (?:city|country|town|state|place))\b/i;
const REQUEST =
  /\b(?:(?:can|could|would|will) you|(?:should|can|could|do|would) i|i should|suggest|recommend(?:ations?)?|advi[cs]e|help me|how to|please)\b/i;
const SAID_BEFORE = /\b(?:(?:did|have|had) (?:i|we|you)|(?:i|we|you) (?:mention|say|said|told))/i;
const OF_YOU =
  /\b(?:(?:did|have|had) you|you (?:said|told|suggested|recommended|mentioned|explained|advised|proposed|gave|wrote)|your (?:advice|suggestions?|recommendations?|answers?))\b/i;
const SUMMARY = /\b(?:summar(?:y|ies|i[sz]e[ds]?)|overview|recap)\b/i;
const BROAD =
  /\b(?:throughout|across|over time|order in which|in (?:what|which) order|in total|altogether|how many (?:different|total)|evolve[ds]?|develop(?:ed|s)?|progress(?:ed|es)?)\b/i;

function asksOf(text: string): Asks {
  const summary = SUMMARY.test(text);
  const order = /\border\b/i.test(text);
  return {
    when: WHEN.test(text),
    where: WHERE.test(text),
    advice: REQUEST.test(text) && !summary && !order && !SAID_BEFORE.test(text),
    you: OF_YOU.test(text),
    summary,
    broad: summary || BROAD.test(text),
  };
}

const CAPITALISED = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}]+/gu;
const WITHIN_SENTENCE = /[\p{Ll}\p{N},'"’”] ["'“‘]?$/u;

/** Capitalised words within a sentence, and all capitalised words. */
function namesIn(text: string): { within: Set<string>; all: Set<string> } {
  const within = new Set<string>();
  const all = new Set<string>();
  for (const match of text.matchAll(CAPITALISED))
    for (const word of wordsOf(match[0])) {
      all.add(word);
      if (WITHIN_SENTENCE.test(text.slice(Math.max(0, match.index - 3), match.index))) within.add(word);
    }
  return { within, all };
}

/** Share of a term's weight that depends on how rare its word is in English: stores are small samples. */
const RARITY_SHARE = 0.45;

function weightOf(term: string, word: string, isName: boolean): number {
  const id = vectorIdOf(word);
  const rarity = id === undefined ? 1 : 1 - RARITY_SHARE + RARITY_SHARE * rarityOf(id);
  return rarity * (frameTerms.has(term) ? FRAME_WEIGHT : 1) * (isName ? NAME_WEIGHT : 1);
}

/** `now`, in ms, resolves relative dates such as "yesterday". */
export function readQuestion(whole: string, now?: number): Question {
  const text = whole.slice(0, MAX_QUESTION_TEXT);
  const words = wordsOf(text);
  const content = contentWords(words);
  const asked = new Map<string, string>();
  // A question of stop words only is searched by them.
  for (const word of content.length > 0 ? content : words) {
    if (asked.size === MAX_QUESTION_TERMS) break;
    if (!asked.has(stem(word))) asked.set(stem(word), word);
  }
  const terms = [...asked.keys()];
  const { within, all } = namesIn(text);
  const nameTerms = new Set([...within].map(stem));
  return {
    terms,
    asked: [...asked.values()],
    related: terms.map((term) => relatedTerms(term).filter((other) => !asked.has(other))),
    weights: [...asked].map(([term, word]) => weightOf(term, word, nameTerms.has(term))),
    words: new Set(words),
    names: all,
    dates: [...dateMentions(text), ...(now === undefined ? [] : relativeMentions(text, now))],
    asks: asksOf(text),
  };
}

/** The words of a question that name a speaker: a part of the name, a short form, or a similar spelling. */
export function wordsNaming(question: Question, speaker: string): string[] {
  const parts = wordsOf(speaker);
  const exact = parts.filter((part) => question.words.has(part) && (question.names.has(part) || !stopWords.has(part)));
  if (exact.length > 0) return exact;
  return [...question.names].filter((name) => !stopWords.has(name) && parts.some((part) => isNearly(name, part)));
}

const MAX_NAME = 30;

/** "Mel" for Melanie; one letter apart in five or more; the same consonants, as in Muhammad and Mohamed. */
function isNearly(name: string, part: string): boolean {
  if (name[0] !== part[0] || name.length < 3 || part.length < 3) return false;
  if (Math.max(name.length, part.length) > MAX_NAME) return false;
  if (part.startsWith(name)) return true;
  if (name.length < 5 || part.length < 5) return false;
  const apart = editDistance(name, part);
  return apart <= 1 || (apart <= 3 && consonants(name) === consonants(part));
}

/** The common part of spellings of a name, with letters that sound alike as one. */
const consonants = (name: string): string =>
  name
    .replace(/ph/g, 'f')
    .replace(/[ckq]+/g, 'k')
    .replace(/[aeiouyhw]/g, '')
    .replace(/(.)\1+/g, '$1');

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, replaced));
    }
    above = row;
  }
  return above[b.length]!;
}
