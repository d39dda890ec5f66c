/** Two stores on one database, each of which can be closed and opened again, so that it retains nothing. */
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Driver } from '#cairn/driver/index.js';
import { freshDatabase } from '../support/targets.js';

export interface World {
  api(store: 0 | 1, tenant: string): Api;
  driver(): Driver;
  /** A tenant that nobody has used yet. */
  freshTenant(): Promise<string>;
  reopen(store: 0 | 1): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(kind: 'sqlite' | 'postgres'): Promise<World> {
  const { database, drop } = await freshDatabase(kind);
  const open = () => Store.open({ database, sweep_every_ms: 0, count_every_ms: 0 });
  const stores = [await open(), await open()];
  let tenants = 0;
  return {
    api: (store, tenant_id) => stores[store]!.api({ tenant_id, agent_id: null, role: 'admin', key_id: null }),
    driver: () => stores[0]!.driver,
    freshTenant: async () => {
      const tenant = `t-${++tenants}`;
      await stores[0]!.ensureTenant(tenant);
      return tenant;
    },
    reopen: async (store) => {
      await stores[store]!.close();
      stores[store] = await open();
    },
    close: async () => {
      for (const store of stores) await store.close();
      await drop();
    },
  };
}
