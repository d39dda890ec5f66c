/** What settings cost a write: no statement of its own, counted by a driver that is wrapped. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { type Fault, FaultyDriver, noFault } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../support/targets.js';

for (const kind of ['sqlite', 'postgres'] as const) {
  describe.skipIf(!targetNames().includes(kind))(`the cost of settings on ${kind}`, () => {
    const counter: Fault = noFault();
    let store: Store;
    let cairn: Api;
    let drop = async () => {};

    beforeAll(async () => {
      const fresh = await freshDatabase(kind);
      drop = fresh.drop;
      const driver = await openDriver({ database: fresh.database });
      store = await Store.on(new FaultyDriver(driver, () => counter), { sweep_every_ms: 0 });
      cairn = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    });
    afterAll(async () => {
      await store.close();
      await drop();
    });

    const statementsOf = async (write: () => Promise<unknown>): Promise<number> => {
      counter.seen = 0;
      await write();
      return counter.seen;
    };

    it('SET-7 a write without ttl takes as many statements as one with it', async () => {
      const { trajectory_id } = await cairn.trajectories.create({ name: 'a task' });
      const note = { note_type: 'Fact', title: 't', content: 'c' };
      const artifact = { artifact_type: 'Code', name: 'n', content: 'c', trajectory_id };
      await cairn.settings.update({ note_ttls: { '*': 'LongTerm' }, artifact_ttls: { '*': 'LongTerm' } });
      // The first write after a change reads the settings.
      await cairn.notes.create(note);
      const plain = await statementsOf(() => cairn.notes.create({ ...note, ttl: 'LongTerm' }));
      expect(plain).toBeGreaterThan(0);
      expect(await statementsOf(() => cairn.notes.create(note))).toBe(plain);
      const asked = await statementsOf(() => cairn.artifacts.create({ ...artifact, ttl: 'LongTerm' }));
      expect(await statementsOf(() => cairn.artifacts.create(artifact))).toBe(asked);
    });

    it('SET-7 a context and a closing scope pay no statement in their transactions either', async () => {
      const { trajectory_id } = await cairn.trajectories.create({ name: 'a task' });
      await cairn.context.assemble({ trajectory_id });
      const given = await statementsOf(() =>
        cairn.context.assemble({ trajectory_id, token_budget: 500, sections: [] }),
      );
      expect(given).toBeGreaterThan(0);
      expect(await statementsOf(() => cairn.context.assemble({ trajectory_id }))).toBe(given);
      const closing = async () => {
        const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 's' });
        return statementsOf(() => cairn.scopes.close({ scope_id, wait: true }));
      };
      await cairn.settings.update({ retain: 'nothing' });
      const first = await closing();
      // The first one reads the settings.
      expect(await closing()).toBe(first - 1);
    });
  });
}
