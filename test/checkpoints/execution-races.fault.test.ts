/** Executions that two stores on one database add to, restore, prune and delete at the same time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { databases } from '../support/http.js';
import { illnesses } from '../support/inspect/audit.js';
import { message, parentsOf, snapshotOf, someRun, state, take } from '../support/nouns/checkpoints.js';
import { within } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const ROUNDS = 10;

for (const kind of databases()) {
  describe(`executions between two stores on ${kind}`, () => {
    let database: { database: string; drop(): Promise<void> };
    let stores: Store[];
    let apis: [Api, Api];

    beforeAll(async () => {
      database = await freshDatabase(kind);
      const options = { database: database.database, sweep_every_ms: 0 };
      stores = [await Store.open(options), await Store.open(options)];
      const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
      apis = [stores[0]!.api(caller), stores[1]!.api(caller)];
    });

    afterAll(async () => {
      for (const store of stores) await store.close();
      if (kind === 'postgres') expect(await illnesses(database.database)).toEqual([]);
      await database.drop();
    });

    /** The codes of those that were refused. */
    async function race(calls: readonly (() => Promise<unknown>)[]): Promise<string[]> {
      const settled = await within(30_000, Promise.allSettled(calls.map((call) => call())), 'the racers');
      return settled.flatMap((one) =>
        one.status === 'rejected' ? [String((one.reason as { code?: string }).code ?? one.reason)] : [],
      );
    }

    it('EXEC-16 both add to one execution, and no state has anything of the other', async () => {
      const execution_id = await someRun(apis[0], ['first']);
      const given = new Map<string, ReturnType<typeof state>>();
      const runs = apis.map(async (cairn, who) => {
        const messages: ReturnType<typeof message>[] = [];
        let parent_checkpoint_id = 'first';
        for (let n = 0; n < ROUNDS; n++) {
          messages.push(message(`${who} says ${n}`.padEnd(700, '.')));
          const sent = state({
            messages: [...messages],
            variables: { who, n, plan: { [`of ${who}`]: 'x'.repeat(5000) } },
          });
          const named = n % 3 === 2 ? {} : { parent_checkpoint_id };
          const { id } = await take(cairn, execution_id, sent, named);
          given.set(id, sent);
          parent_checkpoint_id = id;
        }
      });
      await within(60_000, Promise.all(runs), 'both runs');
      for (const [id, sent] of given) for (const cairn of apis) expect(await snapshotOf(cairn, id)).toEqual(sent);
      expect((await apis[1].executions.get({ execution_id })).checkpoints).toBe(2 * ROUNDS + 1);
    });

    it('EXEC-11 one prunes while the other restores, adds and writes: what is there stays whole', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const ids = ['a', 'b', 'c', 'd'].map((name) => `${name}${round}`);
        const execution_id = await someRun(apis[0], ids);
        const [a, b, c] = ids as [string, string, string];
        const codes = await race([
          () => apis[1].executions.prune({ execution_id }),
          () => apis[0].checkpoints.restore({ checkpoint_id: a }),
          () =>
            apis[0].checkpoints.write({
              checkpoint_id: b,
              writes: [{ task_id: 't', index: 0, channel: 'c', value: 1 }],
            }),
          () => apis[1].checkpoints.restore({ checkpoint_id: c }),
          () => take(apis[0], execution_id, state({ variables: { late: round } }), { parent_checkpoint_id: b }),
          () => apis[0].executions.prune({ execution_id, keep_branch_points: false }),
        ]);
        const fair = ['CHECKPOINT_NOT_FOUND', 'UNKNOWN_ENTITY', 'CONCURRENT_MODIFICATION'];
        expect(codes.filter((code) => !fair.includes(code))).toEqual([]);
        const parents = await parentsOf(apis[1], execution_id);
        for (const parent of Object.values(parents)) if (parent !== null) expect(parents).toHaveProperty(parent);
        const { latest_checkpoint_id, checkpoints } = await apis[0].executions.get({ execution_id });
        expect(parents).toHaveProperty(latest_checkpoint_id!);
        expect(checkpoints).toBe(Object.keys(parents).length);
        for (const id of Object.keys(parents)) {
          const n = ids.indexOf(id);
          const { variables } = (await snapshotOf(apis[1], id)).context;
          expect(variables).toEqual(n < 0 ? { late: round } : { n });
        }
        const next = await take(apis[1], execution_id, state());
        expect(next.parent?.checkpoint_id).toBe(latest_checkpoint_id);
      }
      const stray = await stores[0]!.driver.long(
        'default',
        sql`SELECT w.checkpoint_id FROM checkpoint_writes w WHERE w.tenant_id = ${'default'} AND NOT EXISTS
            (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${'default'} AND c.checkpoint_id = w.checkpoint_id)`,
      );
      expect(stray).toEqual([]);
    });

    it('EXEC-13 one deletes while the other adds: it is in before and goes along, or is refused', async () => {
      const ids: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const execution_id = await someRun(apis[0], [`x${round}`]);
        ids.push(execution_id);
        const codes = await race([
          () => take(apis[0], execution_id, state()),
          () => apis[1].executions.delete({ execution_id, wait: true }),
          () => take(apis[0], execution_id, state({ variables: { a: 'b'.repeat(5000) } })),
          () => apis[0].checkpoints.branch({ checkpoint_id: `x${round}`, reason: 'r' }),
        ]);
        const fair = ['EXECUTION_NOT_FOUND', 'CHECKPOINT_NOT_FOUND', 'UNKNOWN_ENTITY'];
        expect(codes.filter((code) => !fair.includes(code))).toEqual([]);
        await apis[0].executions.delete({ execution_id, wait: true });
      }
      for (const statement of [
        sql`SELECT execution_id FROM checkpoints WHERE tenant_id = ${'default'} AND execution_id = ANY(${ids})`,
        sql`SELECT execution_id FROM checkpoint_items WHERE tenant_id = ${'default'} AND execution_id = ANY(${ids})`,
        sql`SELECT execution_id FROM execution_lines WHERE tenant_id = ${'default'} AND execution_id = ANY(${ids})`,
      ])
        expect(await stores[0]!.driver.long('default', statement)).toEqual([]);
    });
  });
}
