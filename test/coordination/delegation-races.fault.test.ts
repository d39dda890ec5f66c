/** Moves of one delegation at the same time, by two stores that share one database: one of them happens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { STUCK_AFTER_MS } from '#cairn/coordination/delegations/model.js';
import { databases } from '../support/http.js';
import { illnesses } from '../support/inspect/audit.js';
import { addWorkers, someAccepted, someOffer, standing } from '../support/nouns/delegations.js';
import { sleep, within } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const ROUNDS = 5;
const SUCCESS = { status: 'Success', output: 'done' } as const;

describe.each(databases())('delegations between two stores on %s', (kind) => {
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
    await addWorkers(apis[0], ['ann', 'bob']);
  });

  afterAll(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database.database, offset)).toEqual([]);
    await database.drop();
  });

  /** All at once, in an order that changes; gives the codes of those that were refused. */
  async function race(round: number, calls: readonly (() => Promise<unknown>)[]): Promise<string[]> {
    const turned = calls.map((_, i) => calls[(i + round) % calls.length]!);
    const settled = await within(30_000, Promise.allSettled(turned.map((call) => call())), 'the racers');
    return settled.flatMap((one) =>
      one.status === 'rejected' ? [String((one.reason as { code?: string }).code ?? one.reason)] : [],
    );
  }

  /** Its state and the events of its moves; it and its agent_turn agree. Frees the agent for the next round. */
  async function outcome(delegation_id: string, thread_id: string): Promise<[string, string[]]> {
    const { delegation, turn, agree } = await standing(apis[1], delegation_id);
    expect(agree, `${delegation.status} with an agent_turn that is ${turn?.status}`).toBe(true);
    const { packets } = await apis[1].packets.thread({ thread_id, limit: 500 });
    const told = packets.map(({ packet_type }) => packet_type).filter((type) => /delegation/.test(type));
    if (delegation.ended_at === null) await apis[0].delegations.cancel({ delegation_id });
    return [delegation.status, told.map((type) => type.split('.')[2]!).slice(1)];
  }

  it('DELEG-19 two that accept agree on one trajectory and one agent_turn', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { delegation_id, trajectory_id } = await someOffer(apis[0]);
      const answers = await within(
        30_000,
        Promise.all(Array.from({ length: 4 }, (_, i) => apis[(i % 2) as 0 | 1].delegations.accept({ delegation_id }))),
        'the racers',
      );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      const children = await apis[0].trajectories.children({ trajectory_id: trajectory_id! });
      expect(children.trajectories).toHaveLength(1);
      expect(await outcome(delegation_id, trajectory_id!)).toEqual(['Accepted', ['accepted']]);
    }
  });

  it('DELEG-19 one agent accepts one of two', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const offers = [await someOffer(apis[0]), await someOffer(apis[0])];
      const refused = await race(
        round,
        offers.map(
          ({ delegation_id }, i) =>
            () =>
              apis[i as 0 | 1].delegations.accept({ delegation_id }),
        ),
      );
      expect(refused).toEqual(['AGENT_BUSY']);
      const states = [];
      for (const { delegation_id, trajectory_id } of offers)
        states.push((await outcome(delegation_id, trajectory_id!))[0]);
      expect(states.sort()).toEqual(['Accepted', 'Pending']);
    }
  });

  it('DELEG-19 an offer is accepted, rejected or cancelled', async () => {
    for (let round = 0; round < ROUNDS * 2; round++) {
      const { delegation_id, trajectory_id } = await someOffer(apis[0]);
      const refused = await race(round, [
        () => apis[0].delegations.accept({ delegation_id }),
        () => apis[1].delegations.cancel({ delegation_id }),
        () => apis[round % 2 === 0 ? 0 : 1].delegations.reject({ delegation_id }),
      ]);
      const [status, told] = await outcome(delegation_id, trajectory_id!);
      expect(refused.every((code) => code === 'STATE_CONFLICT')).toBe(true);
      // What was accepted may still be cancelled behind that.
      if (told.length === 2)
        expect([status, told, refused.length]).toEqual(['Cancelled', ['accepted', 'cancelled'], 1]);
      else expect([told, refused.length]).toEqual([[status.toLowerCase()], 2]);
    }
  });

  it('DELEG-19 what is under way is completed, cancelled, or overdue', async () => {
    for (let round = 0; round < ROUNDS * 2; round++) {
      const { delegation_id, trajectory_id } = await someAccepted(apis[0]);
      const refused = await race(round, [
        () => apis[0].delegations.complete({ delegation_id, result: SUCCESS }),
        () => apis[1].delegations.cancel({ delegation_id }),
        async () => {
          await sleep(round % 3);
          // Its time is over while the others are on their way.
          if (round % 2 === 1) offset += STUCK_AFTER_MS;
          return apis[1].delegations.get({ delegation_id });
        },
      ]);
      const [status, told] = await outcome(delegation_id, trajectory_id!);
      expect(refused.every((code) => code === 'STATE_CONFLICT')).toBe(true);
      expect(told.filter((name) => name !== 'started')).toEqual(['accepted', status.toLowerCase()]);
      expect(refused).toHaveLength(status === 'Failed' ? 2 : 1);
    }
  });

  it('DELEG-19 an offer is accepted or overdue', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { delegation_id, trajectory_id } = await someOffer(apis[0]);
      const refused = await race(round, [
        () => apis[0].delegations.accept({ delegation_id }),
        async () => {
          await sleep(round);
          offset += STUCK_AFTER_MS;
          return apis[1].delegations.get({ delegation_id });
        },
      ]);
      const [status, told] = await outcome(delegation_id, trajectory_id!);
      expect(status).toBe('Failed');
      expect(told).toEqual(refused.length === 0 ? ['accepted', 'failed'] : ['failed']);
    }
  });

  it('DELEG-19 a worker and the agent itself: one of them has it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { delegation_id, agent_turn_id, trajectory_id } = await someAccepted(apis[0]);
      const answers = await Promise.all([
        apis[0].delegations.start({ delegation_id }),
        apis[1].agent_turns.claim({ worker_id: 'w', agent_turn_id }),
      ]);
      const { turn } = await standing(apis[0], delegation_id);
      expect(turn!.worker_id).toBe(answers[1].agent_turn === null ? 'bob' : 'w');
      expect(await outcome(delegation_id, trajectory_id!)).toEqual(['InProgress', ['accepted', 'started']]);
    }
  });

  it('DELEG-19 the trajectory is deleted before or after, and nothing is under way in it then', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { delegation_id, trajectory_id } = await someOffer(apis[0]);
      const refused = await race(round, [
        () => apis[0].delegations.accept({ delegation_id }),
        () => apis[1].trajectories.delete({ trajectory_id: trajectory_id! }),
      ]);
      expect(refused.filter((code) => code !== 'STATE_CONFLICT')).toEqual([]);
      const { delegation, agree } = await standing(apis[0], delegation_id);
      expect([delegation.status, delegation.task_description, agree]).toEqual(['Cancelled', null, true]);
    }
  });
});
