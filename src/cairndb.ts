/** The package `cairndb`: the exports of `import … from 'cairndb'`. */
export {
  type Cairn,
  type CairnView,
  type ExportedFile,
  type ExportOptions,
  exportCheckpoint,
  exportExecution,
  type ImportedCheckpoints,
  type ImportOptions,
  importCheckpoints,
  importExecution,
  type LocalCairn,
  type OpenOptions,
  openCairn,
} from './api/index.js';
export { CairnError, type ErrorCode } from './kernel/index.js';
export {
  type CallOptions as ProviderCallOptions,
  type Embedder,
  type EmbedOptions,
  type HttpEmbedderSettings,
  httpEmbedder,
  type ModelSettingsInput as ModelOptions,
  type ProviderCost,
  type Vector,
} from './providers/index.js';
export type {
  ExtractedFact,
  Extraction,
  ExtractionRequest,
  Extractor,
  Summarizer,
  Summary,
  SummaryRequest,
  TextSource,
} from './recall/index.js';
export * from './runtime/index.js';
export type * from './types.js';
