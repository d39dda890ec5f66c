/** The interface of summarizers: a model, the offline one, or the caller's own. */
import type { CallOptions, ProviderCost } from '../../providers/index.js';
import type { TextSource } from './sources.js';

export interface SummaryRequest {
  /** In order. */
  readonly sources: readonly TextSource[];
  /** Upper limit of the text, counted by o200k. */
  readonly max_tokens: number;
  /** Upper limit of its words; default: none. */
  readonly max_words?: number;
  /** All that is left of a conversation: statements that stand alone, rather than an account of it. */
  readonly digest?: boolean;
  /** L1: a summary of the sources; L2: what holds across their trajectories; default: L1. */
  readonly level?: 'L1' | 'L2';
}

export interface Summary {
  /** Empty if there is nothing to say, or nothing fits. */
  readonly text: string;
  /** The sources of the text, each once; with a member of a group the whole group. */
  readonly source_ids: readonly string[];
  readonly cost: ProviderCost;
  /** Why the fallback was used. */
  readonly fallback_reason?: string;
}

export interface Summarizer {
  readonly name: string;
  summarize(request: SummaryRequest, options?: CallOptions): Promise<Summary>;
}
