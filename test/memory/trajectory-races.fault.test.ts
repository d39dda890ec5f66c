/** Trajectories that end while others add to them, on two stores that share one PostgreSQL database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { sleep, within } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const ROUNDS = 12;
const CALLERS = 8;

describe.runIf(targetNames().includes('postgres'))('trajectories between two stores', () => {
  let database: { database: string; drop(): Promise<void> };
  let stores: Store[];
  let apis: Api[];

  beforeAll(async () => {
    database = await freshDatabase('postgres');
    const options = { database: database.database, sweep_every_ms: 0 };
    stores = [await Store.open(options), await Store.open(options)];
    const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
    apis = stores.map((store) => store.api(caller));
  });

  afterAll(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database.database)).toEqual([]);
    await database.drop();
  });

  const start = async (more: object = {}) =>
    (await apis[0]!.trajectories.create({ name: 'task', ...more })).trajectory_id;

  /** Parts that are created under this one by both stores, while the first one ends it. */
  async function race(parent: string, end: () => Promise<unknown>, turn: number): Promise<string[]> {
    const calls = Array.from({ length: CALLERS }, async (_, i) => {
      if (i === turn % CALLERS) return end();
      // Now and then the end shall come first.
      await sleep((turn % 4) * (i % 3));
      return apis[i % 2]!.trajectories.create({ name: 'part', parent_trajectory_id: parent });
    });
    const settled = await within(30_000, Promise.allSettled(calls), 'the racers');
    return settled.flatMap((one) =>
      one.status === 'rejected' ? [String((one.reason as { code?: string }).code ?? one.reason)] : [],
    );
  }

  const active = async (parent_id: string) =>
    (await apis[1]!.trajectories.list({ parent_id, status: 'Active', limit: 1 })).total!;

  it('a completed one has no Active part', async () => {
    let completed = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const parent = await start();
      const end = () => apis[0]!.trajectories.update({ trajectory_id: parent, status: 'Completed' });
      const codes = await race(parent, end, round);
      expect(codes.filter((code) => code !== 'STATE_CONFLICT')).toEqual([]);
      const { status } = await apis[1]!.trajectories.get({ trajectory_id: parent });
      const parts = await active(parent);
      if (status === 'Completed') {
        completed++;
        expect([parts, codes.length]).toEqual([0, CALLERS - 1]);
      } else expect([parts, codes.length]).toEqual([CALLERS - 1, 1]);
    }
    console.log(`the completion was first in ${completed} of ${ROUNDS} rounds`);
  });

  it('a failed one takes no part that comes after', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const parent = await start();
      const end = () => apis[0]!.trajectories.update({ trajectory_id: parent, status: 'Failed' });
      const codes = await race(parent, end, round);
      expect(codes.filter((code) => code !== 'STATE_CONFLICT')).toEqual([]);
      expect((await active(parent)) + codes.length).toBe(CALLERS - 1);
    }
  });

  it('nothing is left below a deleted one', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const root = await start();
      const parent = await start({ parent_trajectory_id: root });
      const end = () => apis[0]!.trajectories.delete({ trajectory_id: root });
      const codes = await race(parent, end, round);
      expect(codes.filter((code) => code !== 'UNKNOWN_ENTITY')).toEqual([]);
      const left = await stores[1]!.driver.at('default').all(
        sql`SELECT trajectory_id FROM trajectories
            WHERE tenant_id = 'default' AND parent_trajectory_id = ${parent} AND deleted_at IS NULL`,
      );
      expect(left).toEqual([]);
    }
  });

  it('two that finish or delete the same agree on one', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const trajectory_id = await start();
      const ends = Array.from({ length: CALLERS }, (_, i) =>
        apis[i % 2]!.trajectories.update({ trajectory_id, status: i % 4 < 2 ? 'Completed' : 'Failed' }),
      );
      const settled = await within(30_000, Promise.allSettled(ends), 'the racers');
      const { status } = await apis[0]!.trajectories.get({ trajectory_id });
      expect(settled.map((one) => (one.status === 'fulfilled' ? one.value.status : 'refused')).sort()).toEqual(
        [...Array(CALLERS / 2).fill(status), ...Array(CALLERS / 2).fill('refused')].sort(),
      );
      const deletions = apis.map((api) => api.trajectories.delete({ trajectory_id }));
      await within(30_000, Promise.all(deletions), 'the deletions');
      const { packets } = await apis[0]!.packets.thread({ thread_id: trajectory_id });
      const types = packets.map(({ packet_type }) => packet_type);
      expect(types.filter((type) => type.startsWith('cairn.trajectory.'))).toEqual(
        ['created', status.toLowerCase(), 'deleted'].map((what) => `cairn.trajectory.${what}`),
      );
    }
  });
});
