/** The terms that a text carries: numbers, identifiers, names and rare words, each with a weight. */
import { rankOf, stem, stopWords } from '../../../text/index.js';
import { FUNCTION_WORDS } from './function-words.js';

/** Weight by term. */
export type CarriedTerms = ReadonlyMap<string, number>;

const NUMBER = 2;
const IDENTIFIER = 2;
const NAME = 1.8;
/** A bare number below this is often part of a phrase: "one or 2 things". */
const SMALL_NUMBER = 10;
const SMALL = 1.2;

/** By rank of a word in the vocabulary of the tokenizer: common words carry little. */
const RARITY: readonly (readonly [rank: number, weight: number])[] = [
  [1000, 0.15],
  [4000, 0.55],
  [12_000, 0.8],
  [40_000, 0.9],
];
const RARE = 1;

const EDGES = /^[^\p{L}\p{N}#@£$€]+|[^\p{L}\p{N}%€$£]+$/gu;
const CONTRACTION = /^(?:[ldjtmnsc]|qu)['’](?=\p{L})|['’](?:s|re|ve|ll|d|m|t)$/giu;

/** Words that stand with a capital inside a sentence: they are names at the start of one, too. */
export function namesIn(text: string, names: Set<string>): void {
  for (const [, name] of text.slice(0, 20_000).matchAll(/(?<=[\p{Ll}\d,;:] )(\p{Lu}[\p{L}\d-]+)/gu))
    names.add(name!.toLowerCase());
}

export function carriedTerms(text: string, names: ReadonlySet<string>): CarriedTerms {
  const terms = new Map<string, number>();
  let first = true;
  for (const piece of text.split(/\s+/)) {
    const word = piece.replace(EDGES, '');
    if (word === '') continue;
    const [term, weight] = termOf(word, first, names);
    if (weight > 0) terms.set(term, Math.max(terms.get(term) ?? 0, weight));
    first = /[.!?:]["'”’)\]]*$/.test(piece);
  }
  return terms;
}

function termOf(word: string, first: boolean, names: ReadonlySet<string>): readonly [term: string, weight: number] {
  const lower = word.toLowerCase();
  if (/\d/.test(word)) return [lower, /^\d$/.test(word) && Number(word) < SMALL_NUMBER ? SMALL : NUMBER];
  if (/[_/@#=\\]|\p{L}[.:]\p{L}|\p{Ll}\p{Lu}/u.test(word)) return [lower, IDENTIFIER];
  const bare = lower.replace(CONTRACTION, '');
  if (bare.length < 2 && !/[^\p{Script=Latin}\P{L}]/u.test(bare)) return [bare, 0];
  if (FUNCTION_WORDS.has(bare) || stopWords.has(bare.replace(/['’]/g, ''))) return [bare, 0];
  const term = stem(bare);
  if (/^\p{Lu}/u.test(word) && (!first || names.has(bare) || isUsuallyName(word))) return [term, NAME];
  return [term, rarity(bare)];
}

/** Whether a word is more frequent with its capital than without: "Madison", not "Maybe". */
function isUsuallyName(word: string): boolean {
  const capital = rankOf(` ${word}`);
  return capital !== undefined && capital < (rankOf(` ${word.toLowerCase()}`) ?? Number.POSITIVE_INFINITY);
}

function rarity(word: string): number {
  const rank = rankOf(` ${word}`) ?? Number.POSITIVE_INFINITY;
  return RARITY.find(([limit]) => rank < limit)?.[1] ?? RARE;
}
