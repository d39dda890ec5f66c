/** What summarises and extracts in a store: what was given, a model endpoint, or the offline way. */
import { Breaker, loadPackages, type ModelSettingsInput, parseModelSettings } from '../../providers/index.js';
import type { Extractor } from '../extraction/extractor.js';
import { modelExtractor } from '../extraction/model-extractor.js';
import { offlineExtractor } from '../extraction/offline-extractor.js';
import { modelSummarizer } from '../summaries/model-summarizer.js';
import { offlineSummarizer } from '../summaries/offline-summarizer.js';
import type { Summarizer } from '../summaries/summarizer.js';
import type { Providers } from './provider-calls.js';

export interface ProviderOptions {
  /** Model endpoint for summaries and facts; default: none, both are made offline. */
  readonly model?: ModelSettingsInput;
  /** Your own summarizer, used instead of the model. */
  readonly summarizer?: Summarizer;
  /** Your own extractor, used instead of the model. */
  readonly extractor?: Extractor;
}

/** Before the first write may cause a job. */
export async function loadProviders({ model, summarizer, extractor }: ProviderOptions): Promise<void> {
  if (model && !(summarizer && extractor)) await loadPackages(parseModelSettings(model).kind);
}

export function providersOf({ model, summarizer, extractor }: ProviderOptions): Providers {
  const settings = model && parseModelSettings(model);
  return {
    summarizer: summarizer ?? (settings ? modelSummarizer(settings) : offlineSummarizer),
    extractor: extractor ?? (settings ? modelExtractor(settings) : offlineExtractor),
    offline: { summarizer: offlineSummarizer, extractor: offlineExtractor },
    breakers: { summarizer: new Breaker(), extractor: new Breaker() },
  };
}
