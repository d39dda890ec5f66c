/** Answers to one handoff at the same time, by two stores that share one database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { HANDOFF_EXPIRES_MS, type Handoff } from '#cairn/coordination/handoffs/model.js';
import { databases } from '../support/http.js';
import { illnesses } from '../support/inspect/audit.js';
import { addAgents, formerOwners, someHandoff } from '../support/nouns/handoffs.js';
import { contentsOf, eventsOf, say, someScope } from '../support/nouns/scopes.js';
import { sleep, within } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const ROUNDS = 6;

describe.each(databases())('handoffs between two stores on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let stores: Store[];
  let apis: [Api, Api];
  let offset = 0;

  beforeAll(async () => {
    database = await freshDatabase(kind);
    const options = { database: database.database, sweep_every_ms: 0, clock_offset_ms: () => offset };
    stores = [await Store.open(options), await Store.open(options)];
    const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
    apis = stores.map((store) => store.api(caller)) as [Api, Api];
    await addAgents(apis[0], ['ann', 'bob']);
  });

  afterAll(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database.database, offset)).toEqual([]);
    await database.drop();
  });

  /** An offer with a scope in which something was said. */
  async function offered(): Promise<Handoff & { scope_id: string }> {
    const { trajectory_id, scope_id } = await someScope(apis[0]);
    await say(apis[0], scope_id, 'said');
    return { ...(await someHandoff({ cairn: apis[0] }, { trajectory_id, scope_id })), scope_id };
  }

  /** All at once; gives the codes of those that were refused. */
  async function race(calls: readonly (() => Promise<unknown>)[]): Promise<string[]> {
    const settled = await within(30_000, Promise.allSettled(calls.map((call) => call())), 'the racers');
    return settled.flatMap((one) =>
      one.status === 'rejected' ? [String((one.reason as { code?: string }).code ?? one.reason)] : [],
    );
  }

  /** Which of the events of a handoff there are, and that what it moved is as its state says. */
  async function outcome({ handoff_id, trajectory_id, scope_id }: Handoff): Promise<string[]> {
    const { packets } = await apis[1].packets.thread({ thread_id: trajectory_id, limit: 500 });
    const told = packets
      .map(({ packet_type }) => packet_type)
      .filter((type) => /^cairn\.(handoff|trajectory\.updated|scope\.restored)/.test(type));
    const { status, new_scope_id } = await apis[1].handoffs.get({ handoff_id });
    const { agent_id } = await apis[1].trajectories.get({ trajectory_id });
    const former = await formerOwners(stores[1]!, 'default', trajectory_id);
    if (status === 'Accepted') {
      expect([agent_id, former]).toEqual(['bob', ['ann']]);
      expect(await contentsOf(apis[1], new_scope_id!)).toEqual(['said']);
      expect((await apis[1].scopes.get({ scope_id: scope_id! })).is_active).toBe(false);
    } else expect([agent_id, former, new_scope_id]).toEqual([null, [], null]);
    return told.filter((type) => type !== 'cairn.handoff.created');
  }

  const ACCEPTED = ['cairn.scope.restored', 'cairn.handoff.accepted', 'cairn.trajectory.updated'];

  it('HAND-13 two that accept agree on one take-over', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const handoff = await offered();
      const { handoff_id } = handoff;
      const answers = await within(
        30_000,
        Promise.all(Array.from({ length: 6 }, (_, i) => apis[(i % 2) as 0 | 1].handoffs.accept({ handoff_id }))),
        'the racers',
      );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(await outcome(handoff)).toEqual(ACCEPTED);
    }
  });

  it('HAND-13 it is accepted or rejected', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const handoff = await offered();
      const { handoff_id } = handoff;
      const calls = [() => apis[0].handoffs.accept({ handoff_id }), () => apis[1].handoffs.reject({ handoff_id })];
      const refused = await race(round % 2 === 0 ? calls : calls.reverse());
      expect(refused).toEqual(['STATE_CONFLICT']);
      const told = await outcome(handoff);
      expect([ACCEPTED, ['cairn.handoff.rejected']]).toContainEqual(told);
    }
  });

  it('HAND-13 it is accepted or expires', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const handoff = await offered();
      const { handoff_id } = handoff;
      const refused = await race([
        () => apis[0].handoffs.accept({ handoff_id }),
        async () => {
          // The time is over while the other is on its way.
          await sleep(round);
          offset += HANDOFF_EXPIRES_MS;
          return apis[1].handoffs.get({ handoff_id });
        },
        () => apis[1].handoffs.get({ handoff_id }),
      ]);
      const told = await outcome(handoff);
      expect(told).toEqual(refused.length === 0 ? ACCEPTED : ['cairn.handoff.expired']);
      expect(refused.filter((code) => code !== 'STATE_CONFLICT')).toEqual([]);
    }
  });

  it('HAND-13 closing the scope comes before or after', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const handoff = await offered();
      const { handoff_id, scope_id } = handoff;
      const calls = [() => apis[0].handoffs.accept({ handoff_id }), () => apis[1].scopes.close({ scope_id })];
      const refused = await race(round % 2 === 0 ? calls : calls.reverse());
      const told = await outcome(handoff);
      expect(told).toEqual(refused.length === 0 ? ACCEPTED : []);
      expect(refused.filter((code) => code !== 'SCOPE_CLOSED')).toEqual([]);
      expect(await eventsOf(apis[0], 'cairn.scope.closed', scope_id)).toHaveLength(1);
    }
  });

  it('HAND-11 nothing of the giver comes behind the take-over', async () => {
    const caller = { tenant_id: 'default', agent_id: 'ann', role: 'write', key_id: null } as const;
    const ann = stores[1]!.api(caller);
    for (let round = 0; round < ROUNDS; round++) {
      const { handoff_id, trajectory_id } = await offered();
      const beside = await someScope(apis[0], { trajectory_id });
      const calls = Array.from({ length: 6 }, (_, i) => async () => {
        await sleep(i);
        return say(ann, beside.scope_id, `said ${i}`);
      });
      const refused = await race([
        ...calls.slice(0, round),
        () => apis[0].handoffs.accept({ handoff_id }),
        ...calls.slice(round),
      ]);
      expect(refused.filter((code) => code !== 'FORBIDDEN')).toEqual([]);
      const { packets } = await apis[1].packets.thread({ thread_id: trajectory_id, limit: 500 });
      const told = packets.map(({ packet_type }) => packet_type);
      const later = told.slice(told.indexOf('cairn.handoff.accepted'));
      expect(later).not.toContain('cairn.turn.added');
      expect(told.filter((type) => type === 'cairn.turn.added')).toHaveLength(1 + 6 - refused.length);
    }
  });

  it('HAND-13 the trajectory is deleted before or after, and nothing of it is left', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { handoff_id, trajectory_id } = await offered();
      const calls = [
        () => apis[0].handoffs.accept({ handoff_id }),
        () => apis[1].trajectories.delete({ trajectory_id, wait: true }),
      ];
      const refused = await race(round % 2 === 0 ? calls : calls.reverse());
      expect(refused.filter((code) => code !== 'STATE_CONFLICT')).toEqual([]);
      const { status, context_box_id } = await apis[0].handoffs.get({ handoff_id });
      expect(status).toBe(refused.length === 0 ? 'Accepted' : 'Initiated');
      if (context_box_id !== null)
        await expect(apis[0].boxes.load({ box_id: context_box_id })).rejects.toMatchObject({ code: 'BOX_NOT_FOUND' });
      const { scopes } = await apis[0].scopes.list({ trajectory_id });
      expect(scopes).toEqual([]);
    }
  });
});
