import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { expire } from '../support/expiry.js';
import {
  accepted,
  atWork,
  boxOf,
  cardsIn,
  claim,
  dispatched,
  expectNothingWritten,
  heldOf,
  PROFILE,
  thought,
  withProfile,
  wordsIn,
} from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf, someTrajectory } from '../support/nouns/scopes.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const bad = { code: 'INVALID_INPUT', status: 400 };
const fresh = { target_strategy: 'new' as const, target_ref: PROFILE, instruction: 'do' };
/** Agents that are registered with the profile. */
async function register(cairn: Api, ...agent_ids: string[]): Promise<void> {
  for (const agent_id of agent_ids)
    await cairn.agents.register({ agent_id, agent_type: 'worker', capabilities: ['x'], profile_name: PROFILE });
}

const acting = async (test: TestStore, cairn: Api, agent: string): Promise<Api> =>
  test.as({ tenant: await tenantOf(cairn), agent, role: 'write' });

onEveryTarget('delegating', (test) => {
  it('PMO-1 delegating makes an agent, a part of the trajectory, a sealed context, an output box and an agent_turn', async () => {
    const cairn = await withProfile(test());
    const trajectory_id = await someTrajectory(cairn);
    await boxOf(cairn, 'x', ['1', '2'], 'planner');
    await boxOf(cairn, 'y', ['3'], 'planner');
    await cairn.boxes.append({ box_id: 'y', card_ids: ['x-2'] });
    const answer = await dispatched(cairn, {
      source_agent_id: 'planner',
      trajectory_id,
      context_box_id: 'y',
      input_box_ids: ['x', 'y'],
      channel_id: 'chat-7',
    });
    const turn = await cairn.agent_turns.get({ agent_turn_id: answer.agent_turn_id });
    expect(answer).toEqual({
      status: 'accepted',
      agent_id: turn.agent_id,
      agent_turn_id: turn.agent_turn_id,
      turn_epoch: 1,
      context_box_id: turn.context_box_id,
      output_box_id: turn.output_box_id,
      trajectory_id: turn.trajectory_id,
      delegation_id: turn.delegation_id,
      channel_id: 'chat-7',
    });
    expect(turn).toMatchObject({
      status: 'dispatched',
      source_agent_id: 'planner',
      parent_agent_turn_id: null,
      depth: 0,
      profile_name: PROFILE,
      attempts: 0,
      worker_id: null,
      lease_expires_at: null,
      channel_id: 'chat-7',
    });
    expect(await cairn.trajectories.get({ trajectory_id: turn.trajectory_id })).toMatchObject({
      parent_trajectory_id: trajectory_id,
      agent_id: turn.agent_id,
      status: 'Active',
    });
    expect(await cairn.agents.get({ agent_id: turn.agent_id })).toMatchObject({ parent_agent_id: 'planner' });
    const cards = await cardsIn(cairn, turn.context_box_id);
    expect(cards.map(({ content }) => content)).toEqual(['Look it up.', '3', '2', '1', { parent_agent_id: 'planner' }]);
    expect(cards[0]).toMatchObject({ card_id: turn.instruction_card_id, author_id: 'delegate_async' });
    expect(await wordsIn(cairn, turn.output_box_id)).toEqual([]);
    const facts = { agent_id: turn.agent_id, source_agent_id: 'planner', channel_id: 'chat-7', cards: 5 };
    expect(await eventsOf(cairn, 'cairn.agent_turn.dispatched', turn.agent_turn_id)).toMatchObject([facts]);
  });

  it('PMO-2 the boxes are of the new agent; who delegated may read them, and nobody writes them past the turn', async () => {
    const cairn = await withProfile(test());
    const planner = await acting(test(), cairn, 'planner');
    const other = await acting(test(), cairn, 'other');
    const { context_box_id, output_box_id, agent_id } = await dispatched(planner);
    const worker = await acting(test(), cairn, agent_id);
    await cairn.cards.add({ card_id: 'c', content: 'x' });
    for (const box_id of [context_box_id, output_box_id]) {
      for (const api of [planner, worker, cairn]) await cardsIn(api, box_id);
      expect((await refusalOf(cardsIn(other, box_id))).code).toBe('FORBIDDEN');
      for (const api of [worker, cairn]) {
        const held = { code: 'BOX_HELD', status: 409 };
        expect(await refusalOf(api.boxes.append({ box_id, card_ids: ['c'] }))).toMatchObject(held);
        expect(await refusalOf(api.boxes.save({ box_id, card_ids: ['c'], revision: 1 }))).toMatchObject(held);
      }
    }
    expect(await refusalOf(cairn.boxes.seal({ box_id: output_box_id }))).toMatchObject({ code: 'BOX_HELD' });
  });

  it('PMO-3 an unknown profile, agent, box or trajectory is refused by name, and nothing is left behind', async () => {
    const cairn = await withProfile(test());
    await register(cairn, 'worker');
    await cairn.agents.register({ agent_id: 'plain', agent_type: 'worker', capabilities: ['x'] });
    await cairn.agents.register({ agent_id: 'lost', agent_type: 'worker', capabilities: ['x'], profile_name: 'gone' });
    const finished = await someTrajectory(cairn);
    await cairn.trajectories.update({ trajectory_id: finished, status: 'Completed' });
    const delegate = (more: object) => refusalOf(cairn.pmo.delegate_async({ ...fresh, ...more }));
    await expectNothingWritten(test(), cairn, async () => {
      expect(await delegate({ target_ref: 'nobody' })).toMatchObject({ code: 'PROFILE_NOT_FOUND', status: 404 });
      for (const target_strategy of ['reuse', 'clone']) {
        expect(await delegate({ target_strategy, target_ref: 'nobody' })).toMatchObject({
          code: 'AGENT_NOT_FOUND',
          status: 404,
        });
        for (const target_ref of ['plain', 'lost'])
          expect(await delegate({ target_strategy, target_ref })).toMatchObject({
            ...bad,
            message: expect.stringContaining('profile'),
          });
      }
      const box = { code: 'BOX_NOT_FOUND', status: 404 };
      expect(await delegate({ context_box_id: 'nowhere' })).toMatchObject(box);
      expect(await delegate({ input_box_ids: ['nowhere'] })).toMatchObject(box);
      expect(await delegate({ handover: 'nowhere' })).toMatchObject({ code: 'HANDOVER_NOT_FOUND' });
      expect((await delegate({ trajectory_id: randomUUID() })).status).toBeLessThan(500);
      expect(await delegate({ trajectory_id: finished })).toMatchObject({ status: 409 });
      expect(await delegate({ target_strategy: 'borrow' })).toMatchObject(bad);
      expect(await delegate({ instruction: '' })).toMatchObject(bad);
      expect((await delegate({ colour: 'red' })).message).toContain('colour');
      const self = { target_strategy: 'reuse', target_ref: 'worker', source_agent_id: 'worker' };
      expect(await delegate(self)).toMatchObject({ ...bad, message: expect.stringContaining('itself') });
      for (const name of ['instruction', 'input_box_ids', 'profile_name'])
        expect((await delegate({ arguments: { [name]: 'x' } })).message).toContain(name);
    });
  });

  it('PMO-4 an agent that is used again keeps its output box, and does one agent_turn at a time', async () => {
    const cairn = await withProfile(test());
    await register(cairn, 'worker');
    const reuse = { target_strategy: 'reuse' as const, target_ref: 'worker' };
    const { turn, held } = await atWork(cairn, reuse);
    expect(turn.agent_id).toBe('worker');
    await expectNothingWritten(test(), cairn, async () => {
      for (const status of ['running', 'suspended']) {
        const answer = await cairn.pmo.delegate_async({ ...fresh, ...reuse });
        expect(answer).toEqual({
          status: 'busy',
          error_code: 'AGENT_BUSY',
          message: expect.stringContaining(`${turn.agent_turn_id}, which is ${status}`),
        });
        const tasks = [fresh, { ...fresh, ...reuse }];
        expect(await cairn.pmo.fork_join({ tasks })).toMatchObject({ status: 'busy', task_index: 1 });
        if (status === 'running') {
          await test().store.driver.write(await tenantOf(cairn), (tx) =>
            tx.run(
              sql`UPDATE agent_turns SET status = 'suspended' WHERE tenant_id = ${turn.project_id} AND agent_turn_id = ${turn.agent_turn_id}`,
            ),
          );
        }
      }
    });
    await cairn.agent_turns.resume(held);
    await cairn.agent_turns.complete({ ...held, deliverable: 'first' });
    const again = await dispatched(cairn, reuse);
    expect(again.output_box_id).toBe(turn.output_box_id);
    expect(again.context_box_id).not.toBe(turn.context_box_id);
    expect(await wordsIn(cairn, again.output_box_id)).toEqual(['first']);
  });

  it('PMO-4 for another delegator it has another output box, so that none sees what is not its own', async () => {
    const cairn = await withProfile(test());
    await register(cairn, 'worker', 'ann', 'bob');
    const reuse = { target_strategy: 'reuse' as const, target_ref: 'worker' };
    const results: string[] = [];
    for (const source_agent_id of ['ann', 'bob', undefined, 'ann', 'ann']) {
      const from = source_agent_id === undefined ? {} : { source_agent_id };
      const { turn, held } = await atWork(cairn, { ...reuse, ...from });
      if (results.at(-1) !== turn.output_box_id) {
        const result = {
          content: { status: 'success', result: 'r' },
          tool_call_id: 'call_1',
          metadata: { type: 'tool.result', role: 'tool' },
        };
        await cairn.agent_turns.append({ ...held, cards: [result] });
      }
      await cairn.agent_turns.complete({ ...held, deliverable: `for ${source_agent_id}` });
      results.push(turn.output_box_id);
    }
    expect(new Set(results).size).toBe(4);
    expect(results[4]).toBe(results[3]);
    const bob = await acting(test(), cairn, 'bob');
    expect((await wordsIn(bob, results[1]!)).at(-1)).toBe('for bob');
    for (const box_id of [results[0]!, results[2]!, results[3]!])
      expect(await refusalOf(bob.boxes.cards({ box_id }))).toMatchObject({ details: { rule: 'box_owner_or_grant' } });
  });

  it('PMO-5 a clone is like its original and inherits what that has put out; without target_ref it is one of the delegator', async () => {
    const cairn = await withProfile(test());
    await register(cairn, 'original');
    const clone = { target_strategy: 'clone' as const, target_ref: 'original' };
    const { turn, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('so far')] });
    await boxOf(cairn, 'x', ['1'], turn.agent_id);
    const { target_ref: _, ...task } = fresh;
    const answer = accepted(
      await cairn.pmo.delegate_async({
        ...task,
        target_strategy: 'clone',
        context_box_id: 'x',
        source_agent_id: turn.agent_id,
      }),
    );
    expect(await wordsIn(cairn, answer.context_box_id)).toEqual([
      'do',
      '1',
      'so far',
      { parent_agent_id: turn.agent_id },
    ]);
    expect(answer.output_box_id).not.toBe(turn.output_box_id);
    const { agent_type, capabilities } = await cairn.agents.get({ agent_id: turn.agent_id });
    expect(await cairn.agents.get({ agent_id: answer.agent_id })).toMatchObject({
      agent_type,
      capabilities,
      profile_name: PROFILE,
      parent_agent_id: turn.agent_id,
    });
    // One that has put out nothing gives no history.
    const plain = await dispatched(cairn, clone);
    expect(await wordsIn(cairn, plain.context_box_id)).toEqual(['Look it up.']);
    const nobody = cairn.pmo.delegate_async({ ...task, target_strategy: 'clone' });
    expect(await refusalOf(nobody)).toMatchObject({ code: 'INVALID_INPUT', message: /target_ref is needed/ });
  });

  it("PMO-5 a clone never carries the delegator's history to another, nor what the delegator may not read", async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { turn, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('of the original')] });
    const clone = { ...fresh, target_strategy: 'clone' as const, target_ref: turn.agent_id };
    await register(cairn, 'boss');
    const boss = await test().as({ tenant, agent: 'boss', role: 'write' });
    const mine = await atWork(cairn, { target_strategy: 'reuse', target_ref: 'boss' });
    await cairn.agent_turns.append({ ...mine.held, cards: [thought('of the boss')] });
    const { batch_id } = (await boss.pmo.fork_join({ tasks: [clone] })) as { batch_id: string };
    const { agent_turns } = await cairn.agent_turns.list({ batch_id });
    for (const { context_box_id } of [accepted(await boss.pmo.delegate_async(clone)), ...agent_turns]) {
      const words = await wordsIn(cairn, context_box_id);
      expect(words).not.toContain('of the original');
      expect(words).not.toContain('of the boss');
    }
    await cairn.boxes.grant({ box_id: turn.output_box_id, agent_id: 'boss' });
    const shown = accepted(await boss.pmo.delegate_async(clone));
    expect(await wordsIn(cairn, shown.context_box_id)).toContain('of the original');
  });

  it('PMO-6 launch_principal is delegating to a new agent of a profile', async () => {
    const cairn = await withProfile(test());
    const answer = accepted(
      await cairn.pmo.launch_principal({ profile_name: PROFILE, instruction: 'lead', source_agent_id: 'boss' }),
    );
    const cards = await cardsIn(cairn, answer.context_box_id);
    expect(cards).toMatchObject([
      { content: 'lead', author_id: 'launch_principal' },
      { content: { parent_agent_id: 'boss' }, metadata: { type: 'meta.parent_pointer' } },
    ]);
    const second = accepted(await cairn.pmo.launch_principal({ profile_name: PROFILE, instruction: 'lead' }));
    expect(second.agent_id).not.toBe(answer.agent_id);
    expect(await refusalOf(cairn.pmo.launch_principal({ profile_name: 'nobody', instruction: 'x' }))).toMatchObject({
      code: 'PROFILE_NOT_FOUND',
    });
  });

  it('PMO-7 ask_expert gives the history of who asks only where that is wanted', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('so far')] });
    const ask = async (include_history?: boolean) => {
      const input = { profile_name: PROFILE, question: 'why?' };
      const more = include_history === undefined ? {} : { include_history };
      const answer = accepted(await cairn.pmo.ask_expert({ ...input, ...more, source_agent_id: turn.agent_id }));
      return wordsIn(cairn, answer.context_box_id);
    };
    const parent = { parent_agent_id: turn.agent_id };
    expect(await ask(true)).toEqual(['why?', 'so far', parent]);
    expect(await ask(false)).toEqual(['why?', parent]);
    expect(await ask()).toEqual(['why?', parent]);
    const nobody = { profile_name: PROFILE, question: 'why?', include_history: true };
    await expectNothingWritten(test(), cairn, async () => {
      for (const more of [{}, { source_agent_id: 'never-worked' }])
        expect(await refusalOf(cairn.pmo.ask_expert({ ...nobody, ...more }))).toMatchObject({
          ...bad,
          message: expect.stringContaining('no output box'),
        });
    });
  });

  it('PMO-8 the primitives take a handover, by name or as it is; it must pack the instruction and inherit the boxes', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1'], 'planner');
    const context_packing_config = {
      pack_arguments: [
        { arg_key: 'instruction', card_metadata: { urgent: true } },
        { arg_key: 'want', as_card_type: 'task.result_fields' },
      ],
      inherit_context: { include_boxes_from_args: ['input_box_ids', 'more'] },
      instruction_last: true,
    };
    await cairn.handovers.save({ name: 'mine', handover: { context_packing_config } });
    await boxOf(cairn, 'z', ['2'], 'planner');
    const by = { source_agent_id: 'planner', handover: 'mine' };
    const { context_box_id, agent_turn_id } = await dispatched(cairn, {
      ...by,
      context_box_id: 'x',
      arguments: { want: ['answer'], more: 'z' },
    });
    const cards = await cardsIn(cairn, context_box_id);
    expect(cards.map(({ content }) => content)).toEqual(['1', '2', 'Look it up.', [{ name: 'answer' }]]);
    expect(cards[2]!.metadata).toMatchObject({ urgent: true, type: 'task.instruction' });
    const turn = await cairn.agent_turns.get({ agent_turn_id });
    expect(turn.instruction_card_id).toBe(cards[2]!.card_id);
    for (const start of [
      cairn.pmo.launch_principal({ profile_name: PROFILE, instruction: 'do', ...by }),
      cairn.pmo.ask_expert({ profile_name: PROFILE, question: 'do', ...by }),
    ])
      expect(await wordsIn(cairn, accepted(await start).context_box_id)).toEqual(['do']);
    const forked = await cairn.pmo.fork_join({ tasks: [fresh], ...by });
    if (forked.status !== 'accepted') throw new Error(forked.message);
    const [first] = (await cairn.agent_turns.list({ batch_id: forked.batch_id })).agent_turns;
    expect(await wordsIn(cairn, first!.context_box_id)).toEqual(['do']);
    await expectNothingWritten(test(), cairn, async () => {
      const silent = { context_packing_config: { pack_arguments: [{ arg_key: 'want' }] } };
      expect(await refusalOf(cairn.pmo.delegate_async({ ...fresh, handover: silent }))).toMatchObject({
        ...bad,
        message: expect.stringContaining('instruction'),
      });
      const blind = { context_packing_config: { pack_arguments: [{ arg_key: 'instruction' }] } };
      const lost = { ...fresh, source_agent_id: 'planner', context_box_id: 'x', handover: blind };
      expect(await refusalOf(cairn.pmo.delegate_async(lost))).toMatchObject({
        ...bad,
        message: expect.stringContaining('would leave out these boxes: x'),
      });
    });
  });

  it('PMO-9 an inherited box must be visible to who delegates, and who delegates is the agent of the key', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'of-ann', ['1'], 'ann');
    const bob = await acting(test(), cairn, 'bob');
    const refused = { code: 'FORBIDDEN', status: 403, details: { rule: 'box_owner_or_grant', box_id: 'of-ann' } };
    await expectNothingWritten(test(), cairn, async () => {
      for (const more of [{ context_box_id: 'of-ann' }, { input_box_ids: ['of-ann'] }]) {
        expect(await refusalOf(bob.pmo.delegate_async({ ...fresh, ...more }))).toMatchObject(refused);
        const named = { ...fresh, ...more, source_agent_id: 'bob' };
        expect(await refusalOf(cairn.pmo.delegate_async(named))).toMatchObject(refused);
        expect(await refusalOf(bob.pmo.fork_join({ tasks: [fresh, { ...fresh, ...more }] }))).toMatchObject({
          ...refused,
          message: expect.stringContaining('tasks[1]'),
        });
      }
      const foreign = { ...fresh, source_agent_id: 'ann' };
      expect(await refusalOf(bob.pmo.delegate_async(foreign))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'key_agent' },
      });
    });
    const { agent_turn_id } = await dispatched(bob);
    expect(await bob.agent_turns.get({ agent_turn_id })).toMatchObject({ source_agent_id: 'bob' });
  });

  it('PMO-10 can_delegate_to is asked for every strategy and every primitive', async () => {
    const cairn = await withProfile(test());
    await register(cairn, 'worker');
    const rules = (can_delegate_to: string[]) => cairn.agents.update({ agent_id: 'boss', can_delegate_to });
    await cairn.agents.register({ agent_id: 'boss', agent_type: 'boss', capabilities: ['x'], can_delegate_to: [] });
    const boss = await acting(test(), cairn, 'boss');
    const reuse = { ...fresh, target_strategy: 'reuse' as const, target_ref: 'worker' };
    const clone = { ...reuse, target_strategy: 'clone' as const };
    await expectNothingWritten(test(), cairn, async () => {
      const calls = [fresh, reuse, clone].flatMap((task) => [
        boss.pmo.delegate_async(task),
        boss.pmo.fork_join({ tasks: [task] }),
      ]);
      calls.push(boss.pmo.launch_principal({ profile_name: PROFILE, instruction: 'x' }));
      calls.push(boss.pmo.ask_expert({ profile_name: PROFILE, question: 'x' }));
      const refusals = await Promise.all(calls.map((call) => refusalOf(call)));
      for (const refused of refusals)
        expect(refused).toMatchObject({
          code: 'FORBIDDEN',
          status: 403,
          details: { rule: 'can_delegate_to', from_agent_id: 'boss' },
        });
    });
    await rules([PROFILE]);
    await dispatched(boss);
    // The agent that is cloned was made from that profile.
    await dispatched(boss, clone);
    await rules(['other']);
    expect((await refusalOf(boss.pmo.delegate_async(clone))).code).toBe('FORBIDDEN');
    await rules(['worker']);
    await dispatched(boss, clone);
    expect((await refusalOf(boss.pmo.delegate_async(fresh))).code).toBe('FORBIDDEN');
  });

  it('PMO-11 what an agent_turn delegates is below it, and more than 20 deep it is rejected', async () => {
    const cairn = await withProfile(test());
    const { turn } = await atWork(cairn);
    const by = { source_agent_id: turn.agent_id };
    const below = accepted(await cairn.pmo.delegate_async({ ...fresh, ...by }));
    const child = await cairn.agent_turns.get({ agent_turn_id: below.agent_turn_id });
    expect(child).toMatchObject({ depth: 1, parent_agent_turn_id: turn.agent_turn_id, source_agent_id: turn.agent_id });
    expect(await cairn.trajectories.get({ trajectory_id: child.trajectory_id })).toMatchObject({
      parent_trajectory_id: turn.trajectory_id,
    });
    const tenant = await tenantOf(cairn);
    const putAt = (depth: number) =>
      test().store.driver.write(tenant, (tx) =>
        tx.run(
          sql`UPDATE agent_turns SET depth = ${depth} WHERE tenant_id = ${tenant} AND agent_turn_id = ${turn.agent_turn_id}`,
        ),
      );
    await putAt(20);
    await expectNothingWritten(test(), cairn, async () => {
      const tooDeep = { status: 'rejected', error_code: 'DELEGATION_TOO_DEEP', message: expect.stringContaining('20') };
      expect(await cairn.pmo.delegate_async({ ...fresh, ...by })).toEqual(tooDeep);
      expect(await cairn.pmo.fork_join({ tasks: [fresh], ...by })).toEqual({ ...tooDeep, task_index: 0 });
      const asked = { profile_name: PROFILE, question: 'x', ...by };
      expect(await cairn.pmo.ask_expert(asked)).toEqual(tooDeep);
    });
    await putAt(19);
    const last = accepted(await cairn.pmo.delegate_async({ ...fresh, ...by }));
    expect(await cairn.agent_turns.get({ agent_turn_id: last.agent_turn_id })).toMatchObject({ depth: 20 });
  });

  it('PMO-12 a deadline ends what is not done by then as timed_out', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { agent_turn_id } = await dispatched(cairn, { deadline_seconds: 60 });
    test().advance(59_000);
    await expire(test(), tenant);
    expect(await cairn.agent_turns.get({ agent_turn_id })).toMatchObject({ status: 'dispatched' });
    test().advance(1001);
    await expire(test(), tenant);
    expect(await cairn.agent_turns.get({ agent_turn_id })).toMatchObject({
      status: 'timed_out',
      turn_epoch: 2,
      error: { code: 'DEADLINE' },
    });
  });

  it('PMO-12 who is past the deadline is late, and whoever looks sees it, though nobody has noticed', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const at = { lease_ms: 600_000 };
    const { agent_turn_id } = await dispatched(cairn, { deadline_seconds: 60 });
    const held = heldOf(await claim(cairn, { agent_turn_id, ...at }));
    const other = await dispatched(cairn, { deadline_seconds: 60 });
    const guard = { agent_turn: `${agent_turn_id}:${held.turn_epoch}` };
    test().advance(60_001);
    const stale = { code: 'STALE_TURN' };
    expect(await refusalOf(cairn.agent_turns.append({ ...held, cards: [thought('late')] }))).toMatchObject(stale);
    expect(await refusalOf(cairn.cards.add({ content: 'late' }, guard))).toMatchObject(stale);
    expect(await refusalOf(cairn.agent_turns.complete({ ...held, deliverable: 'late' }))).toMatchObject(stale);
    expect(await cairn.agent_turns.get({ agent_turn_id })).toMatchObject({ status: 'timed_out' });
    expect(await expire(test(), tenant)).toBe(0);
    const { agent_turns } = await cairn.agent_turns.list({ agent_id: other.agent_id });
    expect(agent_turns).toMatchObject([{ status: 'timed_out' }]);
    const last = await dispatched(cairn, { deadline_seconds: 1 });
    // The wait ends with the deadline, not with its own time.
    expect(await cairn.agent_turns.get({ agent_turn_id: last.agent_turn_id, wait_ms: 20_000 })).toMatchObject({
      status: 'timed_out',
    });
  });

  it('PMO-13 the same request with a key is dispatched once; a refusal is no answer to keep', async () => {
    const cairn = await withProfile(test());
    await register(cairn, 'worker');
    const task = { ...fresh, target_strategy: 'reuse' as const, target_ref: 'worker' };
    const busy = await dispatched(cairn, task);
    const options = { idempotency_key: 'once' };
    expect(await cairn.pmo.delegate_async(task, options)).toMatchObject({ status: 'busy' });
    await cairn.agent_turns.stop(heldOfId(busy.agent_turn_id));
    const first = accepted(await cairn.pmo.delegate_async(task, options));
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.pmo.delegate_async(task, options)).toEqual(first);
      expect((await refusalOf(cairn.pmo.delegate_async(fresh, options))).code).toBe('IDEMPOTENCY_CONFLICT');
    });
    const forked = await cairn.pmo.fork_join({ tasks: [fresh] }, { idempotency_key: 'two' });
    expect(await cairn.pmo.fork_join({ tasks: [fresh] }, { idempotency_key: 'two' })).toEqual(forked);
    expect(heldOf(first).turn_epoch).toBe(1);
  });
});

const heldOfId = (agent_turn_id: string) => ({ agent_turn_id });
