/** Rows and SQL conditions of engine, also for the search thread: no schemas. */
export * from './access/reach.js';
export {
  addEndings,
  BOX_ENDED,
  CARD_ENDED,
  checkpointHolder,
  type EndingRow,
  eraseAgain,
  executionHolder,
  findEnding,
  handoffHolder,
  isOfTurn,
  noteHolder,
  noteProgress,
  noteVersions,
  OF_TURN,
  pruneHolder,
  reopenEnding,
  scopeHolder,
  sessionHolder,
  trajectoryHolder,
  turnBoxHolder,
  VERSION_ENDED,
} from './lifetimes/endings.js';
export { Registry, SlotRegistry } from './registry.js';
export { PENDING } from './writes/recorded-time.js';
