/** Leases that are over are noticed by a server: soon, and whatever becomes of others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import type { Runtime } from '#cairn/engine/calls/call.js';
import { expireDue, systemCall } from '#cairn/engine/leases/timekeeper.js';
import { databases } from '../support/http.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { sleep } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const TENANT = 'default';

describe.each(databases())('the timekeeper on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let store: Store;
  let cairn: Api;

  beforeAll(async () => {
    database = await freshDatabase(kind);
    store = await Store.open({ database: database.database });
    cairn = store.api({ tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null });
    await cairn.profiles.create({ name: 'p', system_prompt: 'x' });
  });

  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('PMO-12 a deadline that was just set is noticed before the next round over all tenants', async () => {
    const task = { target_strategy: 'new', target_ref: 'p', instruction: 'x' } as const;
    // Longer than a round takes to come: one of these would have to wait for the next.
    for (let i = 0; i < 2; i++) {
      const answer = await cairn.pmo.fork_join({ tasks: [task], deadline_seconds: 1 });
      if (answer.status !== 'accepted') throw new Error(answer.message);
      const told = () => eventsOf(cairn, 'cairn.batch.ended', answer.batch_id);
      for (let waited = 0; waited < 30 && (await told()).length === 0; waited++) await sleep(100);
      expect(await told()).toMatchObject([{ status: 'timeout' }]);
    }
  });

  it('LOCK-5 leases that cannot be ended keep none of those behind them', async () => {
    const resource = { resource_type: 'f', resource_id: '1', holder_agent_id: 'a', lease_ms: 100 };
    const { lock_id } = await cairn.locks.acquire(resource);
    await store.driver.write(TENANT, async (tx) => {
      for (let i = 0; i < 70; i++) {
        await tx.run(
          sql`INSERT INTO leases (tenant_id, kind, subject_id, token, expires_at)
              VALUES (${TENANT}, 'unheard of', ${String(i)}, 1, 1)`,
        );
      }
    });
    await sleep(150);
    await expireDue(systemCall({ driver: store.driver } as Runtime, TENANT));
    expect(await eventsOf(cairn, 'cairn.lock.expired', lock_id)).toHaveLength(1);
    await store.driver.write(TENANT, (tx) =>
      tx.send(sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = 'unheard of'`),
    );
  });
});
