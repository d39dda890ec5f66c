/** Notices what is over in a tenant, as the timekeeper does in the background. */
import type { Runtime } from '#cairn/service/runtime.js';
import { expireDue, systemCall } from '#cairn/service/timekeeper.js';
import type { TestStore } from './targets.js';

/** Of the runtime, ending a lease needs the driver alone. */
export const expire = ({ store }: TestStore, tenant: string): Promise<number> =>
  expireDue(systemCall({ driver: store.driver } as Runtime, tenant));
