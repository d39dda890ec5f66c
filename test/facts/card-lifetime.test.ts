import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { followToNow, inFuture, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const MINUTE = 60_000;
const erased = { code: 'CONTENT_ERASED', status: 410 };
const gone = { code: 'ENTITY_GONE', status: 410 };

const addExpiring = async (cairn: Api, ...ids: string[]) => {
  for (const card_id of ids) await cairn.cards.add({ card_id, content: card_id, ttl_seconds: 60, subject_ids: ['s'] });
};

/** What a box shows of its cards, and which it misses. */
const shown = async (cairn: Api, box_id: string) => {
  const { cards, missing_card_ids } = await cairn.boxes.cards({ box_id });
  return [cards.map(({ content }) => content).join(''), missing_card_ids.join('')];
};

onEveryTarget('lifetime', (test) => {
  it('LIFE-1 ttl_seconds and expires_at say when a card expires', async () => {
    const cairn = await test().freshTenant();
    const by = await cairn.cards.add({ ttl_seconds: 90 });
    expect(Date.parse(by.expires_at!) - Date.parse(by.created_at)).toBe(90_000);
    expect(by.ttl_seconds).toBe(90);
    const at = await cairn.cards.add({ expires_at: '2099-01-01T01:00:00+01:00' });
    expect([at.expires_at, at.ttl_seconds]).toEqual(['2099-01-01T00:00:00.000Z', null]);
    const never = await cairn.cards.add({ ttl_seconds: null });
    expect([never.expires_at, never.ttl_seconds]).toEqual([null, null]);
    test().advance(400 * 24 * 60 * MINUTE);
    expect(await cairn.cards.get({ card_id: never.card_id })).toEqual(never);
  });

  it.each<[string, object]>([
    ['both', { ttl_seconds: 5, expires_at: '2099-01-01T00:00:00Z' }],
    ['a moment in the past', { expires_at: '2020-01-01T00:00:00Z' }],
    ['no time at all', { ttl_seconds: 0 }],
    ['a negative time', { ttl_seconds: -1 }],
    ['half a second', { ttl_seconds: 0.5 }],
  ])('LIFE-1 %s is refused', async (_, lifetime) => {
    const cairn = await test().freshTenant();
    expect(await refusalOf(cairn.cards.add({ content: 'x', ...lifetime }))).toMatchObject({
      code: 'INVALID_INPUT',
      status: 400,
    });
    expect((await cairn.cards.list()).total).toBe(0);
  });

  it('LIFE-2 an expired card is gone from every read at once', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'stays', content: 'stays', subject_ids: ['s'] });
    await cairn.cards.add({ card_id: 'at', content: 'at', expires_at: inFuture(test(), MINUTE), subject_ids: ['s'] });
    await addExpiring(cairn, 'by');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['at', 'stays', 'by'] });
    test().advance(MINUTE / 2);
    expect(await shown(cairn, 'x')).toEqual(['atstaysby', '']);
    test().advance(MINUTE / 2 + 1000);
    for (const card_id of ['at', 'by']) {
      expect(await refusalOf(cairn.cards.get({ card_id }))).toMatchObject({
        ...erased,
        details: { card_ids: [card_id] },
      });
      const unknown = { code: 'UNKNOWN_CARD', details: { missing_card_ids: [card_id] } };
      expect(await refusalOf(cairn.boxes.create({ card_ids: [card_id] }))).toMatchObject(unknown);
      expect(await refusalOf(cairn.cards.add({ derived_from: [card_id] }))).toMatchObject(unknown);
    }
    const batch = await cairn.cards.get_batch({ card_ids: ['by', 'stays', 'at'] });
    expect([batch.cards.length, batch.missing_ids]).toEqual([1, ['by', 'at']]);
    for (const filter of [{}, { subject_id: 's' }]) {
      const { cards, total } = await cairn.cards.list(filter);
      expect([cards.map(({ card_id }) => card_id), total]).toEqual([['stays'], 1]);
    }
    expect(await shown(cairn, 'x')).toEqual(['stays', 'atby']);
    const hydrated = await cairn.boxes.load_batch({ box_ids: ['x'], hydrate: true });
    expect(hydrated.missing_card_ids).toEqual(['at', 'by']);
    expect(hydrated.boxes[0]).toMatchObject({ length: 3, cards: [{ card_id: 'stays' }] });
  });

  it.each(['before', 'after'])('LIFE-3 what is left of an expired packet, %s the sweep', async (when) => {
    const cairn = await test().freshTenant();
    const thread_id = randomUUID();
    const filters = { tags: ['t'], metadata: { agent: 'a' }, routing: { q: 'r' }, subject_ids: ['s'] };
    const write = async (more: object) =>
      (await cairn.packets.write({ packet_type: 'p', payload: { secret: 1 }, thread_id, ...filters, ...more }))
        .packet_id;
    const before = await latestToken(cairn);
    const root = await write({});
    const parent = await write({ lineage: { parent_ids: [root] }, ttl: inFuture(test(), MINUTE) });
    const child = await write({ lineage: { parent_ids: [parent] } });
    test().advance(2 * MINUTE);
    if (when === 'after') expect(await cairn.lifetime.sweep()).toMatchObject({ packets_erased: 1 });
    const { get, original } = cairn.packets;
    for (const read of [get, original]) {
      expect(await refusalOf(read({ packet_id: parent }))).toMatchObject({
        ...erased,
        details: { packet_ids: [parent] },
      });
    }
    for (const filter of [
      { packet_type: 'p' },
      { tag: 't' },
      { agent: 'a' },
      { routing: 'q:r' },
      { subject_id: 's' },
    ]) {
      const { packets, total } = await cairn.packets.list({ ...filter, order: 'asc' });
      expect([packets.map(({ packet_id }) => packet_id), total]).toEqual([[root, child], 2]);
    }
    const thread = await cairn.packets.thread({ thread_id });
    expect(thread.packets.map(({ packet_id }) => packet_id)).toEqual([root, child]);
    const remains = {
      packet_id: parent,
      erased: true,
      lineage: { parent_ids: [root], generation: 1, root_packet_id: root },
    };
    const up = await cairn.packets.lineage({ packet_id: child });
    const down = await cairn.packets.lineage({ packet_id: root, direction: 'descendants' });
    const stream = (await followToNow(cairn, before)).slice(0, 3);
    expect(up.packets.map(({ packet_id, depth }) => [packet_id, depth])).toEqual([
      [parent, 1],
      [root, 2],
    ]);
    expect(stream.map(({ packet_id }) => packet_id)).toEqual([root, parent, child]);
    for (const packet of [up.packets[0], down.packets[0], stream[1]]) {
      expect(packet).toMatchObject(remains);
      expect(JSON.stringify(packet)).not.toMatch(/secret|payload|metadata|"tags"|routing|subject_ids/);
    }
    const beyond = await cairn.packets.lineage({ packet_id: parent, direction: 'descendants' });
    expect(beyond.packets.map(({ packet_id }) => packet_id)).toEqual([child]);
    const late = await write({ lineage: { parent_ids: [parent] } });
    expect((await get({ packet_id: late })).lineage).toMatchObject({ generation: 2, root_packet_id: root });
    expect((await cairn.packets.list({ parent_id: parent })).total).toBe(2);
    // It no longer says whom it was about.
    const plain = await write({ subject_ids: [], lineage: { parent_ids: [parent] } });
    expect((await get({ packet_id: plain })).subject_ids ?? []).toEqual([]);
  });

  it('LIFE-4 a sweep erases what has expired, says so, and appends one event per batch', async () => {
    const cairn = await test().freshTenant();
    const ids = Array.from({ length: 230 }, (_, i) => `c${i}`);
    await cairn.cards.add_batch({
      cards: ids.map((card_id) => ({ card_id, content: card_id, ttl_seconds: 60 })),
      atomic: true,
    });
    await cairn.cards.add({ card_id: 'stays' });
    await cairn.packets.write_batch({
      packets: [1, 2].map(() => ({ packet_type: 'p', payload: {}, ttl: inFuture(test(), MINUTE) })),
    });
    const early = await latestToken(cairn);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 0, packets_erased: 0, cards_kept: 0 });
    expect(await latestToken(cairn)).toBe(early);
    test().advance(2 * MINUTE);
    const swept = await cairn.lifetime.sweep();
    expect(swept).toMatchObject({ cards_erased: 230, packets_erased: 2, requests_forgotten: 0, cards_kept: 0 });
    const late = await latestToken(cairn);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 0, packets_erased: 0 });
    expect(await latestToken(cairn)).toBe(late);
    const events = await followToNow(cairn, early);
    expect(events.map(({ packet_type }) => packet_type)).toEqual(events.map(() => 'cairn.lifetime.swept'));
    const counts = events.map(
      ({ payload }) => [Number(payload!.cards_erased), Number(payload!.packets_erased)] as const,
    );
    expect(counts.at(-1)).toEqual([0, 2]);
    // As many as fit the time, the first of 20.
    const sizes = counts.slice(0, -1).map(([cards, packets]) => cards + packets);
    expect(sizes[0]).toBe(20);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(230);
    for (const [i, size] of sizes.entries()) expect(size).toBeLessThanOrEqual(i === 0 ? 20 : 2 * sizes[i - 1]!);
    expect(await refusalOf(cairn.cards.get({ card_id: 'c0' }))).toMatchObject(erased);
    expect((await cairn.cards.list()).total).toBe(1);
  });

  it('LIFE-5 the hash of what was erased becomes a keyed one', async () => {
    const cairn = await test().freshTenant();
    const parent = await cairn.packets.write({ packet_type: 'p', payload: { n: 1 }, ttl: inFuture(test(), MINUTE) });
    const child = await cairn.packets.write({
      packet_type: 'p',
      payload: {},
      lineage: { parent_ids: [parent.packet_id] },
    });
    const { content_hash } = await cairn.packets.get({ packet_id: parent.packet_id });
    test().advance(2 * MINUTE);
    await cairn.lifetime.sweep();
    const [left] = (await cairn.packets.lineage({ packet_id: child.packet_id })).packets;
    expect(left!.content_hash).toMatch(/^keyed:[0-9a-f]{64}$/);
    expect(left!.content_hash).not.toContain(content_hash);
  });

  it('LIFE-5 the event of a card tells nothing of its content', async () => {
    const cairn = await test().freshTenant();
    const card = await cairn.cards.add({ content: 'yes', ttl_seconds: 60 });
    const [added] = (await cairn.packets.list({ packet_type: 'cairn.card.added' })).packets;
    expect(added!.payload!.content_hash).toMatch(/^keyed:[0-9a-f]{64}$/);
    expect(JSON.stringify(added)).not.toContain(card.content_hash);
  });

  it('LIFE-6 a sealed box keeps what expires or is deleted after its sealing', async () => {
    const cairn = await test().freshTenant();
    await addExpiring(cairn, 'a', 'b', 'c');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b'] });
    await cairn.boxes.create({ box_id: 'open', card_ids: ['a', 'b', 'c'] });
    await cairn.boxes.seal({ box_id: 'x' });
    await cairn.cards.delete({ card_id: 'b' });
    test().advance(2 * MINUTE);
    expect(await shown(cairn, 'x')).toEqual(['ab', '']);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 1, cards_kept: 2 });
    // What was found pinned is noted, and not examined again.
    const before = await latestToken(cairn);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 0, cards_kept: 0 });
    expect(await latestToken(cairn)).toBe(before);
    expect(await shown(cairn, 'x')).toEqual(['ab', '']);
    expect(await shown(cairn, 'open')).toEqual(['', 'abc']);
    expect(await refusalOf(cairn.cards.get({ card_id: 'a' }))).toMatchObject(erased);
    expect(await refusalOf(cairn.cards.get({ card_id: 'b' }))).toMatchObject({ code: 'CARD_NOT_FOUND' });
    expect((await cairn.cards.list({ subject_id: 's' })).total).toBe(0);
    const { boxes } = await cairn.boxes.load_batch({ box_ids: ['x'], hydrate: true });
    expect(boxes[0]!.cards).toMatchObject([{ content: 'a', subject_ids: ['s'] }, { content: 'b' }]);
  });

  it('LIFE-7 a sealed box does not keep what was gone, or was taken out, before', async () => {
    const cairn = await test().freshTenant();
    await addExpiring(cairn, 'a', 'b');
    await cairn.cards.add({ card_id: 'c', content: 'c', ttl_seconds: 600 });
    await cairn.cards.add({ card_id: 'd', content: 'd', ttl_seconds: 600 });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b', 'c', 'd'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['a', 'b', 'c'], revision: 1 });
    test().advance(2 * MINUTE);
    await cairn.boxes.seal({ box_id: 'x' });
    expect(await shown(cairn, 'x')).toEqual(['c', 'ab']);
    test().advance(20 * MINUTE);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 3, cards_kept: 1 });
    expect(await shown(cairn, 'x')).toEqual(['c', 'ab']);
    const before = await cairn.boxes.cards({ box_id: 'x', revision: 1 });
    expect([before.cards.length, before.missing_card_ids]).toEqual([1, ['a', 'b', 'd']]);
  });

  it('LIFE-8 a sealed fork keeps what it has from its base, through any number of forks', async () => {
    const cairn = await test().freshTenant();
    await addExpiring(cairn, 'a', 'b', 'c', 'd', 'e');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b'] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    await cairn.boxes.append({ box_id: 'f', card_ids: ['c'] });
    await cairn.boxes.fork({ box_id: 'f', new_box_id: 'g' });
    await cairn.boxes.append({ box_id: 'x', card_ids: ['d'] });
    await cairn.boxes.append({ box_id: 'f', card_ids: ['e'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: [], revision: 2 });
    await cairn.boxes.seal({ box_id: 'g' });
    test().advance(2 * MINUTE);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 2, cards_kept: 3 });
    expect(await shown(cairn, 'g')).toEqual(['abc', '']);
    expect(await shown(cairn, 'f')).toEqual(['', 'abce']);
  });

  it('LIFE-8 a sealed fork that cut off its base does not keep what it cut', async () => {
    const cairn = await test().freshTenant();
    await addExpiring(cairn, 'a', 'b', 'c');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b'] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    await cairn.boxes.save({ box_id: 'f', card_ids: ['b', 'c'], revision: 1 });
    await cairn.boxes.seal({ box_id: 'f' });
    test().advance(2 * MINUTE);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 1, cards_kept: 2 });
    expect(await shown(cairn, 'f')).toEqual(['bc', '']);
    expect(await shown(cairn, 'x')).toEqual(['', 'ab']);
  });

  it('LIFE-9 the id of what is gone is never used again', async () => {
    const cairn = await test().freshTenant();
    const packet = { packet_id: randomUUID(), packet_type: 'p', payload: {}, ttl: inFuture(test(), MINUTE) };
    await addExpiring(cairn, 'a');
    await cairn.packets.write(packet);
    test().advance(2 * MINUTE);
    const again = async () => [
      await refusalOf(cairn.cards.add({ card_id: 'a', content: 'new' })),
      await refusalOf(addExpiring(cairn, 'a')),
      await refusalOf(cairn.packets.write(packet)),
      await refusalOf(cairn.packets.write({ packet_id: packet.packet_id, packet_type: 'p', payload: {} })),
    ];
    for (const refusal of await again()) expect(refusal).toMatchObject(gone);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 1, packets_erased: 1 });
    for (const refusal of await again()) expect(refusal).toMatchObject(gone);
  });

  it('LIFE-10 stats count what is there, waits and was erased', async () => {
    const cairn = await test().freshTenant();
    const start = (await cairn.lifetime.stats()).packets.total;
    await addExpiring(cairn, 'a', 'b');
    await cairn.cards.add({ card_id: 'c' });
    await cairn.cards.delete({ card_id: 'c' });
    await cairn.packets.write({ packet_type: 'p', payload: {}, ttl: inFuture(test(), MINUTE) });
    const cards = { total: 3, deleted: 1, expired: 0, erased: 0 };
    const packets = { total: start + 5, expired: 0, erased: 0 };
    expect(await cairn.lifetime.stats()).toEqual({ cards, packets });
    test().advance(2 * MINUTE);
    expect(await cairn.lifetime.stats()).toEqual({
      cards: { ...cards, expired: 2 },
      packets: { ...packets, expired: 1 },
    });
    await cairn.lifetime.sweep();
    expect(await cairn.lifetime.stats()).toEqual({
      cards: { ...cards, erased: 2 },
      // One event for the batch of cards and one for that of packets.
      packets: { total: start + 7, expired: 0, erased: 1 },
    });
  });
});
