/** The interface of fact extraction: a model, rules, or an extractor of the caller's own. */
import type { CallOptions, ProviderCost } from '../../providers/index.js';
import type { TextSource } from '../summaries/sources.js';

export interface ExtractedFact {
  readonly kind: 'note' | 'artifact';
  /** A note_type or an artifact_type. */
  readonly type: string;
  /** The title of a note, the name of an artifact. */
  readonly title: string;
  /** One statement that stands alone; for a Code artifact the code. */
  readonly content: string;
  readonly confidence: number;
  /** At least one of the given sources. */
  readonly source_ids: readonly string[];
  /** Who or what it is about, in lower case. */
  readonly subject: string;
  /** The attribute, as a key: the same subject and slot with another value is a contradiction. */
  readonly slot: string;
  readonly value: string;
  readonly negated: boolean;
  /** The day or moment that the statement names, ISO 8601. */
  readonly happens_at?: string;
  /** Of code. */
  readonly language?: string;
}

/** How a new fact relates to a known one. */
export type FactRelation = 'same' | 'contradicts' | 'different';

/** A stored fact, of which only the content is always known. */
export type ComparableFact = Pick<ExtractedFact, 'content'> &
  Partial<Pick<ExtractedFact, 'type' | 'subject' | 'slot' | 'value' | 'negated'>>;

export interface ExtractionRequest {
  /** In order. */
  readonly sources: readonly TextSource[];
  /** Texts recalled for this conversation: their statements are known and not extracted again. */
  readonly recalled?: readonly string[];
}

export interface Extraction {
  readonly facts: readonly ExtractedFact[];
  readonly cost: ProviderCost;
  /** Why the fallback was used. */
  readonly fallback_reason?: string;
}

export interface Extractor {
  readonly name: string;
  extract(request: ExtractionRequest, options?: CallOptions): Promise<Extraction>;
}
