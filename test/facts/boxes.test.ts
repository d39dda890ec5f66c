import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const addCards = (cairn: Api, ...ids: string[]) =>
  cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id, content: card_id })), atomic: true });

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `c${String(i).padStart(5, '0')}`);

onEveryTarget('boxes', (test) => {
  it('BOX-1 a box keeps its cards in the order given, each once', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b', 'c');
    const box = await cairn.boxes.create({ card_ids: ['c', 'a', 'c', 'b'], metadata: { purpose: 'context' } });
    expect(box).toMatchObject({
      card_ids: ['c', 'a', 'b'],
      length: 3,
      revision: 1,
      sealed_at: null,
      forked_from: null,
      agent_id: null,
      metadata: { purpose: 'context' },
    });
    expect(await cairn.boxes.load({ box_id: box.box_id })).toEqual(box);
  });

  it('BOX-1 a box may be empty', async () => {
    const cairn = await test().freshTenant();
    const box = await cairn.boxes.create({});
    expect(box).toMatchObject({ card_ids: [], length: 0, revision: 1 });
    expect(await cairn.boxes.cards({ box_id: box.box_id })).toEqual({
      cards: [],
      missing_card_ids: [],
      next_cursor: null,
      total: 0,
    });
  });

  it('BOX-2 the same box_id with the same body gives the box that is there, as it is now', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] });
    await cairn.boxes.append({ box_id: 'x', card_ids: ['b'] });
    const before = await latestToken(cairn);
    expect(await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] })).toMatchObject({
      card_ids: ['a', 'b'],
      revision: 2,
    });
    expect(await latestToken(cairn)).toBe(before);
  });

  it.each<[string, object]>([
    ['cards', { card_ids: ['b'] }],
    ['metadata', { card_ids: ['a'], metadata: { k: 1 } }],
    ['owner', { card_ids: ['a'], agent_id: 'agent' }],
  ])('BOX-2 the same box_id with other %s is refused', async (_, body) => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] });
    await cairn.boxes.create({ box_id: 'y' });
    const refused = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    expect(await refusalOf(cairn.boxes.create({ box_id: 'x', ...body }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.fork({ box_id: 'y', new_box_id: 'x' }))).toMatchObject(refused);
  });

  it('BOX-2 the same box_id from another agent is refused, though the body is the same', async () => {
    const { as, freshTenant } = test();
    const { tenant_id: tenant } = await (await freshTenant()).auth.whoami();
    const [one, other] = [await as({ tenant, agent: 'one' }), await as({ tenant, agent: 'other' })];
    await one.boxes.create({ box_id: 'x' });
    await one.boxes.create({ box_id: 'source' });
    await one.boxes.grant({ box_id: 'source', agent_id: 'other' });
    await one.boxes.fork({ box_id: 'source', new_box_id: 'fork' });
    const refused = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    expect(await refusalOf(other.boxes.create({ box_id: 'x' }))).toMatchObject(refused);
    expect(await refusalOf(other.boxes.fork({ box_id: 'source', new_box_id: 'fork' }))).toMatchObject(refused);
  });

  it('BOX-3 unknown cards are refused by name, and nothing is done', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] });
    const box = await cairn.boxes.load({ box_id: 'x' });
    const before = await latestToken(cairn);
    const card_ids = ['b', 'none', 'no more'];
    const refused = { code: 'UNKNOWN_CARD', status: 400, details: { missing_card_ids: ['none', 'no more'] } };
    expect(await refusalOf(cairn.boxes.create({ box_id: 'y', card_ids }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.append({ box_id: 'x', card_ids }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.save({ box_id: 'x', card_ids, revision: 1 }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.save({ box_id: 'y', card_ids, revision: 0 }))).toMatchObject(refused);
    expect(await refusalOf(cairn.boxes.append({ box_id: 'x', card_ids: ['none'] }))).toMatchObject({
      code: 'UNKNOWN_CARD',
    });
    expect(await cairn.boxes.load({ box_id: 'x' })).toEqual(box);
    expect(await refusalOf(cairn.boxes.load({ box_id: 'y' }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('BOX-4 append adds at the end and reports what was there', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b', 'c', 'd');
    const { box_id } = await cairn.boxes.create({ card_ids: ['b', 'a'] });
    expect(await cairn.boxes.append({ box_id, card_ids: ['c'] })).toEqual({
      box_id,
      revision: 2,
      length: 3,
      appended: ['c'],
      already_present: [],
    });
    expect(await cairn.boxes.append({ box_id, card_ids: ['a', 'd', 'b', 'd'] })).toEqual({
      box_id,
      revision: 3,
      length: 4,
      appended: ['d'],
      already_present: ['a', 'b'],
    });
    expect(await cairn.boxes.load({ box_id })).toMatchObject({ card_ids: ['b', 'a', 'c', 'd'], revision: 3 });
  });

  it('BOX-4 appending what is there changes nothing', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b');
    const { box_id } = await cairn.boxes.create({ card_ids: ['a', 'b'] });
    const box = await cairn.boxes.load({ box_id });
    const before = await latestToken(cairn);
    expect(await cairn.boxes.append({ box_id, card_ids: ['b', 'a'] })).toEqual({
      box_id,
      revision: 1,
      length: 2,
      appended: [],
      already_present: ['b', 'a'],
    });
    expect(await cairn.boxes.append({ box_id, card_ids: ['a'] })).toMatchObject({ already_present: ['a'] });
    await cairn.cards.delete({ card_id: 'a' });
    expect(await cairn.boxes.append({ box_id, card_ids: ['a'] })).toMatchObject({ already_present: ['a'] });
    expect(await cairn.boxes.load({ box_id })).toEqual(box);
    expect(Number((await latestToken(cairn)).split('.')[1])).toBe(Number(before.split('.')[1]) + 1);
  });

  it('BOX-5 load shows all cards of a box, so that what was loaded can be saved', async () => {
    const cairn = await test().freshTenant();
    const ids = numbered(300);
    await addCards(cairn, ...ids);
    const made = await cairn.boxes.create({ box_id: 'x', card_ids: ids });
    expect(made).toMatchObject({ card_ids: ids, revision: 1, next_cursor: null });
    const box = await cairn.boxes.load({ box_id: 'x' });
    expect(box).toEqual(made);
    const saved = await cairn.boxes.save({ box_id: 'x', card_ids: box.card_ids, revision: box.revision! });
    expect(saved).toEqual(box);
    const turned = await cairn.boxes.save({ box_id: 'x', card_ids: [...ids].reverse(), revision: 1 });
    expect(turned).toMatchObject({ card_ids: [...ids].reverse(), revision: 2, next_cursor: null });
    expect((await cairn.boxes.fork({ box_id: 'x', revision: 1 })).card_ids).toEqual(ids);
    expect(await cairn.boxes.seal({ box_id: 'x' })).toMatchObject({ card_ids: turned.card_ids, revision: 2 });
  });

  it('BOX-5 a part of a box has a cursor and no revision, in a load and in a batch', async () => {
    const cairn = await test().freshTenant();
    const ids = numbered(520);
    await addCards(cairn, ...ids);
    await cairn.boxes.create({ box_id: 'x', card_ids: ids });
    for (const [limit, loaded, batched] of [
      [undefined, 520, 200],
      [1, 1, 1],
      [500, 500, 500],
      [519, 519, 500],
      [520, 520, 500],
      [100_000, 520, 500],
      [0, 1, 1],
      [-5, 1, 1],
    ] as const) {
      const given = limit === undefined ? {} : { limit };
      const { boxes } = await cairn.boxes.load_batch({ box_ids: ['x'], ...given });
      for (const [box, shown] of [
        [await cairn.boxes.load({ box_id: 'x', ...given }), loaded],
        [boxes[0]!, batched],
      ] as const) {
        expect(box.card_ids, `limit ${limit}`).toEqual(ids.slice(-shown));
        expect(box.length).toBe(520);
        expect([typeof box.next_cursor, box.revision]).toEqual(shown === 520 ? ['object', 1] : ['string', undefined]);
        if (shown === 520) continue;
        const rest = await cairn.boxes.load({ box_id: 'x', cursor: box.next_cursor! });
        expect(rest.card_ids).toEqual(ids.slice(0, -shown));
        // Together they are the whole, and yet each is a part.
        expect(rest).not.toHaveProperty('revision');
        expect(rest.next_cursor).toBeNull();
      }
    }
    const { boxes } = await cairn.boxes.list({});
    expect(boxes).toMatchObject([{ box_id: 'x', length: 520, revision: 1 }]);
  });

  it('BOX-5 the pages of a load show the box as the first of them did', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, ...'abcdefgh');
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    await cairn.boxes.append({ box_id: 'f', card_ids: [...'de'] });
    const last = await cairn.boxes.load({ box_id: 'f', limit: 2 });
    await cairn.boxes.save({ box_id: 'f', card_ids: [...'hgf'], revision: 2 });
    const middle = await cairn.boxes.load({ box_id: 'f', limit: 2, cursor: last.next_cursor! });
    const first = await cairn.boxes.load({ box_id: 'f', limit: 2, cursor: middle.next_cursor! });
    expect([first, middle, last].map(({ card_ids }) => card_ids.join(''))).toEqual(['a', 'bc', 'de']);
    expect([first, middle, last].map(({ length }) => length)).toEqual([5, 5, 5]);
    for (const other of [{ box_id: 'x' }, { box_id: 'f', revision: 2 }]) {
      const refusal = await refusalOf(cairn.boxes.load({ ...other, cursor: last.next_cursor! }));
      expect(refusal).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
    }
    const then = await cairn.boxes.load({ box_id: 'f', revision: 2, limit: 4 });
    expect(then.card_ids).toEqual([...'bcde']);
    const before = await cairn.boxes.load({ box_id: 'f', revision: 2, cursor: then.next_cursor! });
    expect(before.card_ids).toEqual(['a']);
  });

  it('LIST-2 a cursor of a load that no load has made is refused', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, ...'abc');
    await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
    const real = (await cairn.boxes.load({ box_id: 'x', limit: 1 })).next_cursor!;
    const [mark, key] = JSON.parse(Buffer.from(real, 'base64url').toString()) as [string, string];
    expect(key).toBe('1:2');
    const forged = ['1:abc', '::', '', '1', '1:', ':1', '1:1.5', '1:1:1', '1:-1', '1:0', '1:4', '0:1', '2:1', '1:1e0'];
    for (const one of [...forged, `1:${'9'.repeat(30)}`, `${'9'.repeat(30)}:1`]) {
      const cursor = Buffer.from(JSON.stringify([mark, one])).toString('base64url');
      const refusal = await refusalOf(cairn.boxes.load({ box_id: 'x', cursor }));
      expect(refusal, one).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
    }
    expect((await cairn.boxes.load({ box_id: 'x', cursor: real })).card_ids).toEqual(['a', 'b']);
  });

  it('BOX-5 a box of more than 10,000 cards is shown by pages of that many', { timeout: 120_000 }, async () => {
    const cairn = await test().freshTenant();
    const ids = numbered(10_001);
    for (let at = 0; at < ids.length; at += 1000) await addCards(cairn, ...ids.slice(at, at + 1000));
    await cairn.boxes.create({ box_id: 'x', card_ids: ids.slice(0, 10_000) });
    expect((await cairn.boxes.load({ box_id: 'x' })).revision).toBe(1);
    await cairn.boxes.append({ box_id: 'x', card_ids: ids.slice(10_000) });
    const box = await cairn.boxes.load({ box_id: 'x' });
    expect([box.length, box.card_ids]).toEqual([10_001, ids.slice(1)]);
    expect(box).not.toHaveProperty('revision');
    const rest = await cairn.boxes.load({ box_id: 'x', cursor: box.next_cursor! });
    expect(rest).toMatchObject({ card_ids: [ids[0]], next_cursor: null });
    for (const made of [await cairn.boxes.fork({ box_id: 'x' }), await cairn.boxes.seal({ box_id: 'x' })]) {
      expect(made.card_ids).toHaveLength(10_000);
      expect(made).not.toHaveProperty('revision');
    }
  });

  it('BOX-6 a box that is not there is 404, a revision not reached is 400', async () => {
    const cairn = await test().freshTenant();
    const box_id = 'none';
    const unknown = await Promise.all(
      [
        cairn.boxes.load({ box_id }),
        cairn.boxes.cards({ box_id }),
        cairn.boxes.append({ box_id, card_ids: ['a'] }),
        cairn.boxes.seal({ box_id }),
        cairn.boxes.fork({ box_id }),
        cairn.boxes.grants({ box_id }),
        cairn.boxes.grant({ box_id, agent_id: 'a' }),
        cairn.boxes.ungrant({ box_id, agent_id: 'a' }),
      ].map(refusalOf),
    );
    for (const refusal of unknown) expect(refusal).toMatchObject({ code: 'BOX_NOT_FOUND', status: 404 });
    await cairn.boxes.create({ box_id: 'x' });
    const ahead = await Promise.all(
      [
        cairn.boxes.load({ box_id: 'x', revision: 2 }),
        cairn.boxes.cards({ box_id: 'x', revision: 2 }),
        cairn.boxes.fork({ box_id: 'x', revision: 2 }),
      ].map(refusalOf),
    );
    for (const refusal of ahead) expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
  });

  it('BOX-4 appends at once have the effects and answers of appends one after another', async () => {
    const append = async (atOnce: boolean, isFork: boolean) => {
      const cairn = await test().freshTenant();
      await addCards(cairn, 'base', 'a', 'b', 'c', 'd');
      await cairn.boxes.create({ box_id: 'x', card_ids: ['base'] });
      if (isFork) await cairn.boxes.fork({ box_id: 'x', new_box_id: 'y' });
      const box_id = isFork ? 'y' : 'x';
      const sent = [['a'], ['b', 'a', 'c'], ['none'], ['base', 'c'], ['a', 'gone', 'd'], ['d']].map(
        (card_ids) => () => cairn.boxes.append({ box_id, card_ids }),
      );
      const answers: PromiseSettledResult<unknown>[] = [];
      if (atOnce) answers.push(...(await Promise.allSettled(sent.map((one) => one()))));
      else for (const one of sent) answers.push(...(await Promise.allSettled([one()])));
      const { card_ids, revision } = await cairn.boxes.load({ box_id });
      const revisions = [];
      for (let at = 1; at <= revision!; at++)
        revisions.push((await cairn.boxes.load({ box_id, revision: at })).card_ids);
      const { packets } = await cairn.packets.list({ packet_type: 'cairn.box.appended', order: 'asc' });
      return {
        answers: answers.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.details)),
        card_ids,
        revisions,
        events: packets.map(({ payload }) => payload?.card_ids),
      };
    };
    for (const isFork of [false, true]) {
      const alone = await append(false, isFork);
      expect(alone.card_ids).toEqual(['base', 'a', 'b', 'c', 'd']);
      expect(await append(true, isFork)).toEqual(alone);
    }
  });

  it('BOX-14 one card is in many boxes, and stays itself', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'profile', 'a', 'b');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['profile', 'a'] });
    await cairn.boxes.create({ box_id: 'y', card_ids: ['b', 'profile'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['a'], revision: 1 });
    expect((await cairn.boxes.load({ box_id: 'y' })).card_ids).toEqual(['b', 'profile']);
    const { cards } = await cairn.boxes.cards({ box_id: 'y' });
    expect(cards[1]).toEqual(await cairn.cards.get({ card_id: 'profile' }));
  });

  it('BOX-15 the cards of a box of 1,200 come page by page, and from its tail', async () => {
    const cairn = await test().freshTenant();
    const ids = numbered(1200);
    await addCards(cairn, ...ids.slice(0, 1000));
    await addCards(cairn, ...ids.slice(1000));
    const { box_id } = await cairn.boxes.create({ card_ids: ids.slice(0, 700) });
    await cairn.boxes.append({ box_id, card_ids: ids.slice(700) });
    await cairn.cards.delete({ card_id: ids[600]! });
    const seen: string[] = [];
    const missing: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Api['boxes']['cards']>> = await cairn.boxes.cards({
        box_id,
        limit: 500,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(page.total).toBe(cursor === null ? 1200 : null);
      seen.push(...page.cards.map(({ card_id }) => card_id));
      missing.push(...page.missing_card_ids);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids.filter((id) => id !== ids[600]));
    expect(missing).toEqual([ids[600]]);
    const tail = await cairn.boxes.cards({ box_id, tail: 3 });
    expect(tail.cards.map(({ card_id }) => card_id)).toEqual(ids.slice(-3));
    expect([tail.next_cursor, tail.total]).toEqual([null, 1200]);
    const offset = await cairn.boxes.cards({ box_id, offset: 1198 });
    expect(offset.cards.map(({ content }) => content)).toEqual(ids.slice(-2));
  });

  it('BOX-15 tail goes with no page', async () => {
    const cairn = await test().freshTenant();
    const { box_id } = await cairn.boxes.create({});
    for (const page of [{ limit: 5 }, { offset: 0 }, { cursor: 'x' }]) {
      expect(await refusalOf(cairn.boxes.cards({ box_id, tail: 1, ...page }))).toMatchObject({
        code: 'INVALID_INPUT',
        status: 400,
      });
    }
  });

  it('BOX-16 load_batch answers in the order of the request, each id once', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b');
    for (const box_id of ['x', 'y', 'z']) await cairn.boxes.create({ box_id, card_ids: ['a', 'b'] });
    const answer = await cairn.boxes.load_batch({ box_ids: ['z', 'none', 'x', 'z', 'gone'] });
    expect(answer.boxes.map(({ box_id }) => box_id)).toEqual(['z', 'x']);
    expect(answer.missing_box_ids).toEqual(['none', 'gone']);
    expect(answer.missing_card_ids).toEqual([]);
    expect(answer.boxes[0]).toEqual(await cairn.boxes.load({ box_id: 'z' }));
    expect(await cairn.boxes.load_batch({ box_ids: [] })).toEqual({
      boxes: [],
      missing_box_ids: [],
      missing_card_ids: [],
    });
    const many = Array.from({ length: 101 }, (_, i) => `b${i}`);
    expect(await refusalOf(cairn.boxes.load_batch({ box_ids: many }))).toMatchObject({ code: 'INVALID_INPUT' });
    const repeated = await cairn.boxes.load_batch({ box_ids: [...many.slice(1), ...many.slice(1)] });
    expect(repeated.missing_box_ids).toHaveLength(100);
  });

  it('BOX-16 a hydrated batch has the cards, and names those that are gone once', async () => {
    const cairn = await test().freshTenant();
    await addCards(cairn, 'a', 'b', 'c');
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b'] });
    await cairn.boxes.create({ box_id: 'y', card_ids: ['b', 'c'] });
    await cairn.cards.delete({ card_id: 'b' });
    const { boxes, missing_card_ids } = await cairn.boxes.load_batch({ box_ids: ['y', 'x'], hydrate: true });
    expect(boxes.map(({ cards }) => cards?.map(({ content }) => content))).toEqual([['c'], ['a']]);
    expect(boxes.map(({ card_ids }) => card_ids)).toEqual([
      ['b', 'c'],
      ['a', 'b'],
    ]);
    expect(missing_card_ids).toEqual(['b']);
    const tail = await cairn.boxes.load_batch({ box_ids: ['x'], hydrate: true, limit: 1 });
    expect([tail.boxes[0]!.cards, tail.missing_card_ids]).toEqual([[], ['b']]);
  });

  it('BOX-18 boxes are listed by id and by owner', async () => {
    const cairn = await test().freshTenant();
    await cairn.boxes.create({ box_id: 'z', agent_id: 'one' });
    await cairn.boxes.create({ box_id: 'b' });
    await cairn.boxes.create({ box_id: 'a', agent_id: 'two' });
    const list = async (input: { agent_id?: string }) => {
      const { boxes, total } = await cairn.boxes.list(input);
      return [boxes.map(({ box_id }) => box_id), total];
    };
    expect(await list({})).toEqual([['a', 'b', 'z'], 3]);
    expect(await list({ agent_id: 'one' })).toEqual([['z'], 1]);
    expect(await list({ agent_id: 'three' })).toEqual([[], 0]);
  });

  it('BOX-19 the metadata of a box is held to the limit of a card', async () => {
    const cairn = await test().freshTenant();
    const metadata = { text: 'x'.repeat(1024 * 1024) };
    await cairn.boxes.create({ box_id: 'a', metadata: { text: 'x' } });
    const tooLarge = { code: 'TOO_LARGE', status: 413 };
    expect(await refusalOf(cairn.boxes.create({ metadata }))).toMatchObject(tooLarge);
    expect(await refusalOf(cairn.boxes.fork({ box_id: 'a', metadata }))).toMatchObject(tooLarge);
    expect((await cairn.boxes.list()).total).toBe(1);
  });
});
