/** Boxes with much behind them: long chains of forks, many saves, growth after a fork. Held against a plain list. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { onEveryTarget } from '../support/targets.js';

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `c${String(i).padStart(5, '0')}`);

async function withCards(cairn: Api, count: number): Promise<string[]> {
  const ids = numbered(count);
  for (let i = 0; i < count; i += 1000) {
    const cards = ids.slice(i, i + 1000).map((card_id) => ({ card_id, content: card_id }));
    await cairn.cards.add_batch({ cards, atomic: true });
  }
  return ids;
}

/** All card ids of a box by the pages of load, which lead from its end to its start. */
async function loaded(cairn: Api, input: { box_id: string; limit: number; revision?: number }): Promise<string[]> {
  let found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await cairn.boxes.load({ ...input, ...(cursor === undefined ? {} : { cursor }) });
    found = [...page.card_ids, ...found];
    cursor = page.next_cursor;
  }
  return found;
}

/** All cards of a box, by pages, and that load says the same. */
async function held(cairn: Api, box_id: string, revision?: number, limit = 500): Promise<string[]> {
  const at = revision === undefined ? {} : { revision };
  const found: string[] = [];
  let total: number | null = null;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await cairn.boxes.cards({ box_id, limit, ...at, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.cards.map(({ card_id }) => card_id));
    total ??= page.total;
    cursor = page.next_cursor;
  }
  const box = await cairn.boxes.load({ box_id, ...at });
  expect([total, box.length, box.card_ids]).toEqual([found.length, found.length, found]);
  expect(await loaded(cairn, { box_id, limit: limit * 2, ...at })).toEqual(found);
  return found;
}

