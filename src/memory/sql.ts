/** Rows and SQL conditions of memory, for the reading thread as well: no schemas. */
export {
  artifactsWithin,
  type MemoryColumns,
  notesWithin,
  onBehalfConditions,
  ownsOrWorksIn,
  scopesReached,
  trajectoryReadConditions,
} from './access/reach.js';
export type { EntityRef } from './entities/store.js';
export { cardNotSuperseded, packetNotSuperseded, versionNotSuperseded } from './entities/supersession.js';
export {
  findOpenScopes,
  findScope,
  lockOpenScopes,
  lockScope,
  lockScopesOf,
  type ScopeRow,
  updateCoverage,
} from './scopes/store.js';
export { type ClosingScopes, type ScopeUsage, type TriggerSource, triggers } from './scopes/triggers.js';
export { measureTurn, turnDoc } from './turns/search-doc.js';
export { scopesOfTurn, type TurnMetadata, toTurn } from './turns/store.js';
export { memoryLinks } from './versions/links.js';
export { measureMemory, memoryDoc } from './versions/search-doc.js';
export {
  cardsOfMemory,
  currentAt,
  eraseExpired,
  existingMemories,
  expiredVersions,
  findMemory,
  isVersionLive,
  liveAt,
  type NewVersion,
  VERSION_COLUMNS,
  VERSIONS,
  type VersionRow,
} from './versions/store.js';
