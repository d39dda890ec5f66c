/** cairndb: the library in process, with no server. */
import type { Api } from './contract/api.js';
import { type Shorthands, shorthandsOn } from './contract/shorthands.js';
import { DEFAULT_TENANT, Store, type StoreOptions } from './service/open.js';

export {
  type ExportedFile,
  type ExportOptions,
  exportCheckpoint,
  exportExecution,
  type ImportedCheckpoints,
  type ImportOptions,
  importCheckpoints,
  importExecution,
} from './checkpoint-files.js';
export type { Api, CallOptions } from './contract/api.js';
export type { ExtractedFact } from './domain/facts.js';
export type { TextSource } from './domain/sources.js';
export type { AppendResult, Box, Grant, HydratedBox } from './model/box.js';
export type { Card } from './model/card.js';
export type { Checkpoint, CheckpointSummary, Snapshot } from './model/checkpoint.js';
export { CairnError, type ErrorCode } from './model/errors.js';
export type { Bundle, Execution } from './model/execution.js';
export type { Json, JsonObject } from './model/json.js';
export type { Caller, Key } from './model/key.js';
export type { Packet, WriteResult } from './model/packet.js';
export type { CallOptions as ProviderCallOptions, ProviderCost } from './provider/cost.js';
export {
  type Embedder,
  type EmbedOptions,
  type HttpEmbedderSettings,
  httpEmbedder,
} from './provider/embedder.js';
export type { Extraction, ExtractionRequest, Extractor } from './provider/extractor.js';
export type { ModelSettingsInput as ModelOptions } from './provider/model-settings.js';
export type { Summarizer, Summary, SummaryRequest } from './provider/summarizer.js';

export * from './runtime/index.js';

export interface OpenOptions extends StoreOptions {
  /** Whose memory it is; `default` unless given. */
  readonly tenant?: string;
  /** The agent that calls are made as; the tenant itself unless given. */
  readonly agent?: string;
}

/** An Api, with the shorthands `remember` and `recall`, that can be closed. */
export interface Cairn extends Api, Shorthands {
  /** Drains what is under way, then closes the database. */
  close(): Promise<void>;
}

export interface LocalCairn extends Cairn {
  /** Waits until all that can be searched has its vector, if there is an embedder; says how many have none by then. */
  embedded(timeout_ms?: number): Promise<number>;
}

/** Opens a store in this process. Several processes may open the same database. */
export async function openCairn(options: OpenOptions): Promise<LocalCairn> {
  const { tenant = DEFAULT_TENANT, agent = null, ...rest } = options;
  const store = await Store.open(rest);
  try {
    await store.ensureTenant(tenant);
  } catch (error) {
    await store.close();
    throw error;
  }
  const api = store.api({ tenant_id: tenant, agent_id: agent, role: 'admin', key_id: null });
  const embedded = (timeout_ms?: number) => store.embedded(timeout_ms);
  return { ...api, ...shorthandsOn(api), embedded, close: () => store.close() };
}
