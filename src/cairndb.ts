/** The package `cairndb`: what `import … from 'cairndb'` gives. */
export {
  type ExportedFile,
  type ExportOptions,
  exportCheckpoint,
  exportExecution,
  type ImportedCheckpoints,
  type ImportOptions,
  importCheckpoints,
  importExecution,
} from './api/files/checkpoint-files.js';
export { type Cairn, type LocalCairn, type OpenOptions, openCairn } from './api/open-cairn.js';
export type * from './api/types.js';
export { CairnError, type ErrorCode } from './kernel/errors.js';
export type { CallOptions as ProviderCallOptions, ProviderCost } from './providers/cost.js';
export {
  type Embedder,
  type EmbedOptions,
  type HttpEmbedderSettings,
  httpEmbedder,
  type Vector,
} from './providers/embedder.js';
export type { ModelSettingsInput as ModelOptions } from './providers/model-settings.js';
export type { Extraction, ExtractionRequest, Extractor } from './recall/extraction/extractor.js';
export type { ExtractedFact } from './recall/extraction/facts.js';
export type { TextSource } from './recall/summaries/sources.js';
export type { Summarizer, Summary, SummaryRequest } from './recall/summaries/summarizer.js';
export * from './runtime/index.js';
