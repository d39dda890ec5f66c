/** The interface of a model that compares a new statement with known ones. */
import type { CallOptions, ProviderCost } from '../../providers/index.js';

export interface ComparedText {
  readonly text: string;
  readonly speaker: string | null;
  /** When it happened, in ms. */
  readonly at: number;
}

export interface ComparisonRequest {
  readonly told: ComparedText;
  readonly known: readonly ComparedText[];
}

export interface ComparedRelation {
  /** Index among the known texts. */
  readonly index: number;
  readonly relation: 'same' | 'replaces' | 'contradicts' | 'different';
  /** The former value, which occurs in the known text. */
  readonly value: string;
  /** The known text states nothing else. */
  readonly whole: boolean;
}

export interface Comparison {
  readonly relations: readonly ComparedRelation[];
  readonly cost: ProviderCost;
}

export interface Comparer {
  readonly name: string;
  compare(request: ComparisonRequest, options?: CallOptions): Promise<Comparison>;
}
