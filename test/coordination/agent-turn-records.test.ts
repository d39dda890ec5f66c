import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { addEndings, turnBoxHolder } from '#cairn/engine/sql.js';
import type { Card, Hydrated } from '#cairn/facts/contract.js';
import type { Json } from '#cairn/kernel/contract.js';
import { canonical, sha256 } from '#cairn/kernel/node.js';
import {
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
import { eventsOf } from '../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const because = { code: 'NO', message: 'could not' };
const statusOf = async (cairn: Api, trajectory_id: string) => (await cairn.trajectories.get({ trajectory_id })).status;
/** What a model is given, without where that is recorded. */
const promptOf = ({ format, system, messages, tools, pending_calls }: Hydrated) => ({
  format,
  system,
  messages,
  tools,
  pending_calls,
});

onEveryTarget('what agent_turns leave', (test) => {
  it('ATURN-15 is completed once, with its deliverable as the last card of the output box', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('hm')] });
    const ended = await cairn.agent_turns.complete({ ...held, deliverable: 'It is 42.', summary: 'found' });
    expect(ended).toMatchObject({
      status: 'completed',
      turn_epoch: 1,
      result_status: 'success',
      summary: 'found',
      error: null,
      lease_expires_at: null,
      ended_at: expect.any(String),
    });
    const cards = await cardsIn(cairn, turn.output_box_id);
    expect(cards).toHaveLength(2);
    expect(cards[1]).toMatchObject({
      card_id: ended.deliverable_card_id,
      content: 'It is 42.',
      metadata: { type: 'task.deliverable', role: 'assistant' },
    });
    const { agent_turn_id } = held;
    await expectNothingWritten(test(), cairn, async () => {
      const otherwise = { code: 'STATE_CONFLICT', status: 409, details: { status: 'completed' } };
      const same = { ...held, deliverable: 'It is 42.', summary: 'found' };
      expect(await cairn.agent_turns.complete(same)).toEqual(ended);
      for (const other of [{ summary: 'lost' }, { deliverable: 'It is 41.' }, { status: 'partial' as const }])
        expect(await refusalOf(cairn.agent_turns.complete({ ...same, ...other }))).toMatchObject(otherwise);
      expect(await refusalOf(cairn.agent_turns.fail({ ...held, error: because }))).toMatchObject(otherwise);
      expect(await refusalOf(cairn.agent_turns.complete({ ...same, turn_epoch: 2 }))).toMatchObject({
        code: 'STALE_TURN',
      });
      expect(await refusalOf(cairn.agent_turns.stop({ agent_turn_id }))).toMatchObject({ code: 'STATE_CONFLICT' });
    });
    expect(await cairn.agents.get({ agent_id: turn.agent_id })).toMatchObject({
      status: 'idle',
      current_trajectory_id: null,
    });
    expect(await eventsOf(cairn, 'cairn.agent_turn.completed', agent_turn_id)).toMatchObject([
      { deliverable_card_id: ended.deliverable_card_id },
    ]);
  });

  it('ATURN-15 of many who end it at once one does, and the others write nothing', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const { agent_turn_id } = held;
    const outcomes = await Promise.allSettled(
      [0, 1, 2].flatMap((i) => [
        cairn.agent_turns.complete({ ...held, deliverable: `${i}` }),
        cairn.agent_turns.fail({ ...held, error: because }),
        cairn.agent_turns.stop({ agent_turn_id }),
      ]),
    );
    const done = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const { status } = await cairn.agent_turns.get({ agent_turn_id });
    expect(new Set(done.map((one) => one.status))).toEqual(new Set([status]));
    // To stop what is stopped, or to fail the same way again, is no refusal.
    if (status === 'completed') expect(done).toHaveLength(1);
    const ends = await Promise.all(
      ['completed', 'failed', 'stopped'].map((end) => eventsOf(cairn, `cairn.agent_turn.${end}`, agent_turn_id)),
    );
    expect(ends.flat()).toMatchObject([{ status }]);
    expect(await wordsIn(cairn, turn.output_box_id)).toHaveLength(status === 'completed' ? 1 : 0);
  });

  it('ATURN-16 an agent names no artifact as its result that it may not read', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const { agent_id, trajectory_id } = turn;
    const read = [{ memory_type: 'Artifact' as const, scope: 'own' as const }];
    await cairn.agents.update({ agent_id, memory_access: { read } });
    const worker = await test().as({ tenant: turn.project_id, agent: agent_id, role: 'write' });
    const artifact = { trajectory_id, artifact_type: 'Fact', name: 'a', content: 'x' };
    const theirs = await cairn.artifacts.create(artifact);
    const own = await worker.artifacts.create(artifact);
    const complete = (...artifact_ids: string[]) =>
      worker.agent_turns.complete({ ...held, deliverable: 'done', artifact_ids });
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(complete(own.artifact_id, theirs.artifact_id))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'memory_access', memory_type: 'Artifact', need: 'read', scope: 'own' },
      });
    });
    expect(await complete(own.artifact_id)).toMatchObject({ status: 'completed' });
  });

  it('ATURN-16 a deliverable has the fields that the task asks for; what it names must be there', async () => {
    const cairn = await withProfile(test());
    const handover = {
      context_packing_config: {
        pack_arguments: [{ arg_key: 'instruction' }, { arg_key: 'want', as_card_type: 'task.result_fields' }],
      },
    };
    const want = [{ name: 'answer', required: true }, { name: 'why', required: true }, 'note'];
    const { held } = await atWork(cairn, { handover, arguments: { want } });
    const { artifact_id } = await cairn.artifacts.create({
      trajectory_id: (await cairn.trajectories.create({ name: 't' })).trajectory_id,
      artifact_type: 'Fact',
      name: 'a',
      content: 'x',
    });
    await expectNothingWritten(test(), cairn, async () => {
      const complete = (deliverable: string | Record<string, Json>, more: object = {}) =>
        refusalOf(cairn.agent_turns.complete({ ...held, deliverable, ...more }));
      const lacking = (...missing_fields: string[]) => ({ code: 'INVALID_INPUT', details: { missing_fields } });
      expect(await complete('text')).toMatchObject(lacking('answer', 'why'));
      expect(await complete({ answer: 1, note: 'x' })).toMatchObject(lacking('why'));
      const unknown = held.agent_turn_id;
      expect(await complete({ answer: 1, why: 2 }, { artifact_ids: [artifact_id, unknown] })).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        details: { missing_ids: [unknown] },
      });
    });
    const deliverable = { answer: null, why: 'because' };
    const ended = await cairn.agent_turns.complete({
      ...held,
      deliverable,
      status: 'partial',
      artifact_ids: [artifact_id],
    });
    expect(ended).toMatchObject({ status: 'completed', result_status: 'partial' });
  });

  it('ATURN-17 a failed turn says why, and a stopped one takes with it what it has delegated', async () => {
    const cairn = await withProfile(test());
    const failed = await atWork(cairn);
    expect(await cairn.agent_turns.fail({ ...failed.held, error: because })).toMatchObject({
      status: 'failed',
      error: because,
      turn_epoch: 1,
      deliverable_card_id: null,
    });
    expect(await statusOf(cairn, failed.turn.trajectory_id)).toBe('Failed');
    const { turn, held } = await atWork(cairn);
    const child = await atWork(cairn, { source_agent_id: turn.agent_id });
    const grandchild = await dispatched(cairn, { source_agent_id: child.turn.agent_id });
    const { agent_turn_id } = held;
    const stopped = await cairn.agent_turns.stop({ agent_turn_id, reason: 'not needed' });
    expect(stopped).toMatchObject({
      status: 'stopped',
      turn_epoch: 2,
      error: { code: 'STOPPED', message: 'not needed' },
    });
    for (const id of [child.turn.agent_turn_id, grandchild.agent_turn_id])
      expect(await cairn.agent_turns.get({ agent_turn_id: id })).toMatchObject({
        status: 'stopped',
        turn_epoch: 2,
        error: { code: 'PARENT_ENDED' },
      });
    for (const { trajectory_id } of [turn, child.turn, grandchild])
      expect(await statusOf(cairn, trajectory_id)).toBe('Failed');
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.agent_turns.stop({ agent_turn_id })).toEqual(stopped);
      expect(await refusalOf(cairn.agent_turns.append({ ...child.held, cards: [thought('x')] }))).toMatchObject({
        code: 'STALE_TURN',
      });
    });
    expect(await cairn.agent_turns.claim({ worker_id: 'w' })).toEqual({ agent_turn: null });
  });

  it('ATURN-18 the trajectory of a task finishes with it, or with the last below it', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const child = await atWork(cairn, { source_agent_id: turn.agent_id });
    await cairn.agent_turns.complete({ ...held, deliverable: 'x', summary: 'all', status: 'partial' });
    // What it has delegated is still under way.
    expect(await statusOf(cairn, turn.trajectory_id)).toBe('Active');
    await cairn.agent_turns.complete({ ...child.held, deliverable: 'y' });
    expect(await cairn.trajectories.get({ trajectory_id: child.turn.trajectory_id })).toMatchObject({
      status: 'Completed',
      outcome: { status: 'Success', summary: 'y' },
    });
    expect(await cairn.trajectories.get({ trajectory_id: turn.trajectory_id })).toMatchObject({
      status: 'Completed',
      outcome: { status: 'Partial', summary: 'all' },
    });
  });

  it('ATURN-18 a finished task waits for all trajectories below its own, whoever began or ends them', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const inside = { parent_trajectory_id: turn.trajectory_id };
    const part = await cairn.trajectories.create({ ...inside, name: 'a part' });
    const other = await cairn.trajectories.create({ ...inside, name: 'another' });
    // Delegated by nobody's agent_turn, into a trajectory of the task.
    const child = await atWork(cairn, { trajectory_id: turn.trajectory_id });
    await cairn.agent_turns.complete({ ...held, deliverable: 'x' });
    await cairn.trajectories.update({ trajectory_id: part.trajectory_id, status: 'Completed' });
    await cairn.agent_turns.fail({ ...child.held, error: { code: 'NO', message: 'could not' } });
    expect(await statusOf(cairn, turn.trajectory_id)).toBe('Active');
    await cairn.trajectories.delete({ trajectory_id: other.trajectory_id });
    expect(await statusOf(cairn, turn.trajectory_id)).toBe('Completed');
  });

  it('ATURN-18 of a task and the last below it that end at once, the trajectories finish', async () => {
    const cairn = await withProfile(test());
    for (let round = 0; round < 5; round++) {
      const { turn, held } = await atWork(cairn);
      const child = await atWork(cairn, { source_agent_id: turn.agent_id });
      await Promise.all([held, child.held].map((one) => cairn.agent_turns.complete({ ...one, deliverable: 'x' })));
      expect(await statusOf(cairn, turn.trajectory_id)).toBe('Completed');
    }
  });

  it('ATURN-27 a trajectory with an agent_turn under way is not completed; one that fails stops it', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const child = await atWork(cairn, { source_agent_id: turn.agent_id });
    const { trajectory_id, agent_turn_id } = child.turn;
    await expectNothingWritten(test(), cairn, async () => {
      const completing = { trajectory_id, status: 'Completed' } as const;
      const items = [{ operation: 'update', trajectory_id, update: { status: 'Completed' } }] as const;
      for (const call of [
        () => cairn.trajectories.update(completing),
        () => cairn.trajectories.batch({ items: [...items], atomic: true }),
      ])
        expect(await refusalOf(call())).toMatchObject({ code: 'STATE_CONFLICT', details: { agent_turn_id } });
    });
    await cairn.agent_turns.complete({ ...held, deliverable: 'x' });
    const outcome = { summary: 'not wanted' };
    expect(await cairn.trajectories.update({ trajectory_id, status: 'Failed', outcome })).toMatchObject({
      status: 'Failed',
      outcome: { summary: 'not wanted' },
    });
    expect(await cairn.agent_turns.get({ agent_turn_id })).toMatchObject({
      status: 'stopped',
      error: { code: 'TRAJECTORY_FAILED' },
    });
    expect(await refusalOf(cairn.agent_turns.append({ ...child.held, cards: [thought('x')] }))).toMatchObject({
      code: 'STALE_TURN',
    });
    expect(await statusOf(cairn, turn.trajectory_id)).toBe('Completed');
  });

  it('ATURN-27 a suspended trajectory finishes with its agent_turn', async () => {
    const cairn = await withProfile(test());
    const [good, bad] = [await atWork(cairn), await atWork(cairn)];
    for (const { turn } of [good, bad])
      await cairn.trajectories.update({ trajectory_id: turn.trajectory_id, status: 'Suspended' });
    await cairn.agent_turns.complete({ ...good.held, deliverable: 'x' });
    await cairn.agent_turns.fail({ ...bad.held, error: { code: 'NO', message: 'could not' } });
    expect(await statusOf(cairn, good.turn.trajectory_id)).toBe('Completed');
    expect(await statusOf(cairn, bad.turn.trajectory_id)).toBe('Failed');
  });

  it('ATURN-19 the holder puts a new box in the place of either; the old one stays, and the new derives from it', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1', '2'], 'planner');
    const { turn, held } = await atWork(cairn, { source_agent_id: 'planner', context_box_id: 'x' });
    const { cards } = await cairn.agent_turns.append({ ...held, cards: [thought('long'), thought('end')] });
    await cairn.cards.add({ card_id: 'short', content: 'in short', metadata: { role: 'user' } });
    const context = await cairn.agent_turns.replace_box({
      ...held,
      box: 'context',
      card_ids: [turn.instruction_card_id!, 'short', 'short'],
    });
    const output = await cairn.agent_turns.replace_box({ ...held, box: 'output', card_ids: [cards[1]!.card_id] });
    expect(context.context_box_id).not.toBe(turn.context_box_id);
    expect(output).toMatchObject({ context_box_id: context.context_box_id, turn_epoch: 1, status: 'running' });
    const [c, o] = [output.context_box_id, output.output_box_id];
    expect(await wordsIn(cairn, c)).toEqual(['Look it up.', 'in short']);
    expect(await wordsIn(cairn, o)).toEqual(['end']);
    expect(await wordsIn(cairn, turn.context_box_id)).toHaveLength(4);
    expect(await wordsIn(cairn, turn.output_box_id)).toEqual(['long', 'end']);
    for (const [entity_id, old] of [
      [c, turn.context_box_id],
      [o, turn.output_box_id],
    ] as const) {
      const { edges } = await cairn.edges.list({ entity_type: 'Box', entity_id, edge_type: 'DerivedFrom' });
      expect(edges).toMatchObject([
        {
          participants: [
            { entity_type: 'Box', entity_id },
            { entity_type: 'Box', entity_id: old },
          ],
        },
      ]);
    }
    const planner = await test().as({ tenant: await tenantOf(cairn), agent: 'planner' });
    for (const box_id of [c, o]) await cardsIn(planner, box_id);
    await cairn.cards.add({ card_id: 'more', content: 'x' });
    expect(await refusalOf(cairn.boxes.append({ box_id: c, card_ids: ['more'] }))).toMatchObject({ code: 'BOX_HELD' });
    await cairn.agent_turns.append({ ...held, cards: [thought('further')] });
    expect(await wordsIn(cairn, o)).toEqual(['end', 'further']);
    await expectNothingWritten(test(), cairn, async () => {
      const missing = { ...held, box: 'context' as const, card_ids: ['short', 'nowhere'] };
      expect(await refusalOf(cairn.agent_turns.replace_box(missing))).toMatchObject({
        code: 'UNKNOWN_CARD',
        details: { missing_card_ids: ['nowhere'] },
      });
    });
    await cairn.agent_turns.complete({ ...held, deliverable: 'done' });
    expect((await wordsIn(cairn, o)).at(-1)).toBe('done');
  });

  it('ATURN-20 hydrating gives the same bytes as long as the cards are the same, and keeps prompt and tools as cards', async () => {
    const cairn = await withProfile(test());
    const tools = [{ name: 'look', description: 'looks', input_schema: { type: 'object', properties: {} } }];
    await cairn.profiles.save({ name: PROFILE, system_prompt: 'You look.', tools });
    const { turn, held } = await atWork(cairn);
    const first = await cairn.agent_turns.hydrate(held);
    expect(first).toMatchObject({
      ...held,
      step: 1,
      format: 'openai',
      system: 'You look.',
      messages: [
        { role: 'system', content: 'You look.' },
        { role: 'user', content: 'Look it up.' },
      ],
      pending_calls: [],
    });
    expect(first.content_hash).toBe(sha256(canonical(promptOf(first) as unknown as Json)));
    await expectNothingWritten(test(), cairn, async () => {
      expect(JSON.stringify(await cairn.agent_turns.hydrate(held))).toBe(JSON.stringify(first));
    });
    const other = await cairn.agent_turns.hydrate({ ...held, format: 'anthropic' });
    expect(other).toMatchObject({ step: 2, format: 'anthropic', messages: [{ role: 'user' }] });
    await cairn.agent_turns.append({
      ...held,
      cards: [
        {
          content: { tool_name: 'look', arguments: { at: 'x' } },
          tool_call_id: 'call-1',
          metadata: { type: 'tool.call', role: 'assistant' },
        },
      ],
    });
    const third = await cairn.agent_turns.hydrate(held);
    expect(third).toMatchObject({ step: 3, pending_calls: [{ tool_call_id: 'call-1', tool_name: 'look' }] });
    const { record_box_id } = await cairn.agent_turns.get({ agent_turn_id: held.agent_turn_id });
    const records = await cardsIn(cairn, record_box_id!);
    // The prompt is the same each time, the tools are in each format.
    expect([other.prompt_card_id, third.prompt_card_id]).toEqual([first.prompt_card_id, first.prompt_card_id]);
    expect(records.map(({ card_id }) => card_id)).toEqual([
      first.prompt_card_id,
      ...[first, other, third].map(({ tools_card_id }) => tools_card_id),
    ]);
    expect(records[0]).toMatchObject({ content: 'You look.', metadata: { type: 'sys.rendered_prompt' } });
    expect(records[1]).toMatchObject({ content: { tools: first.tools }, metadata: { type: 'sys.tools' } });
    expect(first.tools).toHaveLength(1);
    expect(await wordsIn(cairn, turn.output_box_id)).toHaveLength(1);
    expect(await eventsOf(cairn, 'cairn.agent_turn.hydrated', held.agent_turn_id)).toMatchObject([
      { step: 1, content_hash: first.content_hash },
      { step: 2 },
      { step: 3 },
    ]);
  });

  it('ATURN-21 who takes over is shown the same, under its own epoch', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const first = await cairn.agent_turns.hydrate(held);
    test().advance(30_000);
    const next = heldOf(await claim(cairn, { agent_turn_id: held.agent_turn_id }));
    const again = await cairn.agent_turns.hydrate(next);
    expect(again).toEqual({ ...first, turn_epoch: 2 });
  });

  it('ATURN-22 any past step is replayed byte for byte, whatever has happened since', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1'], 'planner');
    const { turn, held } = await atWork(cairn, { source_agent_id: 'planner', context_box_id: 'x' });
    const { agent_turn_id } = held;
    const never = { code: 'INVALID_INPUT', message: expect.stringContaining('never hydrated') };
    expect(await refusalOf(cairn.agent_turns.replay({ agent_turn_id }))).toMatchObject(never);
    const shown = [await cairn.agent_turns.hydrate(held)];
    await cairn.agent_turns.append({ ...held, cards: [thought('a')] });
    shown.push(await cairn.agent_turns.hydrate(held));
    await cairn.agent_turns.replace_box({ ...held, box: 'context', card_ids: [turn.instruction_card_id!] });
    shown.push(await cairn.agent_turns.hydrate({ ...held, format: 'anthropic' }));
    await cairn.agent_turns.replace_box({ ...held, box: 'output', card_ids: [] });
    await cairn.agent_turns.append({ ...held, cards: [thought('b')] });
    shown.push(await cairn.agent_turns.hydrate(held));
    expect(shown.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    await cairn.profiles.save({ name: PROFILE, system_prompt: 'Something else.' });
    await cairn.cards.delete({ card_id: 'x-1' });
    await cairn.agent_turns.append({ ...held, cards: [thought('c')] });
    await cairn.agent_turns.complete({ ...held, deliverable: 'd' });
    await cairn.profiles.delete({ name: PROFILE });
    await cairn.lifetime.sweep();
    await expectNothingWritten(test(), cairn, async () => {
      for (const [i, one] of shown.entries())
        expect(JSON.stringify(await cairn.agent_turns.replay({ agent_turn_id, step: i + 1 }))).toBe(
          JSON.stringify(one),
        );
      expect(await cairn.agent_turns.replay({ agent_turn_id })).toEqual(shown[3]);
      expect(await refusalOf(cairn.agent_turns.replay({ agent_turn_id, step: 5 }))).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('step 5'),
      });
    });
  });

  it('ATURN-22 a step whose card was altered in the database is not replayed', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { turn, held } = await atWork(cairn);
    await cairn.agent_turns.append({ ...held, cards: [thought('true')] });
    const { agent_turn_id } = held;
    const key = { idempotency_key: 'once' };
    const shown = await cairn.agent_turns.hydrate(held, key);
    const [{ card_id }] = (await cairn.boxes.cards({ box_id: turn.output_box_id })).cards as [Card];
    const alter = (text: string) =>
      test().store.driver.write(tenant, (tx) =>
        tx.run(sql`UPDATE cards SET content = ${text} WHERE tenant_id = ${tenant} AND card_id = ${card_id}`),
      );
    await alter('"forged"');
    const altered = { code: 'STORAGE_FAILED', status: 500, message: expect.stringContaining('altered') };
    expect(await refusalOf(cairn.agent_turns.replay({ agent_turn_id }))).toMatchObject(altered);
    expect(await refusalOf(cairn.agent_turns.hydrate(held, key))).toMatchObject(altered);
    await alter('"true"');
    expect(await cairn.agent_turns.replay({ agent_turn_id })).toEqual(shown);
  });

  it('ATURN-20 steps that say the same of prompt and tools share their cards', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const first = await cairn.agent_turns.hydrate(held);
    await cairn.agent_turns.append({ ...held, cards: [thought('a')] });
    const second = await cairn.agent_turns.hydrate(held);
    const { prompt_card_id, tools_card_id } = first;
    expect(second).toMatchObject({ step: 2, prompt_card_id, tools_card_id });
    const { record_box_id } = await cairn.agent_turns.get({ agent_turn_id: held.agent_turn_id });
    expect(await cardsIn(cairn, record_box_id!)).toHaveLength(2);
  });

  it('ATURN-20 ATURN-22 what is hydrated beside appending is what some revision held, and is replayed so', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const words = ['a', 'b', 'c', 'd', 'e', 'f'];
    const [shown] = await Promise.all([
      Promise.all(words.map(() => cairn.agent_turns.hydrate(held))),
      Promise.all(words.map((word) => cairn.agent_turns.append({ ...held, cards: [thought(word)] }))),
    ]);
    const final = await cairn.agent_turns.hydrate(held);
    expect(final.messages.length).toBe(2 + words.length);
    const steps = new Map([...shown, final].map((one) => [one.step, one]));
    expect([...steps.keys()].sort((a, b) => a - b)).toEqual([...steps.keys()].map((_, i) => i + 1));
    for (const [step, one] of steps) {
      expect(one.messages).toEqual(final.messages.slice(0, one.messages.length));
      expect(await cairn.agent_turns.replay({ agent_turn_id: held.agent_turn_id, step })).toEqual(one);
    }
  });

  it('ATURN-20 with a key the same hydration is given again, whatever has been appended since', async () => {
    const cairn = await withProfile(test());
    const { held } = await atWork(cairn);
    const key = { idempotency_key: 'hydrate-1' };
    const first = await cairn.agent_turns.hydrate(held, key);
    await cairn.agent_turns.append({ ...held, cards: [thought('a')] });
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.agent_turns.hydrate(held, key)).toEqual(first);
    });
    expect((await cairn.agent_turns.hydrate(held)).step).toBe(2);
  });

  it('ATURN-23 the context keeps what expires, the output does not; when boxes are gone, replaying is 410', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const cards = [{ card_id: 'brief', content: 'for a minute', ttl_seconds: 60 }];
    await cairn.cards.add_batch({ cards });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['brief'] });
    const { turn, held } = await atWork(cairn, { context_box_id: 'x' });
    const { agent_turn_id } = held;
    await cairn.agent_turns.renew({ ...held, lease_ms: 3_600_000 });
    const before = await cairn.agent_turns.hydrate(held);
    const own = await cairn.agent_turns.append({ ...held, cards: [thought('so long', { ttl_seconds: 60 })] });
    const card_ids = own.cards.map(({ card_id }) => card_id);
    const shown = await cairn.agent_turns.hydrate(held);
    expect(JSON.stringify(shown.messages)).toMatch(/for a minute.*so long/);
    test().advance(60_001);
    expect((await refusalOf(cairn.cards.get({ card_id: 'brief' }))).code).toBe('CONTENT_ERASED');
    expect(await wordsIn(cairn, turn.output_box_id)).toEqual([]);
    const after = await cairn.agent_turns.hydrate(held);
    expect(after).toMatchObject({ step: 3, messages: before.messages });
    // What has expired was shown then, until it is erased.
    expect(await cairn.agent_turns.replay({ agent_turn_id, step: 2 })).toEqual(shown);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 1, cards_kept: 1 });
    expect(await refusalOf(cairn.agent_turns.replay({ agent_turn_id, step: 2 }))).toMatchObject({
      code: 'CONTENT_ERASED',
      status: 410,
      details: { card_ids },
    });
    expect(await cairn.agent_turns.replay({ agent_turn_id, step: 3 })).toEqual(after);
    expect(await cairn.agent_turns.hydrate(held)).toEqual(after);
    await cairn.agent_turns.append({ ...held, cards: [thought('on')] });
    expect((await cairn.agent_turns.hydrate(held)).messages).toHaveLength(before.messages.length + 1);
    const { store } = test();
    const ending = { holder: turnBoxHolder(turn.output_box_id), ended_at: store.driver.now(), thread_id: null };
    await store.driver.write(tenant, (tx) => addEndings(tx, [{ ...ending, box_id: turn.output_box_id }]));
    for (const call of [() => cairn.agent_turns.replay({ agent_turn_id }), () => cairn.agent_turns.hydrate(held)])
      expect(await refusalOf(call())).toMatchObject({
        code: 'CONTENT_ERASED',
        status: 410,
        details: { box_ids: [turn.output_box_id] },
      });
  });

  it('ATURN-24 a fork starts a new agent_turn from the same context, with changes', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1', '2'], 'planner');
    const by = { source_agent_id: 'planner', context_box_id: 'x', channel_id: 'chat-7' };
    const { turn, held } = await atWork(cairn, by);
    const { agent_turn_id } = held;
    await cairn.agent_turns.append({ ...held, cards: [thought('so far')] });
    const parent = { parent_agent_id: 'planner' };
    const plain = await cairn.agent_turns.fork({ agent_turn_id });
    expect(plain).toMatchObject({
      status: 'dispatched',
      turn_epoch: 1,
      forked_from: agent_turn_id,
      channel_id: 'chat-7',
      source_agent_id: 'planner',
      depth: 0,
      profile_name: PROFILE,
      instruction_card_id: turn.instruction_card_id,
    });
    expect(plain.agent_id).not.toBe(turn.agent_id);
    expect(await wordsIn(cairn, plain.context_box_id)).toEqual(['Look it up.', '1', '2', parent]);
    expect(await wordsIn(cairn, plain.output_box_id)).toEqual([]);
    await cairn.profiles.create({ name: 'other' });
    const changed = await cairn.agent_turns.fork({
      agent_turn_id,
      profile_name: 'other',
      instruction: 'Look elsewhere.',
      without_card_ids: ['x-1'],
      add_cards: [{ content: 'also', metadata: { role: 'user' } }],
      include_output: true,
      channel_id: 'chat-8',
    });
    expect(await wordsIn(cairn, changed.context_box_id)).toEqual(['Look elsewhere.', '2', parent, 'so far', 'also']);
    expect(changed).toMatchObject({ profile_name: 'other', channel_id: 'chat-8' });
    expect(await eventsOf(cairn, 'cairn.agent_turn.forked', changed.agent_turn_id)).toMatchObject([
      { forked_from: agent_turn_id },
    ]);
    const next = await claim(cairn, { agent_turn_id: plain.agent_turn_id });
    const mine = await cairn.agent_turns.hydrate(held);
    const theirs = await cairn.agent_turns.hydrate(heldOf(next));
    expect(theirs.messages).toEqual(mine.messages.slice(0, -1));
    await expectNothingWritten(test(), cairn, async () => {
      const without_card_ids = ['x-2', 'nowhere'];
      expect(await refusalOf(cairn.agent_turns.fork({ agent_turn_id, without_card_ids }))).toMatchObject({
        code: 'UNKNOWN_CARD',
        details: { missing_card_ids: ['nowhere'] },
      });
      expect(await refusalOf(cairn.agent_turns.fork({ agent_turn_id, profile_name: 'nobody' }))).toMatchObject({
        code: 'PROFILE_NOT_FOUND',
      });
    });
    await cairn.agent_turns.complete({ ...held, deliverable: 'x' });
    expect(await cairn.agent_turns.fork({ agent_turn_id })).toMatchObject({ status: 'dispatched' });
    expect(await wordsIn(cairn, turn.context_box_id)).toEqual(['Look it up.', '1', '2', parent]);
  });

  it('ATURN-25 an agent that forks delegates: by its own rules, below its own agent_turn', async () => {
    const cairn = await withProfile(test());
    await cairn.profiles.create({ name: 'other', agent_type: 'other' });
    const { turn, held } = await atWork(cairn, { source_agent_id: 'planner' });
    const { agent_turn_id } = held;
    const worker = await test().as({ tenant: await tenantOf(cairn), agent: turn.agent_id, role: 'write' });
    await cairn.agents.update({ agent_id: turn.agent_id, can_delegate_to: ['other'] });
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(worker.agent_turns.fork({ agent_turn_id }))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'can_delegate_to', from_agent_id: turn.agent_id },
      });
    });
    expect(await worker.agent_turns.fork({ agent_turn_id, profile_name: 'other' })).toMatchObject({
      source_agent_id: turn.agent_id,
      parent_agent_turn_id: agent_turn_id,
      depth: 1,
    });
  });

  it('ATURN-25 what the tenant forks is below the agent_turn that the first was delegated in', async () => {
    const cairn = await withProfile(test());
    const { turn, held } = await atWork(cairn);
    const child = await atWork(cairn, { source_agent_id: turn.agent_id });
    const { agent_turn_id } = child.turn;
    const [one, two] = [
      await cairn.agent_turns.fork({ agent_turn_id }),
      await cairn.agent_turns.fork({ agent_turn_id }),
    ];
    expect(one).toMatchObject({ parent_agent_turn_id: turn.agent_turn_id, depth: 1 });
    await cairn.agent_turns.complete({ ...child.held, deliverable: 'x' });
    const forked = heldOf(await claim(cairn, { agent_turn_id: one!.agent_turn_id }));
    await cairn.agent_turns.stop({ agent_turn_id: turn.agent_turn_id });
    expect(await refusalOf(cairn.agent_turns.renew(forked))).toMatchObject({ code: 'STALE_TURN' });
    expect(await cairn.agent_turns.get({ agent_turn_id: two!.agent_turn_id })).toMatchObject({ status: 'stopped' });
    expect(await refusalOf(cairn.agent_turns.renew(held))).toMatchObject({ code: 'STALE_TURN' });
    // It is over: what is forked now is below nothing.
    expect(await cairn.agent_turns.fork({ agent_turn_id })).toMatchObject({ parent_agent_turn_id: null });
  });

  it('ATURN-26 an agent with memory_access is shown what it was given, and puts nothing else before its model', async () => {
    const cairn = await test().freshTenant();
    await cairn.profiles.create({ name: PROFILE, memory_access: { read: [] } });
    await boxOf(cairn, 'x', ['1'], 'planner');
    const { agent_id, agent_turn_id } = await dispatched(cairn, { source_agent_id: 'planner', context_box_id: 'x' });
    const worker = await test().as({ tenant: await tenantOf(cairn), agent: agent_id, role: 'write' });
    const held = heldOf(await claim(worker, { agent_turn_id }));
    const { cards } = await worker.agent_turns.append({ ...held, cards: [thought('own')] });
    expect(JSON.stringify((await worker.agent_turns.hydrate(held)).messages)).toMatch(/Look it up.*1.*own/);
    await cairn.cards.add({ card_id: 'secret', content: 'x' });
    await expectNothingWritten(test(), cairn, async () => {
      const more = { ...held, box: 'context' as const, card_ids: ['x-1', 'secret'] };
      expect(await refusalOf(worker.agent_turns.replace_box(more))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'memory_access', card_ids: ['secret'] },
      });
    });
    await worker.agent_turns.replace_box({ ...held, box: 'context', card_ids: ['x-1', cards[0]!.card_id] });
    // The tenant may give it anything.
    await cairn.agent_turns.replace_box({ ...held, box: 'context', card_ids: ['secret'] });
  });
});
