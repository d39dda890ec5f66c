/** Who sees a pause and who may answer it, and what becomes of it when its run ends. */
import { expect, it } from 'vitest';
import { accessTo } from '#cairn/engine/contract.js';
import { atWork, claim, heldOf, PROFILE } from '../support/nouns/agent-turns.js';
import { addWorkers, someAccepted, someDelegators } from '../support/nouns/delegations.js';
import { asked, askedInRun, QUESTION, statusOf } from '../support/nouns/pauses.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const CANCELLED = { status: 'cancelled', answer: null, answered_at: null };

/** Bob has a task of ann's and asks in it; cyd is an agent beside them. */
async function bobAsks(test: TestStore, more: Parameters<typeof asked>[1] = {}) {
  const agents = await someDelegators(test);
  const { agent_turn_id, delegation_id, trajectory_id } = await someAccepted(agents.cairn);
  const turn = await claim(agents.cairn, { agent_turn_id });
  const pause = await agents.bob.pauses.create({ ...heldOf(turn), question: QUESTION, ...more });
  return { ...agents, ...pause, agent_turn_id, delegation_id, parent_id: trajectory_id! };
}

onEveryTarget('the parties of pauses', (test) => {
  it('PAUSE-9 PAUSE-10 the delegator sees and answers it; another agent does neither', async () => {
    const { ann, bob, cyd, pause_id } = await bobAsks(test());
    for (const party of [ann, bob]) {
      expect(await party.pauses.get({ pause_id })).toMatchObject({ agent_id: 'bob', source_agent_id: 'ann' });
      expect((await party.pauses.list({})).total).toBe(1);
    }
    expect((await cyd.pauses.list({})).pauses).toEqual([]);
    const foreign = [cyd.pauses.get({ pause_id }), cyd.pauses.answer({ pause_id, action: 'approve' })];
    for (const refused of await Promise.all(foreign.map(refusalOf)))
      expect(refused).toMatchObject({ code: 'PAUSE_NOT_FOUND' });
    expect(await ann.pauses.answer({ pause_id, action: 'approve' })).toMatchObject({
      answered_by: { agent_id: 'ann' },
    });
    const late = await refusalOf(ann.pauses.answer({ pause_id, action: 'reject' }));
    expect(late.message).toContain('answered by agent ann');
  });

  it('PAUSE-10 an agent does not approve itself, and can cancel its question', async () => {
    const { bob, cairn, pause_id, agent_turn_id } = await bobAsks(test(), { answers: ['approve', 'reject'] });
    const own = [
      bob.pauses.answer({ pause_id, action: 'approve' }),
      cairn.pauses.answer({ pause_id, action: 'approve', agent_id: 'bob' }),
    ];
    for (const refused of await Promise.all(own.map(refusalOf)))
      expect(refused).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'pause_party' } });
    const forAnother = bob.pauses.answer({ pause_id, action: 'approve', agent_id: 'ann' });
    expect(await refusalOf(forAnother)).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'key_agent' } });
    expect(await statusOf(cairn, agent_turn_id)).toBe('suspended');
    expect(await refusalOf(cairn.pauses.answer({ pause_id, action: 'cancel' }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await bob.pauses.answer({ pause_id, action: 'cancel' })).toMatchObject({
      status: 'answered',
      answer: { action: 'cancel' },
      answered_by: { agent_id: 'bob' },
    });
    expect(await statusOf(cairn, agent_turn_id)).toBe('dispatched');
  });

  it('PAUSE-10 the agent in whose turn a worker asks cannot answer through that worker', async () => {
    const { cairn, pause_id, agent_turn_id } = await bobAsks(test());
    const options = { agent_turn: `${agent_turn_id}:1` };
    expect(await refusalOf(cairn.pauses.answer({ pause_id, action: 'approve' }, options))).toMatchObject({
      code: 'STALE_TURN',
    });
  });

  it('PAUSE-10 an agent that is asked answers, and the delegator does not', async () => {
    const { ann, cyd, cairn, pause_id } = await bobAsks(test(), { to_agent_id: 'cyd' });
    expect(await refusalOf(ann.pauses.answer({ pause_id, action: 'approve' }))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'pause_party', to_agent_id: 'cyd' },
    });
    expect((await cyd.pauses.list({ to_agent_id: 'cyd' })).total).toBe(1);
    expect(await cyd.pauses.answer({ pause_id, action: 'approve' })).toMatchObject({
      answered_by: { agent_id: 'cyd' },
    });
    const { messages } = await cairn.messages.list({ to_agent: 'cyd' });
    expect(messages).toMatchObject([{ message_type: 'pause.created', from_agent_id: 'bob' }]);
  });

  it('PAUSE-15 the message names the pause, and has no text', async () => {
    const { cyd, pause_id } = await bobAsks(test(), { to_agent_id: 'cyd', trigger: 'tool_error' });
    const { messages } = await cyd.messages.list({});
    expect(JSON.parse(messages[0]!.payload)).toEqual({ pause_id, agent_id: 'bob', trigger: 'tool_error' });
  });

  it('PAUSE-10 any agent of the type that is asked answers, but not the asker', async () => {
    const { ann, bob, cyd, cairn, pause_id } = await bobAsks(test(), { to_agent_type: 'worker' });
    expect(await refusalOf(bob.pauses.answer({ pause_id, action: 'approve' }))).toMatchObject({ code: 'FORBIDDEN' });
    expect((await cyd.pauses.list({ status: 'open' })).total).toBe(1);
    expect(await cyd.pauses.answer({ pause_id, action: 'approve' })).toMatchObject({ status: 'answered' });
    expect((await ann.pauses.list({})).total).toBe(1);
    await cairn.agents.register({ agent_id: 'dan', agent_type: 'clerk', capabilities: ['x'] });
    const named = cairn.pauses.answer({ pause_id, action: 'approve', agent_id: 'dan' });
    expect(await refusalOf(named)).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('PAUSE-9 asking in an execution needs the right to write its checkpoints', async () => {
    const { ann, cyd, cairn } = await someDelegators(test());
    const { execution_id } = await ann.executions.create({});
    await cairn.agents.update({ agent_id: 'cyd', memory_access: accessTo('own') });
    const foreign = cyd.pauses.create({ execution_id, question: QUESTION });
    expect(await refusalOf(foreign)).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'memory_access' } });
    await cairn.agents.update({ agent_id: 'cyd', memory_access: accessTo('all') });
    const { pause_id } = await cyd.pauses.create({ execution_id, question: QUESTION });
    // Its owner sees it, and answers unless another is asked.
    expect(await ann.pauses.answer({ pause_id, action: 'approve' })).toMatchObject({
      agent_id: 'cyd',
      source_agent_id: 'ann',
      answered_by: { agent_id: 'ann' },
    });
  });

  it('PAUSE-10 an answer that may be given outside is recorded by the asker', async () => {
    const { ann } = await someDelegators(test());
    const { execution_id } = await ann.executions.create({});
    const { pause_id } = await ann.pauses.create({ execution_id, question: QUESTION, outside: true });
    const value = { resumed: true };
    expect(await ann.pauses.answer({ pause_id, action: 'continue', value })).toMatchObject({
      outside: true,
      answer: { action: 'continue', value },
      answered_by: { agent_id: 'ann' },
    });
  });

  it('PAUSE-9 PAUSE-10 the receiver of a handoff answers for the executions of its trajectory, the giver no more', async () => {
    const { ann, cyd, cairn } = await someDelegators(test());
    await addWorkers(cairn, ['dan']);
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task', agent_id: 'ann' });
    const { execution_id } = await ann.executions.create({ trajectory_id });
    const own = await ann.pauses.create({ execution_id, question: QUESTION });
    const outside = await ann.pauses.create({ execution_id, question: QUESTION, outside: true });
    const foreign = await cyd.pauses.create({ execution_id, question: QUESTION });
    const { handoff_id } = await cairn.handoffs.create({
      from_agent_id: 'ann',
      to_agent_id: 'dan',
      trajectory_id,
      reason: 'Escalation',
    });
    await cairn.handoffs.accept({ handoff_id });
    const dan = await test().as({ tenant: (await cairn.auth.whoami()).tenant_id, agent: 'dan', role: 'write' });
    for (const [pause_id, action] of [
      [own.pause_id, 'cancel'],
      [outside.pause_id, 'approve'],
    ] as const) {
      const refusal = await refusalOf(ann.pauses.answer({ pause_id, action }));
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'former_owner', trajectory_id } });
      const named = await refusalOf(cairn.pauses.answer({ pause_id, action, agent_id: 'ann' }));
      expect(named).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'former_owner' } });
    }
    expect(await refusalOf(ann.pauses.answer({ pause_id: foreign.pause_id, action: 'approve' }))).toMatchObject({
      code: 'PAUSE_NOT_FOUND',
    });
    expect((await dan.pauses.list({ status: 'open', execution_id })).total).toBe(3);
    for (const { pause_id } of [own, outside, foreign])
      expect(await dan.pauses.answer({ pause_id, action: 'approve' })).toMatchObject({
        answered_by: { agent_id: 'dan' },
        source_agent_id: 'dan',
      });
    expect((await dan.executions.get({ execution_id })).status).toBe('running');
    expect(await cairn.pauses.create({ execution_id, question: QUESTION })).toMatchObject({
      agent_id: 'dan',
      source_agent_id: null,
    });
    expect(await cyd.pauses.create({ execution_id, question: QUESTION })).toMatchObject({ source_agent_id: 'dan' });
  });

  it('PAUSE-10 an asker or owner without the right to write the execution cannot set it running', async () => {
    const { ann, cyd, cairn } = await someDelegators(test());
    const { execution_id } = await ann.executions.create({});
    const own = await ann.pauses.create({ execution_id, question: QUESTION, outside: true });
    const foreign = await cyd.pauses.create({ execution_id, question: QUESTION });
    const asked = await cyd.pauses.create({ execution_id, question: QUESTION, to_agent_id: 'ann' });
    await cairn.agents.update({ agent_id: 'ann', memory_access: { read: [], write: [] } });
    for (const { pause_id } of [own, foreign]) {
      const refusal = await refusalOf(ann.pauses.answer({ pause_id, action: 'approve' }));
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'memory_access', need: 'write' } });
    }
    // An agent that is asked needs no right but that.
    expect(await ann.pauses.answer({ pause_id: asked.pause_id, action: 'approve' })).toMatchObject({
      status: 'answered',
    });
  });

  it('PAUSE-11 a run that ends cancels its question', async () => {
    const { cairn } = await someDelegators(test());
    await cairn.profiles.create({ name: PROFILE, system_prompt: 'You look things up.' });
    const stopped = await asked(cairn);
    await cairn.agent_turns.stop({ agent_turn_id: stopped.agent_turn_id });
    const overdue = await asked(cairn, {}, { deadline_seconds: 30 });
    const failed = await asked(cairn);
    await cairn.trajectories.update({ trajectory_id: failed.trajectory_id!, status: 'Failed' });
    const delegated = await bobAsks(test());
    await delegated.ann.delegations.cancel({ delegation_id: delegated.delegation_id });
    expect(await delegated.cairn.pauses.get({ pause_id: delegated.pause_id })).toMatchObject(CANCELLED);
    test().advance(30_001);
    for (const { pause_id, agent_turn_id } of [stopped, overdue, failed]) {
      expect(await cairn.pauses.get({ pause_id, wait_ms: 5000 })).toMatchObject(CANCELLED);
      expect(await refusalOf(cairn.pauses.answer({ pause_id, action: 'approve' }))).toMatchObject({
        code: 'STATE_CONFLICT',
        details: { status: 'cancelled' },
      });
      expect(['stopped', 'timed_out']).toContain(await statusOf(cairn, agent_turn_id));
    }
    for (const status of ['completed', 'failed', 'cancelled'] as const) {
      const { pause_id, execution_id } = await askedInRun(cairn, { timeout_ms: 60_000 });
      await cairn.executions.update({ execution_id, status });
      expect(await cairn.pauses.get({ pause_id })).toMatchObject(CANCELLED);
    }
  });

  it('PAUSE-11 a delegation whose agent_turn waits for an answer cannot be completed', async () => {
    const { bob, ann, delegation_id, pause_id } = await bobAsks(test());
    const result = { status: 'Success' as const, output: 'done' };
    expect(await refusalOf(bob.delegations.complete({ delegation_id, result }))).toMatchObject({
      code: 'STATE_CONFLICT',
      message: expect.stringContaining('waits for an answer'),
    });
    await ann.pauses.answer({ pause_id, action: 'approve' });
    expect(await bob.delegations.complete({ delegation_id, result })).toMatchObject({ status: 'Completed' });
  });

  it('PAUSE-12 a pause is erased with its trajectory or its execution', async () => {
    const { cairn } = await someDelegators(test());
    await cairn.profiles.create({ name: PROFILE, system_prompt: 'You look things up.' });
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const { execution_id } = await cairn.executions.create({ trajectory_id });
    const inTurn = await asked(cairn, {}, { trajectory_id });
    const inRun = await askedInRun(cairn, { execution_id });
    const alone = await askedInRun(cairn, { timeout_ms: 60_000 });
    await cairn.trajectories.delete({ trajectory_id });
    await cairn.executions.delete({ execution_id: alone.execution_id });
    expect((await cairn.pauses.list({})).pauses).toEqual([]);
    for (const { pause_id } of [inTurn, inRun, alone]) {
      const calls = [cairn.pauses.get({ pause_id }), cairn.pauses.answer({ pause_id, action: 'approve' })];
      for (const refused of await Promise.all(calls.map(refusalOf)))
        expect(refused).toMatchObject({ code: 'PAUSE_NOT_FOUND' });
      const { held } = await atWork(cairn);
      const again = cairn.pauses.create({ ...held, pause_id, question: QUESTION });
      expect(await refusalOf(again)).toMatchObject({ code: 'ENTITY_GONE' });
    }
  });
});
