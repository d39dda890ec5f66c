/** How likely a result answers the question: a logistic function, fitted on questions about everyday memories. */
import type { Question } from './question.js';

/** Weights of what speaks for an answer. */
const COVERED = 2.3;
const STANDS_OUT = 1.8;
const NEAREST = 3.2;
const TERMS = 0.68;
const BIAS = -3.94;

/** Results behind the best, from which it should stand out; where there are fewer, a usual score takes their place. */
const BEHIND = { from: 3, to: 10 };
const USUAL_SCORE = 0.17;
const SMOOTHING = 0.05;
/** For rankings without word vectors. */
const USUAL_NEARNESS = 0.26;

export interface Evidence {
  readonly score: number;
  /** Share of the question that the text itself covers, by its terms or by words of like meaning. */
  readonly covered: number;
  /** Likeness of the text to the question as a whole; undefined without word vectors. */
  readonly likeness: number | undefined;
}

/** Measures of the best results, by which every result of a ranking is rated. */
export interface Standard {
  readonly background: number;
  readonly nearest: number;
  readonly terms: number;
}

export function standardOf(best: readonly Evidence[], { terms }: Question): Standard {
  let behind = 0;
  for (let at = BEHIND.from; at < BEHIND.to; at++) behind += best[at]?.score ?? USUAL_SCORE;
  const near = best.slice(0, BEHIND.to).flatMap(({ likeness }) => likeness ?? []);
  return {
    background: behind / (BEHIND.to - BEHIND.from),
    nearest: near.length === 0 ? USUAL_NEARNESS : Math.max(...near),
    terms: terms.length,
  };
}

/** From 0 to 1. */
export function confidenceOf({ score, covered }: Evidence, { background, nearest, terms }: Standard): number {
  const sum =
    BIAS +
    COVERED * covered +
    STANDS_OUT * Math.log((score + SMOOTHING) / (background + SMOOTHING)) +
    NEAREST * nearest +
    TERMS * Math.log(1 + terms);
  return 1 / (1 + Math.exp(-sum));
}
