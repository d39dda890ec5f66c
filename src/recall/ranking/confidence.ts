/** How likely a result answers the question: a logistic function, fitted on questions about everyday memories. */
import type { Question } from './question.js';

/** Weights of what speaks for an answer. */
const COVERED = 1.32;
const STANDS_OUT = 2.13;
const LIKENESS = 3.49;
const BIAS = -2.43;
/** Against a result that another one precedes: at all, and by how far it is behind. */
const NOT_BEST = -1.25;
const BEHIND_BEST = 1.5;
/** Share of its probability that a statement keeps if another replaced it. */
const REPLACED = 0.3;

/** Results behind the best, from which it should stand out; where there are fewer, a usual score takes their place. */
const BEHIND = { from: 3, to: 10 };
const USUAL_SCORE = 0.17;
const SMOOTHING = 0.05;
/** For rankings without word vectors. */
const USUAL_LIKENESS = 0.26;

export interface Evidence {
  readonly score: number;
  /** Share of the question that the text itself covers, by its terms or by words of like meaning. */
  readonly covered: number;
  /** Likeness of the text to the question as a whole; undefined without word vectors. */
  readonly likeness: number | undefined;
}

/** What the results of one ranking are compared with. */
export interface Standard {
  readonly best: number;
  readonly background: number;
  readonly terms: number;
}

/** `results`: best first. */
export function standardOf(results: readonly Pick<Evidence, 'score'>[], { terms }: Question): Standard {
  let behind = 0;
  for (let at = BEHIND.from; at < BEHIND.to; at++) behind += results[at]?.score ?? USUAL_SCORE;
  return { best: results[0]?.score ?? 0, background: behind / (BEHIND.to - BEHIND.from), terms: terms.length };
}

const times = (one: number, other: number): number => Math.log((one + SMOOTHING) / (other + SMOOTHING));

/** The evidence that a text itself gives, as log odds: the more of a longer question it covers, the better. */
export function oddsOf({ score, covered, likeness = USUAL_LIKENESS }: Evidence, standard: Standard): number {
  return (
    BIAS +
    COVERED * covered * Math.log(1 + standard.terms) +
    STANDS_OUT * times(score, standard.background) +
    LIKENESS * likeness
  );
}

/** How much less likely a result is the answer than its text alone would have it: a better one may be it. */
const oddsByPlace = (score: number, { best }: Standard): number =>
  score < best ? NOT_BEST + BEHIND_BEST * times(score, best) : 0;

/** From 0 to 1. `odds`: by the text alone. */
export function probabilityOf(odds: number, score: number, standard: Standard, is_replaced: boolean): number {
  const probability = 1 / (1 + Math.exp(-odds - oddsByPlace(score, standard)));
  return is_replaced ? REPLACED * probability : probability;
}
