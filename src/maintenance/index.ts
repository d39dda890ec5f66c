/** The door of maintenance: use cases, doctor and clock recovery. */
export { checks } from './checks.js';
export { clockAhead, type RecoveredTenant, recoverClock } from './clock.js';
export { examine } from './doctor.js';
export { useCases } from './use-cases.js';
