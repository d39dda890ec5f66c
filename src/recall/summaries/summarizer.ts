/** The seam to what summarises: a model, or the way that needs none. */
import type { CallOptions, ProviderCost } from '../../providers/index.js';
import type { TextSource } from './sources.js';

export interface SummaryRequest {
  /** In their order. */
  readonly sources: readonly TextSource[];
  /** The text never has more, as o200k counts. */
  readonly max_tokens: number;
  /** L1 says what the sources say, L2 what holds across their trajectories. L1 unless given. */
  readonly level?: 'L1' | 'L2';
}

export interface Summary {
  /** Empty when there is nothing to say, or nothing that fits. */
  readonly text: string;
  /** What the text rests on, each among the sources and once; with a member of a group the whole group. */
  readonly source_ids: readonly string[];
  readonly cost: ProviderCost;
  /** Why another than the wanted one made it. */
  readonly fallback_reason?: string;
}

export interface Summarizer {
  readonly name: string;
  summarize(request: SummaryRequest, options?: CallOptions): Promise<Summary>;
}
