/** Ends of one pause at the same time, by two stores that share one database: one of them counts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { databases } from '../support/http.js';
import { illnesses } from '../support/inspect/audit.js';
import { atWork, PROFILE } from '../support/nouns/agent-turns.js';
import { asked, askedInRun } from '../support/nouns/pauses.js';
import { sleep, within } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const ROUNDS = 8;
const ACTIONS = ['approve', 'reject', 'continue', 'retry'] as const;

describe.each(databases())('pauses between two stores on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let stores: Store[];
  let apis: [Api, Api];

  beforeAll(async () => {
    database = await freshDatabase(kind);
    const options = { database: database.database, sweep_every_ms: 0 };
    stores = [await Store.open(options), await Store.open(options)];
    const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
    apis = stores.map((store) => store.api(caller)) as [Api, Api];
    await apis[0].profiles.create({ name: PROFILE, system_prompt: 'You look things up.' });
  });

  afterAll(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database.database)).toEqual([]);
    await database.drop();
  });

  const answers = (pause_id: string) =>
    ACTIONS.map((action, i) => () => apis[(i % 2) as 0 | 1].pauses.answer({ pause_id, action }));

  /** All at once, in an order that changes; gives what succeeded and the codes of the others. */
  async function race(round: number, calls: readonly (() => Promise<unknown>)[]) {
    const turned = calls.map((_, i) => calls[(i + round) % calls.length]!);
    const settled = await within(30_000, Promise.allSettled(turned.map((call) => call())), 'the racers');
    const refused = settled.flatMap((one) =>
      one.status === 'rejected' ? [String((one.reason as { code?: string }).code ?? one.reason)] : [],
    );
    const done = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    return { done, refused };
  }

  const endsOf = async (pause_id: string) => {
    const { packets } = await apis[1].packets.list({ limit: 500, order: 'desc' });
    return packets
      .filter(({ payload }) => (payload as { entity?: { id?: string } }).entity?.id === pause_id)
      .map(({ packet_type }) => packet_type.split('.')[2])
      .filter((end) => end !== 'created');
  };

  it('PAUSE-6 PAUSE-17 of several answers one counts', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { pause_id, agent_turn_id } = await asked(apis[0]);
      const { done, refused } = await race(round, answers(pause_id));
      expect(refused).toEqual(['STATE_CONFLICT', 'STATE_CONFLICT', 'STATE_CONFLICT']);
      const pause = await apis[1].pauses.get({ pause_id });
      expect(done).toEqual([pause]);
      expect(await endsOf(pause_id)).toEqual(['answered']);
      expect(await apis[0].agent_turns.get({ agent_turn_id })).toMatchObject({ status: 'dispatched', turn_epoch: 2 });
      await apis[0].agent_turns.stop({ agent_turn_id });
    }
  });

  it('PAUSE-6 PAUSE-17 of several answers in an execution one counts', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { pause_id, execution_id } = await askedInRun(apis[0]);
      const { refused } = await race(round, answers(pause_id));
      expect(refused).toHaveLength(ACTIONS.length - 1);
      expect(await endsOf(pause_id)).toEqual(['answered']);
      expect(await apis[1].executions.get({ execution_id })).toMatchObject({ status: 'running' });
    }
  });

  it('PAUSE-2 PAUSE-17 a heartbeat or a step that meets a question leaves no lease behind', async () => {
    for (let round = 0; round < ROUNDS * 2; round++) {
      const { held } = await atWork(apis[0]);
      const { refused } = await race(round, [
        () => apis[0].pauses.create({ ...held, question: 'May I?' }),
        () => apis[1].agent_turns.renew(held),
        () => apis[1].agent_turns.suspend(held),
        () => apis[1].agent_turns.resume(held),
      ]);
      expect(refused.every((code) => code === 'STALE_TURN')).toBe(true);
      const { agent_turn_id } = held;
      expect(await apis[0].agent_turns.get({ agent_turn_id })).toMatchObject({
        status: 'suspended',
        worker_id: null,
        lease_expires_at: null,
      });
      await apis[0].agent_turns.stop({ agent_turn_id });
    }
  });

  it('PAUSE-7 PAUSE-17 an answer at the deadline counts, or the default does', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const timeout_ms = 60;
      const { pause_id, agent_turn_id } = await asked(apis[0], { timeout_ms, default: { action: 'reject' } });
      await sleep(timeout_ms - 4 + (round % 5) * 2);
      const answer = () => apis[0].pauses.answer({ pause_id, action: 'approve' });
      const { refused } = await race(round, [answer, () => apis[1].pauses.list({ status: 'open' })]);
      const pause = await apis[1].pauses.get({ pause_id, wait_ms: 5000 });
      expect(pause.answer).toEqual({ action: refused.length === 0 ? 'approve' : 'reject' });
      expect(pause.answered_by === null).toBe(refused.length > 0);
      expect(await endsOf(pause_id)).toEqual(['answered']);
      expect(await apis[0].agent_turns.get({ agent_turn_id })).toMatchObject({ status: 'dispatched', turn_epoch: 2 });
      await apis[0].agent_turns.stop({ agent_turn_id });
    }
  });

  it('PAUSE-11 PAUSE-17 an answer or a stop ends it, and run and pause agree', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { pause_id, agent_turn_id } = await asked(apis[0], { timeout_ms: 3_600_000 });
      await race(round, [
        () => apis[0].pauses.answer({ pause_id, action: 'approve' }),
        () => apis[1].agent_turns.stop({ agent_turn_id }),
      ]);
      // The stop comes last, or the answer comes too late.
      expect(await apis[0].agent_turns.get({ agent_turn_id })).toMatchObject({ status: 'stopped' });
      const [end, ...others] = await endsOf(pause_id);
      expect(others).toEqual([]);
      expect((await apis[1].pauses.get({ pause_id })).status).toBe(end);
    }
  });

  it('PAUSE-11 PAUSE-17 an execution that ends or is deleted while it is answered leaves no open pause', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { pause_id, execution_id } = await askedInRun(apis[0]);
      const { refused } = await race(round, [
        () => apis[0].pauses.answer({ pause_id, action: 'approve' }),
        () =>
          round % 2 === 0
            ? apis[1].executions.update({ execution_id, status: 'failed' })
            : apis[1].executions.delete({ execution_id, wait: true }),
      ]);
      expect(refused.every((code) => ['STATE_CONFLICT', 'PAUSE_NOT_FOUND'].includes(code))).toBe(true);
      expect((await apis[0].pauses.list({ execution_id, status: 'open' })).total).toBe(0);
      if (round % 2 === 0) expect((await apis[0].executions.get({ execution_id })).status).toBe('failed');
    }
  });
});
