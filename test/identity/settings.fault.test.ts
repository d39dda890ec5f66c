/** Settings with two processes on one database: each has its own cached copy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql, TENANT } from '#cairn/driver/index.js';
import { settingsChecks } from '#cairn/identity/index.js';
import { freshDatabase, refusalOf, targetNames } from '../support/targets.js';

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

    it('SET-6 a default that one process set applies to the next write of the other', async () => {
      const [one, other] = await both('two-caches');
      const note = { note_type: 'Fact', title: 't', content: 'c' };
      for (const ttl of ['LongTerm', 'ShortTerm', 'LongTerm', 'Persistent'] as const) {
        // Both have a copy of the former settings.
        await Promise.all([one.notes.create(note), other.notes.create(note)]);
        await one.settings.update({ note_ttls: { '*': ttl } });
        expect((await other.notes.create(note)).ttl).toBe(ttl);
        expect((await one.notes.create(note)).ttl).toBe(ttl);
      }
    });

    it('SET-6 a group of writes with an outdated copy runs again, each write once', async () => {
      const [one, other] = await both('groups');
      const title = (i: number) => `note ${i}`;
      const notes = (api: Api, from: number) =>
        Array.from({ length: 20 }, (_, i) =>
          api.notes.create({ note_type: 'Fact', title: title(from + i), content: String(from + i) }),
        );
      await Promise.all(notes(other, 0));
      await one.settings.update({ note_ttls: { '*': 'LongTerm' } });
      const made = await Promise.all(notes(other, 20));
      expect(new Set(made.map(({ ttl }) => ttl))).toEqual(new Set(['LongTerm']));
      const { total } = await one.notes.list({ limit: 1 });
      expect(total).toBe(40);
      const { packets } = await one.packets.list({ packet_type: 'cairn.note.created', limit: 100 });
      expect(packets).toHaveLength(40);
    });

    it('SET-6 a budget that one process set applies to the next context of the other', async () => {
      const [one, other] = await both('contexts');
      const { trajectory_id } = await one.trajectories.create({ name: 'task' });
      for (const budget of [700, 500, 600]) {
        await Promise.all([one.context.assemble({ trajectory_id }), other.context.assemble({ trajectory_id })]);
        await one.settings.update({ context_token_budget: budget });
        expect((await other.context.assemble({ trajectory_id })).token_budget).toBe(budget);
      }
      const { total } = await one.manifests.list({ trajectory_id });
      expect(total).toBe(9);
      // Nor is a context refused because of a budget that was raised.
      await one.settings.update({ context_token_budget: 5 });
      const asked = { trajectory_id, instructions: 'Answer every question in one short sentence.' };
      for (const api of [one, other])
        expect(await refusalOf(api.context.assemble(asked))).toMatchObject({ code: 'CONTEXT_BUDGET_TOO_SMALL' });
      await one.settings.update({ context_token_budget: 500 });
      expect((await other.context.assemble(asked)).token_budget).toBe(500);
    });

    it('SET-6 what one process says to retain counts for the next scope that the other closes', async () => {
      const [one, other] = await both('closing');
      const { trajectory_id } = await one.trajectories.create({ name: 'task' });
      const closed = async (api: Api) => {
        const { scope_id } = await one.scopes.create({ trajectory_id, name: 's' });
        await one.turns.add({ scope_id, role: 'User', content: 'The invoice was paid in Oslo.' });
        return (await api.scopes.close({ scope_id })).made.map(({ kind }) => kind);
      };
      await Promise.all([closed(one), closed(other)]);
      for (const retain of ['digest', 'nothing', 'digest'] as const) {
        await one.settings.update({ retain });
        const left = retain === 'digest' ? ['digest'] : [];
        expect(await closed(other)).toEqual(left);
        expect(await closed(one)).toEqual(left);
      }
    });

    it('SET-6 a head row with another revision is reported, and writes still succeed', async () => {
      const [one, other] = await both('altered');
      const note = { note_type: 'Fact', title: 't', content: 'c' };
      await one.settings.update({ note_ttls: { '*': 'LongTerm' } });
      const { driver } = stores[0]!;
      const found = async () => {
        const rows = await Promise.all(settingsChecks.map(({ broken }) => driver.examine('altered', broken())));
        return rows.flat();
      };
      expect(await found()).toEqual([]);
      await driver.write('altered', (tx) =>
        tx.run(sql`UPDATE tenants SET settings_revision = 'x' WHERE tenant_id = ${TENANT}`),
      );
      expect(await found()).toHaveLength(1);
      for (const api of [one, other, one, other]) expect((await api.notes.create(note)).ttl).toBe('LongTerm');
      await one.settings.update({ note_ttls: null });
      expect(await found()).toEqual([]);
    });

    it('SET-6 settings and notes written at the same time have the one order or the other', async () => {
      const [one, other] = await both('races');
      const note = { note_type: 'Fact', title: 't', content: 'c' };
      let expected: string = 'Persistent';
      for (let round = 0; round < 10; round++) {
        const before = expected;
        expected = `Duration(${(round + 1) * 100_000_000})`;
        const [, ...made] = await Promise.all([
          one.settings.update({ note_ttls: { '*': expected } }),
          ...Array.from({ length: 8 }, (_, i) => (i % 2 ? one : other).notes.create(note)),
        ]);
        for (const { ttl } of made) expect([before, expected]).toContain(ttl);
        expect((await other.notes.create(note)).ttl).toBe(expected);
      }
    });
  });
}
