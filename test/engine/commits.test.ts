/** How writes commit: gapless numbers, whole or nothing, and what happens when callers race. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { followToNow, latestSeq, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

/** Each outcome as its value or the code it was refused with. */
const settle = async <T>(calls: Promise<T>[]): Promise<{ done: T[]; codes: string[] }> => {
  const done: T[] = [];
  const codes: string[] = [];
  for (const one of await Promise.allSettled(calls)) {
    if (one.status === 'fulfilled') done.push(one.value);
    else codes.push((one.reason as { code: string }).code);
  }
  return { done, codes };
};

const addCards = (cairn: Api, ids: readonly string[]) =>
  cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id })), atomic: true });

onEveryTarget('commits', (test) => {
  it('TX-1 seq has no gap under concurrent writers and refusals, and recorded_at rises with it', async () => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    await cairn.boxes.create({ box_id: 'x' });
    const { codes } = await settle(
      Array.from({ length: 120 }, (_, i): Promise<unknown> => {
        if (i % 4 === 0) return cairn.cards.add({ card_id: `c${i % 16}`, content: i });
        if (i % 4 === 1) return cairn.packets.write({ packet_type: 'p', payload: { i } });
        if (i % 4 === 2) return cairn.boxes.append({ box_id: 'x', card_ids: ['none'] });
        return cairn.packets.write_batch({ packets: [1, 2].map((n) => ({ packet_type: 'b', payload: { n } })) });
      }),
    );
    expect(codes.length).toBeGreaterThanOrEqual(30 + 26);
    const packets = await followToNow(cairn, before);
    const first = packets[0]!.seq;
    expect(packets.map(({ seq }) => seq)).toEqual(packets.map((_, i) => first + i));
    expect(first).toBe(Number(before.split('.')[1]) + 1);
    const recorded = packets.map(({ recorded_at }) => recorded_at);
    expect(recorded).toEqual([...recorded].sort());
    expect(packets.filter(({ packet_type }) => packet_type === 'b')).toHaveLength(60);
    // Those of one batch stand together.
    const steps = packets.filter(({ packet_type }) => packet_type === 'b').map(({ payload }) => payload?.n);
    expect(steps).toEqual(steps.map((_, i) => 1 + (i % 2)));
  });

  it('TX-2 a request that is refused late leaves nothing behind', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, ['a']);
    const [before, packet_id] = [await latestToken(cairn), randomUUID()];
    const late = [
      cairn.boxes.save({ box_id: 'new', card_ids: ['a', 'none'], revision: 0 }),
      cairn.boxes.save({ box_id: 'new', card_ids: ['a'], revision: 7 }),
      cairn.boxes.create({ box_id: 'new', card_ids: ['a', 'none'] }),
      cairn.cards.add_batch({ cards: [{ card_id: 'b' }, { derived_from: ['none'] }], atomic: true }),
      cairn.packets.write_batch({
        packets: [
          { packet_id, packet_type: 'p', payload: {}, tags: ['t'] },
          { packet_type: 'p', payload: {}, lineage: { parent_ids: [randomUUID()] } },
        ],
      }),
    ];
    const { done } = await settle<unknown>(late);
    expect(done).toEqual([]);
    expect(await latestToken(cairn)).toBe(before);
    expect(await refusalOf(cairn.boxes.load({ box_id: 'new' }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
    expect((await cairn.cards.list()).total).toBe(1);
    expect(await refusalOf(cairn.packets.get({ packet_id }))).toMatchObject({ code: 'PACKET_NOT_FOUND' });
    expect((await cairn.packets.list({ tag: 't' })).total).toBe(0);
    // The ids that were refused are still free.
    await cairn.boxes.create({ box_id: 'new', card_ids: ['a'] });
    await cairn.cards.add({ card_id: 'b', content: 'other' });
  });

  it('TX-3 what was acknowledged is seen by every later read of every caller', async () => {
    const { as, freshTenant } = test();
    const writer = await freshTenant();
    const { tenant_id: tenant } = await writer.auth.whoami();
    const reader = await as({ tenant, role: 'read' });
    await writer.boxes.create({ box_id: 'x' });
    for (let i = 0; i < 20; i++) {
      const { card_id } = await writer.cards.add({ content: i });
      expect(await reader.cards.get({ card_id })).toMatchObject({ content: i });
      await writer.boxes.append({ box_id: 'x', card_ids: [card_id] });
      expect(await reader.boxes.load({ box_id: 'x', limit: 1 })).toMatchObject({ length: i + 1, card_ids: [card_id] });
      if (i % 2 === 0) continue;
      await writer.cards.delete({ card_id });
      expect((await reader.cards.get_batch({ card_ids: [card_id] })).missing_ids).toEqual([card_id]);
      expect((await reader.cards.list()).total).toBe((i + 1) / 2);
    }
  });

  it('TX-4 callers that race for one id with the same body all get the one', async () => {
    const cairn = await test().freshTenant();
    const before = await latestSeq(cairn);
    const packet_id = randomUUID();
    const cards = await times(15, () => cairn.cards.add({ card_id: 'a', content: 'x' }));
    const boxes = await times(15, () => cairn.boxes.create({ box_id: 'x', card_ids: ['a'] }));
    const packets = await times(15, () => cairn.packets.write({ packet_id, packet_type: 'p', payload: {} }));
    expect(cards).toEqual(cards.map(() => cards[0]));
    expect(boxes).toEqual(boxes.map(() => boxes[0]));
    expect(packets.filter(({ written_tables }) => written_tables.length > 0)).toHaveLength(1);
    expect(await latestSeq(cairn)).toBe(before + 3);
  });

  it('TX-4 callers that race for one id with different bodies: one wins, the others are refused', async () => {
    const cairn = await test().freshTenant();
    const before = await latestSeq(cairn);
    const { done, codes } = await settle(
      Array.from({ length: 15 }, (_, i) => cairn.cards.add({ card_id: 'a', content: i })),
    );
    expect(done).toEqual([await cairn.cards.get({ card_id: 'a' })]);
    expect(codes).toEqual(Array(14).fill('ENTITY_ALREADY_EXISTS'));
    expect(await latestSeq(cairn)).toBe(before + 1);
  });

  it('TX-5 concurrent appends to one box all land, each once and at a revision of its own', async () => {
    const cairn = await test().freshTenant();
    const ids = Array.from({ length: 40 }, (_, i) => `c${i}`);
    await addCards(cairn, ids);
    await cairn.boxes.create({ box_id: 'x' });
    const answers = await times(80, (i) => cairn.boxes.append({ box_id: 'x', card_ids: [ids[i % 40]!] }));
    const appended = answers.filter((answer) => answer.appended.length > 0);
    expect(appended).toHaveLength(40);
    expect(appended.map(({ revision }) => revision).sort((a, b) => a - b)).toEqual(ids.map((_, i) => i + 2));
    const box = await cairn.boxes.load({ box_id: 'x' });
    expect([...box.card_ids].sort()).toEqual([...ids].sort());
    expect(box).toMatchObject({ length: 40, revision: 41 });
    for (const { revision, appended: added } of appended) expect(box.card_ids[revision - 2]).toBe(added[0]);
  });

  it('TX-6 of concurrent saves at one revision one wins', async () => {
    const cairn = await test().freshTenant();
    const ids = Array.from({ length: 12 }, (_, i) => `c${i}`);
    await addCards(cairn, ids);
    for (const revision of [0, 1, 2]) {
      const { done, codes } = await settle(
        ids.map((card_id) => cairn.boxes.save({ box_id: 'x', card_ids: [card_id, ids[revision]!], revision })),
      );
      expect(codes).toEqual(Array(11).fill('CONCURRENT_MODIFICATION'));
      expect(done).toEqual([await cairn.boxes.load({ box_id: 'x' })]);
      expect(done[0]!.revision).toBe(revision + 1);
    }
  });
});
