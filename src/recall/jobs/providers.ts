/** The summarizer and extractor of a store: the caller's own, a model endpoint, or the offline ones. */
import { invalid } from '../../kernel/index.js';
import {
  Breaker,
  type Embedder,
  loadPackages,
  type ModelSettingsInput,
  parseModelSettings,
} from '../../providers/index.js';
import type { Extractor } from '../extraction/extractor.js';
import { modelExtractor } from '../extraction/model-extractor.js';
import { offlineExtractor } from '../extraction/offline-extractor.js';
import { modelSummarizer } from '../summaries/model-summarizer.js';
import { offlineSummarizer } from '../summaries/offline-summarizer.js';
import type { Summarizer } from '../summaries/summarizer.js';
import { modelComparer } from '../updating/model-comparer.js';
import type { Providers } from './provider-calls.js';

export interface ProviderOptions {
  /** Model endpoint for summaries and facts; default: none, both are made offline. */
  readonly model?: ModelSettingsInput;
  /** Your own summarizer, used instead of the model. */
  readonly summarizer?: Summarizer;
  /** Your own extractor, used instead of the model. */
  readonly extractor?: Extractor;
}

/** Loads the packages of a model endpoint; called before the first write can cause a job. */
export async function loadProviders({ model }: ProviderOptions): Promise<void> {
  if (model) await loadPackages(parseModelSettings(model).kind);
}

export function providersOf({ model, summarizer, extractor }: ProviderOptions): Providers {
  const settings = model && parseModelSettings(model);
  return {
    summarizer: summarizer ?? (settings ? modelSummarizer(settings) : offlineSummarizer),
    extractor: extractor ?? (settings ? modelExtractor(settings) : offlineExtractor),
    offline: { summarizer: offlineSummarizer, extractor: offlineExtractor },
    comparer: settings && modelComparer(settings),
    breakers: { summarizer: new Breaker(), extractor: new Breaker(), comparer: new Breaker() },
  };
}

/** The required method of each kind of provider. */
const METHODS = { embedder: 'embed', summarizer: 'summarize', extractor: 'extract' } as const;
const MAX_NAME = 200;

/** Validates providers for untyped callers: later, a wrong one would only show as work that is never done. */
export function checkProviders(options: ProviderOptions & { readonly embedder?: Embedder | undefined }): void {
  for (const [kind, method] of Object.entries(METHODS)) {
    const provider: unknown = options[kind as keyof typeof METHODS];
    if (provider === undefined) continue;
    if (typeof provider !== 'object' || provider === null)
      throw invalid(`\`${kind}\` must be an object with \`name\` and \`${method}\`, or be left out`);
    const { name, [method]: run } = provider as Record<string, unknown>;
    if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME)
      throw invalid(
        `\`${kind}.name\` must be a text of 1 to ${MAX_NAME} characters, such as the id of the model: it tells whose work is whose`,
      );
    if (typeof run !== 'function') throw invalid(`\`${kind}.${method}\` must be a function`);
  }
  for (const field of ['dimensions', 'batch_size'] as const) {
    const count: unknown = options.embedder?.[field];
    if (count !== undefined && !(Number.isInteger(count) && (count as number) > 0))
      throw invalid(`\`embedder.${field}\` must be an integer ≥ 1`);
  }
  const weight: unknown = options.embedder?.weight;
  if (weight !== undefined && !(typeof weight === 'number' && weight >= 0 && weight < 1e6))
    throw invalid('`embedder.weight` must be a number ≥ 0');
}