/** Numbers that look random and are the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

onEveryTarget('boxes with much behind them', (test) => {
  it('BOX-11 a long chain of forks, each with a card of its own', { timeout: 120_000 }, async () => {
    const cairn = await test().freshTenant();
    // More than the 1,000 that SQLite lets one expression have; elsewhere a shorter one shows the same sooner.
    const depth = test().target === 'sqlite' ? 1010 : 200;
    const last = `f${depth}`;
    const ids = await withCards(cairn, depth + 2);
    await cairn.boxes.create({ box_id: 'f0', card_ids: [ids[0]!] });
    for (let i = 1; i <= depth; i++) {
      await cairn.boxes.fork({ box_id: `f${i - 1}`, new_box_id: `f${i}` });
      await cairn.boxes.append({ box_id: `f${i}`, card_ids: [ids[i]!] });
    }
    expect(await cairn.boxes.append({ box_id: last, card_ids: [ids[7]!, ids[depth + 1]!] })).toMatchObject({
      length: depth + 2,
      already_present: [ids[7]],
    });
    expect(await held(cairn, last)).toEqual(ids);
    expect(await held(cairn, last, 1)).toEqual(ids.slice(0, depth));
    const page = await cairn.boxes.cards({ box_id: last, limit: 3, offset: 120 });
    expect(page.cards.map(({ card_id }) => card_id)).toEqual(ids.slice(120, 123));
    const turned = [...ids.slice(0, depth - 100), ids[depth + 1]!];
    const { revision } = await cairn.boxes.load({ box_id: last });
    const saved = await cairn.boxes.save({ box_id: last, card_ids: turned, revision: revision! });
    expect(saved).toMatchObject({ length: depth - 99 });
    expect(await held(cairn, last)).toEqual(turned);
  });

  it('BOX-10 a fork names the box that was forked, also where that one added nothing', async () => {
    const cairn = await test().freshTenant();
    const ids = await withCards(cairn, 4);
    await cairn.boxes.create({ box_id: 'x', card_ids: ids.slice(0, 2) });
    await cairn.boxes.append({ box_id: 'x', card_ids: [ids[2]!] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f', revision: 1 });
    expect(await cairn.boxes.fork({ box_id: 'f', new_box_id: 'g' })).toMatchObject({
      forked_from: { box_id: 'f', revision: 1 },
      card_ids: ids.slice(0, 2),
    });
    await cairn.boxes.append({ box_id: 'g', card_ids: ids.slice(2) });
    expect((await cairn.boxes.load({ box_id: 'g' })).forked_from).toEqual({ box_id: 'f', revision: 1 });
    expect(await held(cairn, 'g')).toEqual(ids);
    await cairn.boxes.create({ box_id: 'empty' });
    expect(await cairn.boxes.fork({ box_id: 'empty', new_box_id: 'e' })).toMatchObject({
      forked_from: { box_id: 'empty', revision: 1 },
      length: 0,
    });
    await cairn.boxes.append({ box_id: 'e', card_ids: [ids[3]!] });
    expect([await held(cairn, 'e'), await held(cairn, 'empty')]).toEqual([[ids[3]], []]);
  });

  it.each<[string, number]>([
    ['', 0],
    [' behind cards that stay', 3],
  ])('BOX-8, BOX-7 a window that slides through 300 saves%s', { timeout: 120_000 }, async (_, fixed) => {
    const cairn = await test().freshTenant();
    const ids = await withCards(cairn, 330);
    const windowAt = (i: number) => [...ids.slice(0, fixed), ...ids.slice(fixed + i, fixed + i + 20)];
    for (let i = 0; i < 300; i++) {
      expect(await cairn.boxes.save({ box_id: 'w', card_ids: windowAt(i), revision: i })).toMatchObject({
        revision: i + 1,
        card_ids: windowAt(i),
      });
    }
    expect(await held(cairn, 'w')).toEqual(windowAt(299));
    for (const revision of [1, 2, 57, 150, 299, 300]) {
      expect(await held(cairn, 'w', revision, 7)).toEqual(windowAt(revision - 1));
      const { box_id } = await cairn.boxes.fork({ box_id: 'w', revision });
      await cairn.boxes.append({ box_id, card_ids: [ids[revision]!, ids[329]!] });
      const expected = [...new Set([...windowAt(revision - 1), ids[revision]!, ids[329]!])];
      expect(await held(cairn, box_id)).toEqual(expected);
    }
    const again = await cairn.boxes.save({ box_id: 'w', card_ids: windowAt(299), revision: 300 });
    expect(again).toMatchObject({ revision: 300 });
  });

  it('BOX-10 forks of earlier revisions of a box that grew later', async () => {
    const cairn = await test().freshTenant();
    const ids = await withCards(cairn, 200);
    await cairn.boxes.create({ box_id: 'x', card_ids: ids.slice(0, 1) });
    for (let i = 1; i < 100; i++) await cairn.boxes.append({ box_id: 'x', card_ids: [ids[i]!] });
    const expected = new Map<string, string[]>();
    for (const revision of [1, 2, 37, 64, 99, 100]) {
      const { box_id } = await cairn.boxes.fork({ box_id: 'x', revision });
      expected.set(box_id, ids.slice(0, revision));
      await cairn.boxes.append({ box_id, card_ids: [ids[0]!, ids[120]!] });
      const { box_id: second } = await cairn.boxes.fork({ box_id });
      expected.set(second, [...ids.slice(0, revision), ids[120]!]);
      expected.set(box_id, [...ids.slice(0, revision), ids[120]!]);
    }
    await cairn.boxes.append({ box_id: 'x', card_ids: ids.slice(100) });
    await cairn.boxes.save({ box_id: 'x', card_ids: ids.slice(50, 60), revision: 101 });
    for (const [box_id, cards] of expected) expect(await held(cairn, box_id, undefined, 13)).toEqual(cards);
    expect(await held(cairn, 'x', 101)).toEqual(ids);
  });

  it.each([1, 2, 3, 4])('BOX-7, BOX-8, BOX-11 any course of changes reads as plain lists do (%i)', async (seed) => {
    const cairn = await test().freshTenant();
    const ids = await withCards(cairn, 12);
    const pick = seeded(seed);
    const some = () => ids.filter(() => pick(3) === 0).sort(() => pick(3) - 1);
    const boxes = new Map<string, string[][]>([['b0', [[]]]]);
    await cairn.boxes.create({ box_id: 'b0' });
    for (let i = 1; i <= 120; i++) {
      const box_id = [...boxes.keys()][pick(boxes.size)]!;
      const revisions = boxes.get(box_id)!;
      const now = revisions.at(-1)!;
      const step = pick(10);
      if (step < 4) {
        const added = [ids[pick(12)]!, ...some().slice(0, 2)];
        await cairn.boxes.append({ box_id, card_ids: added });
        const grown = [...new Set([...now, ...added])];
        if (grown.length > now.length) revisions.push(grown);
      } else if (step < 7) {
        const saved = [...new Set([...now.slice(0, pick(now.length + 2)), ...some().slice(0, pick(5))])];
        await cairn.boxes.save({ box_id, card_ids: saved, revision: revisions.length });
        if (saved.join() !== now.join()) revisions.push(saved);
      } else if (boxes.size < 25) {
        const revision = 1 + pick(revisions.length);
        await cairn.boxes.fork({ box_id, new_box_id: `b${i}`, revision });
        boxes.set(`b${i}`, [revisions[revision - 1]!]);
      }
    }
    for (const [box_id, revisions] of boxes) {
      const reads = revisions.map(async (cards, i) => {
        const offset = pick(cards.length + 1);
        expect(await held(cairn, box_id, i + 1, 3)).toEqual(cards);
        const page = await cairn.boxes.cards({ box_id, revision: i + 1, offset, limit: 2 });
        expect(page.cards.map(({ card_id }) => card_id)).toEqual(cards.slice(offset, offset + 2));
      });
      await Promise.all(reads);
      expect(await held(cairn, box_id, undefined, 2)).toEqual(revisions.at(-1));
    }
  });

  it('BOX-11 all of them are sound to the doctor', async () => {
    expect(await illnesses(test().store.driver.location)).toEqual([]);
  });
});
