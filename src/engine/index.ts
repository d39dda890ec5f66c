/** What other modules may use of engine. */
export * from './access/rules.js';
export * from './access/subjects.js';
export { checkNamedAgent } from './calls/actor.js';
export * from './calls/call.js';
export { OpenCalls, storeClosed, WrittenTenants } from './calls/open-calls.js';
export { runCallSteps } from './calls/run-steps.js';
export type { CallOptions } from './contract/call-options.js';
export { type Check, type CheckedContent, type Finding, MAX_EXAMPLES } from './doctor.js';
export {
  dueLeases,
  endLease,
  findLease,
  type Lease,
  nextDue,
  putLease,
  renewLease,
  stillExpired,
} from './leases/store.js';
export { expireDue, expireDueLeases, expiries, systemCall, Timekeeper } from './leases/timekeeper.js';
export { Wakes } from './leases/wakes.js';
export {
  contentErasers,
  eraseAll,
  holderErasers,
  indexPurges,
  scrub,
  startErasure,
  waitForErasure,
} from './lifetimes/erasure.js';
export {
  derivations,
  derivedFrom,
  type Erased,
  type ErasedContent,
  type Forgettable,
  type ForgettableKind,
  type Forgetter,
  forgetters,
} from './lifetimes/forgetting.js';
export { Erasures, inBatches, nextBatch } from './lifetimes/running-erasures.js';
export { agreedExpiry, checkLifetime, lifetimeClassOf, lifetimeOf } from './lifetimes/ttl.js';
export { resolveAsOf } from './reads/as-of.js';
export { CHUNK, formatBytes, inChunks, nextLimit, packetBytes, sizeOf } from './reads/chunks.js';
export { addOverlap, headsAfter, newestHead, resetHead } from './reads/clock.js';
export { listPage, type Page, type PageInput, timesOf } from './reads/pages.js';
export { StreamHub } from './reads/stream-hub.js';
export { followStream, HEARTBEAT_MS, MAX_SCANNED_EVENTS } from './reads/stream-tail.js';
export { engineSchema } from './schema.js';
export * from './writes/batch.js';
export { type Change, change, storedReplay, writeGuarded } from './writes/change.js';
export { requestChecks } from './writes/doctor.js';
export { isGuarded, writeGuards } from './writes/guards.js';
export {
  type AssumedRevision,
  type IndexKind,
  type NewPacket,
  type OwnEvent,
  packetJournal,
  SCHEMA_VERSION,
  type UserPacket,
} from './writes/journal.js';
export { appendEvent, event } from './writes/own-events.js';
export { equalsAnswer } from './writes/posted-back.js';
export { forgetRequest, forgetRequests, KEEP_REQUESTS_MS } from './writes/requests.js';
export { indexKey, readMeta, type StoreMeta } from './writes/store-meta.js';
export {
  ensureMeta,
  ensureTenant,
  hasTenant,
  headOf,
  listTenants,
  renewEpoch,
} from './writes/tenants.js';
