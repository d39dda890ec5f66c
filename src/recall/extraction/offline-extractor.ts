/** Extracts facts without a model: the rules for English behind the `Extractor` interface. */
import { cooperativeYield } from '../../kernel/index.js';
import { offlineCost } from '../../providers/index.js';
import { extractFacts } from './english/extraction.js';
import type { Extractor } from './extractor.js';
import { presentFacts } from './present-facts.js';

export const offlineExtractor: Extractor = {
  name: 'offline',
  async extract({ sources, recalled = [] }, { signal } = {}) {
    const started = performance.now();
    signal?.throwIfAborted();
    const maybe_yield = cooperativeYield(signal);
    const found = await extractFacts(sources, { maybe_yield, recalled });
    const facts = await presentFacts(found, sources, maybe_yield);
    return { facts, cost: offlineCost(started) };
  },
};
