/** Which cards an agent may see and pass on. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { atWork, expectNothingWritten, PROFILE, thought, withProfile } from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const hidden = (...card_ids: string[]) => ({
  code: 'FORBIDDEN',
  status: 403,
  details: { rule: 'box_owner_or_grant', card_ids },
});

/** What ann had an agent put out, and those who are there: ann, bob and that agent itself. */
async function someOutput(test: TestStore) {
  const cairn = await withProfile(test);
  const tenant = await tenantOf(cairn);
  const { turn, held } = await atWork(cairn, { source_agent_id: 'ann' });
  const { cards } = await cairn.agent_turns.append({ ...held, cards: [thought('secret', { subject_ids: ['s'] })] });
  const as = (agent: string): Promise<Api> => test.as({ tenant, agent, role: 'write' });
  const [ann, bob, worker] = [await as('ann'), await as('bob'), await as(turn.agent_id)];
  return { cairn, ann, bob, worker, turn, card_id: cards[0]!.card_id };
}

onEveryTarget('cards of others', (test) => {
  it('ACCESS-18 the cards of an agent_turn are for those who may see a box that has them', async () => {
    const { cairn, ann, bob, worker, turn, card_id } = await someOutput(test());
    const { card_ids } = await cairn.boxes.load({ box_id: turn.context_box_id });
    const loose = await cairn.cards.add({ content: 'loose', subject_ids: ['s'] });
    await cairn.edges.create({
      edge_type: 'RelatesTo',
      participants: [
        { entity_type: 'Card', entity_id: loose.card_id },
        { entity_type: 'Card', entity_id: card_id },
      ],
    });
    const walk = async (api: Api) =>
      (await api.edges.traverse({ entity_type: 'Card', entity_id: loose.card_id, max_depth: 1 })).entities.map(
        ({ entity_id }) => entity_id,
      );
    for (const api of [cairn, ann, worker]) {
      expect((await api.cards.get({ card_id })).content).toBe('secret');
      expect((await api.cards.list({ subject_id: 's' })).total).toBe(2);
      expect((await api.cards.get_batch({ card_ids: [...card_ids, card_id] })).missing_ids).toEqual([]);
      expect(await walk(api)).toContain(card_id);
    }
    for (const id of [card_id, ...card_ids])
      expect(await refusalOf(bob.cards.get({ card_id: id }))).toMatchObject(hidden(id));
    expect(await bob.cards.list({ subject_id: 's' })).toMatchObject({ cards: [{ card_id: loose.card_id }], total: 1 });
    expect((await bob.cards.list({})).cards.map((card) => card.card_id)).not.toContain(card_id);
    const found = await bob.cards.get_batch({ card_ids: [loose.card_id, card_id] });
    expect(found).toMatchObject({ cards: [{ card_id: loose.card_id }], missing_ids: [card_id] });
    expect(await walk(bob)).not.toContain(card_id);
    await worker.boxes.grant({ box_id: turn.output_box_id, agent_id: 'bob' });
    expect((await bob.cards.get({ card_id })).content).toBe('secret');
    expect(await refusalOf(bob.cards.get({ card_id: card_ids[0]! }))).toMatchObject(hidden(card_ids[0]!));
  });

  it('ACCESS-19 what an agent may not see it puts into no box', async () => {
    const { cairn, bob, worker, turn, card_id } = await someOutput(test());
    const his = await bob.cards.add({ content: 'his' });
    const { box_id } = await bob.boxes.create({ card_ids: [his.card_id] });
    const card_ids = [his.card_id, card_id];
    const attempts = () => [
      bob.boxes.create({ card_ids }),
      bob.boxes.append({ box_id, card_ids }),
      bob.boxes.save({ box_id, card_ids, revision: 1 }),
      bob.boxes.save({ box_id: 'new', card_ids, revision: 0 }),
    ];
    await expectNothingWritten(test(), cairn, async () => {
      for (const attempt of attempts()) expect(await refusalOf(attempt)).toMatchObject(hidden(card_id));
    });
    const other = await atWork(cairn, { source_agent_id: 'bob' });
    const replacing = { ...other.held, box: 'context' as const, card_ids };
    const sub = await test().as({ tenant: turn.project_id, agent: other.turn.agent_id, role: 'write' });
    expect(await refusalOf(sub.agent_turns.replace_box(replacing))).toMatchObject(hidden(card_id));
    // What others have put there stays; and who may see a box that has the card may pass it on.
    await cairn.boxes.append({ box_id, card_ids: [card_id] });
    const turned = { box_id, card_ids: [card_id, his.card_id], revision: 2 };
    expect(await bob.boxes.save(turned)).toMatchObject({ length: 2 });
    expect(await worker.boxes.create({ card_ids: [card_id] })).toMatchObject({ length: 1 });
  });

  it('ACCESS-19 what its memory_access does not reach it neither boxes nor packs', async () => {
    const { cairn, ann, turn } = await someOutput(test());
    const own = [{ memory_type: 'Card' as const, scope: 'own' as const }];
    const agent = { agent_id: 'ann', agent_type: 'lead', capabilities: ['lead'] };
    const theirs = await cairn.cards.add({ content: 'theirs' });
    const hers = await ann.cards.add({ content: 'hers' });
    const granted = await cairn.boxes.create({ card_ids: [hers.card_id, theirs.card_id] });
    await cairn.boxes.grant({ box_id: granted.box_id, agent_id: 'ann' });
    await cairn.agents.register({ ...agent, memory_access: { read: own, write: own } });
    const beyond = {
      code: 'FORBIDDEN',
      status: 403,
      details: { rule: 'memory_access', memory_type: 'Card', need: 'read', card_ids: [theirs.card_id] },
    };
    const { box_id } = await ann.boxes.create({ card_ids: [hers.card_id] });
    const card_ids = [theirs.card_id];
    const task = { target_strategy: 'new' as const, target_ref: PROFILE, instruction: 'i' };
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    await cairn.agents.register({ agent_id: 'cyd', agent_type: 'c', capabilities: ['c'] });
    const packing = (box: string) => {
      const input_box_ids = [box];
      return [
        () => ann.pmo.delegate_async({ ...task, input_box_ids }),
        () => ann.pmo.fork_join({ tasks: [{ ...task, context_box_id: box }] }),
        () =>
          ann.pmo.pack_context({
            tool_suffix: 't',
            source_agent_id: 'ann',
            arguments: { instruction: 'i', profile_name: PROFILE, input_box_ids },
            handover: 'instruction',
          }),
        () => ann.delegations.create({ to_agent_id: 'cyd', trajectory_id, task_description: 't', input_box_ids }),
      ];
    };
    await expectNothingWritten(test(), cairn, async () => {
      for (const attempt of [
        () => ann.boxes.create({ card_ids }),
        () => ann.boxes.append({ box_id, card_ids }),
        () => ann.boxes.save({ box_id, card_ids, revision: 1 }),
        ...packing(granted.box_id),
      ])
        expect(await refusalOf(attempt())).toMatchObject(beyond);
    });
    // Its own, and what an agent put out for it, it may give on.
    for (const box of [box_id, turn.output_box_id])
      for (const attempt of packing(box)) expect(await attempt()).not.toHaveProperty('error_code');
  });

  it('ACCESS-20 packing, delegating and saving a profile is writing cards; naming a scope is using its turns', async () => {
    const { cairn, ann } = await someOutput(test());
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const { scope_id } = await ann.scopes.create({ trajectory_id, name: 's' });
    const agent = { agent_type: 'lead', capabilities: ['lead'] };
    await cairn.agents.register({ ...agent, agent_id: 'ann', memory_access: { write: [] } });
    await cairn.agents.register({ ...agent, agent_id: 'cyd' });
    const of = { profile_name: PROFILE };
    const task = { target_strategy: 'new' as const, target_ref: PROFILE, instruction: 'i' };
    const given = { to_agent_id: 'cyd', trajectory_id, scope_id };
    const refused = (memory_type: string, need: string) => ({
      code: 'FORBIDDEN',
      details: { rule: 'memory_access', memory_type, need, scope: 'none' },
    });
    await expectNothingWritten(test(), cairn, async () => {
      for (const attempt of [
        ann.pmo.delegate_async(task),
        ann.pmo.fork_join({ tasks: [task] }),
        ann.pmo.launch_principal({ ...of, instruction: 'i' }),
        ann.pmo.ask_expert({ ...of, question: 'q' }),
        ann.pmo.pack_context({ tool_suffix: 't', source_agent_id: 'ann', arguments: of, handover: {} }),
        ann.profiles.create({ name: 'p' }),
        ann.profiles.save({ name: 'p' }),
      ])
        expect(await refusalOf(attempt)).toMatchObject(refused('Card', 'write'));
      expect(await refusalOf(ann.handoffs.create(given))).toMatchObject(refused('Turn', 'write'));
    });
    await cairn.agents.update({ agent_id: 'ann', memory_access: { read: [] } });
    expect(await refusalOf(ann.handoffs.create(given))).toMatchObject(refused('Turn', 'read'));
    const offer = { to_agent_id: 'cyd', trajectory_id, task_description: 't' };
    const reading = refusalOf(ann.delegations.create({ ...offer, scope_id }));
    expect(await reading).toMatchObject(refused('Turn', 'read'));
    expect(await ann.delegations.create(offer)).toMatchObject({ status: 'Pending' });
  });
});
