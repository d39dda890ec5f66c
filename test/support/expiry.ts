/** Notices what is over in a tenant, as the timekeeper does in the background. */
import { expireDue, systemCall } from '#cairn/engine/index.js';
import type { TestStore } from './targets.js';

export const expire = ({ store }: TestStore, tenant: string): Promise<number> =>
  expireDue(systemCall(store.runtime, tenant));
