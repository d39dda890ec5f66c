/** The package `cairndb`: what `import … from 'cairndb'` gives. */
export type { Api, CallOptions } from './api/index.js';
export {
  type Cairn,
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
export type {
  Bundle,
  Checkpoint,
  CheckpointSummary,
  Execution as ExecutionRecord,
  Snapshot,
} from './checkpoints/contract.js';
export type { Caller } from './engine/contract.js';
export type { AppendResult, Box, Card, Grant, HydratedBox, Packet, WriteResult } from './facts/contract.js';
export type { Key } from './identity/contract.js';
export type { Json, JsonObject } from './kernel/contract.js';
export { CairnError, type ErrorCode } from './kernel/index.js';
export type {
  CallOptions as ProviderCallOptions,
  ModelSettingsInput as ModelOptions,
  ProviderCost,
} from './providers/index.js';
export {
  type Embedder,
  type EmbedOptions,
  type HttpEmbedderSettings,
  httpEmbedder,
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
