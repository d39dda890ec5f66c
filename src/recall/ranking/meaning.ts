/** Compares texts with a question by the vectors of their words: terms that a text lacks, and the texts as wholes. */
import {
  type Meaning,
  meaningOfWords,
  salienceOf,
  similarityOf,
  vectorIdOf,
  WordSimilarities,
} from '../../text/index.js';
import type { Question } from './question.js';

/** Similarity of two words below which they have nothing in common. */
const UNRELATED = 0.24;
/** Share of the second nearest word of the text. */
const SECOND = 0.13;
/** A text like many others answers everything: how much of that is subtracted. */
const HUB_SHARE = 0.95;

export interface Likeness {
  /** For each term of the question, how near the words of the text come: 0 to about 1. */
  readonly terms: readonly number[];
  /** Similarity of the whole text, less its average similarity to the others. */
  readonly whole: number;
}

const above = (similarity: number): number => Math.max(0, similarity - UNRELATED) / (1 - UNRELATED);

/** Reads the meaning of one question. */
export class QuestionMeaning {
  readonly #meaning: Meaning;
  readonly #terms: readonly (WordSimilarities | undefined)[];

  constructor({ asked }: Question) {
    this.#meaning = meaningOfWords(asked);
    this.#terms = asked.map((word) => {
      const id = vectorIdOf(word);
      return id === undefined ? undefined : new WordSimilarities(id);
    });
  }

  /** Whether no word of the question has a vector. */
  get isEmpty(): boolean {
    return this.#meaning.words.length === 0;
  }

  /** Similarity of the text as a whole, less that to the center of all texts. */
  whole(text: Meaning, center: Meaning | undefined): number {
    const common = center ? HUB_SHARE * similarityOf(center, text) : 0;
    return similarityOf(this.#meaning, text) - common;
  }

  likeness(text: Meaning, center: Meaning | undefined): Likeness {
    const terms = this.#terms.map((term) => (term ? nearness(term, text) : 0));
    return { terms, whole: this.whole(text, center) };
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
