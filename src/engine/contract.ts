/** Models and operations of engine: schemas alone, for clients as well. */

export {
  accessTo,
  type GrantedAccess,
  grantedAccess,
  type MemoryAccess,
  type MemoryScope,
  type MemoryType,
  memoryAccess,
  refuseNullError,
} from './access/model.js';
export { type Caller, caller, type KeyRole, keyRole } from './calls/caller.js';
export { inputSchema, inputSchemaOf, takesNull } from './contract/input-schema.js';
export {
  asPatch,
  clearable,
  coreOf,
  inAnyCase,
  nullIsAbsence,
  readLeniently,
  readsLike,
  refusesNull,
} from './contract/lenient-input.js';
export { describedAs, describeMembers } from './contract/member-descriptions.js';
export * from './contract/operation.js';
export type { Group, In, OperationsByName, Out } from './contract/operation-types.js';
export * from './contract/touches.js';
export { type LifetimeClass, lifetimeClass, TTL_NAMES, type Ttl, ttl } from './lifetimes/model.js';
