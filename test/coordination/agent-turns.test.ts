import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { expire } from '../support/expiry.js';
import {
  atWork,
  cardsIn,
  claim,
  type Dispatched,
  dispatched,
  expectNothingWritten,
  type Held,
  heldOf,
  PROFILE,
  thought,
  withProfile,
  wordsIn,
} from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const LEASE = 30_000;
const stale = { code: 'STALE_TURN', status: 409 };
const unknown = { code: 'AGENT_TURN_NOT_FOUND', status: 404 };
const result = (tool_call_id: string, more: object = {}) => ({
  content: { status: 'success', result: 1 },
  tool_call_id,
  metadata: { type: 'tool.result', role: 'tool' },
  ...more,
});

/** Every step that only the holder may take. */
const steps = (cairn: Api, held: Held): (() => Promise<unknown>)[] => [
  () => cairn.agent_turns.renew(held),
  () => cairn.agent_turns.append({ ...held, cards: [thought('late')] }),
  () => cairn.agent_turns.replace_box({ ...held, box: 'output', card_ids: [] }),
  () => cairn.agent_turns.replace_box({ ...held, box: 'context', card_ids: [] }),
  () => cairn.agent_turns.suspend(held),
  () => cairn.agent_turns.resume(held),
  () => cairn.agent_turns.hydrate(held),
  () => cairn.agent_turns.complete({ ...held, deliverable: 'late' }),
  () => cairn.agent_turns.fail({ ...held, error: { code: 'LATE', message: 'late' } }),
];

