/** What goes on after a clock was ahead: nothing that is done at the true time may follow the times of the wrong clock. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverClock, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql, verbatim } from '#cairn/driver/index.js';
import { expireDue, systemCall } from '#cairn/engine/index.js';
import { examine } from '#cairn/maintenance/doctor.js';
import { databases } from '../support/http.js';
import { claim, dispatched, PROFILE } from '../support/nouns/agent-turns.js';
import { eventsOf, someScope, someTrajectory } from '../support/nouns/scopes.js';
import { jobsOf, somePolicy, talk } from '../support/nouns/summaries.js';
import { freshDatabase, refusalOf } from '../support/targets.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Leases last a day at most: one that is given further ahead is told by that alone, the other not. */
const CASES = [
  { far: '400 days', ahead: 400 * DAY },
  { far: '5 hours', ahead: 5 * HOUR },
];

/** What later times are compared with. Every other time is a record, or was named by somebody. */
const STEERING: Readonly<Record<string, readonly string[]>> = {
  agent_turns: ['dispatched_at'],
  agents: ['last_seen_at'],
  boxes: ['sealed_at', 'updated_at'],
  cards: ['deleted_at'],
  endings: ['ended_at'],
  jobs: ['pinned_until'],
  locks: ['ended_at'],
  memory_access: ['accessed_at'],
  requests: ['recorded_at'],
  scopes: ['updated_at'],
  summarization_policies: ['updated_at'],
  sweeps: ['sealed_at', 'swept_at'],
  tenants: ['recorded_at'],
  vector_docs: ['retry_at'],
  vector_progress: ['held_until'],
};

