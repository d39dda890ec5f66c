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

/**
 * Best first; of equals the newer. `lexical` are those with terms of the question, `similarities` those whose vector was
 * compared. What has no term in common is kept only if it is alike at all, and as much as the others are on average, or
 * nearly as much as the one that is most.
 */
export function fuse(
  lexical: readonly Scored[],
  similarities: ReadonlyMap<number, number>,
  weight: number,
): Fused[] {
  const scores = new Map(lexical.map(({ doc_no, score }) => [doc_no, score]));
  const compared = [...similarities.keys()];
  const alike = spreadOf([...similarities.values()]);
  // Among the same documents; one without a term of the question has no score by terms.
  const byTerms = spreadOf(compared.map((doc_no) => scores.get(doc_no) ?? 0));
  const unit = byTerms.deviation || byTerms.mean || 1;
  const gainOf = (similarity: number): number =>
    alike.deviation === 0 ? 0 : (weight * unit * (similarity - alike.mean)) / alike.deviation;
  const fused: Fused[] = lexical.map(({ doc_no, score }) => {
    const similarity = similarities.get(doc_no);
    const gained = similarity === undefined ? 0 : gainOf(similarity);
    return { doc_no, score: Math.max(0, score + gained), gained };
  });
  const much = NEARLY * Math.max(0, ...similarities.values());
  for (const [doc_no, similarity] of similarities) {
    if (scores.has(doc_no) || !(similarity > 0)) continue;
    const gained = gainOf(similarity);
    if (gained >= 0 || similarity >= much) fused.push({ doc_no, score: Math.max(0, gained), gained });
  }
  return fused.sort((a, b) => b.score - a.score || b.doc_no - a.doc_no);
}
