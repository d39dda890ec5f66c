/** Compares texts with a question by the vectors of their words: terms that a text lacks, and the texts as wholes. */
import { dot, type Meaning, meaningOfWords, salienceOf, vectorIdOf, wordSimilarities } from '../../text/index.js';
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
  /** Ids of the terms; undefined without a vector. */
  readonly #terms: readonly (number | undefined)[];
  /** How near a word comes to each term, computed once. */
  readonly #near = new Map<number, number[]>();

  constructor({ asked, subject }: Question) {
    this.#meaning = meaningOfWords(subject);
    this.#direction = this.#meaning.mean.slice();
    this.#terms = asked.map(vectorIdOf);
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
    return { terms: this.#nearness(text), whole: this.whole(text), age };
  }

  #nearness({ words }: Meaning): number[] {
    const near: (readonly number[])[] = [];
    for (let i = 0; i < words.length; i++) near.push(this.#nearTo(words[i]!));
    return this.#terms.map((_, at) => {
      let nearest = 0;
      let second = 0;
      for (let i = 0; i < near.length; i++) {
        const similarity = near[i]![at]!;
        if (similarity > nearest) {
          second = nearest;
          nearest = similarity;
        } else if (similarity > second) second = similarity;
      }
      return above(nearest) + SECOND * above(second);
    });
  }

  #nearTo(id: number): number[] {
    let known = this.#near.get(id);
    if (known) return known;
    const share = Math.sqrt(salienceOf(id));
    known = wordSimilarities(this.#terms, id);
    for (let at = 0; at < known.length; at++) known[at]! *= share;
    this.#near.set(id, known);
    return known;
  }
}

/** The average of texts. */
export function centerOf(texts: readonly Meaning[]): Meaning {
  const mean = new Float32Array(texts[0]?.mean.length ?? 0);
  for (const text of texts) for (let k = 0; k < mean.length; k++) mean[k]! += text.mean[k]!;
  for (let k = 0; k < mean.length; k++) mean[k]! /= texts.length;
  return { words: new Uint16Array(), mean };
}
