/** Models and operations of identity: schemas alone, for clients as well. */
import type { Group } from '../engine/contract.js';
import type { agents } from './agents/contract.js';
import type { auth, keys } from './keys/contract.js';

export { agents } from './agents/contract.js';
export { agentType, canDelegateTo, capabilities, DEFAULT_OFFLINE_AFTER_MS } from './agents/model.js';
export { auth, keys } from './keys/contract.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName
    extends Group<'agents', typeof agents>,
      Group<'auth', typeof auth>,
      Group<'keys', typeof keys> {}
}
