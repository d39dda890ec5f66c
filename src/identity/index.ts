/** What other modules may use of identity. */
import './register.js';

export * from './access/permissions.js';
export { checkMayDelegate } from './agents/may-delegate.js';
export { agentReferences, agentWork } from './agents/references.js';
export { provideAgent } from './agents/registration.js';
export { commonDelegates } from './agents/rules.js';
export { type AgentRow, findAgent, givenType, insertAgent, lockAgent, MADE, updateAgent } from './agents/store.js';
export { keyHash } from './keys/service.js';
export { anyKey, findKeyByHash } from './keys/store.js';
export { actingFor, isDue, noteSeen, seen, signOfLife } from './presence/heartbeats.js';
export { agentHoldings, isBetweenTasks } from './presence/offline.js';
export { waitFor, waitForEnd } from './presence/wait-for.js';
export { identitySchema } from './schema.js';
export { useCases } from './use-cases.js';
