/**
 * One ranking out of two: what terms say and what vectors say, each measured in its own standard deviations, and weighted.
 * The sum is told on the scale of the terms' score, so that what has no vector keeps the score it has without any.
 */

export interface Scored {
  readonly doc_no: number;
  readonly score: number;
}

export interface Fused {
  readonly doc_no: number;
  readonly score: number;
  /** What its likeness added, or took. */
  readonly gained: number;
}

/** What the likeness of vectors counts, where the terms count 1: enough to reorder, too little to overrule. */
export const VECTOR_WEIGHT = 0.4;

/** Of the greatest likeness there is: what is above it has been found whatever the average. */
const NEARLY = 0.8;

interface Spread {
  readonly mean: number;
  readonly deviation: number;
}

function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, deviation: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / values.length) };
}

/** What the two were measured by. The next page goes by the same: another average would be another order. */
export interface Measures {
  /** Of the likeness. */
  readonly mean: number;
  readonly deviation: number;
  /** A standard deviation of the terms' score. */
  readonly unit: number;
  /** What is as alike as this was found, whatever the average. */
  readonly much: number;
}

export function measuresOf(lexical: readonly Scored[], similarities: ReadonlyMap<number, number>): Measures {
  const scores = new Map(lexical.map(({ doc_no, score }) => [doc_no, score]));
  const alike = spreadOf([...similarities.values()]);
  // Among the same documents; one without a term of the question has no score by terms.
  const byTerms = spreadOf([...similarities.keys()].map((doc_no) => scores.get(doc_no) ?? 0));
  const much = NEARLY * Math.max(0, ...similarities.values());
  return { ...alike, unit: byTerms.deviation || byTerms.mean || 1, much };
}

/**
 * Best first; of equals the newer. `lexical` are those with terms of the question, `similarities` those whose vector was
 * compared. What has no term in common is kept only if it is alike at all, and as much as the others are on average, or
 * nearly as much as the one that is most.
 */
export function fuse(
  lexical: readonly Scored[],
  similarities: ReadonlyMap<number, number>,
  weight: number,
  { mean, deviation, unit, much }: Measures = measuresOf(lexical, similarities),
): Fused[] {
  const known = new Set(lexical.map(({ doc_no }) => doc_no));
  const gainOf = (similarity: number): number =>
    deviation === 0 ? 0 : (weight * unit * (similarity - mean)) / deviation;
  const fused: Fused[] = lexical.map(({ doc_no, score }) => {
    const similarity = similarities.get(doc_no);
    const gained = similarity === undefined ? 0 : gainOf(similarity);
    return { doc_no, score: Math.max(0, score + gained), gained };
  });
  for (const [doc_no, similarity] of similarities) {
    if (known.has(doc_no) || !(similarity > 0)) continue;
    const gained = gainOf(similarity);
    if (gained >= 0 || similarity >= much) fused.push({ doc_no, score: Math.max(0, gained), gained });
  }
  return fused.sort((a, b) => b.score - a.score || b.doc_no - a.doc_no);
}
