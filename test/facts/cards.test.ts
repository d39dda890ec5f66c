import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Json } from '#cairn/kernel/contract.js';
import { latestSeq, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Per card type: contents that fit, and contents that do not. */
const types: readonly [type: string, good: readonly Json[], bad: readonly Json[]][] = [
  ['task.instruction', ['Please summarise', { text: 'x' }, [{ part: 1 }]], [5, null, true]],
  ['agent.thought', ['I need to list key points first', ''], [{ text: 'x' }, null, 5]],
  [
    'tool.call',
    [
      { tool_name: 'search', arguments: { q: 'x' } },
      { tool_name: 'search', arguments: {}, status: 'queued', other: [1] },
    ],
    ['search', { tool_name: 'search' }, { tool_name: '', arguments: {} }, { tool_name: 's', arguments: 'q=x' }],
  ],
  [
    'tool.result',
    [
      { status: 'success', result: [1, 2] },
      { status: 'success', result: null },
      { status: 'failed', error: { code: 'E', message: 'no' } },
      { status: 'failed' },
      { status: 'timed out', result: ['so far'], error: null },
    ],
    [
      'ok',
      { result: 1 },
      { status: '' },
      { status: 'failed', error: { code: 'E' } },
      { status: 'success', error: { code: 'E', message: 'no' } },
    ],
  ],
  ['task.deliverable', ['done', { summary: 's', output: 'o' }], [[1], null, 7]],
  ['sys.profile', [{ name: 'analyst', llm_config: { model: 'm' } }], ['analyst', {}, { name: ' ' }]],
  ['sys.rendered_prompt', ['You are …'], [{ prompt: 'You are' }, null]],
  ['sys.tools', [{ tools: [] }, { tools: [{ name: 't' }], version: 1 }], [[], {}, { tools: ['t'] }]],
  ['meta.parent_pointer', [{ parent_agent_id: 'a-1', depth: 2 }], ['a-1', {}, { parent_agent_id: 1 }]],
  ['task.result_fields', [[], [{ name: 'a', description: 'd', required: true }]], [{}, ['a'], [{}]]],
];

onEveryTarget('cards', (test) => {
  it('CARD-1 a card is read back as it was written', async () => {
    const cairn = await test().freshTenant();
    const content = { b: [1, 'ü😀', null, true], a: 1.5, nested: { z: 1e-7, y: '' } };
    const added = await cairn.cards.add({ content, metadata: { type: 'note', step_id: 's', trace_id: 't' } });
    expect(added.content).toEqual(content);
    expect(added.metadata).toEqual({ type: 'note', step_id: 's', trace_id: 't' });
    expect(added.card_id).toMatch(UUID_V7);
    expect(await cairn.cards.get({ card_id: added.card_id })).toEqual(added);
  });

  it('CARD-1 the hash is over canonical JSON: the order of members does not matter', async () => {
    const cairn = await test().freshTenant();
    const one = await cairn.cards.add({ content: { b: 1, a: [2] } });
    const other = await cairn.cards.add({ content: { a: [2], b: 1 } });
    const hash = createHash('sha256').update('{"a":[2],"b":1}').digest('hex');
    expect([one.content_hash, other.content_hash]).toEqual([hash, hash]);
    expect(one.card_id).not.toBe(other.card_id);
  });

  it.each<[string, Json]>([
    ['text', 'plain'],
    ['a number', 0],
    ['false', false],
    ['null', null],
    ['an empty list', []],
    ['members that look like a prototype', JSON.parse('{"__proto__":{"a":1},"constructor":2}') as Json],
    ['characters beyond the basic plane and line separators', '𝒳 \u2028 \u007f \ufffe'],
    ['the largest and smallest numbers', [Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, 5e-324]],
  ])('CARD-1 content may be %s', async (_, content) => {
    const cairn = await test().freshTenant();
    const { card_id } = await cairn.cards.add({ content });
    const back = await cairn.cards.get({ card_id });
    expect(JSON.stringify(back.content)).toBe(JSON.stringify(content));
  });

  it('CARD-1 a card that is not there is not found', async () => {
    const cairn = await test().freshTenant();
    expect(await refusalOf(cairn.cards.get({ card_id: 'none' }))).toMatchObject({
      code: 'CARD_NOT_FOUND',
      status: 404,
    });
  });

  it('CARD-2 the same card_id with the same body gives the card that is there', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.cards.add({ card_id: 'c', content: { a: 1, b: 2 } });
    const before = await latestToken(cairn);
    expect(await cairn.cards.add({ card_id: 'c', content: { b: 2, a: 1 } })).toEqual(first);
    expect(await latestToken(cairn)).toBe(before);
  });

  it.each<[string, object]>([
    ['content', { content: 'other' }],
    ['metadata', { content: 'x', metadata: { type: 'note' } }],
    ['subjects', { content: 'x', subject_ids: ['s'] }],
    ['lifetime', { content: 'x', ttl_seconds: 5 }],
  ])('CARD-2 the same card_id with another %s is refused and changes nothing', async (_, body) => {
    const cairn = await test().freshTenant();
    const first = await cairn.cards.add({ card_id: 'c', content: 'x' });
    expect(await refusalOf(cairn.cards.add({ card_id: 'c', ...body }))).toMatchObject({
      code: 'ENTITY_ALREADY_EXISTS',
      status: 409,
    });
    expect(await cairn.cards.get({ card_id: 'c' })).toEqual(first);
  });

  it('CARD-2 the card_id of a deleted card is gone for good', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'c', content: 'x' });
    await cairn.cards.delete({ card_id: 'c' });
    for (const content of ['x', 'y']) {
      expect(await refusalOf(cairn.cards.add({ card_id: 'c', content }))).toMatchObject({
        code: 'ENTITY_GONE',
        status: 410,
      });
    }
  });

  it.each(types)('CARD-3 the content of %s must fit', async (type, good, bad) => {
    const cairn = await test().freshTenant();
    for (const content of good) {
      const { card_id } = await cairn.cards.add({ content, metadata: { type } });
      expect((await cairn.cards.get({ card_id })).content).toEqual(content);
    }
    for (const content of bad) {
      expect(await refusalOf(cairn.cards.add({ content, metadata: { type } })), JSON.stringify(content)).toMatchObject({
        code: 'INVALID_CONTENT',
        status: 400,
      });
    }
    expect((await cairn.cards.list()).total).toBe(good.length);
  });

  it('CARD-3 unknown types, and cards without one, are free', async () => {
    const cairn = await test().freshTenant();
    for (const metadata of [{ type: 'my.own' }, { type: 'toString' }, {}]) {
      expect(await cairn.cards.add({ content: 5, metadata })).toMatchObject({ content: 5, metadata });
    }
    for (const type of ['', 5, null, 'x'.repeat(101)]) {
      expect(await refusalOf(cairn.cards.add({ metadata: { type } }))).toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  it('CARD-4 names of a fields schema are trimmed', async () => {
    const cairn = await test().freshTenant();
    const { card_id } = await cairn.cards.add({
      content: [{ name: '  title ' }, { name: 'body\n', required: false }],
      metadata: { type: 'task.result_fields' },
    });
    expect((await cairn.cards.get({ card_id })).content).toEqual([
      { name: 'title' },
      { name: 'body', required: false },
    ]);
  });

  it.each<[string, Json]>([
    ['a name twice', [{ name: 'a' }, { name: 'a' }]],
    ['a name twice after trimming', [{ name: 'a' }, { name: ' a ' }]],
    ['an empty name', [{ name: '   ' }]],
    ['an unknown member', [{ name: 'a', type: 'string' }]],
    ['a member of the wrong type', [{ name: 'a', required: 'yes' }]],
  ])('CARD-4 a fields schema with %s is refused', async (_, content) => {
    const cairn = await test().freshTenant();
    expect(await refusalOf(cairn.cards.add({ content, metadata: { type: 'task.result_fields' } }))).toMatchObject({
      code: 'INVALID_CONTENT',
      status: 400,
    });
  });

  it.each(['user', 'assistant', 'system', 'tool'])('CARD-5 the role %s is taken in any case', async (role) => {
    const cairn = await test().freshTenant();
    const capitalised = role[0]!.toUpperCase() + role.slice(1);
    for (const given of [role, capitalised, role.toUpperCase()]) {
      expect((await cairn.cards.add({ metadata: { role: given } })).metadata).toEqual({ role });
    }
  });

  it('CARD-5 another role is refused, and none is implied', async () => {
    const cairn = await test().freshTenant();
    for (const role of ['agent', '', 5, ['user']]) {
      expect(await refusalOf(cairn.cards.add({ metadata: { role } }))).toMatchObject({
        code: 'INVALID_INPUT',
        status: 400,
      });
    }
    const card = await cairn.cards.add({
      content: 'thinking',
      author_id: 'assistant',
      metadata: { type: 'agent.thought' },
    });
    expect(card.metadata).toEqual({ type: 'agent.thought' });
  });

  it('CARD-6 author_id, tool_calls and tool_call_id are kept; meta is not a field', async () => {
    const cairn = await test().freshTenant();
    const sent = {
      content: null,
      author_id: 'agent-7',
      tool_calls: [{ id: 'call-1', function: { name: 'search' } }],
      tool_call_id: 'call-1',
    };
    const { card_id } = await cairn.cards.add(sent);
    expect(await cairn.cards.get({ card_id })).toMatchObject(sent);
    const withMeta = { content: 'x', meta: { role: 'user' } };
    expect(await refusalOf(cairn.cards.add(withMeta))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('meta'),
    });
  });

  it('CARD-9 a deleted card is gone from every read at once', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'a', content: 1, subject_ids: ['s'] });
    await cairn.cards.add({ card_id: 'b', content: 2, subject_ids: ['s'] });
    await cairn.boxes.create({ box_id: 'box', card_ids: ['a', 'b'] });
    await cairn.cards.delete({ card_id: 'a' });
    expect(await refusalOf(cairn.cards.get({ card_id: 'a' }))).toMatchObject({ code: 'CARD_NOT_FOUND', status: 404 });
    expect((await cairn.cards.get_batch({ card_ids: ['a', 'b'] })).missing_ids).toEqual(['a']);
    const { cards, total } = await cairn.cards.list({ subject_id: 's' });
    expect([cards.map(({ card_id }) => card_id), total]).toEqual([['b'], 1]);
    expect((await cairn.boxes.cards({ box_id: 'box' })).missing_card_ids).toEqual(['a']);
    expect(await refusalOf(cairn.boxes.create({ card_ids: ['a'] }))).toMatchObject({ code: 'UNKNOWN_CARD' });
    expect(await refusalOf(cairn.cards.add({ derived_from: ['a'] }))).toMatchObject({ code: 'UNKNOWN_CARD' });
  });

  it('CARD-9 deleting again changes nothing, deleting an unknown card is refused', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'a', content: 1 });
    expect(await cairn.cards.delete({ card_id: 'a' })).toBeFalsy();
    const before = await latestSeq(cairn);
    await cairn.cards.delete({ card_id: 'a' });
    expect(await refusalOf(cairn.cards.delete({ card_id: 'none' }))).toMatchObject({
      code: 'CARD_NOT_FOUND',
      status: 404,
    });
    expect(await latestSeq(cairn)).toBe(before);
  });

  it('CARD-9 a deleted card is gone for a reader whose clock is behind, too', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: 'a', content: 1 });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] });
    await cairn.cards.delete({ card_id: 'a' });
    test().advance(-10_000);
    expect((await cairn.cards.list()).total).toBe(0);
    expect((await cairn.cards.get_batch({ card_ids: ['a'] })).missing_ids).toEqual(['a']);
    expect((await cairn.boxes.cards({ box_id: 'x' })).missing_card_ids).toEqual(['a']);
    expect(await refusalOf(cairn.cards.add({ derived_from: ['a'] }))).toMatchObject({ code: 'UNKNOWN_CARD' });
    expect(await refusalOf(cairn.cards.add({ card_id: 'a', content: 1 }))).toMatchObject({ code: 'ENTITY_GONE' });
    test().advance(10_000);
  });

  it('CARD-13 a card has 1 MiB at most, in UTF-8', async () => {
    const cairn = await test().freshTenant();
    const room = 1024 * 1024 - '""{}'.length;
    const { card_id } = await cairn.cards.add({ content: 'x'.repeat(room) });
    expect((await cairn.cards.get({ card_id })).content).toHaveLength(room);
    for (const card of [
      { content: 'x'.repeat(room + 1) },
      { content: 'ü'.repeat(room / 2 + 1) },
      { content: 'x', metadata: { long: 'x'.repeat(room) } },
      { tool_calls: [{ long: 'x'.repeat(room) }] },
    ]) {
      expect(await refusalOf(cairn.cards.add(card))).toMatchObject({ code: 'TOO_LARGE', status: 413 });
    }
    expect((await cairn.cards.list()).total).toBe(1);
  });

  it('CARD-16 a card shows when it was deleted, in a box that was sealed before', async () => {
    const cairn = await test().freshTenant();
    for (const card_id of ['a', 'b']) await cairn.cards.add({ card_id, content: card_id });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b'] });
    const { sealed_at } = await cairn.boxes.seal({ box_id: 'x' });
    await cairn.cards.delete({ card_id: 'a' });
    const { cards } = await cairn.boxes.cards({ box_id: 'x' });
    expect(cards.map(({ card_id, deleted_at }) => [card_id, deleted_at])).toEqual([
      ['a', expect.stringMatching(/^\d{4}-.*Z$/)],
      ['b', null],
    ]);
    expect(Date.parse(cards[0]!.deleted_at!)).toBeGreaterThan(Date.parse(sealed_at!));
    const { boxes } = await cairn.boxes.load_batch({ box_ids: ['x'], hydrate: true });
    expect(boxes[0]!.cards).toEqual(cards);
    expect((await cairn.cards.get({ card_id: 'b' })).deleted_at).toBeNull();
    const refusal = await refusalOf(cairn.cards.add({ ...cards[0]!, card_id: 'c' } as never));
    expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    expect(refusal.message).toContain('deleted_at');
  });

  it('CARD-17 ttl_seconds and a matching expires_at go together, as a card shows them', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    const card = await cairn.cards.add({ card_id: 'a', content: 'x', ttl_seconds: 3600 });
    expect(await cairn.cards.add(card)).toEqual(card);
    test().advance(10 * 60_000);
    const copy = await other.cards.add(card);
    expect([copy.ttl_seconds, copy.expires_at]).toEqual([3600, card.expires_at]);
    const inOneHour = Date.parse(card.expires_at!) - 3_600_000 + 10 * 60_000;
    const at = (seconds: number) => new Date(inOneHour + seconds * 1000).toISOString();
    for (const [expires_at, ttl_seconds] of [
      [at(3600), 60],
      [at(120), 30],
      [at(-1), 60],
    ] as const) {
      const refusal = await refusalOf(other.cards.add({ content: 'x', ttl_seconds, expires_at }));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
      expect(refusal.message).toContain('expires_at');
    }
    test().advance(55 * 60_000);
    expect(await refusalOf(other.cards.get({ card_id: 'a' }))).toMatchObject({ code: 'CONTENT_ERASED' });
  });
});
