/** The models and operations of identity: schemas alone, for clients as well. */
export { agents } from './agents/contract.js';
export { agentType, canDelegateTo, capabilities, DEFAULT_OFFLINE_AFTER_MS } from './agents/model.js';
export { auth, keys } from './keys/contract.js';