onEveryTarget('agent_turns', (test) => {
  /** Takes every step, sees each refused, and that nothing came of it. */
  const expectRefused = (cairn: Api, by: Api, held: Held, refusal: object) =>
    expectNothingWritten(test(), cairn, async () => {
      const tenant = await tenantOf(cairn);
      // Reading it by the api would notice that its lease is over.
      const row = () =>
        test()
          .store.driver.at(tenant)
          .get(sql`SELECT * FROM agent_turns WHERE tenant_id = ${tenant} AND agent_turn_id = ${held.agent_turn_id}`);
      const before = await row();
      for (const step of steps(by, held)) expect(await refusalOf(step())).toMatchObject(refusal);
      expect(await row()).toEqual(before);
    });

  it('ATURN-1 the oldest that waits is claimed: of any, of a profile, of an agent, or by its id', async () => {
    const cairn = await withProfile(test());
    await cairn.profiles.create({ name: 'other' });
    const made: Dispatched[] = [];
    for (const target_ref of [PROFILE, 'other', PROFILE, 'other', PROFILE])
      made.push(await dispatched(cairn, { target_ref }));
    const taken = ({ agent_turn_id }: Held) => made.findIndex((one) => one.agent_turn_id === agent_turn_id);
    expect(taken(await claim(cairn, { profile_name: 'other' }))).toBe(1);
    expect(taken(await claim(cairn, { agent_id: made[4]!.agent_id }))).toBe(4);
    expect(taken(await claim(cairn, { agent_turn_id: made[3]!.agent_turn_id }))).toBe(3);
    const first = await claim(cairn, { worker_id: 'w-1', lease_ms: 5000 });
    expect(taken(first)).toBe(0);
    expect(first).toMatchObject({ status: 'running', turn_epoch: 1, attempts: 1, worker_id: 'w-1' });
    expect(Date.parse(first.lease_expires_at!) - Date.parse(first.claimed_at!)).toBe(5000);
    expect(await cairn.agents.get({ agent_id: first.agent_id })).toMatchObject({
      status: 'busy',
      current_trajectory_id: first.trajectory_id,
    });
    expect(await eventsOf(cairn, 'cairn.agent_turn.claimed', first.agent_turn_id)).toMatchObject([
      { worker_id: 'w-1', attempts: 1, turn_epoch: 1 },
    ]);
    const before = await latestToken(cairn);
    for (const wanted of [
      { profile_name: 'other' },
      { agent_turn_id: first.agent_turn_id },
      { agent_turn_id: randomUUID() },
      { agent_id: 'nobody' },
    ])
      expect(await cairn.agent_turns.claim({ worker_id: 'w-2', ...wanted })).toEqual({ agent_turn: null });
    expect(await latestToken(cairn)).toBe(before);
    expect(taken(await claim(cairn))).toBe(2);
  });

  it('ATURN-2 of many who claim at once no two get the same, and none is left', async () => {
    const cairn = await withProfile(test());
    const ids = new Set<string>();
    for (let i = 0; i < 12; i++) ids.add((await dispatched(cairn)).agent_turn_id);
    const claims = await Promise.all(
      Array.from({ length: 16 }, (_, i) => cairn.agent_turns.claim({ worker_id: `w-${i}` })),
    );
    const got = claims.flatMap(({ agent_turn }) => (agent_turn ? [agent_turn.agent_turn_id] : []));
    expect(got).toHaveLength(12);
    expect(new Set(got)).toEqual(ids);
  });

  it('ATURN-3 who waits is woken by a dispatch, and gets nothing when the time is over', async () => {
    const cairn = await withProfile(test());
    const wait = (wanted: object) => cairn.agent_turns.claim({ worker_id: 'w', wait_ms: 20_000, ...wanted });
    for (const of of [{ profile_name: PROFILE }, {}]) {
      const waiting = wait(of);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const { agent_turn_id } = await dispatched(cairn);
      expect((await waiting).agent_turn).toMatchObject({ agent_turn_id, status: 'running' });
    }
    const { turn, held } = await atWork(cairn);
    const again = wait({ agent_id: turn.agent_id });
    await cairn.agent_turns.complete({ ...held, deliverable: 'x' });
    const reuse = { target_strategy: 'reuse' as const, target_ref: turn.agent_id };
    const { agent_turn_id } = await dispatched(cairn, reuse);
    expect((await again).agent_turn).toMatchObject({ agent_turn_id });
    const none = await cairn.agent_turns.claim({ worker_id: 'w', wait_ms: 20, profile_name: 'idle' });
    expect(none).toEqual({ agent_turn: null });
    const ended = cairn.agent_turns.get({ agent_turn_id, wait_ms: 20_000 });
    await cairn.agent_turns.stop({ agent_turn_id });
    expect(await ended).toMatchObject({ status: 'stopped' });
  });

  it('ATURN-4 renewing gives the lease longer, without an event', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const before = await latestToken(cairn);
    for (let i = 0; i < 3; i++) {
      test().advance(LEASE - 1000);
      const renewed = await cairn.agent_turns.renew(held);
      expect(renewed).toMatchObject({ turn_epoch: 1, status: 'running', worker_id: turn.worker_id });
    }
    expect(await latestToken(cairn)).toBe(before);
    const { lease_expires_at } = await cairn.agent_turns.renew({ ...held, lease_ms: 3_600_000 });
    expect(Date.parse(lease_expires_at!) - Date.parse(turn.lease_expires_at!)).toBeGreaterThan(3_600_000);
    test().advance(3_500_000);
    expect(await cairn.agent_turns.renew(held)).toMatchObject({ turn_epoch: 1 });
    expect(await eventsOf(cairn, 'cairn.agent_turn.lost', turn.agent_turn_id)).toEqual([]);
  });

  it('ATURN-5 a step is refused to who does not hold the turn in this epoch, and writes nothing', async () => {
    const cairn = await withProfile(test());
    const waiting = await dispatched(cairn);
    await expectRefused(cairn, cairn, heldOf(waiting), stale);
    const { held } = await atWork(cairn);
    await expectRefused(cairn, cairn, { ...held, turn_epoch: 0 }, stale);
    await expectRefused(cairn, cairn, { ...held, turn_epoch: 2 }, stale);
    await cairn.agent_turns.stop({ agent_turn_id: held.agent_turn_id });
    await expectRefused(cairn, cairn, held, stale);
    const done = await atWork(cairn);
    await cairn.agent_turns.complete({ ...done.held, deliverable: 'x' });
    // How it ended is said to who would end it otherwise; all else is late.
    await expectRefused(cairn, cairn, done.held, { status: 409, details: { status: 'completed' } });
    const nowhere = { agent_turn_id: randomUUID(), turn_epoch: 1 };
    for (const step of steps(cairn, nowhere)) expect(await refusalOf(step())).toMatchObject(unknown);
  });

  it('ATURN-6 cards are appended to the output box in order, by the holder, also while suspended', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const first = await cairn.agent_turns.append({ ...held, cards: [thought('1'), thought('2')] });
    expect(first).toMatchObject({ output_box_id: turn.output_box_id, revision: 2, length: 2 });
    await cairn.agent_turns.suspend(held);
    const second = await cairn.agent_turns.append({ ...held, cards: [result('call-1')] });
    expect(second).toMatchObject({ revision: 3, length: 3 });
    expect((await cardsIn(cairn, turn.output_box_id)).map(({ card_id }) => card_id)).toEqual(
      [...first.cards, ...second.cards].map(({ card_id }) => card_id),
    );
    expect(await eventsOf(cairn, 'cairn.agent_turn.appended', turn.agent_turn_id)).toMatchObject([
      { revision: 2, length: 2 },
      { revision: 3, card_ids: second.cards.map(({ card_id }) => card_id) },
    ]);
    const wrong = [thought('ok'), { content: 5, metadata: { type: 'agent.thought' } }];
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(cairn.agent_turns.append({ ...held, cards: wrong }))).toMatchObject({
        code: 'INVALID_CONTENT',
        message: expect.stringContaining('cards[1]'),
      });
      const many = Array.from({ length: 101 }, () => thought('x'));
      expect((await refusalOf(cairn.agent_turns.append({ ...held, cards: many }))).code).toBe('INVALID_INPUT');
      expect((await refusalOf(cairn.agent_turns.append({ ...held, cards: [] }))).code).toBe('INVALID_INPUT');
    });
  });

  it('ATURN-7 a tool call has one result in an output box; the same card again changes nothing', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const named = result('call-1', { card_id: `${turn.agent_turn_id}-r1` });
    await cairn.agent_turns.append({ ...held, cards: [named] });
    const exists = { code: 'TOOL_RESULT_EXISTS', status: 409, details: { tool_call_id: 'call-1' } };
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(cairn.agent_turns.append({ ...held, cards: [result('call-1')] }))).toMatchObject(exists);
      const two = [thought('x'), result('call-2'), result('call-2')];
      expect(await refusalOf(cairn.agent_turns.append({ ...held, cards: two }))).toMatchObject({
        code: 'TOOL_RESULT_EXISTS',
        details: { tool_call_id: 'call-2' },
      });
      expect(await cairn.agent_turns.append({ ...held, cards: [named] })).toMatchObject({ revision: 2, length: 1 });
    });
    // Another turn has calls of its own.
    const other = await atWork(cairn);
    await cairn.agent_turns.append({ ...other.held, cards: [result('call-1')] });
  });

  it('ATURN-8 a suspended turn waits under a longer lease, and goes on when it is resumed', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const tenant = await tenantOf(cairn);
    const suspended = await cairn.agent_turns.suspend(held);
    expect(suspended).toMatchObject({ status: 'suspended', turn_epoch: 1 });
    const before = await latestToken(cairn);
    expect(await cairn.agent_turns.suspend(held)).toMatchObject({ status: 'suspended' });
    expect(await latestToken(cairn)).toBe(before);
    expect(await refusalOf(cairn.agent_turns.complete({ ...held, deliverable: 'x' }))).toMatchObject({
      code: 'STATE_CONFLICT',
      status: 409,
    });
    // Its agent is silent for long, and the turn is not lost by that.
    test().advance(890_000);
    await expire(test(), tenant);
    expect(await cairn.agents.get({ agent_id: turn.agent_id })).toMatchObject({ status: 'offline' });
    expect(await cairn.agent_turns.resume(held)).toMatchObject({ status: 'running', turn_epoch: 1 });
    expect(await cairn.agent_turns.resume(held)).toMatchObject({ status: 'running' });
    await cairn.agent_turns.suspend({ ...held, lease_ms: 1000 });
    test().advance(1001);
    await expire(test(), tenant);
    expect(await cairn.agent_turns.get({ agent_turn_id: held.agent_turn_id })).toMatchObject({
      status: 'dispatched',
      turn_epoch: 2,
    });
    for (const what of ['suspended', 'resumed', 'lost'])
      expect((await eventsOf(cairn, `cairn.agent_turn.${what}`, held.agent_turn_id)).length).toBeGreaterThan(0);
  });

  it('ATURN-9 a worker whose lease is over is late for every step at once; another takes over from a new epoch', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('kept')] });
    test().advance(LEASE);
    await expectRefused(cairn, cairn, held, stale);
    // Whoever asks for work notices.
    const next = await claim(cairn, { worker_id: 'worker-2', agent_turn_id: held.agent_turn_id });
    expect(next).toMatchObject({ turn_epoch: 2, attempts: 2, worker_id: 'worker-2', status: 'running' });
    expect(await eventsOf(cairn, 'cairn.agent_turn.lost', held.agent_turn_id)).toMatchObject([
      { worker_id: 'worker-1', turn_epoch: 2 },
    ]);
    await expectRefused(cairn, cairn, held, { ...stale, details: { turn_epoch: 2, status: 'running' } });
    await cairn.agent_turns.append({ ...heldOf(next), cards: [thought('went on')] });
    expect(await wordsIn(cairn, turn.output_box_id)).toEqual(['kept', 'went on']);
    await cairn.agent_turns.complete({ ...heldOf(next), deliverable: 'done' });
    await expectRefused(cairn, cairn, held, stale);
  });

  it('ATURN-10 who waits for work gets what a silent worker lost', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const waiting = cairn.agent_turns.claim({ worker_id: 'worker-2', profile_name: PROFILE, wait_ms: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    test().advance(LEASE);
    await expire(test(), await tenantOf(cairn));
    expect((await waiting).agent_turn).toMatchObject({ agent_turn_id: held.agent_turn_id, turn_epoch: 2 });
  });

  it('ATURN-11 after five workers that fell silent it is timed_out', async () => {
    const cairn = await withProfile(test());
    const { agent_turn_id } = await dispatched(cairn);
    const tenant = await tenantOf(cairn);
    for (let attempts = 1; attempts <= 5; attempts++) {
      expect(await claim(cairn, { agent_turn_id })).toMatchObject({ attempts, turn_epoch: attempts });
      test().advance(LEASE);
      await expire(test(), tenant);
    }
    const ended = await cairn.agent_turns.get({ agent_turn_id });
    expect(ended).toMatchObject({ status: 'timed_out', turn_epoch: 6, error: { code: 'ATTEMPTS' } });
    expect(await cairn.trajectories.get({ trajectory_id: ended.trajectory_id })).toMatchObject({ status: 'Failed' });
  });

  it('ATURN-12 agent_turns are listed by what is asked for', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn, { channel_id: 'chat-7' });
    const below = await dispatched(cairn, { source_agent_id: turn.agent_id });
    const { agent_turn_id } = below;
    const ids = async (filter: Parameters<Api['agent_turns']['list']>[0]) => {
      const { agent_turns, total } = await cairn.agent_turns.list(filter);
      expect(total).toBe(agent_turns.length);
      return agent_turns.map((one) => one.agent_turn_id);
    };
    expect(await ids({})).toEqual([held.agent_turn_id, agent_turn_id]);
    expect(await ids({ status: 'running' })).toEqual([held.agent_turn_id]);
    expect(await ids({ agent_id: below.agent_id })).toEqual([agent_turn_id]);
    expect(await ids({ parent_agent_turn_id: held.agent_turn_id })).toEqual([agent_turn_id]);
    expect(await ids({ trajectory_id: turn.trajectory_id })).toEqual([held.agent_turn_id]);
    expect(await ids({ channel_id: 'chat-7' })).toEqual([held.agent_turn_id]);
    expect(await ids({ profile_name: 'other' })).toEqual([]);
    const first = await cairn.agent_turns.list({ limit: 1 });
    const rest = await cairn.agent_turns.list({ limit: 1, cursor: first.next_cursor! });
    expect(rest.agent_turns).toMatchObject([{ agent_turn_id }]);
  });

  it('ATURN-13 who neither does nor delegated it sees nothing of it; who delegated it reads and stops it alone', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const planner = await test().as({ tenant, agent: 'planner', role: 'write' });
    const { agent_turn_id, agent_id } = await dispatched(planner);
    const worker = await test().as({ tenant, agent: agent_id, role: 'write' });
    const stranger = await test().as({ tenant, agent: 'stranger', role: 'write' });
    const foreign = await test().freshTenant();
    for (const nobody of [stranger, foreign, planner])
      expect(await nobody.agent_turns.claim({ worker_id: 'w', agent_turn_id })).toEqual({ agent_turn: null });
    expect(await refusalOf(stranger.agent_turns.claim({ worker_id: 'w', agent_id }))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'key_agent' },
    });
    const { agent_turn } = await worker.agent_turns.claim({ worker_id: 'w' });
    const held = heldOf(agent_turn!);
    await worker.agent_turns.hydrate(held);
    for (const nobody of [stranger, foreign]) {
      expect(await refusalOf(nobody.agent_turns.get({ agent_turn_id }))).toMatchObject(unknown);
      expect(await refusalOf(nobody.agent_turns.replay({ agent_turn_id }))).toMatchObject(unknown);
      expect(await refusalOf(nobody.agent_turns.stop({ agent_turn_id }))).toMatchObject(unknown);
      expect(await refusalOf(nobody.agent_turns.fork({ agent_turn_id }))).toMatchObject(unknown);
      expect((await nobody.agent_turns.list({})).agent_turns).toEqual([]);
      await expectRefused(cairn, nobody, held, unknown);
    }
    await expectRefused(cairn, planner, held, { code: 'FORBIDDEN', details: { rule: 'key_agent' } });
    expect(await planner.agent_turns.get({ agent_turn_id })).toMatchObject({ agent_id });
    expect((await planner.agent_turns.list({})).total).toBe(1);
    expect(await planner.agent_turns.replay({ agent_turn_id })).toMatchObject({ step: 1 });
    expect(await planner.agent_turns.stop({ agent_turn_id })).toMatchObject({ status: 'stopped' });
  });

  it('ATURN-14 the same request with a key is done once; a claim is given again only while it is held', async () => {
    const cairn = await withProfile(test());
    const { agent_turn_id } = await dispatched(cairn);
    await dispatched(cairn);
    const key = (idempotency_key: string) => ({ idempotency_key });
    const asked = { worker_id: 'w' };
    const none = { worker_id: 'w', profile_name: 'idle' };
    expect(await cairn.agent_turns.claim(none, key('none'))).toEqual({ agent_turn: null });
    const first = await cairn.agent_turns.claim(asked, key('claim'));
    const held = heldOf(first.agent_turn!);
    expect(held.agent_turn_id).toBe(agent_turn_id);
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.agent_turns.claim(asked, key('claim'))).toEqual(first);
    });
    const cards = [thought('once')];
    const appended = await cairn.agent_turns.append({ ...held, cards }, key('append'));
    const shown = await cairn.agent_turns.hydrate(held, key('hydrate'));
    test().advance(LEASE);
    const next = await claim(cairn, { agent_turn_id });
    expect(await refusalOf(cairn.agent_turns.claim(asked, key('claim')))).toMatchObject(stale);
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.agent_turns.append({ ...held, cards }, key('append'))).toEqual(appended);
      expect(await cairn.agent_turns.hydrate(held, key('hydrate'))).toEqual(shown);
    });
    const done = { ...heldOf(next), deliverable: 'x' };
    const ended = await cairn.agent_turns.complete(done, key('done'));
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.agent_turns.complete(done, key('done'))).toEqual(ended);
      const other = { ...done, deliverable: 'y' };
      expect(await refusalOf(cairn.agent_turns.complete(other, key('done')))).toMatchObject({
        code: 'IDEMPOTENCY_CONFLICT',
      });
    });
  });
});
