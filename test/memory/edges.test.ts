/** Edges: what they link, what they refuse, how they are found and removed. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type EdgeInput = Parameters<Api['edges']['create']>[0];
type EdgeType = EdgeInput['edge_type'];

const card = (entity_id: string) => ({ entity_type: 'Card' as const, entity_id });
const link = (edge_type: EdgeType, ...ids: string[]): EdgeInput => ({ edge_type, participants: ids.map(card) });
const idsOf = (edges: readonly { edge_id: string }[]) => edges.map(({ edge_id }) => edge_id);

/** A tenant with cards of these ids. */
async function withCards(cairn: Api, ids: readonly string[]): Promise<Api> {
  await cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id })), atomic: true });
  return cairn;
}

onEveryTarget('edges', (test) => {
  const tenantWith = async (...ids: string[]) => withCards(await test().freshTenant(), ids);

  it('EDGE-1 an edge is read back as it was sent, with the recorded time of its event', async () => {
    const cairn = await tenantWith('a', 'b');
    const { packet_id } = await cairn.packets.write({ packet_type: 'event', payload: {} });
    const before = await latestToken(cairn);
    const sent = {
      edge_type: 'Supports' as const,
      participants: [
        { ...card('a'), role: 'claim' },
        card('b'),
        { entity_type: 'Packet' as const, entity_id: packet_id },
      ],
      weight: 0.25,
      provenance: { source_turn: 3, extraction_method: 'Inferred' as const, confidence: 0.5 },
      agent_id: 'ann',
      metadata: { z: 1, a: { b: ['\u{1f600}'] } },
    };
    const edge = await cairn.edges.create(sent);
    const [told] = await followToNow(cairn, before);
    expect(edge).toEqual({
      ...sent,
      edge_id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/),
      participants: sent.participants.map((one) => ({ role: null, ...one })),
      created_at: told!.recorded_at,
    });
    expect(await cairn.edges.get({ edge_id: edge.edge_id })).toEqual(edge);
    const bare = await cairn.edges.create(link('RelatesTo', 'a', 'b'));
    expect(bare).toMatchObject({ weight: null, provenance: null, agent_id: null, metadata: {} });
    const half = await cairn.edges.create({ ...link('RelatesTo', 'a', 'b'), provenance: { confidence: 1 } });
    expect(half.provenance).toEqual({ source_turn: null, extraction_method: null, confidence: 1 });
    expect(await cairn.edges.get({ edge_id: half.edge_id })).toEqual(half);
  });

  it('EDGE-1 two to a hundred entities, in their order', async () => {
    const ids = Array.from({ length: 101 }, (_, i) => `c${100 - i}`);
    const cairn = await tenantWith(...ids);
    const { edge_id } = await cairn.edges.create(link('Grouped', ...ids.slice(0, 100)));
    const { participants } = await cairn.edges.get({ edge_id });
    expect(participants.map(({ entity_id }) => entity_id)).toEqual(ids.slice(0, 100));
    for (const wrong of [ids, ids.slice(0, 1), []]) {
      expect(await refusalOf(cairn.edges.create(link('Grouped', ...wrong)))).toMatchObject({
        code: 'INVALID_INPUT',
        status: 400,
      });
    }
  });

  it('EVENT-1 creating and deleting an edge tells what it linked, and nothing of what it says', async () => {
    const cairn = await tenantWith('a', 'b');
    const before = await latestToken(cairn);
    const { edge_id } = await cairn.edges.create({ ...link('Causal', 'a', 'b'), metadata: { why: 'secret-reason' } });
    await cairn.edges.delete({ edge_id });
    const packets = await followToNow(cairn, before);
    expect(packets.map(({ packet_type }) => packet_type)).toEqual(['cairn.edge.created', 'cairn.edge.deleted']);
    expect(packets.map(({ payload }) => payload?.entity)).toEqual([
      { id: edge_id, type: 'Edge' },
      { id: edge_id, type: 'Edge' },
    ]);
    expect(packets[0]!.payload).toMatchObject({ edge_type: 'Causal', participants: [card('a'), card('b')] });
    expect(JSON.stringify(packets)).not.toContain('secret-reason');
  });

  it('EDGE-2 the same id again gives what is there, is refused, or is gone', async () => {
    const cairn = await tenantWith('a', 'b', 'c');
    const edge_id = randomUUID();
    const sent = { edge_id, ...link('Supports', 'a', 'b'), weight: 0.5 };
    const edge = await cairn.edges.create(sent);
    const before = await latestToken(cairn);
    expect(await cairn.edges.create({ ...sent, edge_id: edge_id.toUpperCase() })).toEqual(edge);
    for (const other of [
      { ...sent, weight: 0.6 },
      { ...sent, edge_type: 'Contradicts' as const },
      { ...sent, participants: [card('b'), card('a')] },
      { ...sent, participants: [card('a'), card('c')] },
      { ...sent, agent_id: 'ann' },
      { ...sent, metadata: { a: 1 } },
    ]) {
      expect(await refusalOf(cairn.edges.create(other))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS', status: 409 });
    }
    expect(await latestToken(cairn)).toBe(before);
    await cairn.edges.delete({ edge_id });
    expect(await refusalOf(cairn.edges.create(sent))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
  });

  it('EDGE-2 twenty at once with the same id make one edge, and all see the same', async () => {
    const cairn = await tenantWith('a', 'b');
    const before = await latestToken(cairn);
    const sent = { edge_id: randomUUID(), ...link('DerivedFrom', 'a', 'b') };
    const edges = await Promise.all(Array.from({ length: 20 }, () => cairn.edges.create(sent)));
    const read = await cairn.edges.get({ edge_id: sent.edge_id });
    for (const edge of edges) expect(edge).toEqual(read);
    expect(await followToNow(cairn, before)).toHaveLength(1);
  });

  it('IDEM-1 twenty at once under one key make one edge, and all see the same', async () => {
    const cairn = await tenantWith('a', 'b');
    const before = await latestToken(cairn);
    const options = { idempotency_key: 'once' };
    const edges = await Promise.all(
      Array.from({ length: 20 }, () => cairn.edges.create(link('Supports', 'a', 'b'), options)),
    );
    const [told, ...more] = await followToNow(cairn, before);
    expect(more).toEqual([]);
    expect(edges[0]!.created_at).toBe(told!.recorded_at);
    for (const edge of edges) expect(edge).toEqual(edges[0]);
  });

  it('EDGE-3 what is not there, deleted or expired is not linked', async () => {
    const cairn = await tenantWith('a', 'deleted');
    await cairn.cards.delete({ card_id: 'deleted' });
    await cairn.cards.add({ card_id: 'expired', ttl_seconds: 60 });
    const packet = await cairn.packets.write({
      packet_type: 'event',
      payload: {},
      ttl: new Date(test().store.driver.now() + 60_000).toISOString(),
    });
    const held = { entity_type: 'Packet' as const, entity_id: packet.packet_id };
    const { edge_id } = await cairn.edges.create({
      edge_type: 'Supports',
      participants: [card('a'), card('expired'), { ...held, entity_id: held.entity_id.toUpperCase() }],
    });
    expect((await cairn.edges.get({ edge_id })).participants[2]).toMatchObject(held);
    test().advance(61_000);
    const before = await latestToken(cairn);
    const none = randomUUID();
    for (const missing of [
      card('none'),
      card('deleted'),
      card('expired'),
      held,
      { entity_type: 'Packet' as const, entity_id: none },
      // What is there under another type is not there under this one.
      ...(['Trajectory', 'Scope', 'Turn', 'Artifact', 'Note', 'Packet'] as const).map((entity_type) => ({
        entity_type,
        entity_id: 'a',
      })),
    ]) {
      for (const participants of [
        [card('a'), missing],
        [missing, card('a')],
      ]) {
        if (participants[0]!.entity_id === participants[1]!.entity_id && missing.entity_type === 'Turn') continue;
        const refusal = await refusalOf(cairn.edges.create({ edge_type: 'Supports', participants }));
        expect(refusal, JSON.stringify(missing)).toMatchObject({
          code: 'UNKNOWN_ENTITY',
          status: 400,
          details: { missing_entities: [missing] },
        });
      }
    }
    expect(await latestToken(cairn)).toBe(before);
  });

  it('EDGE-4 an entity takes part once', async () => {
    const cairn = await tenantWith('a', 'b');
    for (const participants of [
      [card('a'), card('a')],
      [card('a'), card('b'), { ...card('a'), role: 'other' }],
      [card('a'), { entity_type: 'Turn' as const, entity_id: 'a' }],
    ]) {
      const refusal = await refusalOf(cairn.edges.create({ edge_type: 'Compared', participants }));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
      expect(refusal.message).toContain(`participants[${participants.length - 1}]`);
    }
  });

  it.each(['Supersedes', 'DerivedFrom'] as const)('EDGE-5 %s never leads back', async (edge_type) => {
    const cairn = await tenantWith('a', 'b', 'c', 'd');
    const ab = await cairn.edges.create(link(edge_type, 'a', 'b'));
    const refusal = await refusalOf(cairn.edges.create(link(edge_type, 'b', 'a')));
    expect(refusal).toMatchObject({ code: 'EDGE_CYCLE', status: 409, details: { edge_id: ab.edge_id } });
    expect(refusal.message).toContain(ab.edge_id);
    // The same way twice is no cycle, nor is a diamond, nor the other type.
    await cairn.edges.create(link(edge_type, 'a', 'b'));
    await cairn.edges.create(link(edge_type, 'a', 'c'));
    await cairn.edges.create(link(edge_type, 'b', 'd'));
    await cairn.edges.create(link(edge_type, 'c', 'd'));
    await cairn.edges.create(link(edge_type === 'Supersedes' ? 'DerivedFrom' : 'Supersedes', 'b', 'a'));
    await cairn.edges.create(link('Supports', 'd', 'a'));
    expect(await refusalOf(cairn.edges.create(link(edge_type, 'd', 'a')))).toMatchObject({ code: 'EDGE_CYCLE' });
  });

  it('EDGE-5 a cycle of fifty is one, and deleting any of its edges opens it', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `n${i}`);
    const cairn = await tenantWith(...ids);
    const chain: string[] = [];
    for (const [i, id] of ids.slice(1).entries())
      chain.push((await cairn.edges.create(link('DerivedFrom', ids[i]!, id))).edge_id);
    const closing = link('DerivedFrom', 'n49', 'n0');
    const refusal = await refusalOf(cairn.edges.create(closing));
    expect(refusal).toMatchObject({ code: 'EDGE_CYCLE', details: { edge_id: chain[0] } });
    await cairn.edges.delete({ edge_id: chain[31]! });
    const { edge_id } = await cairn.edges.create(closing);
    expect(await refusalOf(cairn.edges.create(link('DerivedFrom', 'n31', 'n32')))).toMatchObject({
      code: 'EDGE_CYCLE',
    });
    await cairn.edges.delete({ edge_id });
    await cairn.edges.create(link('DerivedFrom', 'n31', 'n32'));
  });

  it('EDGE-5 an edge of many leads from A to each of the others, and not between those', async () => {
    const cairn = await tenantWith('a', 'b', 'c', 'd', 'e');
    await cairn.edges.create(link('Supersedes', 'a', 'b', 'c'));
    await cairn.edges.create(link('Supersedes', 'c', 'b'));
    const cd = await cairn.edges.create(link('Supersedes', 'c', 'd'));
    for (const wrong of [
      ['d', 'e', 'a'],
      ['b', 'a', 'e'],
      ['d', 'e', 'c'],
    ])
      expect(await refusalOf(cairn.edges.create(link('Supersedes', ...wrong)))).toMatchObject({ code: 'EDGE_CYCLE' });
    expect(await refusalOf(cairn.edges.create(link('Supersedes', 'd', 'e', 'c')))).toMatchObject({
      details: { edge_id: cd.edge_id },
    });
    await cairn.edges.create(link('Supersedes', 'd', 'b', 'e'));
  });

  it('EDGE-6 of two halves of a cycle at the same time, one is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const edge_type = round % 2 ? 'Supersedes' : 'DerivedFrom';
      const cairn = await tenantWith('a', 'b', 'c');
      const ways = round < 5 ? ['ab', 'ba'] : ['ab', 'bc', 'ca'];
      const settled = await Promise.allSettled(ways.map((way) => cairn.edges.create(link(edge_type, ...way))));
      const refused = settled.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
      expect(refused).toMatchObject([{ code: 'EDGE_CYCLE', status: 409 }]);
      expect((await cairn.edges.list()).total).toBe(settled.length - 1);
    }
  });

  it('EDGE-7 a deleted edge is gone from every read, once and for all', async () => {
    const cairn = await tenantWith('a', 'b');
    const { edge_id } = await cairn.edges.create(link('Supports', 'a', 'b'));
    const kept = await cairn.edges.create(link('Supports', 'b', 'a'));
    await cairn.edges.delete({ edge_id });
    expect(await refusalOf(cairn.edges.get({ edge_id }))).toMatchObject({ code: 'EDGE_NOT_FOUND', status: 404 });
    expect(await cairn.edges.list()).toEqual({ edges: [kept], next_cursor: null, total: 1 });
    expect((await cairn.edges.list({ entity_id: 'a' })).edges).toEqual([kept]);
    expect((await cairn.edges.traverse({ ...card('a') })).edges).toEqual([kept]);
    const before = await latestToken(cairn);
    await cairn.edges.delete({ edge_id });
    expect(await refusalOf(cairn.edges.delete({ edge_id: randomUUID() }))).toMatchObject({
      code: 'EDGE_NOT_FOUND',
      status: 404,
    });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('EDGE-7 deleted by ten at once, it is deleted once', async () => {
    const cairn = await tenantWith('a', 'b');
    const { edge_id } = await cairn.edges.create(link('Supports', 'a', 'b'));
    const before = await latestToken(cairn);
    await Promise.all(Array.from({ length: 10 }, () => cairn.edges.delete({ edge_id })));
    expect(await followToNow(cairn, before)).toHaveLength(1);
  });

  it('EDGE-8 edges are found by type, by entity and by time, in the order of their ids', async () => {
    const cairn = await tenantWith('a', 'b', 'c');
    const { packet_id } = await cairn.packets.write({ packet_type: 'event', payload: {} });
    const packet = { entity_type: 'Packet' as const, entity_id: packet_id };
    // A card may have the id of a packet, and both may be in one edge.
    await cairn.cards.add({ card_id: packet_id });
    const ab = await cairn.edges.create(link('Supports', 'a', 'b'));
    test().advance(1000);
    const bc = await cairn.edges.create(link('Supports', 'b', 'c'));
    const ac = await cairn.edges.create(link('Contradicts', 'c', 'a'));
    const both = await cairn.edges.create({ edge_type: 'Compared', participants: [packet, card(packet_id)] });
    const cp = await cairn.edges.create({ edge_type: 'Compared', participants: [card('c'), packet] });
    const all = [ab, bc, ac, both, cp].sort((one, other) => (one.edge_id < other.edge_id ? -1 : 1));
    const found = async (filter: NonNullable<Parameters<Api['edges']['list']>[0]>) => {
      const { edges, total } = await cairn.edges.list(filter);
      expect(total).toBe(edges.length);
      return idsOf(edges);
    };
    const those = (...edges: { edge_id: string }[]) => idsOf(all.filter((one) => edges.includes(one)));
    expect((await cairn.edges.list()).edges).toEqual(all);
    expect(await found({ edge_type: 'Supports' })).toEqual(those(ab, bc));
    expect(await found({ entity_id: 'a' })).toEqual(those(ab, ac));
    expect(await found({ ...card('c'), edge_type: 'Contradicts' })).toEqual(those(ac));
    expect(await found({ entity_id: packet_id })).toEqual(those(both, cp));
    expect(await found(card(packet_id))).toEqual(those(both));
    expect(await found({ ...packet, entity_id: packet_id.toUpperCase() })).toEqual(those(both, cp));
    expect(await found({ entity_id: packet_id.toUpperCase() })).toEqual(those(both, cp));
    expect(await found({ entity_id: 'A' })).toEqual([]);
    expect(await found({ entity_type: 'Note', entity_id: 'a' })).toEqual([]);
    expect(await found({ created_after: bc.created_at })).toEqual(those(bc, ac, both, cp));
    expect(await found({ created_before: bc.created_at })).toEqual(those(ab));
    expect(await found({ created_before: bc.created_at, entity_id: 'c' })).toEqual([]);
    expect(await refusalOf(cairn.edges.list({ entity_type: 'Card' }))).toMatchObject({
      code: 'INVALID_INPUT',
      status: 400,
    });
  });

  it.each([{}, card('hub'), { edge_type: 'RelatesTo' as const }])(
    'LIST-1, LIST-2, LIST-3, LIST-4 edges are listed page by page, with %j',
    async (filter) => {
      const cairn = await tenantWith('hub', ...Array.from({ length: 12 }, (_, i) => `c${i}`));
      const items = Array.from({ length: 12 }, (_, i) => ({
        operation: 'create' as const,
        create: link('RelatesTo', ...(i % 2 ? [`c${i}`, 'hub'] : ['hub', `c${i}`])),
      }));
      await cairn.edges.batch({ items, atomic: true });
      const all = idsOf((await cairn.edges.list(filter)).edges);
      expect(all).toEqual([...all].sort());
      expect(all).toHaveLength(12);
      const seen: string[] = [];
      let page = await cairn.edges.list({ ...filter, limit: 5 });
      expect(page.total).toBe(12);
      for (; ; page = await cairn.edges.list({ ...filter, limit: 5, cursor: page.next_cursor! })) {
        seen.push(...idsOf(page.edges));
        if (page.next_cursor === null) break;
        const misuse = cairn.edges.list({ ...filter, entity_id: 'c1', cursor: page.next_cursor });
        expect(await refusalOf(misuse)).toMatchObject({ code: 'INVALID_CURSOR' });
      }
      expect(seen).toEqual(all);
      expect(page.total).toBeNull();
      expect(idsOf((await cairn.edges.list({ ...filter, offset: 10 })).edges)).toEqual(all.slice(10));
    },
  );

  it('EDGE-13 a key with an agent is the agent of its edges', async () => {
    const { as, freshTenant } = test();
    const cairn = await withCards(await freshTenant(), ['a', 'b']);
    const { tenant_id: tenant } = await cairn.auth.whoami();
    const ann = await as({ tenant, agent: 'ann' });
    expect((await ann.edges.create(link('Supports', 'a', 'b'))).agent_id).toBe('ann');
    const own = { ...link('Supports', 'a', 'b'), agent_id: 'ann' };
    expect((await ann.edges.create(own)).agent_id).toBe('ann');
    expect((await cairn.edges.create(own)).agent_id).toBe('ann');
    expect(await refusalOf(ann.edges.create({ ...own, agent_id: 'bob' }))).toMatchObject({
      code: 'FORBIDDEN',
      status: 403,
    });
    const edge_id = randomUUID();
    await ann.edges.create({ edge_id, ...link('Supports', 'a', 'b') });
    const bob = await as({ tenant, agent: 'bob' });
    expect(await refusalOf(bob.edges.create({ edge_id, ...link('Supports', 'a', 'b') }))).toMatchObject({
      code: 'ENTITY_ALREADY_EXISTS',
    });
  });

  it('ACCESS-5 an event about a box that an agent may not see cannot be linked by it', async () => {
    const { as, freshTenant } = test();
    const cairn = await withCards(await freshTenant(), ['a']);
    const { tenant_id: tenant } = await cairn.auth.whoami();
    await cairn.boxes.create({ agent_id: 'ann' });
    const [about] = (await cairn.packets.list({ packet_type: 'cairn.box.created' })).packets;
    const edge: EdgeInput = {
      edge_type: 'Causal',
      participants: [card('a'), { entity_type: 'Packet', entity_id: about!.packet_id }],
    };
    const [ann, bob] = [await as({ tenant, agent: 'ann' }), await as({ tenant, agent: 'bob' })];
    expect(await refusalOf(bob.edges.create(edge))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    await ann.edges.create(edge);
    await cairn.edges.create(edge);
  });

  it('ACCESS-2 tenants neither see nor link the entities and edges of each other', async () => {
    const [one, other] = [await tenantWith('a', 'b', 'only'), await tenantWith('a', 'b')];
    const { packet_id } = await one.packets.write({ packet_type: 'event', payload: {} });
    const edge_id = randomUUID();
    const sent = { edge_id, ...link('Supersedes', 'a', 'b') };
    await one.edges.create(sent);
    await one.edges.create(link('Supersedes', 'b', 'only'));
    expect(await refusalOf(other.edges.get({ edge_id }))).toMatchObject({ code: 'EDGE_NOT_FOUND' });
    expect(await refusalOf(other.edges.delete({ edge_id }))).toMatchObject({ code: 'EDGE_NOT_FOUND' });
    for (const foreign of [card('only'), { entity_type: 'Packet' as const, entity_id: packet_id }]) {
      const participants = [card('a'), foreign];
      expect(await refusalOf(other.edges.create({ edge_type: 'Supports', participants }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
      });
    }
    expect(await other.edges.list()).toMatchObject({ edges: [], total: 0 });
    expect(await other.edges.list({ entity_id: 'a' })).toMatchObject({ edges: [], total: 0 });
    expect(await other.edges.traverse(card('a'))).toEqual({ entities: [], edges: [], truncated: false });
    expect(idsOf((await other.cards.list()).cards.map(({ card_id }) => ({ edge_id: card_id })))).toEqual(['a', 'b']);
    // The same id, and the way that is taken there, are free here.
    await other.edges.create({ ...sent, participants: [card('b'), card('a')] });
    expect((await one.edges.get({ edge_id })).participants[0]).toMatchObject(card('a'));
  });

  it('CARD-15 what is superseded is not listed unless asked for, and still read by its id', async () => {
    const cairn = await tenantWith('a', 'b', 'c', 'd');
    await cairn.cards.add({ card_id: 'e', subject_ids: ['s'] });
    await cairn.cards.add({ card_id: 'f', subject_ids: ['s'] });
    const listed = async (more: NonNullable<Parameters<Api['cards']['list']>[0]> = {}) => {
      const { cards, total } = await cairn.cards.list(more);
      expect(total).toBe(cards.length);
      return cards.map(({ card_id }) => card_id).join('');
    };
    await cairn.edges.create(link('Supports', 'a', 'b'));
    expect(await listed()).toBe('abcdef');
    const { edge_id } = await cairn.edges.create(link('Supersedes', 'd', 'b', 'c'));
    await cairn.edges.create(link('Supersedes', 'a', 'e'));
    expect(await listed()).toBe('adf');
    expect(await listed({ subject_id: 's' })).toBe('f');
    expect(await listed({ include_superseded: true })).toBe('abcdef');
    expect(await listed({ include_superseded: true, subject_id: 's' })).toBe('ef');
    expect((await cairn.cards.get({ card_id: 'b' })).card_id).toBe('b');
    const { next_cursor } = await cairn.cards.list({ limit: 1 });
    expect(await refusalOf(cairn.cards.list({ include_superseded: true, cursor: next_cursor! }))).toMatchObject({
      code: 'INVALID_CURSOR',
    });
    await cairn.edges.delete({ edge_id });
    expect(await listed()).toBe('abcdf');
    // What cannot be read supersedes nothing.
    await cairn.cards.delete({ card_id: 'a' });
    expect(await listed()).toBe('bcdef');
    await cairn.cards.add({ card_id: 'g', ttl_seconds: 1 });
    await cairn.edges.create(link('Supersedes', 'g', 'f'));
    expect(await listed()).toBe('bcdeg');
    test().advance(2000);
    expect(await listed()).toBe('bcdef');
  });
});
