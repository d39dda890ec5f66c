import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { type JsonObject, uuid } from '#cairn/kernel/contract.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { contentsOf, eventsOf, say, someScope, wordsLeft } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const invalid = { code: 'INVALID_INPUT', status: 400 };
const usedIn = async (cairn: Api, scope_id: string): Promise<number> =>
  (await cairn.scopes.get({ scope_id })).tokens_used;

onEveryTarget('turns', (test) => {
  it('TURN-1 a turn is read back with every field as it was written', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const sent = {
      turn_id: randomUUID(),
      scope_id,
      sequence: 1,
      role: 'Assistant',
      content: 'I look it up.',
      token_count: 17,
      model_id: 'model-1',
      tool_calls: [{ id: 'call', arguments: { q: ['a', 1] } }],
      tool_results: [{ id: 'call', result: null }, 'text', 7],
      metadata: { a: { b: [true] } },
      subject_ids: ['user-7'],
    };
    const { budget, ...turn } = await cairn.turns.add(sent);
    expect(turn).toEqual({ ...sent, agent_id: null, created_at: expect.stringMatching(/Z$/) });
    expect(budget).toEqual({ token_budget: 8000, tokens_used: 17, threshold_reached: false, over_budget: false });
    expect(await cairn.turns.get({ turn_id: sent.turn_id })).toEqual(turn);
    expect((await cairn.scopes.turns({ scope_id })).turns).toEqual([turn]);
  });

  it('TURN-1 calls and results of tools are a list or one object, and come back as they were sent', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const tool_calls = { id: 'c1', name: 'lookup', arguments: { q: 'albatross' } };
    const tool_results = { tool_call_id: 'c1', content: 'a seabird' };
    const called = await cairn.turns.add({ scope_id, role: 'assistant', tool_calls });
    const answered = await cairn.turns.add({ scope_id, role: 'tool', tool_results });
    expect(await cairn.turns.get({ turn_id: called.turn_id })).toMatchObject({ tool_calls, tool_results: null });
    expect(await cairn.turns.get({ turn_id: answered.turn_id })).toMatchObject({ tool_results });
    const { messages } = await cairn.context.assemble({ scope_id, format: 'messages' });
    expect(messages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ role: 'assistant', tool_calls: [expect.objectContaining({ id: 'c1' })] }),
        expect.objectContaining({ role: 'tool', tool_call_id: 'c1' }),
      ]),
    );
    const { results } = await cairn.search.query({ query: 'albatross' });
    expect(results.map(({ id }) => id)).toContain(called.turn_id);
    const card = await cairn.cards.add({ content: 'I look.', tool_calls });
    expect(card.tool_calls).toEqual(tool_calls);
    for (const wrong of ['text', 7, ['text']])
      expect(await refusalOf(cairn.cards.add({ tool_calls: wrong } as never))).toMatchObject({
        ...invalid,
        message: expect.stringContaining('tool_calls'),
      });
  });

  it('TURN-1 only a scope and a role are needed', async () => {
    const admin = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(admin), agent: 'ann' });
    const { scope_id } = await someScope(admin);
    const made = await ann.turns.add({ scope_id, role: 'System' });
    expect(made).toMatchObject({
      sequence: 1,
      content: '',
      token_count: 0,
      model_id: null,
      tool_calls: null,
      tool_results: null,
      metadata: {},
      agent_id: 'ann',
    });
    expect(uuid.safeParse(made.turn_id).success).toBe(true);
  });

  it('TURN-2 the same turn_id: the same body gives the turn that is there, another is refused', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const other = await someScope(cairn);
    const sent = { turn_id: randomUUID(), scope_id, role: 'User', content: 'x', token_count: 3 } as const;
    const first = await cairn.turns.add(sent);
    await say(cairn, scope_id, 'y', { token_count: 4 });
    const before = await latestToken(cairn);
    const again = await cairn.turns.add(sent);
    expect(again).toEqual({ ...first, budget: { ...first.budget, tokens_used: 7 } });
    expect(await cairn.turns.add({ ...sent, role: 'USER' })).toEqual(again);
    const refused = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    for (const body of [{ content: 'z' }, { token_count: 4 }, { scope_id: other.scope_id }, { metadata: {} }])
      expect(await refusalOf(cairn.turns.add({ ...sent, ...body }))).toMatchObject(refused);
    expect(await latestToken(cairn)).toBe(before);
    await cairn.scopes.close({ scope_id });
    expect(await refusalOf(cairn.turns.add(sent))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
  });

  it('TURN-2 the same turn_id by another agent is refused', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id: tenant } = await cairn.auth.whoami();
    const [ann, bob] = [await test().as({ tenant, agent: 'ann' }), await test().as({ tenant, agent: 'bob' })];
    const { scope_id } = await someScope(cairn);
    const sent = { turn_id: randomUUID(), scope_id, role: 'User', content: 'x' } as const;
    const made = await ann.turns.add(sent);
    expect(await ann.turns.add(sent)).toEqual(made);
    const taken = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    for (const other of [bob, cairn]) expect(await refusalOf(other.turns.add(sent))).toMatchObject(taken);
  });

  it('TURN-2 a turn_id is a card_id: that of a card is taken', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const card_id = randomUUID();
    await cairn.cards.add({ card_id, content: 'x' });
    const taken = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    expect(await refusalOf(say(cairn, scope_id, 'x', { turn_id: card_id }))).toMatchObject(taken);
    const { turn_id } = await say(cairn, scope_id, 'x', { turn_id: randomUUID() });
    expect(await refusalOf(cairn.cards.add({ card_id: turn_id, content: 'x' }))).toMatchObject(taken);
    await cairn.cards.delete({ card_id });
    expect(await refusalOf(say(cairn, scope_id, 'x', { turn_id: card_id }))).toMatchObject({ code: 'ENTITY_GONE' });
    expect(await contentsOf(cairn, scope_id)).toEqual(['x']);
  });

  it('TURN-2 the same Idempotency-Key adds one turn and gives the same answer', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const sent = { scope_id, role: 'User', content: 'x', token_count: 3 } as const;
    const key = { idempotency_key: randomUUID() };
    const first = await cairn.turns.add(sent, key);
    await say(cairn, scope_id, 'y');
    expect(await cairn.turns.add(sent, key)).toEqual(first);
    expect(await contentsOf(cairn, scope_id)).toEqual(['x', 'y']);
    expect(await refusalOf(cairn.turns.add({ ...sent, content: 'z' }, key))).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    await cairn.scopes.close({ scope_id });
    expect(await refusalOf(cairn.turns.add(sent, key))).toMatchObject({ code: 'TURN_NOT_FOUND', status: 404 });
  });

  it('TURN-3 sequences are assigned from 1 without a gap; one that is given must be the next', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    expect((await say(cairn, scope_id, 'a')).sequence).toBe(1);
    expect((await say(cairn, scope_id, 'b', { sequence: 2 })).sequence).toBe(2);
    const before = await latestToken(cairn);
    for (const sequence of [1, 2, 4])
      expect(await refusalOf(say(cairn, scope_id, 'c', { sequence }))).toMatchObject({
        code: 'SEQUENCE_CONFLICT',
        status: 409,
        details: { next_sequence: 3 },
      });
    expect(await refusalOf(say(cairn, scope_id, 'c', { sequence: 0 }))).toMatchObject(invalid);
    expect(await latestToken(cairn)).toBe(before);
    expect((await say(cairn, scope_id, 'c')).sequence).toBe(3);
    expect(await usedIn(cairn, scope_id)).toBe(3);
  });

  it('TURN-4 tokens that are not given are counted: content, tool_calls and tool_results', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const count = async (more: object) => (await cairn.turns.add({ scope_id, role: 'User', ...more })).token_count;
    // o200k_base: "hello world" is two tokens, and JSON counts as its canonical text.
    expect(await count({ content: 'hello world' })).toBe(2);
    const calls = await count({ tool_calls: [{ q: 'hello world' }] });
    const results = await count({ tool_results: ['hello world'] });
    const parts = await count({ content: [{ text: 'hello world' }] });
    expect(Math.min(calls, results, parts)).toBeGreaterThan(2);
    const all = { content: 'hello world', tool_calls: [{ q: 'hello world' }], tool_results: ['hello world'] };
    expect(await count(all)).toBe(2 + calls + results);
    expect(await count({ ...all, token_count: 0 })).toBe(0);
    expect(await count({ ...all, token_count: 9 })).toBe(9);
    expect(await count({ content: 'x', metadata: { long: 'hello world' } })).toBe(1);
    expect(await usedIn(cairn, scope_id)).toBe(2 + calls + results + parts + (2 + calls + results) + 9 + 1);
  });

  it('TURN-5 a scope and every answer tell the tokens used, exactly', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn, { token_budget: 100 });
    const budgets = [];
    for (const token_count of [10, 0, 90, 1]) {
      budgets.push((await say(cairn, scope_id, 'x', { token_count })).budget);
      expect(await usedIn(cairn, scope_id)).toBe(budgets.at(-1)!.tokens_used);
    }
    expect(budgets.map(({ tokens_used, over_budget }) => [tokens_used, over_budget])).toEqual([
      [10, false],
      [10, false],
      [100, false],
      [101, true],
    ]);
  });

  it('TURN-6 with enforce a turn that does not fit is refused and nothing changes; without, it is taken', async () => {
    const cairn = await test().freshTenant();
    const scope = await someScope(cairn, { token_budget: 10, enforce: true });
    const { scope_id } = scope;
    await say(cairn, scope_id, 'x', { token_count: 4 });
    const before = await latestToken(cairn);
    const state = await cairn.scopes.get({ scope_id });
    expect(await refusalOf(say(cairn, scope_id, 'y', { token_count: 7 }))).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      status: 409,
      details: { tokens_used: 4, token_budget: 10, token_count: 7 },
    });
    expect(await latestToken(cairn)).toBe(before);
    expect(await cairn.scopes.get({ scope_id })).toEqual(state);
    expect((await say(cairn, scope_id, 'y', { token_count: 6 })).budget).toMatchObject({
      tokens_used: 10,
      over_budget: false,
    });
    expect((await say(cairn, scope_id, 'z', { token_count: 0 })).sequence).toBe(3);
    await cairn.scopes.update({ scope_id, enforce: false });
    expect((await say(cairn, scope_id, 'z', { token_count: 7 })).budget).toMatchObject({
      tokens_used: 17,
      over_budget: true,
    });
  });

  it('TURN-14 turns added at once have the effects and answers of turns added one after another', async () => {
    const add = async (atOnce: boolean) => {
      const cairn = await test().freshTenant();
      const { scope_id } = await someScope(cairn, { token_budget: 20, enforce: true, threshold_percent: 50 });
      const sent = [
        { token_count: 4 },
        { token_count: 7, metadata: { tags: ['x'] } },
        { token_count: 1, sequence: 9 },
        { token_count: 30 },
        { token_count: 2, sequence: 3 },
        { token_count: 7 },
        { token_count: 8 },
      ].map((given, i) => () => say(cairn, scope_id, `text ${i}`, given));
      const answers: PromiseSettledResult<Awaited<ReturnType<typeof say>>>[] = [];
      if (atOnce) answers.push(...(await Promise.allSettled(sent.map((one) => one()))));
      else for (const one of sent) answers.push(...(await Promise.allSettled([one()])));
      const { packets } = await cairn.packets.list({ order: 'asc', limit: 500 });
      const events = packets.map(({ packet_type, payload }) => ({ packet_type, payload: payload as JsonObject }));
      const { tokens_used } = await cairn.scopes.get({ scope_id });
      return {
        answers: answers.map((one) =>
          one.status === 'fulfilled'
            ? { sequence: one.value.sequence, budget: one.value.budget }
            : { code: one.reason.code, details: one.reason.details },
        ),
        events: events.map(({ packet_type, payload }) => [
          packet_type,
          payload.sequence ?? payload.tokens_used ?? null,
        ]),
        contents: await contentsOf(cairn, scope_id),
        tokens_used,
      };
    };
    const alone = await add(false);
    expect(alone.answers.filter((answer) => 'code' in answer)).toHaveLength(3);
    expect(alone.events).toContainEqual(['cairn.scope.threshold', 11]);
    expect(await add(true)).toEqual(alone);
  });

  it('TURN-7 a role is taken in any case, and given capitalised', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    for (const role of ['user', 'ASSISTANT', 'System', 'tOOL']) await say(cairn, scope_id, 'x', { role });
    const { turns } = await cairn.scopes.turns({ scope_id });
    expect(turns.map(({ role }) => role)).toEqual(['User', 'Assistant', 'System', 'Tool']);
    expect((await cairn.cards.get({ card_id: turns[1]!.turn_id })).metadata.role).toBe('assistant');
    expect(await refusalOf(say(cairn, scope_id, 'x', { role: 'Robot' }))).toMatchObject(invalid);
  });

  it('TURN-8 content is text or any JSON', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const contents = ['text', [{ type: 'text', text: 'é😀' }], { a: null }, 1.5, true, null, '', []];
    for (const content of contents) await cairn.turns.add({ scope_id, role: 'User', content });
    expect(await contentsOf(cairn, scope_id)).toEqual(contents);
  });

  it('TURN-8 a turn has the size of a card at most', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const large = 'x'.repeat(600_000);
    const tooLarge = { code: 'TOO_LARGE', status: 413 };
    for (const more of [{ tool_calls: [{ large }] }, { tool_results: [large] }, { content: large + large }])
      expect(await refusalOf(cairn.turns.add({ scope_id, role: 'User', content: large, ...more }))).toMatchObject(
        tooLarge,
      );
    expect(await refusalOf(say(cairn, scope_id, 'x', { metadata: { large } }))).toMatchObject(invalid);
    expect(await contentsOf(cairn, scope_id)).toEqual([]);
    expect((await say(cairn, scope_id, large)).content).toHaveLength(600_000);
  });

  it('TURN-9 turns are listed in order, page by page or as a tail', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    for (let i = 1; i <= 7; i++) await say(cairn, scope_id, `t${i}`);
    const first = await cairn.scopes.turns({ scope_id, limit: 3 });
    expect(first.turns.map(({ sequence, content }) => [sequence, content])).toEqual([
      [1, 't1'],
      [2, 't2'],
      [3, 't3'],
    ]);
    expect(first.total).toBe(7);
    await say(cairn, scope_id, 't8');
    const second = await cairn.scopes.turns({ scope_id, limit: 4, cursor: first.next_cursor! });
    expect(second.turns.map(({ content }) => content)).toEqual(['t4', 't5', 't6', 't7']);
    const third = await cairn.scopes.turns({ scope_id, limit: 4, cursor: second.next_cursor! });
    expect(third.turns.map(({ content }) => content)).toEqual(['t8']);
    expect([second.total, third.next_cursor]).toEqual([null, null]);
    const skipped = await cairn.scopes.turns({ scope_id, offset: 6 });
    expect(skipped.turns.map(({ content }) => content)).toEqual(['t7', 't8']);
    const tail = await cairn.scopes.turns({ scope_id, tail: 2 });
    expect(tail.turns.map(({ sequence }) => sequence)).toEqual([7, 8]);
    expect(tail).toMatchObject({ next_cursor: null, total: 8 });
    expect((await cairn.scopes.turns({ scope_id, tail: 500 })).turns).toHaveLength(8);
    for (const more of [{ limit: 1 }, { cursor: first.next_cursor! }, { offset: 1 }])
      expect(await refusalOf(cairn.scopes.turns({ scope_id, tail: 2, ...more }))).toMatchObject(invalid);
    const other = await someScope(cairn);
    expect(await refusalOf(cairn.scopes.turns({ scope_id: other.scope_id, cursor: first.next_cursor! }))).toMatchObject(
      { code: 'INVALID_CURSOR' },
    );
  });

  it('TURN-10 a turn is read by its id; a card that is none, and one of another tenant, is not found', async () => {
    const cairn = await test().freshTenant();
    const stranger = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const { budget: _, ...turn } = await say(cairn, scope_id, 'x');
    expect(await cairn.turns.get({ turn_id: turn.turn_id })).toEqual(turn);
    const card_id = randomUUID();
    await cairn.cards.add({ card_id });
    const notFound = { code: 'TURN_NOT_FOUND', status: 404 };
    for (const turn_id of [randomUUID(), card_id])
      expect(await refusalOf(cairn.turns.get({ turn_id }))).toMatchObject(notFound);
    expect(await refusalOf(stranger.turns.get({ turn_id: turn.turn_id }))).toMatchObject(notFound);
    expect(await refusalOf(stranger.cards.get({ card_id: turn.turn_id }))).toMatchObject({ status: 404 });
  });

  it('TURN-11 a batch adds its turns in order and answers each alone', async () => {
    const cairn = await test().freshTenant();
    const a = await someScope(cairn, { token_budget: 10, enforce: true });
    const b = await someScope(cairn);
    const turn_id = randomUUID();
    const item = (scope_id: string, content: string, more: object = {}) => ({
      create: { scope_id, role: 'User', content, token_count: 2, ...more },
    });
    const { results, succeeded, failed } = await cairn.turns.batch({
      items: [
        { operation: 'create', ...item(a.scope_id, 'a1') },
        item(b.scope_id, 'b1', { turn_id }),
        item(a.scope_id, 'big', { token_count: 9 }),
        item(randomUUID(), 'nowhere'),
        item(a.scope_id, 'a2', { sequence: 2 }),
        item(a.scope_id, 'wrong', { sequence: 2 }),
        item(b.scope_id, 'other', { turn_id }),
        item(b.scope_id, 'b2'),
      ],
    });
    expect(results.map((one) => (one.status === 'error' ? one.code : one.data.sequence))).toEqual([
      1,
      1,
      'BUDGET_EXCEEDED',
      'SCOPE_NOT_FOUND',
      2,
      'SEQUENCE_CONFLICT',
      'ENTITY_ALREADY_EXISTS',
      2,
    ]);
    expect([succeeded, failed]).toEqual([4, 4]);
    expect(results[4]).toMatchObject({ data: { budget: { tokens_used: 4 } } });
    expect(await contentsOf(cairn, a.scope_id)).toEqual(['a1', 'a2']);
    expect(await contentsOf(cairn, b.scope_id)).toEqual(['b1', 'b2']);
    expect(await usedIn(cairn, a.scope_id)).toBe(4);
    expect((await cairn.turns.get({ turn_id })).content).toBe('b1');
  });

  it('TURN-11 a batch reaches a threshold once, and gives a turn that is there', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn, { token_budget: 10 });
    const known = { turn_id: randomUUID(), scope_id, role: 'User', content: 'x', token_count: 2 } as const;
    await cairn.turns.add(known);
    const items = Array.from({ length: 5 }, () => ({ create: { ...known, turn_id: undefined, token_count: 3 } }));
    const { results } = await cairn.turns.batch({
      items: [{ create: known }, ...items.map(({ create: { turn_id: _, ...create } }) => ({ create }))],
    });
    expect(results.map((one) => one.status === 'success' && one.data.sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await usedIn(cairn, scope_id)).toBe(17);
    expect(await eventsOf(cairn, 'cairn.scope.threshold', scope_id)).toMatchObject([{ tokens_used: 17 }]);
  });

  it('TURN-12 with stop_on_error what comes after a failure is not attempted; with atomic nothing is done', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const item = (content: string, more: object = {}) => ({
      create: { scope_id, role: 'User', content, token_count: 1, ...more },
    });
    const items = [item('a'), item('b', { sequence: 7 }), item('c')];
    const stopped = await cairn.turns.batch({ items, stop_on_error: true });
    expect(stopped.results.map((one) => (one.status === 'error' ? one.code : 'ok'))).toEqual([
      'ok',
      'SEQUENCE_CONFLICT',
      'NOT_ATTEMPTED',
    ]);
    expect(await contentsOf(cairn, scope_id)).toEqual(['a']);
    const before = await latestToken(cairn);
    const refused = await refusalOf(cairn.turns.batch({ items, atomic: true }));
    expect(refused).toMatchObject({ code: 'SEQUENCE_CONFLICT', status: 409 });
    expect(refused.message).toContain('items[1]');
    expect(await latestToken(cairn)).toBe(before);
    expect(await usedIn(cairn, scope_id)).toBe(1);
    const done = await cairn.turns.batch({ items: [item('d'), item('e')], atomic: true });
    expect(done).toMatchObject({ succeeded: 2, failed: 0 });
    expect(await contentsOf(cairn, scope_id)).toEqual(['a', 'd', 'e']);
    const large = 'x'.repeat(1_100_000);
    const some = await cairn.turns.batch({ items: [item(large), item('f')] });
    expect(some.results).toMatchObject([{ code: 'TOO_LARGE' }, { status: 'success' }]);
  });

  it('TURN-12 the same Idempotency-Key adds the turns of a batch once', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const item = (content: string, more: object = {}) => ({
      create: { scope_id, role: 'User', content, token_count: 1, ...more },
    });
    for (const more of [{}, { stop_on_error: true }]) {
      const key = { idempotency_key: randomUUID() };
      const sent = { items: [item('a'), item('b', { sequence: 70 }), item('c')], ...more };
      const first = await cairn.turns.batch(sent, key);
      const before = await latestToken(cairn);
      expect(await cairn.turns.batch(sent, key)).toEqual(first);
      expect(await latestToken(cairn)).toBe(before);
    }
    expect(await contentsOf(cairn, scope_id)).toEqual(['a', 'c', 'a']);
  });

  it('TURN-13 events tell of turns by ids, numbers and keyed hashes, never by their content', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const words = ['quokka', 'wombat', 'numbat', 'bilby', 'dunnart'];
    const [content, called, result, meta, model_id] = words as [string, string, string, string, string];
    const more = { model_id, tool_calls: [{ called }], tool_results: [result], metadata: { meta }, token_count: 3 };
    const { turn_id } = await say(cairn, scope_id, content, more);
    await cairn.turns.batch({ items: [1, 2].map(() => ({ create: { scope_id, role: 'User', content } })) });
    const [one] = await eventsOf(cairn, 'cairn.turn.added', turn_id);
    expect(one).toMatchObject({ scope_id, sequence: 1, token_count: 3 });
    expect(one!.content_hash).toMatch(/^keyed:/);
    const { packets } = await cairn.packets.thread({ thread_id: trajectory_id });
    const added = packets.filter(({ packet_type }) => packet_type === 'cairn.turn.added');
    expect(added).toHaveLength(2);
    expect(added[1]!.payload!.turn_ids).toHaveLength(2);
    await cairn.scopes.close({ scope_id, wait: true });
    expect(await wordsLeft(test().store, await tenantOf(cairn), 'packets', words)).toEqual([]);
  });
});
