/** A question as the ranking reads it: its terms and what they weigh, the dates and names in it, and what it asks for. */
import { type DateMention, dateMentions } from './question-dates.js';
import { analyseQuestion, fold, wordsOf } from './text-analysis.js';

/** More terms than these are no question but a text: its first ones stand for it. */
export const MAX_QUESTION_TERMS = 64;

export interface Question {
  /** Each once, in order; frequencies and statistics are given in this order. */
  readonly terms: readonly string[];
  /** What a match of each term counts, beside its rarity. */
  readonly weights: readonly number[];
  /** All words, folded, by which a speaker is named. */
  readonly words: ReadonlySet<string>;
  readonly dates: readonly DateMention[];
  readonly asks_when: boolean;
}

export function readQuestion(text: string): Question {
  const terms = [...new Set(analyseQuestion(text))].slice(0, MAX_QUESTION_TERMS);
  const words = new Set(wordsOf(text));
  return {
    terms,
    weights: terms.map(() => 1),
    words,
    dates: dateMentions(text),
    asks_when: words.has('when'),
  };
}

/** Whether a question names a speaker, by any part of the name. */
export const namesSpeaker = (question: Question, speaker: string): boolean =>
  wordsOf(speaker).some((word) => word.length > 1 && question.words.has(fold(word)));
