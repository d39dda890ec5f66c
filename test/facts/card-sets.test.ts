/** Cards together: subjects and what is derived, batches, lists. */
import { expect, it } from 'vitest';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const idsOf = (cards: readonly { card_id: string }[]) => cards.map(({ card_id }) => card_id);

onEveryTarget('cards together', (test) => {
  it('CARD-7 cards are found by whom they are about', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'a', subject_ids: ['user-1', 'user-2', 'user-1'] });
    await cairn.cards.add({ card_id: 'b', subject_ids: ['user-2'] });
    await cairn.cards.add({ card_id: 'c' });
    expect((await cairn.cards.get({ card_id: 'a' })).subject_ids).toEqual(['user-1', 'user-2']);
    expect((await cairn.cards.get({ card_id: 'c' })).subject_ids).toEqual([]);
    const found = async (subject_id: string) => idsOf((await cairn.cards.list({ subject_id })).cards);
    expect(await found('user-1')).toEqual(['a']);
    expect(await found('user-2')).toEqual(['a', 'b']);
    expect(await found('user-3')).toEqual([]);
  });

  it('CARD-8 subjects are inherited through derived_from, also over several steps', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'a', subject_ids: ['s1'] });
    await cairn.cards.add({ card_id: 'b', subject_ids: ['s2', 's1'] });
    await cairn.cards.add({ card_id: 'c', derived_from: ['a', 'b', 'a'], subject_ids: ['s3'] });
    const last = await cairn.cards.add({ card_id: 'd', derived_from: ['c'] });
    const derived = await cairn.cards.get({ card_id: 'c' });
    expect(derived.derived_from).toEqual(['a', 'b']);
    expect([...derived.subject_ids].sort()).toEqual(['s1', 's2', 's3']);
    expect([...last.subject_ids].sort()).toEqual(['s1', 's2', 's3']);
    expect(idsOf((await cairn.cards.list({ subject_id: 's2' })).cards)).toEqual(['b', 'c', 'd']);
  });

  it('CARD-8 a source that is not there is refused by name', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'a' });
    expect(await refusalOf(cairn.cards.add({ card_id: 'x', derived_from: ['a', 'none'] }))).toMatchObject({
      code: 'UNKNOWN_CARD',
      status: 400,
      details: { missing_card_ids: ['none'] },
    });
    expect(await refusalOf(cairn.cards.add({ card_id: 'x', derived_from: ['x'] }))).toMatchObject({
      code: 'UNKNOWN_CARD',
    });
    expect(idsOf((await cairn.cards.list()).cards)).toEqual(['a']);
  });

  it('CARD-10 each card of a batch is answered alone and in order', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'taken', content: 'x' });
    const { results, succeeded, failed } = await cairn.cards.add_batch({
      cards: [
        { card_id: 'a', content: 1 },
        { card_id: 'b', content: 5, metadata: { type: 'agent.thought' } },
        { card_id: 'taken', content: 'y' },
        { card_id: 'd', derived_from: ['none'] },
        { card_id: 'taken', content: 'x' },
        { card_id: 'e', content: 2 },
      ],
    });
    expect([succeeded, failed]).toEqual([3, 3]);
    expect(results.map((one) => (one.status === 'success' ? one.data.card_id : one.code))).toEqual([
      'a',
      'INVALID_CONTENT',
      'ENTITY_ALREADY_EXISTS',
      'UNKNOWN_CARD',
      'taken',
      'e',
    ]);
    expect(idsOf((await cairn.cards.list()).cards)).toEqual(['a', 'e', 'taken']);
  });

  it('CARD-11 an atomic batch adds all cards with one event', async () => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    const { results, succeeded, failed } = await cairn.cards.add_batch({
      atomic: true,
      cards: [
        { card_id: 'a', content: 1, subject_ids: ['s'] },
        { card_id: 'b', content: 2, derived_from: ['a'] },
      ],
    });
    expect([results.map(({ status }) => status), succeeded, failed]).toEqual([['success', 'success'], 2, 0]);
    expect((await cairn.cards.get({ card_id: 'b' })).subject_ids).toEqual(['s']);
    const events = await followToNow(cairn, before);
    expect(events).toMatchObject([{ packet_type: 'cairn.card.added', payload: { card_ids: ['a', 'b'] } }]);
  });

  it.each<[string, object, string, number]>([
    ['content that does not fit', { content: 5, metadata: { type: 'agent.thought' } }, 'INVALID_CONTENT', 400],
    ['an unknown source', { derived_from: ['none'] }, 'UNKNOWN_CARD', 400],
    ['a taken id', { card_id: 'taken', content: 'y' }, 'ENTITY_ALREADY_EXISTS', 409],
  ])('CARD-11 an atomic batch with %s adds none', async (_, bad, code, status) => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'taken', content: 'x' });
    const before = await latestToken(cairn);
    const cards = [{ card_id: 'a' }, bad, { card_id: 'c' }];
    expect(await refusalOf(cairn.cards.add_batch({ atomic: true, cards }))).toMatchObject({
      code,
      status,
      message: expect.stringContaining('cards[1]'),
    });
    expect(idsOf((await cairn.cards.list()).cards)).toEqual(['taken']);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('CARD-11 a batch has 1 to 1,000 cards', async () => {
    const cairn = await test().freshTenant();
    for (const cards of [[], Array.from({ length: 1001 }, () => ({}))]) {
      expect(await refusalOf(cairn.cards.add_batch({ cards }))).toMatchObject({ code: 'INVALID_INPUT' });
    }
    const full = Array.from({ length: 1000 }, (_, i) => ({ content: i }));
    expect(await cairn.cards.add_batch({ cards: full, atomic: true })).toMatchObject({ succeeded: 1000 });
  });

  it('CARD-12 get_batch answers in the order of the request, each id once', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add_batch({ cards: ['a', 'b', 'c'].map((card_id) => ({ card_id, content: card_id })) });
    const { cards, missing_ids } = await cairn.cards.get_batch({
      card_ids: ['c', 'none', 'a', 'c', 'gone', 'b', 'none'],
    });
    expect(idsOf(cards)).toEqual(['c', 'a', 'b']);
    expect(missing_ids).toEqual(['none', 'gone']);
    expect(cards[0]).toEqual(await cairn.cards.get({ card_id: 'c' }));
    expect(await cairn.cards.get_batch({ card_ids: [] })).toEqual({ cards: [], missing_ids: [] });
  });

  it('CARD-12 get_batch takes 100 different ids, however often each is named', async () => {
    const cairn = await test().freshTenant();
    const ids = Array.from({ length: 100 }, (_, i) => `c${i}`);
    await cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id })), atomic: true });
    const { cards } = await cairn.cards.get_batch({ card_ids: [...ids, ...ids].reverse() });
    expect(idsOf(cards)).toEqual([...ids].reverse());
    expect(await refusalOf(cairn.cards.get_batch({ card_ids: [...ids, 'one more'] }))).toMatchObject({
      code: 'INVALID_INPUT',
      status: 400,
    });
  });

  it('CARD-14 cards are listed by the code points of their ids', async () => {
    const cairn = await test().freshTenant();
    const ids = ['Z', 'a', 'a b', 'a-b', 'aa', 'B', '10', '9', 'é', 'z', '\uff5a', '😀'];
    await cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id })) });
    const byCodePoint = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(idsOf((await cairn.cards.list()).cards)).toEqual(byCodePoint);
    expect(byCodePoint.slice(-2)).toEqual(['\uff5a', '😀']);
  });
});
