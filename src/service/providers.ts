/** What summarises and extracts in a store: what was given, a model endpoint, or the offline way. */
import { Breaker } from '../provider/breaker.js';
import type { Extractor } from '../provider/extractor.js';
import { loadPackages } from '../provider/model-endpoint.js';
import { modelExtractor } from '../provider/model-extractor.js';
import { type ModelSettingsInput, parseModelSettings } from '../provider/model-settings.js';
import { modelSummarizer } from '../provider/model-summarizer.js';
import { offlineExtractor } from '../provider/offline-extractor.js';
import { offlineSummarizer } from '../provider/offline-summarizer.js';
import type { Summarizer } from '../provider/summarizer.js';
import type { Providers } from './provider-calls.js';

export interface ProviderOptions {
  /** A model endpoint that summarises and extracts; without one both are done offline. */
  readonly model?: ModelSettingsInput;
  /** What summarises, instead of the model. */
  readonly summarizer?: Summarizer;
  /** What extracts, instead of the model. */
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
