/** A statement that a summary may keep, with the terms that it carries and its weight. */
import type { Statement as Comparable } from '../../extraction/english/statements.js';
import type { CarriedTerms } from './carried-terms.js';

export interface Candidate {
  /** Index of its source. */
  readonly source: number;
  /** Further sources: the question that it answers, the agreement that makes it a decision, its correction. */
  readonly also: readonly number[];
  /** Index among all clauses read: summaries keep the order. */
  readonly order: number;
  /** The text between the clause before it in the same sentence and this one; undefined at the start of a sentence. */
  readonly gap: string | undefined;
  readonly text: string;
  readonly terms: CarriedTerms;
  readonly words: number;
  readonly weight: number;
  readonly statement: Comparable;
}
