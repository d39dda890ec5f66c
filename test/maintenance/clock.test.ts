/** A clock that was ahead for a while: what it leaves is noticed, and recovered from. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverClock, Store } from '#cairn/api/index.js';
import { createServer } from '#cairn/http/index.js';
import { examine } from '#cairn/maintenance/doctor.js';
import { databases, send } from '../support/http.js';
import { freshDatabase, refusalOf } from '../support/targets.js';

const DAY = 86_400_000;
const YEAR_AHEAD = 400 * DAY;

for (const kind of databases()) {
  describe(`a clock that was ahead, on ${kind}`, () => {
    let database: string;
    let drop: () => Promise<void>;
    beforeAll(async () => {
      ({ database, drop } = await freshDatabase(kind));
    });
    afterAll(() => drop());

    /** A store whose clock is so much ahead. */
    async function at<T>(ahead_ms: number, work: (store: Store) => Promise<T>): Promise<T> {
      const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => ahead_ms });
      return work(store).finally(() => store.close());
    }
    const apiOf = (store: Store, tenant_id = 'default') =>
      store.api({ tenant_id, agent_id: null, role: 'admin', key_id: null });
    const sick = async (store: Store): Promise<string[]> => {
      const found: string[] = [];
      for await (const { ok, check, problems } of examine(store.driver))
        if (!ok) found.push(`${check}: ${problems.join('; ')}`);
      return found;
    };
    const note = { note_type: 'Fact', title: 't', content: 'x' };
    const days = (iso: string) => Math.floor((Date.parse(iso) - Date.now()) / DAY + 0.5);

    // In their order: each goes on where the one before has left the store.
    let before: string;
    let kept: string;
    let token: string;

    it('CLOCK-1 a head more than an hour ahead is reported by doctor, health and serve', async () => {
      await at(0, async (store) => {
        kept = (await apiOf(store).notes.create(note)).note_id;
        before = new Date().toISOString();
        await store.ensureTenant('other');
        await apiOf(store, 'other').notes.create(note);
        expect(await store.ready()).toEqual({ clock_ahead_ms: 0 });
        expect(await sick(store)).toEqual([]);
      });
      // Half an hour is what clocks of servers may differ by.
      await at(DAY / 48, (store) => apiOf(store).notes.create(note));
      await at(0, async (store) => expect(await store.ready()).toEqual({ clock_ahead_ms: 0 }));
      await at(YEAR_AHEAD, async (store) => {
        const api = apiOf(store);
        await api.notes.update({ note_id: kept, content: 'changed in the future' });
        await api.locks.acquire({ resource_type: 'file', resource_id: 'a', holder_agent_id: 'x' });
        await api.notes.create({ ...note, title: 'once' }, { idempotency_key: 'k' });
      });
      await at(0, async (store) => {
        // The bug that is recovered from: time stands still in the future.
        expect(days((await apiOf(store).notes.create(note)).created_at)).toBe(400);
        expect((await store.ready()).clock_ahead_ms).toBeGreaterThan(YEAR_AHEAD - DAY);
        expect(await sick(store)).toEqual([
          expect.stringMatching(
            /^default: recorded times are not ahead of the clock: .*400 days ahead.*`cairn clock recover`/,
          ),
        ]);
        const log: string[] = [];
        const server = createServer(store, { version: 'test', log: (line) => log.push(line) });
        const port = await server.listen({ host: '127.0.0.1', port: 0 });
        const health = await send(port, { method: 'GET', path: '/health/ready' });
        expect(health.status).toBe(200);
        expect(JSON.parse(health.text)).toMatchObject({
          status: 'ready',
          warnings: [expect.stringContaining('400 days ahead of the clock')],
        });
        expect(log).toEqual([expect.stringMatching(/400 days ahead of the clock.*`cairn clock recover`/)]);
        for await (const followed of apiOf(store).events.follow({})) {
          token = followed.token;
          break;
        }
        await server.close();
      });
    });

    it('CLOCK-2 recovering starts a new epoch at the true time', async () => {
      const { recovered } = await recoverClock({ database });
      expect(recovered).toMatchObject([{ tenant_id: 'default' }]);
      expect(days(recovered[0]!.until)).toBe(400);
      expect(days(recovered[0]!.from)).toBe(0);
      await at(0, async (store) => {
        const api = apiOf(store);
        expect(await store.ready()).toEqual({ clock_ahead_ms: 0 });
        expect(days((await api.notes.create(note)).created_at)).toBe(0);
        const { packets } = await api.packets.list({ packet_type: 'cairn.clock.recovered' });
        expect(packets).toMatchObject([{ payload: { from: recovered[0]!.from, until: recovered[0]!.until } }]);
        const resumed = api.events.follow({ after: token })[Symbol.asyncIterator]().next();
        expect(await refusalOf(resumed)).toMatchObject({ code: 'STREAM_RESET', status: 409 });
      });
    });

    it('CLOCK-3 as_of inside the overlap is 409, before and after it is answered', async () => {
      await at(0, async (store) => {
        const api = apiOf(store);
        const now = (await api.notes.update({ note_id: kept, content: 'changed at the true time' })).updated_at;
        const inside = [now, new Date(Date.now() + DAY).toISOString(), new Date(Date.now() + 399 * DAY).toISOString()];
        for (const as_of of inside) {
          for (const asked of [
            api.notes.get({ note_id: kept, as_of }),
            api.notes.list({ as_of }),
            api.artifacts.list({ as_of }),
          ])
            expect(await refusalOf(asked)).toMatchObject({
              code: 'AMBIGUOUS_TIME',
              status: 409,
              details: { from: expect.any(String), until: expect.any(String) },
            });
        }
        expect(await api.notes.get({ note_id: kept, as_of: before })).toMatchObject({ content: 'x', version: 1 });
        expect((await api.notes.list({ as_of: before })).notes).toHaveLength(1);
        expect(await api.notes.get({ note_id: kept })).toMatchObject({
          content: 'changed at the true time',
          version: 3,
        });
        // Another tenant was not touched.
        const other = apiOf(store, 'other');
        expect((await other.notes.list({ as_of: new Date().toISOString() })).notes).toHaveLength(1);
      });
      await at(YEAR_AHEAD + DAY, async (store) => {
        const as_of = new Date(Date.now() + YEAR_AHEAD + DAY / 2).toISOString();
        expect(await apiOf(store).notes.get({ note_id: kept, as_of })).toMatchObject({ version: 3 });
      });
    });

    it('CLOCK-4 what was held by the wrong clock is let go, and a recovered store is healthy', async () => {
      // The test before has moved the head again.
      await recoverClock({ database });
      await at(0, async (store) => {
        const api = apiOf(store);
        await api.locks.acquire({ resource_type: 'file', resource_id: 'a', holder_agent_id: 'y' });
        expect((await api.notes.history({ note_id: kept })).versions).toHaveLength(3);
        expect(await sick(store)).toEqual([]);
      });
      expect(await recoverClock({ database })).toEqual({ recovered: [] });
      await at(25 * 3_600_000, async (store) => {
        // A day later its Idempotency-Key is free again.
        const made = await apiOf(store).notes.create({ ...note, title: 'another' }, { idempotency_key: 'k' });
        expect(made).toMatchObject({ title: 'another' });
      });
    });
  });
}
