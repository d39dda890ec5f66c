import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { sql } from '#cairn/driver/index.js';
import { accessTo } from '#cairn/engine/contract.js';
import { type Runtime, systemCall } from '#cairn/engine/index.js';
import { checkMayDelegate } from '#cairn/identity/agents/may-delegate.js';
import { uuid } from '#cairn/kernel/contract.js';
import { expire } from '../support/expiry.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf, someTrajectory } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const coder = { agent_type: 'coder', capabilities: ['write_code'] };
const notFound = { code: 'AGENT_NOT_FOUND', status: 404 };
const byKey = { code: 'FORBIDDEN', status: 403, details: { rule: 'key_agent' } };
const ownRights = { code: 'FORBIDDEN', status: 403, details: { rule: 'own_rights' } };

async function firstOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  for await (const one of stream) return one;
}

onEveryTarget('agents', (test) => {
  it('AGENT-1 an agent is registered idle, with every field as it was sent', async () => {
    const cairn = await test().freshTenant();
    const sent = {
      agent_id: 'ann/1 ü',
      ...coder,
      memory_access: { read: [{ memory_type: '*' as const, scope: 'own' as const }], write: [] },
      can_delegate_to: ['reviewer', '*'],
      profile_name: 'coder',
      offline_after_ms: 5000,
      metadata: { a: [1, null] },
    };
    const made = await cairn.agents.register(sent);
    expect(made).toEqual({
      ...sent,
      status: 'idle',
      current_trajectory_id: null,
      parent_agent_id: null,
      last_seen_at: made.registered_at,
      registered_at: expect.stringMatching(/Z$/),
      updated_at: made.registered_at,
    });
    expect(await cairn.agents.get({ agent_id: sent.agent_id })).toEqual(made);
    expect(await eventsOf(cairn, 'cairn.agent.registered', sent.agent_id)).toMatchObject([{ agent_type: 'coder' }]);
  });

  it('AGENT-1 id, rights and times are made where they are not given; at least one capability is', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.agents.register(coder);
    expect(uuid.safeParse(made.agent_id).success).toBe(true);
    expect(made).toMatchObject({ memory_access: accessTo('all'), can_delegate_to: ['*'], offline_after_ms: MINUTE });
    expect(await refusalOf(cairn.agents.register({ ...coder, capabilities: [] }))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('capabilities'),
    });
  });

  it('AGENT-1 the same body again is a sign of life, another is a conflict; a key registers its own agent', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    const made = await ann.agents.register(coder);
    expect(made.agent_id).toBe('ann');
    test().advance(MINUTE / 2);
    const before = await latestToken(cairn);
    const again = await cairn.agents.register({ ...coder, agent_id: 'ann' });
    expect(Date.parse(again.last_seen_at)).toBeGreaterThanOrEqual(Date.parse(made.last_seen_at) + MINUTE / 2);
    expect(again).toEqual({ ...made, last_seen_at: again.last_seen_at });
    expect(await latestToken(cairn)).toBe(before);
    const other = { ...coder, agent_id: 'ann', agent_type: 'reviewer' };
    expect(await refusalOf(ann.agents.register(other))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS', status: 409 });
    expect(await refusalOf(ann.agents.register({ ...coder, agent_id: 'bob' }))).toMatchObject(byKey);
  });

  it('AGENT-2 agents are listed by type and by status, silent ones as offline', async () => {
    const cairn = await test().freshTenant();
    for (const agent_id of ['c', 'a', 'b']) await cairn.agents.register({ ...coder, agent_id });
    await cairn.agents.register({ ...coder, agent_id: 'd', agent_type: 'reviewer' });
    await cairn.agents.unregister({ agent_id: 'c' });
    await cairn.agents.update({ agent_id: 'b', status: 'busy' });
    const ids = async (filter: Parameters<typeof cairn.agents.list>[0]) => {
      const { agents, total } = await cairn.agents.list(filter);
      expect(total).toBe(agents.length);
      return agents.map(({ agent_id }) => agent_id);
    };
    expect(await ids({})).toEqual(['a', 'b', 'd']);
    expect(await ids({ agent_type: 'coder' })).toEqual(['a', 'b']);
    expect(await ids({ status: 'busy' })).toEqual(['b']);
    test().advance(MINUTE);
    await cairn.agents.heartbeat({ agent_id: 'd' });
    expect(await ids({ status: 'idle' })).toEqual(['d']);
    expect(await ids({ status: 'offline' })).toEqual(['a', 'b']);
    const { agents, next_cursor } = await cairn.agents.list({ limit: 2 });
    const rest = await cairn.agents.list({ limit: 2, cursor: next_cursor! });
    expect([...agents, ...rest.agents].map(({ agent_id }) => agent_id)).toEqual(['a', 'b', 'd']);
    expect(rest).toMatchObject({ next_cursor: null, total: null });
  });

  it('AGENT-3 a change shows at once, and one that changes nothing makes no event', async () => {
    const cairn = await test().freshTenant();
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id });
    const trajectory_id = await someTrajectory(cairn);
    const patch = {
      agent_type: 'writer',
      capabilities: ['write'],
      memory_access: { read: [] },
      can_delegate_to: [],
      status: 'active' as const,
      current_trajectory_id: trajectory_id,
      offline_after_ms: 9000,
      metadata: { b: 1 },
    };
    const changed = await cairn.agents.update({ agent_id, ...patch });
    expect(changed).toMatchObject(patch);
    expect(await cairn.agents.get({ agent_id })).toEqual(changed);
    expect(await eventsOf(cairn, 'cairn.agent.updated', agent_id)).toMatchObject([
      { fields: Object.keys(patch), status: 'active' },
    ]);
    const before = await latestToken(cairn);
    await cairn.agents.update({ agent_id, ...patch });
    expect(await latestToken(cairn)).toBe(before);
    const cleared = { memory_access: accessTo('all'), can_delegate_to: ['*'], current_trajectory_id: null };
    expect(await cairn.agents.update({ agent_id, ...cleared })).toMatchObject(cleared);
  });

  it('AGENT-3 nothing to change, an unknown agent or an unknown trajectory is refused', async () => {
    const cairn = await test().freshTenant();
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id });
    const before = await latestToken(cairn);
    expect(await refusalOf(cairn.agents.update({ agent_id }))).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await refusalOf(cairn.agents.update({ agent_id: 'bob', status: 'idle' }))).toMatchObject(notFound);
    expect(await refusalOf(cairn.agents.heartbeat({ agent_id: 'bob' }))).toMatchObject(notFound);
    expect(await refusalOf(cairn.agents.unregister({ agent_id: 'bob' }))).toMatchObject(notFound);
    const current_trajectory_id = randomUUID();
    for (const call of [cairn.agents.update, cairn.agents.heartbeat]) {
      expect(await refusalOf(call({ agent_id, current_trajectory_id }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        details: { missing_ids: [current_trajectory_id] },
      });
    }
    expect(await latestToken(cairn)).toBe(before);
  });

  it('AGENT-4 a key with an agent is for that agent, and not for what it may do', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    await cairn.agents.register({ ...coder, agent_id: 'ann', memory_access: { read: [] } });
    await cairn.agents.register({ ...coder, agent_id: 'bob' });
    const ann = await test().as({ tenant, agent: 'ann' });
    const going = { agent_id: 'ann', current_trajectory_id: await someTrajectory(cairn) };
    const writer = await test().as({ tenant, role: 'write' });
    const before = await latestToken(cairn);
    const bob = { agent_id: 'bob' };
    expect(await refusalOf(ann.agents.update({ ...bob, status: 'busy' }))).toMatchObject(byKey);
    expect(await refusalOf(ann.agents.heartbeat(bob))).toMatchObject(byKey);
    expect(await refusalOf(ann.agents.unregister(bob))).toMatchObject(byKey);
    const self = { agent_id: 'ann' };
    for (const rights of [{ agent_type: 'boss' }, { memory_access: accessTo('all') }, { can_delegate_to: ['*'] }]) {
      const fields = Object.keys(rights);
      expect(await refusalOf(ann.agents.update({ ...self, ...rights }))).toMatchObject(ownRights);
      expect(await refusalOf(writer.agents.update({ ...self, ...rights }))).toMatchObject({
        status: 403,
        details: { rule: 'key_role', fields },
      });
    }
    expect(await refusalOf(ann.agents.update(going))).toMatchObject(ownRights);
    expect(await refusalOf(ann.agents.heartbeat(going))).toMatchObject(ownRights);
    expect(await latestToken(cairn)).toBe(before);
    expect(await cairn.agents.get(self)).toMatchObject({ agent_type: 'coder', current_trajectory_id: null });
    const { trajectory_id } = await ann.trajectories.create({ name: 'its own' });
    const own = { status: 'busy' as const, current_trajectory_id: trajectory_id, capabilities: ['x'] };
    expect(await ann.agents.update({ ...self, ...own, metadata: { a: 1 } })).toMatchObject(own);
    expect(await cairn.agents.update(going)).toMatchObject(going);
    expect(await cairn.agents.get(bob)).toMatchObject({ status: 'idle' });
  });

  it('AGENT-5 a silent agent is offline at once; that is told when it is noticed, once', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id, offline_after_ms: 10_000 });
    await cairn.agents.update({ agent_id, status: 'busy' });
    test().advance(9000);
    await expire(test(), tenant);
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'busy' });
    test().advance(1000);
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'offline' });
    expect(await eventsOf(cairn, 'cairn.agent.offline', agent_id)).toEqual([]);
    expect(await expire(test(), tenant)).toBe(1);
    expect(await expire(test(), tenant)).toBe(0);
    expect(await eventsOf(cairn, 'cairn.agent.offline', agent_id)).toHaveLength(1);
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'offline' });
  });

  it('AGENT-5 how long an agent may be silent can be changed while it is silent', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id });
    await cairn.agents.update({ agent_id, offline_after_ms: 3 * MINUTE });
    test().advance(2 * MINUTE);
    await expire(test(), tenant);
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'idle' });
    await cairn.agents.update({ agent_id, offline_after_ms: MINUTE });
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'offline' });
    expect(await expire(test(), tenant)).toBe(1);
  });

  it('AGENT-6 a heartbeat keeps an agent online without an event, and brings it back with one', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id });
    const before = await latestToken(cairn);
    for (let i = 0; i < 3; i++) {
      test().advance(MINUTE / 2);
      expect(await cairn.agents.heartbeat({ agent_id, status: 'active' })).toMatchObject({ status: 'active' });
      await expire(test(), tenant);
    }
    expect(await latestToken(cairn)).toBe(before);
    test().advance(MINUTE);
    await expire(test(), tenant);
    expect(await cairn.agents.heartbeat({ agent_id })).toMatchObject({ status: 'idle' });
    test().advance(MINUTE);
    // Nobody has noticed this time, and it is told all the same.
    expect(await cairn.agents.heartbeat({ agent_id, status: 'busy' })).toMatchObject({ status: 'busy' });
    expect(await eventsOf(cairn, 'cairn.agent.offline', agent_id)).toHaveLength(2);
    expect(await eventsOf(cairn, 'cairn.agent.online', agent_id)).toMatchObject([
      { status: 'idle' },
      { status: 'busy' },
    ]);
  });

  it('AGENT-6 what an agent does with memory by its own key is a sign of life', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const agent_id = 'ann';
    const made = await cairn.agents.register({ ...coder, agent_id });
    const ann = await test().as({ tenant, agent: 'ann', role: 'read' });
    await ann.cards.list({});
    expect((await cairn.agents.get({ agent_id })).last_seen_at).toBe(made.last_seen_at);
    test().advance(MINUTE / 2);
    await ann.cards.list({});
    test().advance(MINUTE / 2);
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'idle' });
    test().advance(MINUTE);
    await ann.cards.list({});
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'idle' });
    expect(await eventsOf(cairn, 'cairn.agent.online', agent_id)).toHaveLength(1);
  });

  it('AGENT-6 whatever an agent does is a sign of life, also what is done for it or in its agent_turn', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    await cairn.profiles.create({ name: 'p', system_prompt: 'x' });
    const agent_id = 'ann';
    const made = await cairn.agents.register({ ...coder, agent_id, profile_name: 'p' });
    const ann = await test().as({ tenant, agent: agent_id });
    const dispatched = { target_strategy: 'reuse', target_ref: agent_id, instruction: 'x' } as const;
    await cairn.pmo.delegate_async(dispatched);
    const { agent_turn } = await ann.agent_turns.claim({ worker_id: 'w', lease_ms: HOUR });
    const { agent_turn_id, turn_epoch } = agent_turn!;
    const held = { agent_turn_id, turn_epoch };
    const resource = { resource_type: 'f', resource_id: '1', lease_ms: HOUR };
    const { lock_id } = await ann.locks.acquire(resource);
    const cards = [{ content: 'w', metadata: { type: 'agent.thought', role: 'assistant' } }];
    const guard = { agent_turn: `${agent_turn_id}:${turn_epoch}` };
    const acts: (() => Promise<unknown>)[] = [
      () => ann.messages.receive({}),
      () => ann.agent_turns.get({ agent_turn_id }),
      () => ann.locks.extend({ lock_id, additional_ms: 100 }),
      () => cairn.locks.extend({ lock_id, additional_ms: 100 }),
      () => cairn.locks.acquire({ ...resource, resource_id: '2', holder_agent_id: agent_id }),
      () => cairn.messages.receive({ agent_id }),
      () => firstOf(cairn.messages.stream({ agent_id })),
      () => cairn.agent_turns.append({ ...held, cards }),
      () => cairn.agent_turns.renew({ ...held, lease_ms: HOUR }),
      () => cairn.cards.list({}, guard),
    ];
    let last = made.last_seen_at;
    for (const act of acts) {
      test().advance((MINUTE * 3) / 4);
      await act();
      await expire(test(), tenant);
      const seen = await cairn.agents.get({ agent_id });
      expect(seen.status, act.toString()).toBe('busy');
      expect(seen.last_seen_at > last, act.toString()).toBe(true);
      last = seen.last_seen_at;
    }
    expect(await cairn.locks.get({ lock_id })).toMatchObject({ state: 'held' });
    // A worker that is late says nothing of the agent.
    test().advance((MINUTE * 3) / 4);
    const late = { ...held, turn_epoch: turn_epoch + 1 };
    await refusalOf(cairn.agent_turns.append({ ...late, cards }));
    await cairn.cards.list({}, { agent_turn: `${agent_turn_id}:${late.turn_epoch}` });
    expect((await cairn.agents.get({ agent_id })).last_seen_at).toBe(last);
  });

  it('AGENT-10 an agent that was made for a task is missed while it works, and gets what goes to all', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    await cairn.profiles.create({ name: 'coder', system_prompt: 'x' });
    await cairn.agents.register({ ...coder, agent_id: 'ann' });
    const made = await cairn.pmo.launch_principal({ profile_name: 'coder', instruction: 'x' });
    if (made.status !== 'accepted') throw new Error(made.message);
    const { agent_id, agent_turn_id } = made;
    const said = { to_agent_type: 'coder', fan_out: 'all' as const, message_type: 't', payload: 'x' };
    const events = async () => [
      ...(await eventsOf(cairn, 'cairn.agent.offline', agent_id)),
      ...(await eventsOf(cairn, 'cairn.agent.online', agent_id)),
    ];
    const silence = async () => {
      test().advance(2 * MINUTE);
      await cairn.agents.heartbeat({ agent_id: 'ann' });
      await expire(test(), tenant);
    };
    await silence();
    const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'w', agent_turn_id, lease_ms: HOUR });
    expect(await events()).toEqual([]);
    expect(await cairn.messages.send(said)).toMatchObject({ recipients: 2 });
    await silence();
    expect(await events()).toHaveLength(1);
    const held = { agent_turn_id, turn_epoch: agent_turn!.turn_epoch };
    await cairn.agent_turns.renew(held);
    await cairn.agents.heartbeat({ agent_id, status: 'busy' });
    await cairn.agent_turns.complete({ ...held, deliverable: 'x' });
    const before = (await events()).length;
    await silence();
    expect(await events()).toHaveLength(before);
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ status: 'offline' });
    expect(await cairn.messages.send(said)).toMatchObject({ recipients: 1 });
  });

  it('AGENT-7 an agent at work is not unregistered, an idle or offline one is', async () => {
    const cairn = await test().freshTenant();
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id });
    for (const status of ['active', 'busy'] as const) {
      await cairn.agents.update({ agent_id, status });
      expect(await refusalOf(cairn.agents.unregister({ agent_id }))).toMatchObject({
        code: 'STATE_CONFLICT',
        status: 409,
        details: { status },
      });
    }
    test().advance(MINUTE);
    await cairn.agents.unregister({ agent_id });
    const before = await latestToken(cairn);
    await cairn.agents.unregister({ agent_id });
    expect(await latestToken(cairn)).toBe(before);
    expect(await eventsOf(cairn, 'cairn.agent.unregistered', agent_id)).toHaveLength(1);
  });

  it('AGENT-7 an agent with an agent_turn that has not ended is not unregistered', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const agent_id = 'ann';
    await cairn.agents.register({ ...coder, agent_id });
    await test().store.driver.write(tenant, async (tx) => {
      await tx.run(
        sql`INSERT INTO agent_turns (tenant_id, agent_turn_id, agent_id, depth, profile_name, profile_box_id,
              profile_card_id, trajectory_id, status, turn_epoch, attempts, max_attempts, context_box_id,
              output_box_id, dispatched_at, created_at, updated_at)
            VALUES (${tenant}, 'turn-1', ${agent_id}, 0, 'p', 'b', 'c', 't', 'dispatched', 1, 0, 3, 'b', 'b', 1, 1, 1)`,
      );
    });
    expect(await refusalOf(cairn.agents.unregister({ agent_id }))).toMatchObject({
      code: 'STATE_CONFLICT',
      details: { agent_turn_id: 'turn-1' },
    });
    await test().store.driver.write(tenant, async (tx) => {
      await tx.run(sql`UPDATE agent_turns SET ended_at = 2 WHERE tenant_id = ${tenant}`);
    });
    await cairn.agents.unregister({ agent_id });
  });

  it('AGENT-8 an unregistered agent is not found, and its id is not used again', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const agent_id = 'ann';
    const sent = { ...coder, agent_id, memory_access: { read: [] } };
    await cairn.agents.register(sent);
    const ann = await test().as({ tenant, agent: 'ann' });
    await cairn.agents.unregister({ agent_id });
    expect(await refusalOf(cairn.agents.get({ agent_id }))).toMatchObject(notFound);
    expect(await refusalOf(cairn.agents.heartbeat({ agent_id }))).toMatchObject(notFound);
    expect((await cairn.agents.list({})).total).toBe(0);
    expect(await refusalOf(cairn.agents.register(sent))).toMatchObject({
      code: 'ENTITY_GONE',
      status: 410,
      message: expect.stringContaining('need not be unregistered'),
    });
    expect(await refusalOf(ann.cards.list({}))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'agent_registered', agent_id: 'ann' },
    });
    expect(await refusalOf(cairn.keys.create({ agent_id: 'ann' }))).toMatchObject({ code: 'ENTITY_GONE' });
  });

  it('AGENT-9 can_delegate_to names whom an agent may delegate to', async () => {
    const cairn = await test().freshTenant();
    const call = systemCall({ driver: test().store.driver } as Runtime, await tenantOf(cairn));
    const to = { agent_id: 'bob', agent_type: 'reviewer', typed: 1, profile_name: 'Checker' } as const;
    const check = (from: string | null) =>
      checkMayDelegate(call.driver.at(call.tenant), from, to).then(() => 'allowed');
    const rules: [string, string[] | undefined, boolean][] = [
      ['absent', undefined, true],
      ['empty', [], false],
      ['others', ['coder', 'carl'], false],
      ['type', ['coder', 'reviewer'], true],
      ['id', ['bob'], true],
      ['profile', ['Checker'], true],
      ['all', ['*'], true],
    ];
    for (const [agent_id, can_delegate_to, allowed] of rules) {
      await cairn.agents.register({ ...coder, agent_id, ...(can_delegate_to && { can_delegate_to }) });
      if (allowed) expect(await check(agent_id)).toBe('allowed');
      else
        expect(await refusalOf(check(agent_id))).toMatchObject({
          code: 'FORBIDDEN',
          message: expect.stringContaining('can_delegate_to'),
          details: { rule: 'can_delegate_to', from_agent_id: agent_id, to_agent_id: 'bob', can_delegate_to },
        });
    }
    expect(await check('nobody')).toBe('allowed');
    expect(await check(null)).toBe('allowed');
  });
});
