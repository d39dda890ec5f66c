/** Compares texts with a question by the vectors of their words: terms that a text lacks, and the texts as wholes. */
import { dot, type Meaning, meaningOfWords, salienceOf, vectorIdOf, WordSimilarities } from '../../text/index.js';
import type { Question } from './question.js';

/** Similarity of two words below which they have nothing in common. */
const UNRELATED = 0.24;
/** Share of the second nearest word of the text. */
const SECOND = 0.13;
/** A text like many others answers everything: how much of that is subtracted. */
const HUB_SHARE = 1.05;

export interface Likeness {
  /** For each term of the question, how near the words of the text come: 0 to about 1. */
  readonly terms: readonly number[];
  /** Similarity of the whole text, less its average similarity to the others. */
  readonly whole: number;
  /** From 0 for the newest document to 1 for the oldest. */
  readonly age: number;
}

const above = (similarity: number): number => Math.max(0, similarity - UNRELATED) / (1 - UNRELATED);

/** Reads the meaning of one question. */
export class QuestionMeaning {
  readonly #meaning: Meaning;
  readonly #direction: Float32Array;
  readonly #terms: readonly (WordSimilarities | undefined)[];

  constructor({ asked }: Question) {
    this.#meaning = meaningOfWords(asked);
    this.#direction = this.#meaning.mean.slice();
    this.#terms = asked.map((word) => {
      const id = vectorIdOf(word);
      return id === undefined ? undefined : new WordSimilarities(id);
    });
  }

  /** Whether no word of the question has a vector. */
  get isEmpty(): boolean {
    return this.#meaning.words.length === 0;
  }

  /** What texts have in common says nothing of one of them. */
  set center(center: Meaning) {
    for (let k = 0; k < center.mean.length; k++)
      this.#direction[k] = this.#meaning.mean[k]! - HUB_SHARE * center.mean[k]!;
  }

  /** Similarity of the text as a whole, less that to the center. */
  whole(text: Meaning): number {
    return dot(this.#direction, text.mean);
  }

  likeness(text: Meaning, age: number): Likeness {
    return { terms: this.#terms.map((term) => (term ? nearness(term, text) : 0)), whole: this.whole(text), age };
  }
}

function nearness(term: WordSimilarities, { words }: Meaning): number {
  let nearest = 0;
  let second = 0;
  for (const id of words) {
    const similarity = term.to(id) * Math.sqrt(salienceOf(id));
    if (similarity > nearest) {
      second = nearest;
      nearest = similarity;
    } else if (similarity > second) second = similarity;
  }
  return above(nearest) + SECOND * above(second);
}

/** The average of texts. */
export function centerOf(texts: readonly Meaning[]): Meaning {
  const mean = new Float32Array(texts[0]?.mean.length ?? 0);
  for (const text of texts) for (let k = 0; k < mean.length; k++) mean[k]! += text.mean[k]! / texts.length;
  return { words: new Uint16Array(), mean };
}
