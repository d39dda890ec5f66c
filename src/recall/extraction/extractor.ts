/** The seam to what gets facts out of turns: a model, or rules. */
import type { CallOptions, ProviderCost } from '../../providers/index.js';
import type { TextSource } from '../summaries/sources.js';
import type { ExtractedFact } from './facts.js';

export interface ExtractionRequest {
  /** In their order. */
  readonly sources: readonly TextSource[];
  /** Texts that were recalled for this conversation: what they say is known, and is not extracted again. */
  readonly recalled?: readonly string[];
}

export interface Extraction {
  readonly facts: readonly ExtractedFact[];
  readonly cost: ProviderCost;
  /** Why another than the wanted one made them. */
  readonly fallback_reason?: string;
}

export interface Extractor {
  readonly name: string;
  extract(request: ExtractionRequest, options?: CallOptions): Promise<Extraction>;
}
