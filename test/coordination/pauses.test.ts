/** Pauses: questions of runs, their answers and deadlines, on whatever they are reached by. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { atWork, claim, dispatched, heldOf, withProfile } from '../support/nouns/agent-turns.js';
import { asked, askedInRun, QUESTION, statusOf } from '../support/nouns/pauses.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const EMPTY = {
  thought_chain: { steps: [] },
  context: { messages: [], variables: {} },
  tool_state: { pending: [], completed: [] },
};

const statusOfRun = async (cairn: Api, execution_id: string) => (await cairn.executions.get({ execution_id })).status;

onEveryTarget('pauses', (test) => {
  it('PAUSE-1 a question is asked in an agent_turn or an execution', async () => {
    const cairn = await withProfile(test());
    const details = { tool: 'git', arguments: { branch: 'main' } };
    const choices = ['yes', { value: 'no', label: 'No, keep it' }];
    const { held, ...pause } = await asked(cairn, { trigger: 'tool_confirmation', choices, details });
    const turn = await cairn.agent_turns.get({ agent_turn_id: held.agent_turn_id });
    expect(pause).toMatchObject({
      status: 'open',
      trigger: 'tool_confirmation',
      question: QUESTION,
      details,
      agent_turn_id: held.agent_turn_id,
      execution_id: null,
      trajectory_id: turn.trajectory_id,
      agent_id: turn.agent_id,
      answers: ['approve', 'reject', 'modify', 'continue', 'cancel'],
      choices: [
        { value: 'yes', label: 'yes' },
        { value: 'no', label: 'No, keep it' },
      ],
      default: null,
      deadline_at: null,
      answer: null,
      answered_by: null,
      answered_at: null,
    });
    expect(await cairn.pauses.get({ pause_id: pause.pause_id })).toEqual(pause);
    expect(await askedInRun(cairn)).toMatchObject({ trigger: 'manual', agent_turn_id: null, choices: [] });
  });

  it('PAUSE-1 an execution has at most 100 open pauses', async () => {
    const cairn = await test().freshTenant();
    const { execution_id } = await cairn.executions.create({});
    const ask = () => cairn.pauses.create({ execution_id, question: QUESTION });
    const asked = await Promise.all(Array.from({ length: 100 }, ask));
    expect(await refusalOf(ask())).toMatchObject({ code: 'STATE_CONFLICT', details: { limit: 100 } });
    await cairn.pauses.answer({ pause_id: asked[0]!.pause_id, action: 'approve' });
    await ask();
    await cairn.executions.update({ execution_id, status: 'completed' });
    expect((await cairn.pauses.list({ status: 'open' })).total).toBe(0);
    expect((await cairn.pauses.list({ status: 'cancelled' })).total).toBe(100);
  });

  it('PAUSE-1 a question of both or of none is refused, as are others that cannot be answered', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const { execution_id } = await cairn.executions.create({});
    const run = { execution_id };
    const wrong: [string, object][] = [
      ['give either agent_turn_id', {}],
      ['give either agent_turn_id', { ...held, ...run }],
      ['turn_epoch is required', { agent_turn_id: held.agent_turn_id }],
      ['turn_epoch needs agent_turn_id', { ...run, turn_epoch: 1 }],
      ['checkpoint_id needs execution_id', { ...held, checkpoint_id: 'c' }],
      ['give either to_agent_id or to_agent_type', { ...run, to_agent_id: 'a', to_agent_type: 'b' }],
      ['give either timeout_ms or deadline_at', { ...run, timeout_ms: 5, deadline_at: '2100-01-01T00:00:00Z' }],
      ['deadline_at must be in the future', { ...run, deadline_at: '2001-01-01T00:00:00Z' }],
      ['deadline_at must be within 366 days', { ...run, deadline_at: '2999-01-01T00:00:00Z' }],
      ['default needs a deadline', { ...run, default: { action: 'approve' } }],
      ['default.value is required', { ...run, timeout_ms: 5, default: { action: 'modify' } }],
      [
        'default.action must be one of reject',
        { ...run, answers: ['reject'], timeout_ms: 5, default: { action: 'retry' } },
      ],
      ['"a" is listed twice', { ...run, choices: ['a', { value: 'a' }] }],
      ['must be another agent', { ...run, to_agent_id: 'agent' }],
    ];
    for (const [message, given] of wrong) {
      const refused = await refusalOf(cairn.pauses.create({ question: QUESTION, ...given }));
      expect(refused, message).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(message) });
    }
    const foreign = await cairn.executions.create({});
    const checkpoint = await cairn.checkpoints.create({ execution_id: foreign.execution_id, snapshot: EMPTY });
    for (const checkpoint_id of ['nowhere', checkpoint.id])
      expect(await refusalOf(cairn.pauses.create({ question: QUESTION, ...run, checkpoint_id }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        details: { missing_ids: [checkpoint_id] },
      });
    const details = { text: 'x'.repeat(1024 * 1024) };
    expect(await refusalOf(cairn.pauses.create({ question: QUESTION, ...run, details }))).toMatchObject({
      code: 'TOO_LARGE',
    });
    expect((await cairn.pauses.list({})).total).toBe(0);
    expect(await statusOf(cairn, held.agent_turn_id)).toBe('running');
    expect(await statusOfRun(cairn, execution_id)).toBe('running');
  });

  it('PAUSE-2 an agent_turn that asks has no lease, and nobody holds it', async () => {
    const cairn = await withProfile(test());
    const { held, agent_turn_id } = await asked(cairn);
    const turn = await cairn.agent_turns.get({ agent_turn_id });
    expect(turn).toMatchObject({ status: 'suspended', lease_expires_at: null, worker_id: null, attempts: 0 });
    const steps = [
      cairn.agent_turns.renew(held),
      cairn.agent_turns.resume(held),
      cairn.agent_turns.append({ ...held, cards: [{ content: 'late' }] }),
      cairn.agent_turns.complete({ ...held, deliverable: 'late' }),
      cairn.pauses.create({ ...held, question: 'And then?' }),
    ];
    for (const refused of await Promise.all(steps.map(refusalOf)))
      expect(refused).toMatchObject({ code: 'STALE_TURN', message: expect.stringContaining('it waits for an answer') });
    test().advance(24 * 3_600_000);
    expect(await cairn.agent_turns.claim({ worker_id: 'other' })).toEqual({ agent_turn: null });
    expect(await statusOf(cairn, agent_turn_id)).toBe('suspended');
  });

  it('PAUSE-2 a claim that ended in a question is not an attempt', async () => {
    const cairn = await withProfile(test());
    const { agent_turn_id } = await dispatched(cairn);
    for (let i = 0; i < 7; i++) {
      const turn = await claim(cairn, { agent_turn_id });
      expect(turn.attempts).toBe(1);
      const { pause_id } = await cairn.pauses.create({ ...heldOf(turn), question: `Number ${i}?` });
      await cairn.pauses.answer({ pause_id, action: 'continue' });
    }
    await claim(cairn, { agent_turn_id });
    test().advance(40_000);
    expect(await claim(cairn, { agent_turn_id })).toMatchObject({ attempts: 2, turn_epoch: 9 });
  });

  it('PAUSE-3 an execution is paused until its last question has an answer', async () => {
    const cairn = await test().freshTenant();
    const one = await askedInRun(cairn);
    const { execution_id } = one;
    const other = await askedInRun(cairn, { execution_id, question: 'And the tag?' });
    expect(await statusOfRun(cairn, execution_id)).toBe('paused');
    await cairn.checkpoints.create({ execution_id, snapshot: EMPTY });
    expect(await statusOfRun(cairn, execution_id)).toBe('paused');
    await cairn.pauses.answer({ pause_id: one.pause_id, action: 'approve' });
    expect(await statusOfRun(cairn, execution_id)).toBe('paused');
    await cairn.pauses.answer({ pause_id: other.pause_id, action: 'reject' });
    expect(await statusOfRun(cairn, execution_id)).toBe('running');
    await cairn.executions.update({ execution_id, status: 'paused' });
    await cairn.checkpoints.create({ execution_id, snapshot: EMPTY });
    expect(await statusOfRun(cairn, execution_id)).toBe('running');
    await cairn.executions.update({ execution_id, status: 'completed' });
    const late = cairn.pauses.create({ execution_id, question: QUESTION });
    expect(await refusalOf(late)).toMatchObject({ code: 'STATE_CONFLICT', details: { status: 'completed' } });
    const unknown = cairn.pauses.create({ execution_id: 'nobody', question: QUESTION });
    expect(await refusalOf(unknown)).toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
  });

  it('PAUSE-3 a question asked again pauses an execution that was set running meanwhile', async () => {
    const cairn = await test().freshTenant();
    const { execution_id } = await askedInRun(cairn, { ask_key: 'q' });
    await cairn.executions.update({ execution_id, status: 'running' });
    expect(await askedInRun(cairn, { execution_id, ask_key: 'q' })).toMatchObject({ status: 'open' });
    expect(await statusOfRun(cairn, execution_id)).toBe('paused');
  });

  it('PAUSE-4 an answer lets any worker claim the agent_turn, in the next epoch', async () => {
    const cairn = await withProfile(test());
    const { pause_id, agent_turn_id } = await asked(cairn);
    const waiting = claim(cairn, { worker_id: 'worker-2', wait_ms: 20_000 });
    const answered = await cairn.pauses.answer({ pause_id, action: 'approve', comment: 'Go on.' });
    expect(answered).toMatchObject({
      status: 'answered',
      answer: { action: 'approve', comment: 'Go on.' },
      answered_by: { agent_id: null },
    });
    expect(answered.answered_at).not.toBeNull();
    const turn = await waiting;
    expect(turn).toMatchObject({ agent_turn_id, status: 'running', worker_id: 'worker-2', turn_epoch: 2, attempts: 1 });
    expect(await cairn.agent_turns.complete({ ...heldOf(turn), deliverable: 'Done.' })).toMatchObject({
      status: 'completed',
    });
  });

  it('PAUSE-5 an answer fits the question', async () => {
    const cairn = await test().freshTenant();
    const choices = ['red', 'blue'];
    const { pause_id } = await askedInRun(cairn, { choices, answers: ['approve', 'modify', 'continue'] });
    const wrong: [string, object][] = [
      ['give an action', {}],
      ['action must be one of approve, modify, continue', { action: 'retry' }],
      ['value is required', { action: 'modify' }],
      ['choice "green" is unknown: it must be one of red, blue', { action: 'continue', choice: 'green' }],
      ['choice is required', { action: 'approve' }],
    ];
    for (const [message, given] of wrong)
      expect(await refusalOf(cairn.pauses.answer({ pause_id, ...given })), message).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(message),
      });
    expect(await cairn.pauses.answer({ pause_id, choice: 'blue' })).toMatchObject({
      answer: { action: 'continue', choice: 'blue' },
    });
    const twice = await askedInRun(cairn, { answers: ['reject', 'approve', 'reject'] });
    expect(twice.answers).toEqual(['reject', 'approve']);
    const plain = await askedInRun(cairn);
    const odd = cairn.pauses.answer({ pause_id: plain.pause_id, action: 'approve', choice: 'blue' });
    expect(await refusalOf(odd)).toMatchObject({ message: expect.stringContaining('has no choices') });
    const value = { branch: null, force: [1, 2.5] };
    const modified = await cairn.pauses.answer({ pause_id: plain.pause_id, action: 'modify', value });
    expect(modified.answer).toEqual({ action: 'modify', value });
  });

  it.each([
    ['tool_confirmation', ['approve', 'reject', 'modify', 'cancel']],
    ['tool_error', ['modify', 'continue', 'retry', 'cancel']],
    ['human_review', ['approve', 'reject', 'modify', 'continue', 'cancel']],
    ['timeout', ['continue', 'retry', 'cancel']],
    ['confidence_low', ['approve', 'modify', 'continue', 'retry', 'cancel']],
    ['manual', ['approve', 'reject', 'modify', 'continue', 'retry', 'cancel']],
    ['branch_point', ['continue', 'cancel']],
  ] as const)('PAUSE-5 the trigger %s has its own answers', async (trigger, answers) => {
    const cairn = await test().freshTenant();
    expect(await askedInRun(cairn, { trigger })).toMatchObject({ trigger, answers });
  });

  it('PAUSE-6 an answer counts once', async () => {
    const cairn = await withProfile(test());
    const { pause_id, agent_turn_id } = await asked(cairn);
    const idempotency_key = randomUUID();
    const first = await cairn.pauses.answer({ pause_id, action: 'approve' }, { idempotency_key });
    expect(await cairn.pauses.answer({ pause_id, action: 'approve' }, { idempotency_key })).toEqual(first);
    expect(await cairn.pauses.answer({ pause_id, action: 'approve' })).toEqual(first);
    const other = await refusalOf(cairn.pauses.answer({ pause_id, action: 'reject' }));
    expect(other).toMatchObject({
      code: 'STATE_CONFLICT',
      message: expect.stringContaining(`answered by a person at ${first.answered_at}`),
      details: { status: 'answered', answered_at: first.answered_at, answered_by: { agent_id: null } },
    });
    await cairn.agents.register({ agent_id: 'boss', agent_type: 'boss', capabilities: ['x'] });
    const same = cairn.pauses.answer({ pause_id, action: 'approve', agent_id: 'boss' });
    expect(await refusalOf(same)).toMatchObject({ code: 'FORBIDDEN' });
    expect((await cairn.agent_turns.get({ agent_turn_id })).turn_epoch).toBe(2);
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.pause.answered' });
    expect(packets).toHaveLength(1);
  });

  it('PAUSE-7 at the deadline the default counts', async () => {
    const cairn = await withProfile(test());
    const fallback = { action: 'reject' as const, comment: 'Nobody was there.' };
    const { pause_id, agent_turn_id, deadline_at } = await asked(cairn, { timeout_ms: 60_000, default: fallback });
    expect(Date.parse(deadline_at!)).toBeGreaterThan(Date.now());
    test().advance(60_001);
    expect(await refusalOf(cairn.pauses.answer({ pause_id, action: 'approve' }))).toMatchObject({
      code: 'STATE_CONFLICT',
      message: expect.stringContaining('by its default'),
    });
    expect(await cairn.pauses.get({ pause_id })).toMatchObject({
      status: 'answered',
      answer: fallback,
      answered_by: null,
      answered_at: expect.any(String),
    });
    expect(await claim(cairn, { agent_turn_id })).toMatchObject({ turn_epoch: 2 });
  });

  it('PAUSE-7 without a default it expires, and the run goes on', async () => {
    const cairn = await withProfile(test());
    const { pause_id, agent_turn_id } = await asked(cairn, { timeout_ms: 60_000 });
    const deadline_at = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const run = await askedInRun(cairn, { deadline_at });
    expect(run.deadline_at).toBe(deadline_at);
    test().advance(60_001);
    expect((await cairn.pauses.list({ status: 'expired' })).pauses).toMatchObject([{ pause_id, answer: null }]);
    expect(await statusOf(cairn, agent_turn_id)).toBe('dispatched');
    const late = await refusalOf(cairn.pauses.answer({ pause_id, action: 'approve' }));
    expect(late).toMatchObject({ code: 'STATE_CONFLICT', details: { status: 'expired' } });
    expect(late.message).toMatch(/is already expired: it takes no more answers$/);
  });

  it('PAUSE-8 the same question under the same key is found with its answer', async () => {
    const cairn = await withProfile(test());
    const { pause_id, agent_turn_id } = await asked(cairn, { ask_key: 'delete', timeout_ms: 60_000 });
    const answered = await cairn.pauses.answer({ pause_id, action: 'approve' });
    const held = heldOf(await claim(cairn, { agent_turn_id }));
    const same = { ...held, question: QUESTION, ask_key: 'delete' };
    expect(await cairn.pauses.create({ ...same, timeout_ms: 5 })).toEqual(answered);
    expect(await cairn.pauses.create({ ...same, pause_id })).toEqual(answered);
    for (const other of [{ question: 'Really?' }, { details: { force: true } }, { choices: ['yes'] }])
      expect(await refusalOf(cairn.pauses.create({ ...same, ...other }))).toMatchObject({
        code: 'ENTITY_ALREADY_EXISTS',
        details: { pause_id },
      });
    expect(await statusOf(cairn, agent_turn_id)).toBe('running');
    const { pause_id: other } = await asked(cairn, { ask_key: 'delete' });
    expect(other).not.toBe(pause_id);
    const elsewhere = cairn.pauses.create({ ...same, pause_id: other });
    expect(await refusalOf(elsewhere)).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
  });

  it('PAUSE-8 with an Idempotency-Key a question is asked once', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const options = { idempotency_key: randomUUID() };
    const first = await cairn.pauses.create({ ...held, question: QUESTION }, options);
    expect(await cairn.pauses.create({ ...held, question: QUESTION }, options)).toEqual(first);
    expect((await cairn.pauses.list({})).total).toBe(1);
    await cairn.pauses.answer({ pause_id: first.pause_id, action: 'approve' });
    // The worker whose answer was lost must not go on: another may have the turn.
    const late = cairn.pauses.create({ ...held, question: QUESTION }, options);
    expect(await refusalOf(late)).toMatchObject({ code: 'STALE_TURN' });
  });

  it('PAUSE-13 a caller that waits is told of the answer', async () => {
    const cairn = await withProfile(test());
    const { pause_id } = await asked(cairn);
    const waiting = cairn.pauses.get({ pause_id, wait_ms: 20_000 });
    await cairn.pauses.answer({ pause_id, action: 'retry' });
    expect(await waiting).toMatchObject({ status: 'answered', answer: { action: 'retry' } });
    const { pause_id: open } = await asked(cairn);
    expect(await cairn.pauses.get({ pause_id: open, wait_ms: 50 })).toMatchObject({ status: 'open' });
    expect(await refusalOf(cairn.pauses.get({ pause_id: randomUUID() }))).toMatchObject({ code: 'PAUSE_NOT_FOUND' });
  });

  it('PAUSE-13 pauses are filtered', async () => {
    const cairn = await withProfile(test());
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const { execution_id } = await cairn.executions.create({ trajectory_id, agent_id: 'coder' });
    const turn = await asked(cairn, { trigger: 'tool_error', ask_key: 'k', to_agent_type: 'reviewer' });
    const run = await askedInRun(cairn, { execution_id, to_agent_id: 'bob' });
    const { pause_id } = await asked(cairn);
    await cairn.pauses.answer({ pause_id, action: 'approve' });
    const found = async (filter: Parameters<Api['pauses']['list']>[0]) =>
      (await cairn.pauses.list(filter)).pauses.map((one) => one.pause_id);
    expect(await found({})).toEqual([turn.pause_id, run.pause_id, pause_id]);
    expect(await found({ order: 'desc', limit: 1 })).toEqual([pause_id]);
    expect(await found({ status: 'open' })).toEqual([turn.pause_id, run.pause_id]);
    expect(await found({ trigger: 'tool_error' })).toEqual([turn.pause_id]);
    expect(await found({ agent_turn_id: turn.agent_turn_id })).toEqual([turn.pause_id]);
    expect(await found({ ask_key: 'k' })).toEqual([turn.pause_id]);
    expect(await found({ to_agent_type: 'reviewer' })).toEqual([turn.pause_id]);
    expect(await found({ agent_id: turn.agent_id })).toEqual([turn.pause_id]);
    for (const filter of [{ execution_id }, { trajectory_id }, { to_agent_id: 'bob' }, { agent_id: 'coder' }])
      expect(await found(filter)).toEqual([run.pause_id]);
  });

  it('PAUSE-14 every move is an event, without any text', async () => {
    const cairn = await withProfile(test());
    const secret = `secret-${randomUUID()}`;
    const texts = { question: secret, choices: [secret], details: { secret } };
    const answered = await asked(cairn, texts);
    await cairn.pauses.answer({ pause_id: answered.pause_id, choice: secret, comment: secret });
    const expired = await asked(cairn, { ...texts, timeout_ms: 1000 });
    const cancelled = await asked(cairn, texts);
    test().advance(1001);
    await cairn.pauses.list({});
    await cairn.agent_turns.stop({ agent_turn_id: cancelled.agent_turn_id });
    const { packets } = await cairn.packets.list({ limit: 500, order: 'asc' });
    expect(JSON.stringify(packets)).not.toContain(secret);
    const moves = packets.filter(({ packet_type }) => packet_type.startsWith('cairn.pause.'));
    const told = (pause_id: string) =>
      moves.filter(({ payload }) => (payload as { entity: { id: string } }).entity.id === pause_id);
    expect(told(answered.pause_id)).toMatchObject([
      { packet_type: 'cairn.pause.created', payload: { trigger: 'manual', agent_turn_id: answered.agent_turn_id } },
      { packet_type: 'cairn.pause.answered', payload: { action: 'continue', agent_id: null } },
    ]);
    for (const [{ pause_id }, end] of [[expired, 'expired'] as const, [cancelled, 'cancelled'] as const])
      expect(told(pause_id).map(({ packet_type }) => packet_type)).toEqual([
        'cairn.pause.created',
        `cairn.pause.${end}`,
      ]);
  });
});
