import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { expire } from '../support/expiry.js';
import {
  atWork,
  boxOf,
  claim,
  expectNothingWritten,
  heldOf,
  PROFILE,
  thought,
  withProfile,
  wordsIn,
} from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type Forking = Parameters<Api['pmo']['fork_join']>[0];
type Task = Forking['tasks'][number];

const task = (instruction: string, more: Partial<Task> = {}): Task => ({
  target_strategy: 'new',
  target_ref: PROFILE,
  instruction,
  ...more,
});
const three = [task('a'), task('b'), task('c')];
const because = { code: 'NO', message: 'could not' };

async function forked(cairn: Api, tasks: Task[], more: Partial<Forking> = {}) {
  const answer = await cairn.pmo.fork_join({ tasks, ...more });
  if (answer.status !== 'accepted') throw new Error(`not accepted: ${answer.message}`);
  return answer;
}

onEveryTarget('fork_join', (test) => {
  /** A batch whose agent_turns are all at work, in the order of the tasks. */
  async function atWorkOn(cairn: Api, tasks: Task[], more: Partial<Forking> = {}) {
    const answer = await forked(cairn, tasks, more);
    const turns = [];
    for (const agent_turn_id of answer.agent_turn_ids) turns.push(heldOf(await claim(cairn, { agent_turn_id })));
    return { batch_id: answer.batch_id, turns };
  }

  it('PMO-14 dispatches each task as its own agent_turn, in order, with its own context', async () => {
    const cairn = await withProfile(test());
    const { turn: source, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('so far')] });
    const by = source.agent_id;
    await cairn.agents.register({ agent_id: 'worker', agent_type: 'w', capabilities: ['x'], profile_name: PROFILE });
    await boxOf(cairn, 'x', ['1'], by);
    const tasks = [
      task('a'),
      task('b', { context_box_id: 'x' }),
      task('c', { target_strategy: 'clone', target_ref: 'worker', context_box_id: 'x' }),
      task('d', { target_strategy: 'reuse', target_ref: 'worker', input_box_ids: ['x'] }),
    ];
    const answer = await forked(cairn, tasks, { source_agent_id: by, channel_id: 'chat-7' });
    expect(answer).toMatchObject({ task_count: 4, agent_turn_ids: { length: 4 } });
    const { agent_turns } = await cairn.agent_turns.list({ batch_id: answer.batch_id });
    const sorted = [...agent_turns].sort((a, b) => a.task_index! - b.task_index!);
    expect(sorted.map(({ agent_turn_id }) => agent_turn_id)).toEqual(answer.agent_turn_ids);
    for (const one of sorted)
      expect(one).toMatchObject({
        channel_id: 'chat-7',
        parent_agent_turn_id: source.agent_turn_id,
        depth: 1,
        status: 'dispatched',
      });
    const parent = { parent_agent_id: by };
    const contexts = [];
    for (const { context_box_id } of sorted) contexts.push(await wordsIn(cairn, context_box_id));
    expect(contexts).toEqual([
      ['a', parent],
      ['b', '1', parent],
      ['c', '1', parent],
      ['d', '1', parent],
    ]);
    expect(await cairn.pmo.batch({ batch_id: answer.batch_id })).toMatchObject({
      status: 'running',
      task_count: 4,
      fail_fast: false,
      channel_id: 'chat-7',
      ended_at: null,
      results: [0, 1, 2, 3].map((task_index) => ({ task_index, status: 'running' })),
    });
    const about = { agent_turn_ids: answer.agent_turn_ids, fail_fast: false };
    expect(await eventsOf(cairn, 'cairn.batch.dispatched', answer.batch_id)).toMatchObject([about]);
  });

  it('PMO-15 takes 1 to 8 tasks, each agent once; all are checked before any is dispatched', async () => {
    const cairn = await withProfile(test());
    await cairn.agents.register({ agent_id: 'worker', agent_type: 'w', capabilities: ['x'], profile_name: PROFILE });
    const reuse = task('r', { target_strategy: 'reuse', target_ref: 'worker' });
    const fork = (tasks: unknown[], more: object = {}) =>
      refusalOf(cairn.pmo.fork_join({ tasks: tasks as Task[], ...more }));
    await expectNothingWritten(test(), cairn, async () => {
      const bad = { code: 'INVALID_INPUT', status: 400 };
      expect(await fork([])).toMatchObject(bad);
      expect(await fork(Array.from({ length: 9 }, () => task('x')))).toMatchObject(bad);
      expect(await fork([reuse, task('x'), reuse])).toMatchObject({
        ...bad,
        message: expect.stringContaining('worker'),
      });
      expect((await fork([{ ...task('x'), colour: 'red' }])).message).toContain('colour');
      expect((await fork(three, { wait: true })).message).toContain('wait');
      expect((await fork(three, { deadline_seconds: 0 })).message).toContain('deadline_seconds');
      expect(await fork([task('x'), task('y', { target_ref: 'nobody' })])).toMatchObject({
        code: 'PROFILE_NOT_FOUND',
        status: 404,
        message: expect.stringContaining('tasks[1]'),
        details: { task_index: 1 },
      });
      expect(await fork([reuse, task('y', { context_box_id: 'nowhere' })])).toMatchObject({
        code: 'BOX_NOT_FOUND',
        details: { task_index: 1 },
      });
      expect((await fork([task('x'), task('y', { arguments: { instruction: 'z' } })])).message).toContain(
        'instruction',
      );
    });
    expect(
      await forked(
        cairn,
        Array.from({ length: 8 }, () => task('x')),
      ),
    ).toMatchObject({ task_count: 8 });
  });

  it('PMO-16 ends when all tasks have, with their results in the order of the tasks', async () => {
    const cairn = await withProfile(test());
    const { batch_id, turns } = await atWorkOn(cairn, three);
    const [a, b, c] = turns;
    await cairn.agent_turns.complete({ ...c!, deliverable: { summary: 'third', n: 3 } });
    await cairn.agent_turns.complete({ ...a!, deliverable: 'first' });
    expect((await cairn.pmo.batch({ batch_id })).status).toBe('running');
    const waiting = cairn.pmo.batch({ batch_id, wait_ms: 20_000 });
    await cairn.agent_turns.complete({ ...b!, deliverable: 'x', summary: 'second' });
    const done = await waiting;
    expect(done).toMatchObject({ status: 'success', ended_at: expect.any(String) });
    expect(done.results).toMatchObject([
      { task_index: 0, status: 'success', summary: 'first', deliverable: 'first' },
      { task_index: 1, status: 'success', summary: 'second', deliverable: 'x' },
      { task_index: 2, status: 'success', summary: 'third', deliverable: { n: 3, summary: 'third' } },
    ]);
    for (const { output_box_id, deliverable } of done.results)
      expect((await wordsIn(cairn, output_box_id!)).at(-1)).toEqual(deliverable);
    expect(await eventsOf(cairn, 'cairn.batch.ended', batch_id)).toMatchObject([{ status: 'success' }]);
  });

  it('PMO-16 ends once when the last of its tasks end at the same time', async () => {
    const cairn = await withProfile(test());
    const { batch_id, turns } = await atWorkOn(cairn, [...three, ...three]);
    await Promise.all(turns.map((held, i) => cairn.agent_turns.complete({ ...held, deliverable: `${i}` })));
    const { status, results } = await cairn.pmo.batch({ batch_id });
    expect([status, ...results.map(({ deliverable }) => deliverable)]).toEqual([
      'success',
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    expect(await eventsOf(cairn, 'cairn.batch.ended', batch_id)).toHaveLength(1);
  });

  it('PMO-17 is partial when some tasks were not done in full, and failed when none was', async () => {
    const cairn = await withProfile(test());
    const mixed = await atWorkOn(cairn, three);
    await cairn.agent_turns.fail({ ...mixed.turns[0]!, error: because });
    await cairn.agent_turns.complete({ ...mixed.turns[1]!, deliverable: 'half', status: 'partial' });
    expect((await cairn.pmo.batch({ batch_id: mixed.batch_id })).status).toBe('running');
    await cairn.agent_turns.complete({ ...mixed.turns[2]!, deliverable: 'x' });
    expect(await cairn.pmo.batch({ batch_id: mixed.batch_id })).toMatchObject({
      status: 'partial',
      results: [{ status: 'failed', error: because }, { status: 'partial' }, { status: 'success' }],
    });
    const lost = await atWorkOn(cairn, [task('a'), task('b')]);
    await cairn.agent_turns.fail({ ...lost.turns[1]!, error: because });
    await cairn.agent_turns.stop({ agent_turn_id: lost.turns[0]!.agent_turn_id });
    expect(await cairn.pmo.batch({ batch_id: lost.batch_id })).toMatchObject({
      status: 'failed',
      results: [{ status: 'failed', error: { code: 'STOPPED' } }, { status: 'failed' }],
    });
    const half = await atWorkOn(cairn, [task('a')]);
    await cairn.agent_turns.complete({ ...half.turns[0]!, deliverable: 'x', status: 'partial' });
    expect((await cairn.pmo.batch({ batch_id: half.batch_id })).status).toBe('partial');
  });

  it('PMO-18 with fail_fast the first failure ends it and stops the others, also those below them', async () => {
    const cairn = await withProfile(test());
    const { batch_id, turns } = await atWorkOn(cairn, three, { fail_fast: true });
    const [a, b, c] = turns;
    await cairn.agent_turns.complete({ ...a!, deliverable: 'done' });
    const { agent_id } = await cairn.agent_turns.get({ agent_turn_id: c!.agent_turn_id });
    const below = await cairn.pmo.delegate_async({ ...task('deeper'), source_agent_id: agent_id });
    await cairn.agent_turns.fail({ ...b!, error: because });
    expect(await cairn.pmo.batch({ batch_id })).toMatchObject({
      status: 'failed',
      fail_fast: true,
      results: [
        { status: 'success' },
        { status: 'failed', error: because },
        { status: 'failed', error: { code: 'BATCH_FAILED' } },
      ],
    });
    expect(await refusalOf(cairn.agent_turns.complete({ ...c!, deliverable: 'late' }))).toMatchObject({
      code: 'STALE_TURN',
    });
    if (below.status !== 'accepted') throw new Error(below.message);
    expect(await cairn.agent_turns.get({ agent_turn_id: below.agent_turn_id })).toMatchObject({
      status: 'stopped',
      error: { code: 'PARENT_ENDED' },
    });
  });

  it('PMO-19 at its deadline what is not done is timed_out, and so is the batch', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { batch_id, turns } = await atWorkOn(cairn, three, { deadline_seconds: 20 });
    await cairn.agent_turns.complete({ ...turns[1]!, deliverable: 'in time' });
    test().advance(20_001);
    // Nobody has noticed yet: whoever looks does.
    const ended = await cairn.pmo.batch({ batch_id });
    expect(ended).toMatchObject({
      status: 'timeout',
      results: [
        { status: 'timeout', error: { code: 'DEADLINE' } },
        { status: 'success', deliverable: 'in time' },
        { status: 'timeout' },
      ],
    });
    expect(await refusalOf(cairn.agent_turns.complete({ ...turns[0]!, deliverable: 'late' }))).toMatchObject({
      code: 'STALE_TURN',
    });
    await expectNothingWritten(test(), cairn, async () => {
      expect(await expire(test(), tenant)).toBe(0);
    });
    const { deadline_at, created_at } = await cairn.pmo.batch({ batch_id: (await forked(cairn, three)).batch_id });
    expect(Date.parse(deadline_at) - Date.parse(created_at)).toBe(900_000);
  });

  it('PMO-20 a batch is seen by who forked it and by the tenant alone', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    const bob = await test().as({ tenant, agent: 'bob', role: 'write' });
    const { batch_id } = await forked(ann, [task('a')]);
    expect(await ann.pmo.batch({ batch_id })).toMatchObject({ batch_id });
    const unknown = { code: 'BATCH_NOT_FOUND', status: 404 };
    expect(await refusalOf(bob.pmo.batch({ batch_id }))).toMatchObject(unknown);
    expect(await refusalOf((await test().freshTenant()).pmo.batch({ batch_id }))).toMatchObject(unknown);
    expect(await refusalOf(cairn.pmo.batch({ batch_id: randomUUID() }))).toMatchObject(unknown);
  });
});
