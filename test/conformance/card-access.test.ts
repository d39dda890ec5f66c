/** Which cards an agent may see and pass on. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { atWork, thought, withProfile } from '../support/agent-turns.js';
import { tenantOf } from '../support/hierarchy.js';
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
  const { cards } = await cairn.agent_turns.append({
    ...held,
    cards: [thought('secret', { subject_ids: ['s'] })],
  });
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
      (
        await api.edges.traverse({ entity_type: 'Card', entity_id: loose.card_id, max_depth: 1 })
      ).entities.map(({ entity_id }) => entity_id);
    for (const api of [cairn, ann, worker]) {
      expect((await api.cards.get({ card_id })).content).toBe('secret');
      expect((await api.cards.list({ subject_id: 's' })).total).toBe(2);
      expect((await api.cards.get_batch({ card_ids: [...card_ids, card_id] })).missing_ids).toEqual([]);
      expect(await walk(api)).toContain(card_id);
    }
    for (const id of [card_id, ...card_ids])
      expect(await refusalOf(bob.cards.get({ card_id: id }))).toMatchObject(hidden(id));
    expect(await bob.cards.list({ subject_id: 's' })).toMatchObject({
      cards: [{ card_id: loose.card_id }],
      total: 1,
    });
    expect((await bob.cards.list({})).cards.map((card) => card.card_id)).not.toContain(card_id);
    const found = await bob.cards.get_batch({ card_ids: [loose.card_id, card_id] });
    expect(found).toMatchObject({ cards: [{ card_id: loose.card_id }], missing_ids: [card_id] });
    expect(await walk(bob)).not.toContain(card_id);
    await worker.boxes.grant({ box_id: turn.output_box_id, agent_id: 'bob' });
    expect((await bob.cards.get({ card_id })).content).toBe('secret');
    expect(await refusalOf(bob.cards.get({ card_id: card_ids[0]! }))).toMatchObject(hidden(card_ids[0]!));
  });
});
