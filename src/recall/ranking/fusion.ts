/**
 * Fuses the rankings by terms and by vectors: each is measured in its own standard deviations and weighted. The sum is
 * on the scale of the term score, so that a document without a vector keeps its score.
 */

interface Scored {
  readonly doc_no: number;
  readonly score: number;
}

interface Fused extends Scored {
  /** The contribution of its similarity, which may be negative. */
  readonly gained: number;
}

/** The weight of vectors, with 1 for terms: enough to reorder, too little to overrule. */
export const VECTOR_WEIGHT = 0.4;

/** Fraction of the greatest similarity above which a document is found whatever the average. */
const NEARLY = 0.8;

function spreadOf(values: readonly number[]): Pick<Measures, 'mean' | 'deviation'> {
  if (values.length === 0) return { mean: 0, deviation: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / values.length) };
}

/** The measures of both rankings. Later pages reuse them: another average would be another order. */
export interface Measures {
  /** Of the similarities. */
  readonly mean: number;
  readonly deviation: number;
  /** The standard deviation of the term score. */
  readonly unit: number;
  /** A document with this similarity is found whatever the average. */
  readonly much: number;
}

export function measuresOf(lexical: readonly Scored[], similarities: ReadonlyMap<number, number>): Measures {
  const scores = new Map(lexical.map(({ doc_no, score }) => [doc_no, score]));
  const bySimilarity = spreadOf([...similarities.values()]);
  // Over the same documents; one without a term of the question has no term score.
  const byTerms = spreadOf([...similarities.keys()].map((doc_no) => scores.get(doc_no) ?? 0));
  const much = NEARLY * Math.max(0, ...similarities.values());
  return { ...bySimilarity, unit: byTerms.deviation || byTerms.mean || 1, much };
}

/**
 * Best first, equals newest first. A document without a term of the question is kept only if its similarity is positive
 * and at least average, or nearly the greatest.
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
