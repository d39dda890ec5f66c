/** Rows and SQL conditions of engine, also for the search thread: no schemas. */
export * from './access/reach.js';
export { subjectsWithin, type UserReach } from './access/subjects.js';
export { findLease } from './leases/store.js';
export * from './lifetimes/endings.js';
export { Registry, SlotRegistry } from './registry.js';
export { checksumOf, type EventColumns, factsOf, renderEvent } from './writes/event-format.js';
export { type LateWriter, lateWriters } from './writes/late-rows.js';
export { PENDING } from './writes/recorded-time.js';
export { indexKey, readMeta } from './writes/store-meta.js';
