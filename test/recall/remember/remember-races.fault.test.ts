/** Several servers remember at the same time, on one database. */
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

describe.each(targetNames().filter((name) => name !== 'http'))('remembering on %s', (kind) => {
  it('RECALL-4 two servers make one place, in which nothing is lost, and each finds it all', async () => {
    const { database, drop } = await freshDatabase(kind);
    const stores = [await Store.open({ database }), await Store.open({ database })];
    const apis = stores.map((store) => store.api(CALLER));
    const kept = await Promise.all(
      Array.from({ length: 32 }, (_, i) =>
        apis[i % 2]!.memory.remember({ text: `a storm at ${i}`, as: i % 4 < 2 ? 'turn' : 'note' }),
      ),
    );
    expect(new Set(kept.map(({ trajectory_id }) => trajectory_id)).size).toBe(1);
    expect(new Set(kept.map(({ scope_id }) => scope_id)).size).toBe(2);
    for (const api of apis) {
      expect((await api.trajectories.list()).total).toBe(1);
      expect((await api.scopes.list()).total).toBe(1);
      const { passages } = await api.memory.recall({ query: 'storm', limit: 100 });
      expect(passages.map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort());
    }
    for (const store of stores) await store.close();
    await drop();
  });
});
