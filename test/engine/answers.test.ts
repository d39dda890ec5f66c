/** Answers are bounded by bytes. The budget is 10,000 here, and most items weigh a bit over 1,000. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const KILO = 'x'.repeat(1000);
const MINUTE = 60_000;
const tooLarge = { code: 'TOO_LARGE', status: 413, details: { limit: 10_000 } };
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `n${String(i).padStart(2, '0')}`);

async function addCards(cairn: Api, ids: readonly string[], text = KILO): Promise<void> {
  const cards = ids.map((card_id) => ({ card_id, content: { text, card_id }, subject_ids: ['s'] }));
  await cairn.cards.add_batch({ cards, atomic: true });
}

interface Page {
  readonly names: unknown[];
  readonly next_cursor: string | null;
  readonly total: number | null;
}
type Asked = { cursor?: string; offset?: number; limit?: number };

const THREAD = randomUUID();
const lists: readonly [string, (cairn: Api, asked: Asked) => Promise<Page>][] = [
  [
    'cards.list',
    async (cairn, asked) => {
      const { cards, ...page } = await cairn.cards.list({ subject_id: 's', ...asked });
      return { names: cards.map(({ card_id }) => card_id), ...page };
    },
  ],
  [
    'packets.list',
    async (cairn, asked) => {
      const { packets, ...page } = await cairn.packets.list({ packet_type: 'p', order: 'asc', ...asked });
      return { names: packets.map(({ payload }) => payload?.name), ...page };
    },
  ],
  [
    'packets.thread',
    async (cairn, asked) => {
      const { packets, ...page } = await cairn.packets.thread({ thread_id: THREAD, ...asked });
      return { names: packets.map(({ payload }) => payload?.name), ...page };
    },
  ],
];

onEveryTarget(
  'answers',
  (test) => {
    it.each(lists)('LIST-7 a page of %s ends early when it has enough bytes', async (_, list) => {
      const cairn = await test().freshTenant();
      const ids = numbered(60);
      // Small ones first, so that more is read at a time when the large ones come.
      await addCards(cairn, ids.slice(0, 40), '');
      await addCards(cairn, ids.slice(40));
      const packets = ids.map((name, i) => ({
        packet_type: 'p',
        thread_id: THREAD,
        payload: { name, text: i < 40 ? '' : KILO },
        metadata: {},
      }));
      await cairn.packets.write_batch({ packets });
      const seen: unknown[] = [];
      const sizes: number[] = [];
      const totals: unknown[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Page = await list(cairn, { limit: 500, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.names);
        sizes.push(page.names.length);
        totals.push(page.total);
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(ids);
      expect(sizes.length).toBeGreaterThan(2);
      expect(sizes.every((size) => size > 0)).toBe(true);
      expect(totals).toEqual([60, ...sizes.slice(1).map(() => null)]);
      const skipped = await list(cairn, { offset: 45, limit: 500 });
      expect(skipped.total).toBe(60);
      expect(skipped.names).toEqual(ids.slice(45, 45 + skipped.names.length));
      const rest = await list(cairn, { cursor: skipped.next_cursor!, limit: 500 });
      expect([...skipped.names, ...rest.names]).toEqual(ids.slice(45, 45 + skipped.names.length + rest.names.length));
      // A limit that ends in the middle of a chunk, and an offset before several chunks.
      expect(await list(cairn, { offset: 3, limit: 20 })).toMatchObject({ names: ids.slice(3, 23) });
    });

    it('LIST-7 a page has one item at least, however large', async () => {
      const cairn = await test().freshTenant();
      await addCards(cairn, ['a', 'b'], KILO.repeat(12));
      const first = await cairn.cards.list();
      expect(first.cards.map(({ card_id }) => card_id)).toEqual(['a']);
      const second = await cairn.cards.list({ cursor: first.next_cursor! });
      expect(second.cards.map(({ card_id }) => card_id)).toEqual(['b']);
      expect(second.next_cursor).toBeNull();
    });

    it('PACKET-14 lineage ends when it has enough bytes, and says so', async () => {
      const cairn = await test().freshTenant();
      const ids = Array.from({ length: 41 }, () => randomUUID());
      const [root, ...children] = ids;
      const packet = (packet_id: string, text: string, ...parent_ids: string[]) => ({
        packet_id,
        packet_type: 'p',
        payload: { text },
        lineage: { parent_ids },
      });
      const last = randomUUID();
      await cairn.packets.write_batch({
        packets: [
          packet(root!, KILO),
          ...children.map((id) => packet(id, KILO, root!)),
          packet(last, '', ...children.slice(0, 5)),
        ],
      });
      const down = await cairn.packets.lineage({ packet_id: root!, direction: 'descendants' });
      expect(down.truncated).toBe(true);
      expect(down.packets.length).toBeGreaterThan(4);
      expect(down.packets.length).toBeLessThan(10);
      expect(down.packets.map(({ packet_id }) => packet_id)).toEqual(children.slice(0, down.packets.length));
      const up = await cairn.packets.lineage({ packet_id: last });
      expect(up.packets.map(({ packet_id, depth }) => [packet_id, depth])).toEqual([
        ...children.slice(0, 5).map((id) => [id, 1]),
        [root, 2],
      ]);
      expect(up.truncated).toBe(false);
    });

    it('CARD-12 get_batch refuses an answer that is too large', async () => {
      const cairn = await test().freshTenant();
      const ids = numbered(30);
      await addCards(cairn, ids);
      const refusal = await refusalOf(cairn.cards.get_batch({ card_ids: ids }));
      expect(refusal).toMatchObject(tooLarge);
      expect(refusal.message).toBe('the answer would exceed 10000 bytes: ask for fewer cards');
      // What is gone weighs nothing, and what is named twice is answered once.
      for (const card_id of ids.slice(5)) await cairn.cards.delete({ card_id });
      const { cards, missing_ids } = await cairn.cards.get_batch({ card_ids: [...ids, ...ids] });
      expect(cards.map(({ card_id }) => card_id)).toEqual(ids.slice(0, 5));
      expect(missing_ids).toEqual(ids.slice(5));
    });

    it('BOX-15 cards refuses an answer that is too large, and gives a smaller one', async () => {
      const cairn = await test().freshTenant();
      const card_ids = numbered(30);
      await addCards(cairn, card_ids);
      await cairn.boxes.create({ box_id: 'x', card_ids });
      expect(await refusalOf(cairn.boxes.cards({ box_id: 'x' }))).toMatchObject(tooLarge);
      expect(await refusalOf(cairn.boxes.cards({ box_id: 'x', tail: 20 }))).toMatchObject(tooLarge);
      const { cards } = await cairn.boxes.cards({ box_id: 'x', tail: 5 });
      expect(cards.map(({ card_id }) => card_id)).toEqual(card_ids.slice(-5));
      expect((await cairn.boxes.cards({ box_id: 'x', limit: 5 })).cards).toHaveLength(5);
    });

    it('BOX-16 load_batch counts a card as often as it is shown', async () => {
      const cairn = await test().freshTenant();
      const card_ids = numbered(3);
      await addCards(cairn, card_ids);
      await cairn.cards.add({ card_id: 'short', content: KILO, ttl_seconds: 60 });
      const box_ids = ['x', 'y', 'z'];
      for (const box_id of box_ids) await cairn.boxes.create({ box_id, card_ids: [...card_ids, 'short'] });
      await cairn.boxes.seal({ box_id: 'y' });
      const load = (ids: string[]) => cairn.boxes.load_batch({ box_ids: ids, hydrate: true });
      expect((await load(['x', 'y'])).boxes.map(({ cards }) => cards!.length)).toEqual([4, 4]);
      expect(await refusalOf(load(box_ids))).toMatchObject(tooLarge);
      expect((await cairn.boxes.load_batch({ box_ids })).boxes).toHaveLength(3);
      test().advance(2 * MINUTE);
      for (const card_id of card_ids.slice(1)) await cairn.cards.delete({ card_id });
      const { boxes, missing_card_ids } = await load(box_ids);
      expect(boxes.map(({ cards }) => cards!.length)).toEqual([1, 4, 1]);
      expect(missing_card_ids.sort()).toEqual([...card_ids.slice(1), 'short']);
    });
  },
  { limits: { max_answer_bytes: 10_000 } },
);
