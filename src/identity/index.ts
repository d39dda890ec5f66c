/** What other modules may use of identity. */
import './register.js';

export * from './access/permissions.js';
export { refuseForUsers } from './access/users.js';
export { checkMayDelegate } from './agents/may-delegate.js';
export { agentReferences, agentWork } from './agents/references.js';
export { ensureAgentRecord, registerIn } from './agents/registration.js';
export { allowsDelegation, commonDelegates } from './agents/rules.js';
export { unregisterIn, updateIn } from './agents/service.js';
export {
  AGENT_ORIGINS,
  type AgentRow,
  agentsNamed,
  declarableAgents,
  effectiveType,
  findAgent,
  insertAgent,
  lockAgent,
  toAgent,
  updateAgent,
} from './agents/store.js';
export { keyHash } from './keys/service.js';
export { anyKey, findKeyByHash } from './keys/store.js';
export {
  actingFor,
  isHeartbeatDue,
  recordCallHeartbeat,
  recordHeartbeat,
  recordLockedHeartbeat,
} from './presence/heartbeats.js';
export { agentHoldings, isBetweenTasks } from './presence/offline.js';
export { waitFor, waitForExpiry } from './presence/wait-for.js';
export { identitySchema } from './schema.js';
export {
  type AssumedSettings,
  assumedSettings,
  SettingsCache,
  settingsAhead,
  settingsCache,
} from './settings/cache.js';
export { settingsChecks } from './settings/doctor.js';
export { checkSettings, defaultTtl, PERMANENT_NOTE } from './settings/rules.js';
export { updateSettingsIn } from './settings/service.js';
export { findSettings, lockSettings, SETTINGS_OF_TENANT } from './settings/store.js';
export { membersOf, settingsOf } from './settings/views.js';
export { useCases } from './use-cases.js';
