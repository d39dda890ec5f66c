/** Gets facts out of turns without a model. */
import { extractFacts } from '../domain/extraction-rules.js';
import { givingWay } from '../domain/giving-way.js';
import { offlineCost } from './cost.js';
import type { Extractor } from './extractor.js';

export const offlineExtractor: Extractor = {
  name: 'offline',
  async extract({ sources, recalled = [] }, { signal } = {}) {
    const started = performance.now();
    signal?.throwIfAborted();
    const facts = await extractFacts(sources, { give_way: givingWay(signal), recalled });
    return { facts, cost: offlineCost(started) };
  },
};
