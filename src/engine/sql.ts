/** Rows and SQL conditions of engine, also for the search thread: no schemas. */
export * from './access/reach.js';
export * from './lifetimes/endings.js';
export { Registry, SlotRegistry } from './registry.js';
export { PENDING } from './writes/recorded-time.js';
