/** What an agent finds: what it may read, and nothing of the rest by any way. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { accessTo, type MemoryAccess } from '#cairn/engine/contract.js';
import type { SearchedType } from '#cairn/kernel/index.js';
import { atWork, thought, withProfile } from '../../support/nouns/agent-turns.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { KINDS, type Kind, makeWorld, SAID, STANDINGS, type World } from '../../support/nouns/memory-world.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { found, note, theOne } from '../../support/nouns/search.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

const TYPES: Readonly<Record<Kind, SearchedType>> = {
  Turn: 'Turn',
  Artifact: 'Artifact',
  Note: 'Note',
  Card: 'Card',
  Packet: 'Packet',
  Checkpoint: 'Thought',
};
const coder = { agent_type: 'coder', capabilities: ['code'] };
const every = (read: MemoryAccess['read']): MemoryAccess => ({ read, write: [] });

onEveryTarget('what an agent finds', (test) => {
  describe('by its memory_access', () => {
    let cairn: Api;
    let ann: Api;
    let world: World;
    const allow = (memory_access: MemoryAccess) => cairn.agents.update({ agent_id: 'ann', memory_access });

    beforeAll(async () => {
      cairn = await test().freshTenant();
      await cairn.agents.register({ agent_id: 'ann', ...coder });
      ann = await test().as({ tenant: await tenantOf(cairn), agent: 'ann' });
      world = await makeWorld(cairn);
    });

    it.each(KINDS)('SEARCH-14 is neither shown nor counted beyond it: %s', async (kind) => {
      const whole = await found(cairn, SAID);
      for (const extent of ['none', 'own', 'own_trajectory', 'all'] as const) {
        await allow(every(extent === 'none' ? [] : [{ memory_type: kind, scope: extent }]));
        const near = kind === 'Card' ? ['own'] : ['own', 'in_hers', 'where_she_works'];
        const reached = { none: [], own: ['own'], own_trajectory: near, all: [...STANDINGS] }[extent];
        const ids = reached.map((standing) => `${TYPES[kind]} ${world.ids[kind][standing as 'own']}`);
        // The card of what is an artifact, note or turn is not searched as a card.
        for (const query of [SAID, '']) {
          const { results, total, next_cursor } = await ann.search.query({ query, limit: 100 });
          expect(results.map(({ entity_type, id }) => `${entity_type} ${id}`).sort(), extent).toEqual(ids.sort());
          expect([total, next_cursor]).toEqual([ids.length, null]);
        }
        expect(whole).toEqual(expect.arrayContaining(ids));
        const { passages } = await ann.memory.recall({ query: SAID, limit: 100, entity_types: [TYPES[kind]] });
        expect(
          passages.flatMap(({ id, same_as }) => [id, ...same_as].map((one) => `${TYPES[kind]} ${one}`)).sort(),
        ).toEqual(ids.sort());
      }
      await allow(accessTo('all'));
      expect(await found(ann, SAID)).toEqual(whole);
    });

    it('SEARCH-14 holds for filters, pages and scores: what is beyond it changes nothing', async () => {
      await allow(every([{ memory_type: 'Note', scope: 'own' }]));
      const asked = { query: SAID, limit: 1, filters: [{ field: 'agent_id', operator: 'eq', value: 'bob' }] } as const;
      expect(await ann.search.query({ ...asked, filters: [...asked.filters] })).toMatchObject({
        results: [],
        total: 0,
      });
      expect((await ann.search.query({ query: SAID, limit: 1 })).next_cursor).toBeNull();
    });
  });

  it('SEARCH-14 a turn that an agent may not read lends no words to those around it', async () => {
    const cairn = await test().freshTenant();
    await cairn.agents.register({
      agent_id: 'ann',
      ...coder,
      memory_access: every([{ memory_type: 'Turn', scope: 'own' }]),
    });
    const ann = await test().as({ tenant: await tenantOf(cairn), agent: 'ann' });
    const { scope_id } = await someScope(cairn, { agent_id: 'bob' });
    const bob = await test().as({ tenant: await tenantOf(cairn), agent: 'bob' });
    const mine = await test().as({ tenant: await tenantOf(cairn), agent: 'ann' });
    await cairn.agents.update({ agent_id: 'ann', memory_access: accessTo('all') });
    await say(bob, scope_id, 'the treasure is buried');
    const own = await say(mine, scope_id, 'I see');
    await cairn.agents.update({ agent_id: 'ann', memory_access: every([{ memory_type: 'Turn', scope: 'own' }]) });
    expect(await found(cairn, 'treasure')).toContain(`Turn ${own.turn_id}`);
    expect(await ann.search.query({ query: 'treasure' })).toMatchObject({ results: [], total: 0 });
    expect(await found(ann, '')).toEqual([`Turn ${own.turn_id}`]);
  });

  it('SEARCH-14 cards of an agent_turn are found by those who may see a box that has them', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { turn, held } = await atWork(cairn, { source_agent_id: 'ann' });
    const { cards } = await cairn.agent_turns.append({ ...held, cards: [thought('quagmire')] });
    const as = (agent: string) => test().as({ tenant, agent, role: 'write' });
    const [bob, worker] = [await as('bob'), await as(turn.agent_id)];
    const card = [`Card ${cards[0]!.card_id}`];
    expect(await found(cairn, 'quagmire')).toEqual(card);
    expect(await found(worker, 'quagmire')).toEqual(card);
    expect(await found(await as('ann'), 'quagmire')).toEqual(card);
    expect(await bob.search.query({ query: 'quagmire' })).toMatchObject({ results: [], total: 0 });
    await worker.boxes.grant({ box_id: turn.output_box_id, agent_id: 'bob' });
    expect(await found(bob, 'quagmire')).toEqual(card);
  });

  it('SEARCH-8 what supports a hit is shown to those who may read it', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const claim = await note(cairn, 'The gannet dives.');
    const proof = await cairn.cards.add({ content: 'It was filmed.', author_id: 'bob' });
    const participants = [
      { entity_type: 'Card' as const, entity_id: proof.card_id },
      { entity_type: 'Note' as const, entity_id: claim.note_id },
    ];
    await cairn.edges.create({ edge_type: 'Supports', participants });
    await cairn.agents.register({ agent_id: 'ann', ...coder });
    const ann = await test().as({ tenant, agent: 'ann' });
    expect((await theOne(ann, 'gannet')).related).toMatchObject([{ id: proof.card_id, snippet: 'It was filmed.' }]);
    await cairn.agents.update({ agent_id: 'ann', memory_access: every([{ memory_type: 'Note', scope: 'all' }]) });
    expect((await theOne(ann, 'gannet')).related).toEqual([]);
  });

  it('RECALL-6 to remember is to write what it makes, and nothing else', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const scope = await someScope(cairn, { agent_id: 'ann' });
    await cairn.agents.register({ agent_id: 'ann', ...coder });
    const ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    const writes = (write: MemoryAccess['write']) =>
      cairn.agents.update({ agent_id: 'ann', memory_access: { read: [], write } });
    const refused = (memory_type: string) => ({
      code: 'FORBIDDEN',
      details: { rule: 'memory_access', memory_type, need: 'write', scope: 'none' },
    });
    await writes([{ memory_type: 'Note', scope: 'own' }]);
    const made = await ann.memory.remember({ text: 'a note' });
    expect(await cairn.notes.get({ note_id: made.id })).toMatchObject({ agent_id: 'ann' });
    expect(await refusalOf(ann.memory.remember({ text: 'x', as: 'turn' }))).toMatchObject(refused('Turn'));
    await writes([{ memory_type: 'Turn', scope: 'own' }]);
    const said = await ann.memory.remember({ text: 'a turn', as: 'turn', scope_id: scope.scope_id });
    expect(await cairn.turns.get({ turn_id: said.id })).toMatchObject({ agent_id: 'ann' });
    expect(await refusalOf(ann.memory.remember({ text: 'x' }))).toMatchObject(refused('Note'));
    const foreign = await someScope(cairn, { agent_id: 'bob' });
    for (const place of [{}, { scope_id: foreign.scope_id }, { trajectory_id: foreign.trajectory_id }])
      expect(await refusalOf(ann.memory.remember({ text: 'x', as: 'turn', ...place }))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'memory_access', memory_type: 'Turn', need: 'write', scope: 'own' },
      });
    await writes([]);
    const before = (await cairn.trajectories.list()).total;
    expect(await refusalOf(ann.memory.remember({ text: 'x' }))).toMatchObject(refused('Note'));
    expect((await cairn.trajectories.list()).total).toBe(before);
  });
});
