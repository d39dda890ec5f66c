/** What other modules may use of api. */
export type { AnyMethod, Api, ApiByName, CallOptions, Host, Output } from './api.js';
export {
  type ExportedFile,
  type ExportOptions,
  executionText,
  exportCheckpoint,
  exportExecution,
  type ImportedCheckpoints,
  type ImportOptions,
  importCheckpoints,
  importExecution,
} from './files/checkpoint-files.js';
export {
  deleteStoreTenant,
  embedStore,
  examineStore,
  listStoreTenants,
  migrateStore,
  type Reindexing,
  recoverClock,
  reindexStore,
} from './maintain.js';
export { type Cairn, type LocalCairn, type OpenOptions, openCairn } from './open-cairn.js';
export { openapiSteps } from './openapi.js';
export { parts, schema } from './schema.js';
export { openDriver, Store, type StoreOptions } from './store.js';
export type { CairnView } from './views.js';
