/** The meaning of a text: the vectors of its words, and their mean. */
import { shortForms } from './short-forms.js';
import { contentWords, wordsOf } from './text-analysis.js';
import { dot, normalize, wordVectors } from './word-vectors.js';

export interface Meaning {
  /** Ids of distinct words that have vectors, in order. */
  readonly words: Uint16Array;
  /** The weighted mean of their vectors, as a unit vector; all zero without words. */
  readonly mean: Float32Array;
}

/** Further words of a long text are ignored. */
const MAX_WORDS = 100;
/** How many times rarer words count in the mean. */
const MEAN_POWER = 2.6;
/** Log of the rank above which all words count as rare. */
const RARE = 4.6;

/** From 0 for the most frequent words to 1. */
export const rarityOf = (id: number): number => Math.min(1, Math.log10(10 + id) / RARE);

/** A frequent word says little of what a text is about. */
const COMMON_SHARE = 0.3;
export const salienceOf = (id: number): number => COMMON_SHARE + (1 - COMMON_SHARE) * rarityOf(id);

/** The id of the vector of a folded word. */
export const vectorIdOf = (word: string): number | undefined => wordVectors().idOf(shortForms.get(word) ?? word);

export function meaningOfWords(words: readonly string[]): Meaning {
  const ids = new Set<number>();
  for (const word of words) {
    if (ids.size === MAX_WORDS) break;
    const id = vectorIdOf(word);
    if (id !== undefined) ids.add(id);
  }
  return { words: Uint16Array.from(ids), mean: meanOf(ids) };
}

export const meaningOf = (text: string): Meaning => meaningOfWords(contentWords(wordsOf(text)));

function meanOf(ids: Iterable<number>): Float32Array {
  const vectors = wordVectors();
  const mean = new Float32Array(vectors.dimensions);
  for (const id of ids) vectors.addTo(mean, id, salienceOf(id) ** MEAN_POWER);
  normalize(mean);
  return mean;
}

export const similarityOf = (a: Meaning, b: Meaning): number => dot(a.mean, b.mean);

/** Of a word to each of some, by their ids; 0 to one without a vector. */
export const wordSimilarities = (ids: readonly (number | undefined)[], other: number): number[] =>
  wordVectors().similarities(ids, other);

/** Words of like meaning, nearest first. */
export function nearestWords(word: string): string[] {
  const id = vectorIdOf(word);
  return id === undefined ? [] : wordVectors().nearestWords(id);
}
