/** What other modules may use of maintenance. */
export { clockAhead, type RecoveredTenant, recoverClock } from './clock.js';
export { examine } from './doctor.js';
export { useCases } from './use-cases.js';