for (const kind of databases())
  for (const { far, ahead } of CASES) {
    describe(`after a clock that was ${far} ahead, on ${kind}`, () => {
      let database: string;
      let drop: () => Promise<void>;
      afterAll(() => drop());

      async function at<T>(offset_ms: number, work: (api: Api, store: Store) => Promise<T>): Promise<T> {
        const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => offset_ms });
        const api = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
        return work(api, store).finally(() => store.close());
      }
      /** At the true time, give or take what a test takes. */
      const expectPresent = (iso: string | null) =>
        expect(Math.abs(Date.parse(iso!) - Date.now())).toBeLessThan(5 * MINUTE);
      const shown = async (api: Api, box_id: string) => {
        const { boxes, missing_card_ids } = await api.boxes.load_batch({ box_ids: [box_id], hydrate: true });
        return { cards: boxes[0]!.cards!.map(({ card_id }) => card_id), missing: missing_card_ids };
      };
      const kept = { cards: ['kept', 'later'], missing: [] };
      const without = { cards: ['later'], missing: ['gone'] };
      const expiring = (api: Api, card_id: string) => api.cards.add({ card_id, content: 'x', ttl_seconds: 3600 });
      const coder = { agent_type: 'coder', capabilities: ['write_code'] };

      // In their order: each goes on where the one before has left the store.
      let scope_id: string;
      let held: string;
      let first: string;

      beforeAll(async () => {
        ({ database, drop } = await freshDatabase(kind));
        await at(0, async (api) => {
          for (const card_id of ['kept', 'gone', 'later']) await api.cards.add({ card_id, content: card_id });
          await api.boxes.create({ box_id: 'before', card_ids: ['kept', 'later'] });
          await api.boxes.create({ box_id: 'after', card_ids: ['gone', 'later'] });
          await expiring(api, 'outlived');
          await api.boxes.create({ box_id: 'meanwhile', card_ids: ['outlived'] });
          ({ scope_id } = await someScope(api, { token_budget: 10 }));
          await api.profiles.create({ name: PROFILE, system_prompt: 'You look things up.' });
        });
        await at(ahead, async (api) => {
          // Sealed before its card was deleted, and after: the one keeps it, the other does not.
          await api.boxes.seal({ box_id: 'before' });
          await api.cards.delete({ card_id: 'kept' });
          await api.cards.delete({ card_id: 'gone' });
          await api.boxes.seal({ box_id: 'after' });
          await api.agents.register({ ...coder, agent_id: 'silent', offline_after_ms: MINUTE });
          await talk(api, scope_id, 6);
          await api.locks.acquire({ resource_type: 'file', resource_id: 'wrongly', holder_agent_id: 'x' });
          const trajectory_id = await someTrajectory(api);
          held = (await dispatched(api, { trajectory_id })).agent_turn_id;
          await claim(api, { agent_turn_id: held });
          first = (await dispatched(api, { trajectory_id })).agent_turn_id;
          await api.messages.send({
            to_agent_id: 'bob',
            from_agent_id: 'ann',
            message_type: 'note',
            payload: 'read me',
          });
          expect((await api.messages.receive({ agent_id: 'bob' })).messages).toHaveLength(1);
          expect(await shown(api, 'before')).toEqual(kept);
          expect(await shown(api, 'after')).toEqual(without);
          await api.boxes.seal({ box_id: 'meanwhile' });
          expect(await shown(api, 'meanwhile')).toEqual({ cards: [], missing: ['outlived'] });
        });
        // By a clock that is right again, before anybody has recovered from it.
        await at(0, (api) =>
          api.locks.acquire({ resource_type: 'file', resource_id: 'rightly', holder_agent_id: 'x', lease_ms: DAY }),
        );
        expect((await recoverClock({ database })).recovered).toHaveLength(1);
      });

      it('CLOCK-2 a card that expires soon is in what is sealed after it', () =>
        at(0, async (api) => {
          await expiring(api, 'soon');
          await api.boxes.create({ box_id: 'new', card_ids: ['soon'] });
          expectPresent((await api.boxes.seal({ box_id: 'new' })).sealed_at);
          expect(await shown(api, 'new')).toEqual({ cards: ['soon'], missing: [] });
        }));

      it('CLOCK-2 what only the wrong clock had expired can be read, also in what was sealed meanwhile', () =>
        at(0, async (api) => {
          expect(await api.cards.get({ card_id: 'outlived' })).toMatchObject({ content: 'x' });
          expect(await shown(api, 'meanwhile')).toEqual({ cards: ['outlived'], missing: [] });
        }));

      it('CLOCK-2 what was sealed by the wrong clock keeps what it held, and only that', () =>
        at(0, async (api, store) => {
          expect(await shown(api, 'before')).toEqual(kept);
          expect(await shown(api, 'after')).toEqual(without);
          // Deleted at the true time: behind every seal all the same.
          await api.cards.delete({ card_id: 'later' });
          expect(await shown(api, 'before')).toEqual(kept);
          expect(await shown(api, 'after')).toEqual(without);
          for (const box_id of ['before', 'after']) expectPresent((await api.boxes.load({ box_id })).sealed_at);
          await api.cards.add({ card_id: 'other', content: 'x' });
          await api.cards.delete({ card_id: 'other' });
          const deleted = await store.driver
            .at('default')
            .all<{ deleted_at: number }>(
              sql`SELECT deleted_at FROM cards WHERE tenant_id = ${'default'} AND deleted_at IS NOT NULL`,
            );
          expect(deleted).toHaveLength(4);
          for (const { deleted_at } of deleted) expectPresent(new Date(Number(deleted_at)).toISOString());
        }));

      it('CLOCK-2 a policy made after it fires with the next turn of a scope that is above its threshold', () =>
        at(0, async (api) => {
          await somePolicy(api, { type: 'DosageThreshold', percent: 50 }, { scope_id });
          expect(await jobsOf(api, scope_id)).toEqual([]);
          await talk(api, scope_id, 1, 6);
          expect(await jobsOf(api, scope_id)).toHaveLength(1);
        }));

      it('CLOCK-4 locks, agent_turns and messages that the wrong clock gave out are free, others are not', () =>
        at(0, async (api, store) => {
          await api.locks.acquire({ resource_type: 'file', resource_id: 'wrongly', holder_agent_id: 'y' });
          const wanted = { resource_type: 'file', resource_id: 'rightly', holder_agent_id: 'y' };
          expect(await refusalOf(api.locks.acquire(wanted))).toMatchObject({ status: 409 });
          expect((await api.messages.receive({ agent_id: 'bob' })).messages).toHaveLength(1);
          await expireDue(systemCall(store.runtime, 'default'));
          expect(await api.agent_turns.get({ agent_turn_id: held })).toMatchObject({ status: 'dispatched' });
        }));

      it('CLOCK-4 what waits since the wrong clock comes before what is dispatched later', () =>
        at(0, async (api) => {
          const trajectory_id = await someTrajectory(api);
          const { agent_turn_id } = await dispatched(api, { trajectory_id });
          const claimed: string[] = [];
          for (let i = 0; i < 3; i++)
            claimed.push((await api.agent_turns.claim({ worker_id: 'w' })).agent_turn!.agent_turn_id);
          expect(claimed.indexOf(agent_turn_id)).toBe(2);
          expect(claimed).toContain(first);
        }));

      it('CLOCK-4 an agent that was seen by the wrong clock is silent from the recovery on', async () => {
        await at(0, async (api) => {
          const { last_seen_at, status } = await api.agents.get({ agent_id: 'silent' });
          expectPresent(last_seen_at);
          expect(status).toBe('idle');
        });
        await at(10 * MINUTE, async (api, store) => {
          expect(await api.agents.get({ agent_id: 'silent' })).toMatchObject({ status: 'offline' });
          await expireDue(systemCall(store.runtime, 'default'));
          expect(await eventsOf(api, 'cairn.agent.offline', 'silent')).toHaveLength(1);
        });
      });

      it('CLOCK-4 sweeps leave what is sealed, and a store that went on is healthy', () =>
        at(2 * HOUR, async (api, store) => {
          await api.lifetime.sweep();
          expect(await shown(api, 'new')).toEqual({ cards: ['soon'], missing: [] });
          expect(await shown(api, 'before')).toEqual(kept);
          for await (const { ok, check, problems } of examine(store.driver))
            expect({ ok, check, problems }).toMatchObject({ ok: true });
        }));

      it('CLOCK-2 no time that steers what comes is left in the future', async () => {
        const tenant = 'default';
        const columns = Object.entries(STEERING).flatMap(([table, names]) => names.map((name) => ({ table, name })));
        await at(0, async (api, store) => {
          const { note_id } = await api.notes.create({ note_type: 'Fact', title: 't', content: 'x' });
          await api.notes.get({ note_id });
          await api.notes.create({ note_type: 'Fact', title: 't', content: 'y' }, { idempotency_key: 'k' });
          const { lock_id } = await api.locks.acquire({
            resource_type: 'file',
            resource_id: 'released',
            holder_agent_id: 'x',
          });
          await api.locks.release({ lock_id });
          const other = await someScope(api);
          await api.scopes.close({ scope_id: other.scope_id });
          await store.driver.write(tenant, async (tx) => {
            await tx.run(sql`INSERT INTO vector_docs (tenant_id, doc_no, model, dimensions, attempts, retry_at)
              VALUES (${tenant}, 1, 'm', 1, 1, 1)`);
            await tx.run(sql`INSERT INTO vector_progress (tenant_id, model, generation, position, held_until, removed)
              VALUES (${tenant}, 'm', 0, 0, 1, 0)`);
            await tx.run(sql`UPDATE jobs SET pinned_until = 1 WHERE tenant_id = ${tenant}`);
          });
        });
        await at(0, (_, store) =>
          store.driver.write(tenant, async (tx) => {
            for (const { table, name } of columns) {
              const column = verbatim(name);
              const planted = await tx.run(
                sql`UPDATE ${verbatim(table)} SET ${column} = ${Date.now() + ahead}
                    WHERE tenant_id = ${tenant} AND ${column} IS NOT NULL`,
              );
              expect(planted, `${table}.${name}`).toBeGreaterThan(0);
            }
          }),
        );
        expect((await recoverClock({ database })).recovered).toHaveLength(1);
        await at(0, async (_, store) => {
          const left: string[] = [];
          for (const { table, name } of columns) {
            const column = verbatim(name);
            const row = await store.driver.at(tenant).get(
              sql`SELECT 1 AS one FROM ${verbatim(table)}
                    WHERE tenant_id = ${tenant} AND ${column} > ${Date.now() + 2 * MINUTE} LIMIT 1`,
            );
            if (row) left.push(`${table}.${name}`);
          }
          expect(left).toEqual([]);
        });
      });
    });
  }
