/** Boxes over time: revisions, save, forks, seals, grants. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

async function withCards(cairn: Api): Promise<Api> {
  const cards = [...'abcdefgh'].map((card_id) => ({ card_id, content: card_id }));
  await cairn.cards.add_batch({ cards, atomic: true });
  return cairn;
}

/** What a box holds, as one word. */
async function held(cairn: Api, box_id: string, revision?: number): Promise<string> {
  const at = revision === undefined ? {} : { revision };
  const box = await cairn.boxes.load({ box_id, ...at });
  const { cards, total } = await cairn.boxes.cards({ box_id, ...at });
  expect(cards.map(({ card_id }) => card_id)).toEqual(box.card_ids);
  expect([box.length, total]).toEqual([box.card_ids.length, box.card_ids.length]);
  return box.card_ids.join('');
}

onEveryTarget('boxes over time', (test) => {
  it('BOX-7 every earlier revision can be read', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'ab'] });
    await cairn.boxes.append({ box_id: 'x', card_ids: [...'cd'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: [...'abe'], revision: 2 });
    await cairn.boxes.save({ box_id: 'x', card_ids: [], revision: 3 });
    await cairn.boxes.append({ box_id: 'x', card_ids: ['a'] });
    const revisions = await Promise.all([1, 2, 3, 4, 5].map((revision) => held(cairn, 'x', revision)));
    expect(revisions).toEqual(['ab', 'abcd', 'abe', '', 'a']);
    expect(await cairn.boxes.load({ box_id: 'x', revision: 2, limit: 1 })).toMatchObject({
      length: 4,
      card_ids: ['d'],
    });
  });

  it.each<[string, string, string]>([
    ['a prefix that is kept', 'abcd', 'abe'],
    ['a longer list', 'ab', 'abcd'],
    ['a shorter list', 'abcd', 'ab'],
    ['another order', 'abcd', 'dcba'],
    ['the first taken out', 'abcd', 'bcd'],
    ['all of it replaced', 'abc', 'def'],
    ['nothing', 'abc', ''],
  ])('BOX-8 save with %s', async (_, before, after) => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...before] });
    const saved = await cairn.boxes.save({ box_id: 'x', card_ids: [...after, ...after], revision: 1 });
    expect(saved).toMatchObject({ revision: 2, length: after.length, card_ids: [...after] });
    expect(await cairn.boxes.load({ box_id: 'x' })).toEqual(saved);
    expect([await held(cairn, 'x', 1), await held(cairn, 'x')]).toEqual([before, after]);
    expect(await cairn.boxes.append({ box_id: 'x', card_ids: ['h'] })).toMatchObject({ revision: 3 });
    expect(await held(cairn, 'x')).toBe(`${after}h`);
  });

  it('BOX-8 save creates the box if there is none, and the same list changes nothing', async () => {
    const cairn = await withCards(await test().freshTenant());
    const saved = await cairn.boxes.save({ box_id: 'x', card_ids: [...'ab'], revision: 0 });
    expect(saved).toMatchObject({ revision: 1, length: 2, card_ids: ['a', 'b'] });
    const before = await latestToken(cairn);
    expect(await cairn.boxes.save({ box_id: 'x', card_ids: [...'ab'], revision: 1 })).toEqual(saved);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('BOX-8 save may keep a card that was deleted since, but not bring one in', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
    await cairn.cards.delete({ card_id: 'b' });
    const kept = await cairn.boxes.save({ box_id: 'x', card_ids: [...'ba'], revision: 1 });
    expect(kept).toMatchObject({ length: 2 });
    expect(await refusalOf(cairn.boxes.save({ box_id: 'y', card_ids: ['b'], revision: 0 }))).toMatchObject({
      code: 'UNKNOWN_CARD',
    });
  });

  it('BOX-9 save is refused unless the box is at the revision named', async () => {
    const cairn = await withCards(await test().freshTenant());
    expect(await refusalOf(cairn.boxes.save({ box_id: 'x', card_ids: [], revision: 1 }))).toMatchObject({
      code: 'BOX_NOT_FOUND',
      status: 404,
    });
    expect(await refusalOf(cairn.boxes.load({ box_id: 'x' }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['a'], revision: 0 });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['b'], revision: 1 });
    for (const revision of [0, 1, 3]) {
      expect(await refusalOf(cairn.boxes.save({ box_id: 'x', card_ids: ['c'], revision }))).toMatchObject({
        code: 'CONCURRENT_MODIFICATION',
        details: { revision: 2 },
      });
    }
    expect(await held(cairn, 'x')).toBe('b');
  });

  it('BOX-9 save without a revision is refused, so that a part of a box is never saved as the whole', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abcd'] });
    const part = await cairn.boxes.load({ box_id: 'x', limit: 2 });
    for (const box_id of ['x', 'new']) {
      const { card_ids, revision } = part;
      const refusal = await refusalOf(cairn.boxes.save({ box_id, card_ids, revision: revision as unknown as number }));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
      expect(refusal.message).toMatch(/revision: is required: load the box .* or 0 to create a box/);
    }
    expect(await held(cairn, 'x')).toBe('abcd');
  });

  it('BOX-10 a fork starts with what the box holds, and each goes its way', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'], metadata: { k: 1 } });
    const fork = await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f', metadata: { k: 2 } });
    expect(fork).toMatchObject({
      box_id: 'f',
      card_ids: ['a', 'b', 'c'],
      length: 3,
      revision: 1,
      forked_from: { box_id: 'x', revision: 1 },
      metadata: { k: 2 },
    });
    expect(await cairn.boxes.load({ box_id: 'f' })).toEqual(fork);
    await cairn.boxes.append({ box_id: 'x', card_ids: ['d'] });
    expect(await cairn.boxes.append({ box_id: 'f', card_ids: [...'ed'] })).toMatchObject({ length: 5 });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['h'], revision: 2 });
    expect([await held(cairn, 'x'), await held(cairn, 'f'), await held(cairn, 'f', 1)]).toEqual(['h', 'abced', 'abc']);
  });

  it('BOX-10 a fork at a revision starts with what the box held then', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'ab'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: [...'ac'], revision: 1 });
    await cairn.boxes.append({ box_id: 'x', card_ids: ['d'] });
    for (const [revision, cards] of [
      [1, 'ab'],
      [2, 'ac'],
      [3, 'acd'],
    ] as const) {
      const fork = await cairn.boxes.fork({ box_id: 'x', revision });
      expect(fork).toMatchObject({ length: cards.length, forked_from: { box_id: 'x', revision } });
      expect(await held(cairn, fork.box_id)).toBe(cards);
      expect(await cairn.boxes.append({ box_id: fork.box_id, card_ids: [...'abh'] })).toMatchObject({
        already_present: [...'ab'].filter((id) => cards.includes(id)),
      });
    }
  });

  it('BOX-11 a fork of a fork of a fork', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'ab'] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    await cairn.boxes.append({ box_id: 'f', card_ids: ['c'] });
    await cairn.boxes.fork({ box_id: 'f', new_box_id: 'g' });
    await cairn.boxes.append({ box_id: 'f', card_ids: ['d'] });
    await cairn.boxes.append({ box_id: 'g', card_ids: ['e'] });
    await cairn.boxes.fork({ box_id: 'g', new_box_id: 'h', revision: 1 });
    await cairn.boxes.append({ box_id: 'h', card_ids: [...'ag'] });
    const all = await Promise.all(['x', 'f', 'g', 'h'].map((box_id) => held(cairn, box_id)));
    expect(all).toEqual(['ab', 'abcd', 'abce', 'abcg']);
    expect(await cairn.boxes.load({ box_id: 'h', limit: 2 })).toMatchObject({ card_ids: ['c', 'g'], length: 4 });
    const page = await cairn.boxes.cards({ box_id: 'h', limit: 2, offset: 1 });
    expect(page.cards.map(({ card_id }) => card_id)).toEqual(['b', 'c']);
    const rest = await cairn.boxes.cards({ box_id: 'h', limit: 2, cursor: page.next_cursor! });
    expect(rest.cards.map(({ card_id }) => card_id)).toEqual(['g']);
  });

  it.each<[string, string]>([
    ['keeps all of the base', 'abcdh'],
    ['cuts its own part', 'abc'],
    ['cuts into the base', 'ab'],
    ['cuts into the base and goes on', 'abdh'],
    ['turns it round', 'dcba'],
    ['empties it', ''],
  ])('BOX-11 a save in a fork that %s leaves what was as it was', async (_, after) => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    await cairn.boxes.append({ box_id: 'f', card_ids: ['d'] });
    await cairn.boxes.fork({ box_id: 'f', new_box_id: 'early' });
    await cairn.boxes.save({ box_id: 'f', card_ids: [...after], revision: 2 });
    await cairn.boxes.fork({ box_id: 'f', new_box_id: 'late' });
    await cairn.boxes.append({ box_id: 'f', card_ids: [...'ag'] });
    await cairn.boxes.fork({ box_id: 'f', new_box_id: 'back', revision: 2 });
    const grown = `${after}${after.includes('a') ? '' : 'a'}g`;
    expect([await held(cairn, 'x'), await held(cairn, 'f', 1), await held(cairn, 'f', 2)]).toEqual([
      'abc',
      'abc',
      'abcd',
    ]);
    expect([await held(cairn, 'f', 3), await held(cairn, 'f')]).toEqual([after, grown]);
    expect([await held(cairn, 'early'), await held(cairn, 'late'), await held(cairn, 'back')]).toEqual([
      'abcd',
      after,
      'abcd',
    ]);
  });

  it('BOX-12 a sealed box refuses changes, and can be read, granted and forked', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'ab'] });
    const sealed = await cairn.boxes.seal({ box_id: 'x' });
    expect(sealed).toMatchObject({ revision: 1, card_ids: ['a', 'b'] });
    expect(sealed.sealed_at).toMatch(/Z$/);
    const before = await latestToken(cairn);
    expect(await cairn.boxes.seal({ box_id: 'x' })).toEqual(sealed);
    const refused = { code: 'BOX_SEALED', status: 409 };
    expect(await refusalOf(cairn.boxes.append({ box_id: 'x', card_ids: ['c'] }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.append({ box_id: 'x', card_ids: ['a'] }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.save({ box_id: 'x', card_ids: [], revision: 1 }))).toMatchObject(refused);
    expect(await latestToken(cairn)).toBe(before);
    expect(await cairn.boxes.load({ box_id: 'x' })).toEqual(sealed);
    await cairn.boxes.grant({ box_id: 'x', agent_id: 'reader' });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    expect(await cairn.boxes.append({ box_id: 'f', card_ids: ['c'] })).toMatchObject({ length: 3 });
    expect((await cairn.boxes.load({ box_id: 'f' })).sealed_at).toBeNull();
  });

  it('BOX-13 a sealed box shows what was deleted after its sealing, not what was before', async () => {
    const cairn = await withCards(await test().freshTenant());
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'open' });
    await cairn.cards.delete({ card_id: 'a' });
    await cairn.boxes.seal({ box_id: 'x' });
    await cairn.cards.delete({ card_id: 'b' });
    const { cards, missing_card_ids } = await cairn.boxes.cards({ box_id: 'x' });
    expect([cards.map(({ content }) => content), missing_card_ids]).toEqual([['b', 'c'], ['a']]);
    const batch = await cairn.boxes.load_batch({ box_ids: ['x', 'open'], hydrate: true });
    expect(batch.boxes.map((box) => box.cards?.map(({ content }) => content))).toEqual([['b', 'c'], ['c']]);
    expect(batch.missing_card_ids).toEqual(['a', 'b']);
    expect((await cairn.boxes.cards({ box_id: 'x', tail: 2 })).missing_card_ids).toEqual([]);
  });

  it('BOX-13 what was first, the sealing or the deletion, does not hang on the clock', async () => {
    const cairn = await withCards(await test().freshTenant());
    for (const box_id of ['x', 'y']) await cairn.boxes.create({ box_id, card_ids: [...'abc'] });
    const shown = async (box_id: string) =>
      (await cairn.boxes.cards({ box_id })).cards.map(({ card_id }) => card_id).join('');
    // A clock that is set back, as between two servers, between each two steps.
    await cairn.cards.delete({ card_id: 'a' });
    test().advance(-10_000);
    await cairn.boxes.seal({ box_id: 'x' });
    test().advance(-10_000);
    await cairn.cards.delete({ card_id: 'b' });
    test().advance(-10_000);
    await cairn.boxes.seal({ box_id: 'y' });
    test().advance(-10_000);
    expect([await shown('x'), await shown('y')]).toEqual(['bc', 'c']);
    test().advance(40_000);
    expect([await shown('x'), await shown('y')]).toEqual(['bc', 'c']);
  });

  it('BOX-17 grants are given, replaced, listed and taken back', async () => {
    const cairn = await test().freshTenant();
    await cairn.boxes.create({ box_id: 'x' });
    expect(await cairn.boxes.grant({ box_id: 'x', agent_id: 'b' })).toMatchObject({
      box_id: 'x',
      agent_id: 'b',
      access: 'read',
    });
    await cairn.boxes.grant({ box_id: 'x', agent_id: 'a', access: 'write' });
    const granted = await cairn.boxes.grant({ box_id: 'x', agent_id: 'b', access: 'write' });
    const { grants } = await cairn.boxes.grants({ box_id: 'x' });
    expect(grants.map(({ agent_id, access }) => [agent_id, access])).toEqual([
      ['a', 'write'],
      ['b', 'write'],
    ]);
    expect(grants[1]).toEqual(granted);
    await cairn.boxes.ungrant({ box_id: 'x', agent_id: 'a' });
    const before = await latestToken(cairn);
    await cairn.boxes.ungrant({ box_id: 'x', agent_id: 'a' });
    expect(await latestToken(cairn)).toBe(before);
    expect((await cairn.boxes.grants({ box_id: 'x' })).grants).toEqual([granted]);
    const owner = { box_id: 'x', agent_id: 'c', access: 'own' } as unknown as { box_id: string; agent_id: string };
    expect(await refusalOf(cairn.boxes.grant(owner))).toMatchObject({ code: 'INVALID_INPUT' });
  });
});
