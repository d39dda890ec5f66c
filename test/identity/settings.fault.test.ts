/** Settings with two processes on one database: each has its own cached copy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { freshDatabase, targetNames } from '../support/targets.js';

for (const kind of ['sqlite', 'postgres'] as const) {
  describe.skipIf(!targetNames().includes(kind))(`settings of two processes on ${kind}`, () => {
    let stores: Store[] = [];
    let drop = async () => {};

    beforeAll(async () => {
      const fresh = await freshDatabase(kind);
      const options = { database: fresh.database, sweep_every_ms: 0 };
      stores = [await Store.open(options), await Store.open(options)];
      drop = fresh.drop;
    });

    afterAll(async () => {
      for (const store of stores) await store.close();
      await drop();
    });

    const both = async (tenant_id: string): Promise<[Api, Api]> => {
      for (const store of stores) await store.ensureTenant(tenant_id);
      const caller = { tenant_id, agent_id: null, role: 'admin', key_id: null } as const;
      return [stores[0]!.api(caller), stores[1]!.api(caller)];
    };

    it('SET-6 concurrent changes of different members lose none', async () => {
      const [one, other] = await both('concurrent');
      for (let round = 1; round <= 5; round++) {
        await Promise.all([
          one.settings.update({ context_token_budget: round }),
          other.settings.update({ note_ttls: { [`T${round}`]: 'Session' } }),
        ]);
        const settings = await one.settings.get({});
        expect(settings).toMatchObject({ context_token_budget: round, note_ttls: { [`T${round}`]: 'Session' } });
        expect(await other.settings.get({})).toEqual(settings);
      }
    });
  });
}
