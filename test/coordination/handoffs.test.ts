import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { HANDOFF_EXPIRES_MS, type HandoffStatus } from '#cairn/coordination/handoffs/model.js';
import { formerOwners, someHandoff, someTeam, type Team } from '../support/nouns/handoffs.js';
import { contentsOf, eventsOf, say, someScope, wordsLeft } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { until } from '../support/server.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const SNAPSHOT = Buffer.from([0, 255, 7]).toString('base64');
const invalid = { code: 'INVALID_INPUT', status: 400 };
const unknown = { code: 'UNKNOWN_ENTITY', status: 400 };
const conflict = { code: 'STATE_CONFLICT', status: 409 };
const notParty = { code: 'FORBIDDEN', status: 403, details: { rule: 'handoff_party' } };
const notFound = { code: 'HANDOFF_NOT_FOUND', status: 404 };

onEveryTarget('handoffs', (test) => {
  it('HAND-1 an offer is read back as it was written', async () => {
    const { cairn, ann, bob } = await someTeam(test());
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const { scope_id } = await someScope(ann, { trajectory_id });
    const texts = {
      reason: 'Escalation',
      next_steps: ['ask', 'answer'],
      blockers: ['no key'],
      open_questions: ['why?'],
      context_snapshot: SNAPSHOT,
    };
    const made = await ann.handoffs.create({ to_agent_id: 'bob', trajectory_id, scope_id, ...texts });
    expect(made).toEqual({
      ...texts,
      handoff_id: expect.any(String),
      from_agent_id: 'ann',
      to_agent_id: 'bob',
      trajectory_id,
      scope_id,
      new_scope_id: null,
      context_box_id: null,
      status: 'Initiated',
      rejection: null,
      expires_at: new Date(Date.parse(made.created_at) + HANDOFF_EXPIRES_MS).toISOString(),
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.created_at,
      accepted_at: null,
      ended_at: null,
    });
    const { handoff_id } = made;
    for (const api of [cairn, ann, bob]) expect(await api.handoffs.get({ handoff_id })).toEqual(made);
    expect((await cairn.trajectories.get({ trajectory_id })).agent_id).toBe('ann');
    const told = await eventsOf(cairn, 'cairn.handoff.created', handoff_id);
    expect(told).toMatchObject([{ from_agent_id: 'ann', to_agent_id: 'bob', scope_id }]);
    const { packets } = await cairn.packets.thread({ thread_id: trajectory_id });
    expect(JSON.stringify(packets)).not.toMatch(/Escalation|no key|why/);
  });

  it('HAND-1 it is from the agent of the key, else from the one that is named', async () => {
    const { cairn, ann } = await someTeam(test());
    const { trajectory_id } = await cairn.trajectories.create({ name: 'nobody’s yet' });
    const asked = { to_agent_id: 'bob', trajectory_id };
    const before = await latestToken(cairn);
    expect(await refusalOf(cairn.handoffs.create(asked))).toMatchObject(invalid);
    expect(await refusalOf(ann.handoffs.create({ ...asked, from_agent_id: 'cyd' }))).toMatchObject({
      status: 403,
      details: { rule: 'key_agent' },
    });
    expect(await latestToken(cairn)).toBe(before);
    const made = await cairn.handoffs.create({ ...asked, from_agent_id: 'ann' });
    expect(made).toMatchObject({ from_agent_id: 'ann', reason: null, next_steps: [], scope_id: null });
  });

  it('HAND-2 the same id again gives the same handoff, whatever became of it', async () => {
    const team = await someTeam(test());
    const { cairn, ann } = team;
    const handoff_id = randomUUID();
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const asked = { handoff_id, to_agent_id: 'bob', trajectory_id, reason: 'LoadBalancing' };
    const made = await ann.handoffs.create(asked);
    expect(await ann.handoffs.create(asked)).toEqual(made);
    const rejected = await cairn.handoffs.reject({ handoff_id });
    expect(await ann.handoffs.create(asked)).toEqual(rejected);
    const taken = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    for (const other of [{ reason: 'Escalation' }, { to_agent_id: 'cyd' }])
      expect(await refusalOf(ann.handoffs.create({ ...asked, ...other }))).toMatchObject(taken);
    expect(await refusalOf(cairn.handoffs.create({ ...asked, from_agent_id: 'cyd' }))).toMatchObject(taken);
    expect(await eventsOf(cairn, 'cairn.handoff.created', handoff_id)).toHaveLength(1);
  });

  it('HAND-3 refuses a receiver, trajectory or scope that cannot be, and names it', async () => {
    const { cairn, ann } = await someTeam(test());
    await cairn.agents.unregister({ agent_id: 'cyd' });
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const foreign = await cairn.trajectories.create({ name: 'of bob', agent_id: 'bob' });
    const finished = await ann.trajectories.create({ name: 'done' });
    await ann.trajectories.update({ trajectory_id: finished.trajectory_id, status: 'Completed' });
    const elsewhere = await someScope(ann);
    const closed = await someScope(ann, { trajectory_id });
    await ann.scopes.close({ scope_id: closed.scope_id, wait: true });
    const nobody = randomUUID();
    const before = await latestToken(cairn);
    for (const [wrong, refusal, named] of [
      [{ to_agent_id: 'dan' }, unknown, 'dan'],
      [{ to_agent_id: 'cyd' }, unknown, 'cyd'],
      [{ to_agent_id: 'ann' }, invalid, 'to_agent_id'],
      [{ trajectory_id: nobody }, unknown, nobody],
      [{ trajectory_id: finished.trajectory_id }, conflict, 'Completed'],
      [{ trajectory_id: foreign.trajectory_id }, notParty, foreign.trajectory_id],
      [{ scope_id: nobody }, unknown, nobody],
      [{ scope_id: elsewhere.scope_id }, unknown, elsewhere.scope_id],
      [{ scope_id: closed.scope_id }, { code: 'SCOPE_CLOSED', status: 409 }, closed.scope_id],
    ] as const) {
      const refused = await refusalOf(ann.handoffs.create({ to_agent_id: 'bob', trajectory_id, ...wrong }));
      expect(refused, JSON.stringify(wrong)).toMatchObject(refusal);
      expect(refused.message).toContain(named);
    }
    expect(await latestToken(cairn)).toBe(before);
    expect((await cairn.handoffs.list({})).total).toBe(0);
  });

  it('HAND-3 an agent gives to those alone that its can_delegate_to allows', async () => {
    const team = await someTeam(test());
    const { cairn, ann } = team;
    await cairn.agents.update({ agent_id: 'ann', can_delegate_to: ['cyd'] });
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const refused = await refusalOf(ann.handoffs.create({ to_agent_id: 'bob', trajectory_id }));
    expect(refused).toMatchObject({ status: 403, details: { rule: 'can_delegate_to', to_agent_id: 'bob' } });
    expect(await refusalOf(someHandoff(team, { trajectory_id }))).toMatchObject({ status: 403 });
    const made = await ann.handoffs.create({ to_agent_id: 'cyd', trajectory_id });
    expect(made).toMatchObject({ status: 'Initiated', to_agent_id: 'cyd' });
  });

  it('HAND-3 an agent gives away neither what is nobody’s nor a scope of another', async () => {
    const team = await someTeam(test());
    const { cairn, ann, bob } = team;
    const trajectory_id = await nobodys(team);
    const hers = await someScope(ann, { trajectory_id });
    await say(ann, hers.scope_id, 'private');
    const before = await latestToken(cairn);
    const { scope_id } = hers;
    for (const asked of [{ scope_id }, {}])
      expect(await refusalOf(bob.handoffs.create({ to_agent_id: 'cyd', trajectory_id, ...asked }))).toMatchObject({
        ...notParty,
        details: { rule: 'handoff_party', trajectory_id },
      });
    const named = { from_agent_id: 'bob', to_agent_id: 'cyd', trajectory_id };
    expect(await refusalOf(cairn.handoffs.create({ ...named, scope_id }))).toMatchObject({
      ...notParty,
      details: { rule: 'handoff_party', scope_id },
    });
    expect(await latestToken(cairn)).toBe(before);
    expect(await cairn.handoffs.create(named)).toMatchObject({ status: 'Initiated' });
  });

  it('HAND-4 a trajectory has one open offer at a time', async () => {
    const team = await someTeam(test());
    const { cairn } = team;
    const first = await someHandoff(team);
    const { trajectory_id } = first;
    const again = () => someHandoff(team, { trajectory_id, to_agent_id: 'cyd' });
    const refused = await refusalOf(again());
    expect(refused).toMatchObject({ ...conflict, details: { handoff_id: first.handoff_id } });
    await cairn.handoffs.reject({ handoff_id: first.handoff_id });
    const second = await again();
    test().advance(HANDOFF_EXPIRES_MS);
    const third = await again();
    expect(third.status).toBe('Initiated');
    expect((await cairn.handoffs.get({ handoff_id: second.handoff_id })).status).toBe('Expired');
    expect((await cairn.handoffs.get({ handoff_id: third.handoff_id })).status).toBe('Initiated');
  });

  it('HAND-5 accepting moves the trajectory and packs the scope for the receiver', async () => {
    const team = await someTeam(test());
    const { cairn, ann, bob } = team;
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const settings = { token_budget: 10, threshold_percent: 90, enforce: true, purpose: 'why' };
    const old = await someScope(ann, { trajectory_id, ...settings, metadata: { a: 1 } });
    const nested = await someScope(ann, { trajectory_id, parent_scope_id: old.scope_id });
    const beside = await someScope(ann, { trajectory_id });
    const ids: string[] = [];
    for (const word of ['one', 'two']) ids.push((await say(ann, old.scope_id, word)).turn_id);
    await say(ann, nested.scope_id, 'deep');
    await say(ann, beside.scope_id, 'stays');
    const { handoff_id } = await someHandoff(team, { trajectory_id, scope_id: old.scope_id });
    await say(ann, old.scope_id, 'three');

    const accepted = await bob.handoffs.accept({ handoff_id });
    expect(accepted).toMatchObject({ status: 'Accepted', expires_at: null, ended_at: null });
    expect(accepted.accepted_at).toBe(accepted.updated_at);
    expect(await ann.handoffs.get({ handoff_id })).toEqual(accepted);
    expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({ agent_id: 'bob' });

    const scope = await bob.scopes.get({ scope_id: accepted.new_scope_id! });
    expect(scope).toMatchObject({
      ...settings,
      metadata: { a: 1 },
      name: old.name,
      agent_id: 'bob',
      trajectory_id,
      parent_scope_id: null,
      restored_from: old.scope_id,
      is_active: true,
      turns: 3,
      tokens_used: 3,
    });
    expect(await contentsOf(bob, scope.scope_id)).toEqual(['one', 'two', 'three']);
    const box_id = accepted.context_box_id!;
    const { cards } = await bob.boxes.cards({ box_id });
    expect(cards.map(({ content }) => content)).toEqual(['one', 'two', 'three']);
    expect(await bob.boxes.load({ box_id })).toMatchObject({ agent_id: 'bob', sealed_at: expect.any(String) });
    expect(await refusalOf(ann.boxes.load({ box_id }))).toMatchObject({ status: 403 });

    for (const { scope_id } of [old, nested])
      expect(await cairn.scopes.get({ scope_id })).toMatchObject({ is_active: false });
    expect(await contentsOf(cairn, beside.scope_id)).toEqual(['stays']);
    expect(await say(bob, scope.scope_id, 'four')).toMatchObject({ sequence: 4 });
    // What the scopes held is erased by itself, but for what the new one and the box keep.
    for (const { scope_id } of [old, nested])
      await until('the erasure', async () => (await cairn.scopes.get({ scope_id })).erasure?.state === 'done');
    expect(await contentsOf(bob, scope.scope_id)).toEqual(['one', 'two', 'three', 'four']);
    expect(await bob.turns.get({ turn_id: ids[0]! })).toMatchObject({ scope_id: scope.scope_id });
    expect(await wordsLeft(test().store, team.tenant, 'cards', ['one', 'deep', 'stays'])).toEqual(['one', 'stays']);

    const thread = await cairn.packets.thread({ thread_id: trajectory_id, limit: 500 });
    const packets = thread.packets.filter(({ packet_type }) => packet_type !== 'cairn.message.sent');
    const told = packets.map(({ packet_type }) => packet_type);
    const from = told.indexOf('cairn.scope.restored');
    expect(told.slice(from, from + 5)).toEqual([
      'cairn.scope.restored',
      'cairn.scope.closed',
      'cairn.scope.closed',
      'cairn.handoff.accepted',
      'cairn.trajectory.updated',
    ]);
    expect(packets[from + 3]!.payload).toMatchObject({ new_scope_id: scope.scope_id, context_box_id: box_id });
    expect(packets[from + 4]!.payload).toMatchObject({ fields: ['agent_id'], agent_id: 'bob' });
  });

  it('HAND-5 without a scope the trajectory alone moves; an empty scope is packed as well', async () => {
    const team = await someTeam(test());
    const { cairn } = team;
    const plain = await someHandoff(team);
    const { scope_id } = await someScope(cairn, { trajectory_id: plain.trajectory_id });
    const accepted = await cairn.handoffs.accept({ handoff_id: plain.handoff_id });
    expect(accepted).toMatchObject({ status: 'Accepted', new_scope_id: null, context_box_id: null });
    expect(await cairn.scopes.get({ scope_id })).toMatchObject({ is_active: true });
    const empty = await someScope(cairn);
    const offered = await someHandoff(team, { trajectory_id: empty.trajectory_id, scope_id: empty.scope_id });
    const packed = await cairn.handoffs.accept({ handoff_id: offered.handoff_id });
    expect(await contentsOf(cairn, packed.new_scope_id!)).toEqual([]);
    expect(await say(cairn, packed.new_scope_id!, 'first')).toMatchObject({ sequence: 1 });
    expect(await cairn.scopes.get({ scope_id: empty.scope_id })).toMatchObject({ is_active: false });
  });

  it('HAND-5 the trajectory is still the one that its maker made, whoever has it', async () => {
    const team = await someTeam(test());
    const { cairn, ann, bob } = team;
    for (const maker of [ann, cairn]) {
      const asked = { trajectory_id: randomUUID(), name: 'task' };
      const { trajectory_id } = await maker.trajectories.create(asked);
      const { handoff_id } = await someHandoff(team, { trajectory_id });
      await bob.handoffs.accept({ handoff_id });
      expect(await maker.trajectories.create(asked)).toMatchObject({ trajectory_id, agent_id: 'bob' });
      const others = maker.trajectories.create({ ...asked, name: 'other' });
      expect(await refusalOf(others)).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
    }
  });

  it('HAND-6 nobody but the receiver answers', async () => {
    const team = await someTeam(test());
    const { tenant, cairn, ann, bob } = team;
    const cyd = await test().as({ tenant, agent: 'cyd', role: 'write' });
    const { handoff_id } = await someHandoff(team);
    const before = await latestToken(cairn);
    for (const verb of ['accept', 'reject', 'complete'] as const) {
      for (const api of [ann, cyd]) expect(await refusalOf(api.handoffs[verb]({ handoff_id }))).toMatchObject(notParty);
      const named = cairn.handoffs[verb]({ handoff_id, agent_id: 'ann' });
      expect(await refusalOf(named)).toMatchObject(notParty);
      expect(await refusalOf(bob.handoffs[verb]({ handoff_id, agent_id: 'ann' }))).toMatchObject({
        status: 403,
        details: { rule: 'key_agent' },
      });
      const nobody = bob.handoffs[verb]({ handoff_id: randomUUID() });
      expect(await refusalOf(nobody)).toMatchObject(notFound);
    }
    expect(await latestToken(cairn)).toBe(before);
    expect(await cairn.handoffs.accept({ handoff_id, agent_id: 'bob' })).toMatchObject({ status: 'Accepted' });
    expect(await bob.handoffs.complete({ handoff_id })).toMatchObject({ status: 'Completed' });
  });

  it('HAND-7 goes from state to state as it may, and nowhere else', async () => {
    const team = await someTeam(test());
    const { cairn } = team;
    const moves = { accept: 'Accepted', reject: 'Rejected', complete: 'Completed' } as const;
    const into: Readonly<Record<Exclude<HandoffStatus, 'Expired'>, readonly (keyof typeof moves)[]>> = {
      Initiated: [],
      Accepted: ['accept'],
      Rejected: ['reject'],
      Completed: ['accept', 'complete'],
    };
    const allowed: Record<string, readonly string[]> = { Initiated: ['Accepted', 'Rejected'], Accepted: ['Completed'] };
    for (const [status, path] of Object.entries(into)) {
      for (const [verb, to] of Object.entries(moves) as [keyof typeof moves, HandoffStatus][]) {
        const { handoff_id } = await someHandoff(team);
        for (const step of path) await cairn.handoffs[step]({ handoff_id });
        const there = await cairn.handoffs.get({ handoff_id });
        expect(there.status).toBe(status);
        const before = await latestToken(cairn);
        if (allowed[status]?.includes(to)) {
          const moved = await cairn.handoffs[verb]({ handoff_id });
          expect(moved).toMatchObject({ status: to, expires_at: null });
          expect(moved.ended_at === null).toBe(to === 'Accepted');
          continue;
        }
        if (status === to) expect(await cairn.handoffs[verb]({ handoff_id })).toEqual(there);
        else {
          const refused = await refusalOf(cairn.handoffs[verb]({ handoff_id }));
          expect(refused).toMatchObject({ ...conflict, details: { status } });
          expect(refused.message).toContain(`is ${status}`);
        }
        expect(await latestToken(cairn), `${status} to ${to}`).toBe(before);
      }
    }
  });

  it('HAND-7 a rejection says why, and moves nothing', async () => {
    const team = await someTeam(test());
    const { cairn, bob } = team;
    const { trajectory_id, scope_id } = await someScope(cairn);
    const { handoff_id } = await someHandoff(team, { trajectory_id, scope_id, reason: 'Escalation' });
    const rejected = await bob.handoffs.reject({ handoff_id, reason: 'not my field' });
    expect(rejected).toMatchObject({ status: 'Rejected', reason: 'Escalation', rejection: 'not my field' });
    expect(await bob.handoffs.reject({ handoff_id, reason: 'another' })).toEqual(rejected);
    expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({ agent_id: null });
    expect(await cairn.scopes.get({ scope_id })).toMatchObject({ is_active: true });
    expect(await formerOwners(test().store, team.tenant, trajectory_id)).toEqual([]);
    expect(await eventsOf(cairn, 'cairn.handoff.rejected', handoff_id)).toHaveLength(1);
  });

  it('HAND-10 an agent sees what it gives or is given, in the order of ids', async () => {
    const team = await someTeam(test());
    const { cairn, ann, bob } = team;
    const own = await someHandoff(team);
    const foreign = await someHandoff(team, { from_agent_id: 'cyd', trajectory_id: await nobodys(team) });
    const third = await someHandoff(team, { to_agent_id: 'cyd' });
    await cairn.handoffs.accept({ handoff_id: own.handoff_id });
    const idsOf = async (api: Team['cairn'], more: object = {}) => {
      const { handoffs, total } = await api.handoffs.list(more);
      expect(total).toBe(handoffs.length);
      return handoffs.map(({ handoff_id }) => handoff_id);
    };
    const all = [own, foreign, third].map(({ handoff_id }) => handoff_id).sort();
    expect(await idsOf(cairn)).toEqual(all);
    expect(await idsOf(ann)).toEqual(all.filter((id) => id !== foreign.handoff_id));
    expect(await idsOf(bob)).toEqual(all.filter((id) => id !== third.handoff_id));
    expect(await idsOf(cairn, { from_agent_id: 'cyd' })).toEqual([foreign.handoff_id]);
    expect(await idsOf(ann, { from_agent_id: 'cyd' })).toEqual([]);
    expect(await idsOf(cairn, { to_agent_id: 'cyd' })).toEqual([third.handoff_id]);
    expect(await idsOf(cairn, { trajectory_id: own.trajectory_id })).toEqual([own.handoff_id]);
    expect(await idsOf(cairn, { status: 'Accepted' })).toEqual([own.handoff_id]);
    expect(await idsOf(bob, { status: 'Initiated' })).toEqual([foreign.handoff_id]);
    const first = await cairn.handoffs.list({ limit: 2 });
    expect([first.handoffs.map(({ handoff_id }) => handoff_id), first.total]).toEqual([all.slice(0, 2), 3]);
    const rest = await cairn.handoffs.list({ limit: 2, cursor: first.next_cursor! });
    expect(rest.handoffs.map(({ handoff_id }) => handoff_id)).toEqual(all.slice(2));
    expect(rest.next_cursor).toBeNull();
    const { handoff_id } = foreign;
    expect(await refusalOf(ann.handoffs.get({ handoff_id }))).toMatchObject(notFound);
    const stranger = await test().freshTenant();
    expect(await refusalOf(stranger.handoffs.get({ handoff_id }))).toMatchObject(notFound);
    expect(await refusalOf(stranger.handoffs.accept({ handoff_id }))).toMatchObject(notFound);
    expect((await stranger.handoffs.list({})).total).toBe(0);
  });

  it('HAND-11 the giver is a former owner until it has the trajectory back', async () => {
    const team = await someTeam(test());
    const { cairn, tenant } = team;
    const { handoff_id, trajectory_id } = await someHandoff(team);
    const former = () => formerOwners(test().store, tenant, trajectory_id);
    expect(await former()).toEqual([]);
    await cairn.handoffs.accept({ handoff_id });
    expect(await former()).toEqual(['ann']);
    const onward = (from_agent_id: string, to_agent_id: string) =>
      someHandoff(team, { trajectory_id, from_agent_id, to_agent_id });
    expect(await refusalOf(onward('ann', 'cyd'))).toMatchObject(notParty);
    await cairn.handoffs.accept({ handoff_id: (await onward('bob', 'cyd')).handoff_id });
    expect(await former()).toEqual(['ann', 'bob']);
    await cairn.handoffs.accept({ handoff_id: (await onward('cyd', 'ann')).handoff_id });
    expect(await former()).toEqual(['bob', 'cyd']);
    expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({ agent_id: 'ann' });
  });

  it('HAND-11 a former owner can no longer write', async () => {
    const team = await someTeam(test());
    const { cairn, ann, bob } = team;
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const { scope_id } = await someScope(ann, { trajectory_id });
    const { handoff_id } = await someHandoff(team, { trajectory_id });
    await say(ann, scope_id, 'before');
    await bob.handoffs.accept({ handoff_id });
    const gone = { status: 403, details: { rule: 'former_owner', trajectory_id } };
    for (const write of [
      () => say(ann, scope_id, 'after'),
      () => ann.scopes.create({ trajectory_id, name: 'new' }),
      () => ann.trajectories.update({ trajectory_id, name: 'mine' }),
      () => ann.handoffs.create({ trajectory_id, to_agent_id: 'cyd' }),
    ])
      expect(await refusalOf(write())).toMatchObject(gone);
    const back = await bob.handoffs.create({ trajectory_id, to_agent_id: 'ann' });
    await ann.handoffs.accept({ handoff_id: back.handoff_id });
    await say(ann, scope_id, 'again');
    expect(await contentsOf(cairn, scope_id)).toEqual(['before', 'again']);
    expect(await refusalOf(say(bob, scope_id, 'after'))).toMatchObject(gone);
  });

  it('HAND-14 receiver and giver are told by messages, which hold ids alone', async () => {
    const team = await someTeam(test());
    const { cairn, bob } = team;
    const heard = async (to_agent: string) =>
      (await cairn.messages.list({ to_agent })).messages.map(({ message_type, from_agent_id, payload }) => [
        message_type,
        from_agent_id,
        JSON.parse(payload) as object,
      ]);
    const first = await someHandoff(team, { reason: 'secret' });
    const { handoff_id, trajectory_id } = first;
    const ids = { handoff_id, trajectory_id, from_agent_id: 'ann', to_agent_id: 'bob' };
    expect(await heard('bob')).toEqual([['handoff.offered', 'ann', { ...ids, status: 'Initiated' }]]);
    await bob.handoffs.reject({ handoff_id, reason: 'secret' });
    await bob.handoffs.reject({ handoff_id });
    expect(await heard('ann')).toEqual([['handoff.rejected', 'bob', { ...ids, status: 'Rejected' }]]);
    const second = await someHandoff(team, { trajectory_id });
    await bob.handoffs.accept({ handoff_id: second.handoff_id });
    await bob.handoffs.complete({ handoff_id: second.handoff_id });
    const lost = await someHandoff(team);
    await cairn.trajectories.delete({ trajectory_id: lost.trajectory_id });
    test().advance(HANDOFF_EXPIRES_MS);
    await cairn.handoffs.get({ handoff_id: lost.handoff_id });
    expect((await heard('ann')).map(([type, from]) => [type, from])).toEqual([
      ['handoff.rejected', 'bob'],
      ['handoff.accepted', 'bob'],
      ['handoff.expired', null],
    ]);
    // What is sent in a trajectory goes with it.
    expect(await heard('bob')).toHaveLength(2);
  });

  it('IDEM-1 the same Idempotency-Key offers, accepts and completes once', async () => {
    const team = await someTeam(test());
    const { cairn, ann, bob } = team;
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const { scope_id } = await someScope(ann, { trajectory_id });
    const asked = { to_agent_id: 'bob', trajectory_id, scope_id };
    const made = await ann.handoffs.create(asked, { idempotency_key: 'o' });
    expect(await ann.handoffs.create(asked, { idempotency_key: 'o' })).toEqual(made);
    const { handoff_id } = made;
    const accepted = await bob.handoffs.accept({ handoff_id }, { idempotency_key: 'a' });
    await bob.handoffs.complete({ handoff_id }, { idempotency_key: 'c' });
    const before = await latestToken(cairn);
    // Accepting it anew would be refused by now; the answer to the same request is how it is.
    const again = await bob.handoffs.accept({ handoff_id }, { idempotency_key: 'a' });
    expect(again).toMatchObject({ status: 'Completed', new_scope_id: accepted.new_scope_id });
    expect(await bob.handoffs.complete({ handoff_id }, { idempotency_key: 'c' })).toEqual(again);
    expect(await ann.handoffs.create(asked, { idempotency_key: 'o' })).toEqual(again);
    expect(await latestToken(cairn)).toBe(before);
    expect((await cairn.handoffs.list({})).total).toBe(1);
  });
});

const nobodys = async ({ cairn }: Team): Promise<string> =>
  (await cairn.trajectories.create({ name: 'task' })).trajectory_id;
