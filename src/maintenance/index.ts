/** The door of maintenance: use cases, doctor, clock recovery and receipts. */
import './register.js';

export { checks } from './checks.js';
export { clockAhead, type RecoveredTenant, recoverClock } from './clock.js';
export { examine } from './doctor.js';
export { withReceipt } from './erasures/reading.js';
export { show as showErasure } from './erasures/service.js';
export { deleteTenant, type TenantSummary, tenantsOf } from './erasures/tenants.js';
export { maintenanceSchema } from './schema.js';
export { useCases } from './use-cases.js';
