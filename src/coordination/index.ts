/** The door of coordination for modules above. */
import './register.js';

export { turnChecks } from './agent-turns/doctor.js';
export { asTurnAgent, hasGuards } from './guards/guards.js';
export { deleteHandoverIn, saveHandoverIn } from './handovers/service.js';
export { type HandoverRow, handoversNamed, listHandovers } from './handovers/store.js';
export { lockChecks } from './locks/doctor.js';
export { WAITER_LEASE_MS } from './locks/rules.js';
export { deleteEndedLocks, KEEP_ENDED_LOCKS_MS } from './locks/store.js';
export { messageChecks } from './messages/doctor.js';
export { eraseMessages, expiredMessages } from './messages/erasure.js';
export { pauseChecks } from './pauses/doctor.js';
export { coordinationSchema } from './schema.js';
export { useCases } from './use-cases.js';
