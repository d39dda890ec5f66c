/** A model first, and without one what always works: a write must never wait for, or be lost by, an endpoint. */
import type { Extractor } from '../recall/extraction/extractor.js';
import type { Summarizer } from '../recall/summaries/summarizer.js';
import { type CallOptions, costFrom, type ProviderCost, sumOfCosts } from './cost.js';
import { costOfFailure, reasonOf } from './model-failure.js';

export function withFallback(model: Summarizer, offline: Summarizer): Summarizer;
export function withFallback(model: Extractor, offline: Extractor): Extractor;
export function withFallback(
  model: Summarizer | Extractor,
  offline: Summarizer | Extractor,
): Summarizer | Extractor {
  const name = `${model.name}, else ${offline.name}`;
  if ('summarize' in model && 'summarize' in offline) {
    return {
      name,
      summarize: (request, options = {}) =>
        firstOf(
          () => model.summarize(request, options),
          () => offline.summarize(request, options),
          ({ text }) => text.trim() === '',
          options,
        ),
    };
  }
  const [first, second] = [model as Extractor, offline as Extractor];
  return {
    name,
    extract: (request, options = {}) =>
      firstOf(
        () => first.extract(request, options),
        () => second.extract(request, options),
        ({ facts }) => facts.length === 0,
        options,
      ),
  };
}

/** The caller's own abort is no failure of the model, and ends both. */
async function firstOf<T extends { readonly cost: ProviderCost }>(
  model: () => Promise<T>,
  offline: () => Promise<T>,
  isEmpty: (result: T) => boolean,
  { signal }: CallOptions,
): Promise<T> {
  let reason: string;
  let spent: ProviderCost | undefined;
  try {
    const result = await model();
    if (!isEmpty(result)) return result;
    reason = 'the model answered with nothing';
    spent = costFrom(result.cost);
  } catch (error) {
    signal?.throwIfAborted();
    reason = reasonOf(error);
    spent = costOfFailure(error);
  }
  const result = await offline();
  // What was spent in vain was spent all the same.
  const cost = spent === undefined ? result.cost : sumOfCosts(spent, result.cost);
  return { ...result, cost, fallback_reason: reason };
}
