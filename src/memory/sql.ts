/** Rows and SQL conditions of memory, for the reading thread as well: no schemas. */
export {
  artifactsWithin,
  isMine,
  type MemoryColumns,
  madeForAgents,
  notesWithin,
  scopesReached,
  waysIntoTrajectories,
} from './access/reach.js';
export type { EntityRef } from './entities/store.js';
export { cardNotSuperseded, packetNotSuperseded, versionNotSuperseded } from './entities/supersession.js';
export {
  findScope,
  lockOpenScopes,
  lockScope,
  lockScopesOf,
  noteCovered,
  openScopesAt,
  type ScopeRow,
} from './scopes/store.js';
export { type ClosingScopes, type ScopeUsage, type TriggerPlace, triggers } from './scopes/triggers.js';
export { placesOfTurn, type TurnMetadata, toTurn } from './turns/store.js';
export {
  cardsOfMemory,
  eraseExpired,
  expiredVersions,
  findMemory,
  heldAt,
  knownMemories,
  lives,
  livesAt,
  type NewVersion,
  VERSION_COLUMNS,
  VERSIONS,
  type VersionRow,
} from './versions/store.js';
