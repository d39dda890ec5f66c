/** What other modules may use of providers. */
export { Breaker } from './breaker.js';
export {
  type CallOptions,
  costFrom,
  isSpent,
  memberOf,
  offlineCost,
  type ProviderCost,
  sumOfCosts,
} from './cost.js';
export {
  type Embedder,
  EmbeddingFailure,
  type EmbedOptions,
  type HttpEmbedderSettings,
  httpEmbedder,
  type Vector,
} from './embedder.js';
export { loadPackages, ModelEndpoint } from './model-endpoint.js';
export { costOfFailure, modelFailure, PlainFailure, plainReason, reasonOf } from './model-failure.js';
export { type ModelSettings, type ModelSettingsInput, parseModelSettings } from './model-settings.js';
