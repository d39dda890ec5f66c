/** Remembering and recalling: memory in two calls. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { deleteTrajectory, finishTrajectory, newTrajectory } from '../../support/nouns/memory.js';
import { someScope } from '../../support/nouns/scopes.js';
import { found } from '../../support/nouns/search.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

onEveryTarget('remember and recall', (test) => {
  it('RECALL-1 what is remembered is a note, and recalled whole with the reasons', async () => {
    const cairn = await test().freshTenant();
    const text = 'Anna prefers tea to coffee. She drinks it black.';
    const kept = await cairn.memory.remember({ text });
    expect(kept).toMatchObject({ entity_type: 'Note', name: 'Anna prefers tea to coffee.', scope_id: null });
    expect(await cairn.notes.get({ note_id: kept.id })).toMatchObject({
      note_type: 'Fact',
      content: text,
      title: kept.name,
      token_count: kept.token_count,
      source_trajectory_ids: [kept.trajectory_id],
      created_at: kept.created_at,
    });
    const { passages, token_count, next_cursor } = await cairn.memory.recall({ query: 'What does Anna drink?' });
    expect(passages).toMatchObject([{ id: kept.id, text, token_count: kept.token_count, matched: ['anna', 'drink'] }]);
    expect([token_count, next_cursor]).toEqual([kept.token_count, null]);
    const { name } = await cairn.trajectories.get({ trajectory_id: kept.trajectory_id });
    expect(name).toBe('memory');
  });

  it('RECALL-1 a note has all that was said of it', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const kept = await cairn.memory.remember({
      text: 'Stir, then wait.',
      as: 'note',
      type: 'Gotcha',
      title: 'soup',
      tags: ['kitchen'],
      speaker: 'Ben',
      occurred_at: '8 May 2023',
      trajectory_id,
      ttl: 'LongTerm',
      metadata: { source: 'book' },
    });
    expect(await cairn.notes.get({ note_id: kept.id })).toMatchObject({
      note_type: 'Gotcha',
      title: 'soup',
      ttl: 'LongTerm',
      source_trajectory_ids: [trajectory_id],
      metadata: { source: 'book', tags: ['kitchen'], speaker: 'Ben', occurred_at: '8 May 2023' },
    });
    const { passages } = await cairn.memory.recall({ query: 'soup', trajectory_id });
    expect(passages).toMatchObject([
      { id: kept.id, type: 'Gotcha', speaker: 'Ben', tags: ['kitchen'], occurred_at: '2023-05-08T00:00:00.000Z' },
    ]);
    const long = 'x'.repeat(300);
    expect([...(await cairn.memory.remember({ text: `  ${long}\n` })).name!]).toHaveLength(80);
    expect((await cairn.memory.remember({ text: '\n 第一句。 第二句。' })).name).toBe('第一句。');
    const titled = await cairn.memory.remember({ text: 'Mr. Weiss, the plumber, comes on Monday. Bring cash.' });
    expect(titled.name).toBe('Mr. Weiss, the plumber, comes on Monday.');
  });

  it('RECALL-7 what was remembered twice is kept twice and told once', async () => {
    const cairn = await test().freshTenant();
    const text = 'Anna prefers tea to coffee.';
    const [first, second] = [await cairn.memory.remember({ text }), await cairn.memory.remember({ text })];
    const other = await cairn.memory.remember({ text, type: 'Gotcha' });
    const said = await cairn.memory.remember({ text, as: 'turn' });
    const again = await cairn.memory.remember({ text, as: 'turn' });
    expect((await cairn.notes.list()).total).toBe(3);
    const { passages, token_count } = await cairn.memory.recall({ query: 'What does Anna drink, tea?' });
    const facts = passages.filter(({ type }) => type === 'Fact');
    expect(facts).toHaveLength(1);
    expect([facts[0]!.id, ...facts[0]!.same_as].sort()).toEqual([first.id, second.id].sort());
    const rest = passages.filter(({ type }) => type !== 'Fact');
    expect(rest.map(({ id }) => id).sort()).toEqual([other.id, said.id, again.id].sort());
    expect(rest.every(({ same_as }) => same_as.length === 0)).toBe(true);
    expect(token_count).toBe(passages.reduce((sum, one) => sum + one.token_count, 0));
  });

  it('RECALL-7 what was remembered many times takes one place, on all pages', async () => {
    const cairn = await test().freshTenant();
    for (let i = 0; i < 30; i++) await cairn.memory.remember({ text: 'Anna prefers green tea.' });
    for (let i = 0; i < 3; i++) await cairn.memory.remember({ text: `Ben would drink tea number ${i}.` });
    const query = 'What tea does Anna prefer?';
    const first = await cairn.memory.recall({ query, limit: 2 });
    expect(first.passages.map(({ same_as }) => same_as.length)).toEqual([29, 0]);
    const second = await cairn.memory.recall({ query, limit: 2, cursor: first.next_cursor! });
    expect(second.next_cursor).toBeNull();
    const texts = [...first.passages, ...second.passages].map(({ text }) => text);
    expect(texts[0]).toBe('Anna prefers green tea.');
    expect(new Set(texts).size).toBe(4);
  });

  it('RECALL-7 what two people said, or what happened on two days, is told of each', async () => {
    const cairn = await test().freshTenant();
    for (const speaker of ['Anna', 'Ben']) await cairn.memory.remember({ text: 'I am allergic to peanuts.', speaker });
    for (const occurred_at of ['2024-05-01', '2025-05-01', '2025-05-01'])
      await cairn.memory.remember({ text: 'Ran a marathon.', occurred_at });
    const allergic = await cairn.memory.recall({ query: 'Who is allergic to peanuts?' });
    const allergies = allergic.passages.filter(({ matched }) => matched.length > 0);
    expect(allergies.map(({ speaker }) => speaker).sort()).toEqual(['Anna', 'Ben']);
    const { passages: all } = await cairn.memory.recall({ query: 'When was the marathon run?' });
    const passages = all.filter(({ matched }) => matched.length > 0);
    expect(passages.map((one) => `${one.occurred_at.slice(0, 4)} ${one.same_as.length}`).sort()).toEqual([
      '2024 0',
      '2025 1',
    ]);
  });

  it('RECALL-5 says how many were too long', async () => {
    const cairn = await test().freshTenant();
    await cairn.memory.remember({ text: `A harbour ${'with many ships '.repeat(50)}` });
    const { passages, left_out } = await cairn.memory.recall({ query: 'harbour', max_tokens: 20 });
    expect([passages.length, left_out]).toEqual([0, 1]);
  });

  it('RECALL-5 a passage that is too long begins with the sentence that answers', async () => {
    const cairn = await test().freshTenant();
    const filler = 'The minutes of the meeting go on about the weather at great length. ';
    const answer = 'The gate code of the warehouse is 4711.';
    await cairn.memory.remember({ text: `${filler.repeat(60)}${answer} ${filler.repeat(60)}` });
    const query = 'What is the gate code of the warehouse?';
    const { passages, token_count, left_out } = await cairn.memory.recall({ query, max_tokens: 100 });
    expect(passages).toMatchObject([{ is_excerpt: true, text: expect.stringContaining(`[…] ${answer}`) }]);
    expect(token_count).toBeLessThanOrEqual(100);
    expect(token_count).toBeGreaterThan(70);
    expect(left_out).toBe(0);
    expect((await cairn.memory.recall({ query })).passages[0]).not.toHaveProperty('is_excerpt');
  });

  it('RECALL-2 a turn goes into the scope that is named, or one of memory', async () => {
    const cairn = await test().freshTenant();
    const said = await cairn.memory.remember({
      text: 'We sail on Monday.',
      as: 'turn',
      role: 'Assistant',
      speaker: 'Cleo',
      occurred_at: '2024-01-02',
      tags: ['trip'],
    });
    expect(await cairn.turns.get({ turn_id: said.id })).toMatchObject({
      scope_id: said.scope_id,
      role: 'Assistant',
      content: 'We sail on Monday.',
      metadata: { speaker: 'Cleo', occurred_at: '2024-01-02', tags: ['trip'] },
    });
    const next = await cairn.memory.remember({ text: 'And back on Friday.', as: 'turn' });
    expect(next).toMatchObject({ scope_id: said.scope_id, trajectory_id: said.trajectory_id });
    const scope = await someScope(cairn);
    const { scope_id, trajectory_id } = scope;
    expect(await cairn.memory.remember({ text: 'here', as: 'turn', scope_id })).toMatchObject({
      scope_id,
      trajectory_id,
    });
    const inTask = await cairn.memory.remember({ text: 'there', as: 'turn', trajectory_id });
    expect(inTask.trajectory_id).toBe(trajectory_id);
    expect([scope_id, said.scope_id]).not.toContain(inTask.scope_id);
    expect((await cairn.memory.recall({ query: 'sailing' })).passages[0]).toMatchObject({
      id: said.id,
      speaker: 'Cleo',
    });
  });

  it('RECALL-3 what does not go with what is made, or is not there, is refused, and nothing is made', async () => {
    const cairn = await test().freshTenant();
    const scope = await someScope(cairn);
    const count = async () => [(await cairn.notes.list()).total, (await cairn.trajectories.list()).total];
    const before = await count();
    const refusals: [object, string, string][] = [
      [{ text: 'x', role: 'User' }, 'INVALID_INPUT', 'role'],
      [{ text: 'x', scope_id: scope.scope_id }, 'INVALID_INPUT', 'scope_id'],
      [{ text: 'x', as: 'turn', title: 't' }, 'INVALID_INPUT', 'title'],
      [{ text: 'x', as: 'turn', ttl: 'LongTerm' }, 'INVALID_INPUT', 'ttl'],
      [{ text: 'x', as: 'turn', type: 'Fact' }, 'INVALID_INPUT', 'type'],
      [{ text: '' }, 'INVALID_INPUT', 'text'],
      [{ text: ' \n ' }, 'INVALID_INPUT', 'text'],
      [{ text: ' \u200b\ufeff ' }, 'INVALID_INPUT', 'text'],
      [{ text: 'x', occurred_at: 'when it rained' }, 'INVALID_INPUT', 'occurred_at'],
      [{ text: 'x', as: 'turn', scope_id: scope.scope_id, trajectory_id: randomUUID() }, 'INVALID_INPUT', 'scope'],
      [{ text: 'x', as: 'turn', scope_id: randomUUID() }, 'SCOPE_NOT_FOUND', 'scope'],
      [{ text: 'x', as: 'turn', trajectory_id: randomUUID() }, 'UNKNOWN_ENTITY', 'trajectory'],
      [{ text: 'x', trajectory_id: randomUUID() }, 'UNKNOWN_ENTITY', 'trajectory'],
      [{ text: 'x', ttl: 'Scope' }, 'INVALID_INPUT', 'ttl'],
    ];
    for (const [input, code, word] of refusals) {
      const refusal = await refusalOf(cairn.memory.remember(input as { text: string }));
      expect([JSON.stringify(input), refusal.code]).toEqual([JSON.stringify(input), code]);
      expect(refusal.message).toContain(word);
    }
    expect(await count()).toEqual(before);
    for (const query of ['', ' \n '])
      expect(await refusalOf(cairn.memory.recall({ query }))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('RECALL-4 the default place is made once, and another when it is over', async () => {
    const cairn = await test().freshTenant();
    const many = (as: 'note' | 'turn') =>
      Promise.all(Array.from({ length: 16 }, (_, i) => cairn.memory.remember({ text: `squall ${i}`, as })));
    const kept = [...(await many('turn')), ...(await many('note'))];
    const places = new Set(kept.map(({ trajectory_id }) => trajectory_id));
    expect(places.size).toBe(1);
    const [trajectory_id] = places as Set<string>;
    const first = trajectory_id!;
    expect(new Set(kept.slice(0, 16).map(({ scope_id }) => scope_id)).size).toBe(1);
    expect((await cairn.trajectories.list()).total).toBe(1);
    expect((await cairn.memory.recall({ query: 'squall', limit: 100 })).passages).toHaveLength(32);
    await cairn.scopes.close({ scope_id: kept[0]!.scope_id! });
    const after = await cairn.memory.remember({ text: 'calm', as: 'turn' });
    expect(after.trajectory_id).toBe(first);
    expect(after.scope_id).not.toBe(kept[0]!.scope_id);
    await finishTrajectory(cairn, first);
    const second = await cairn.memory.remember({ text: 'a calm sea' });
    expect(second.trajectory_id).not.toBe(first);
    await cairn.trajectories.update({ trajectory_id: second.trajectory_id, status: 'Suspended' });
    const third = await cairn.memory.remember({ text: 'calm', as: 'turn' });
    expect([first, second.trajectory_id]).not.toContain(third.trajectory_id);
    await deleteTrajectory(cairn, third.trajectory_id);
    const fourth = await cairn.memory.remember({ text: 'calm again', as: 'turn' });
    expect([first, second.trajectory_id, third.trajectory_id]).not.toContain(fourth.trajectory_id);
    const other = await test().freshTenant();
    expect((await other.memory.remember({ text: 'calm' })).trajectory_id).not.toBe(first);
  });

  it('RECALL-5 recall keeps to max_tokens, asks for what is asked for, and counts as an access', async () => {
    const cairn = await test().freshTenant();
    const long = await cairn.memory.remember({ text: `a comet, ${'a bright comet '.repeat(30)}`, title: 'long' });
    const short = await cairn.memory.remember({ text: 'a comet' });
    await cairn.packets.write({ packet_type: 'seen', payload: { what: 'comet' } });
    const both = await cairn.memory.recall({ query: 'comet' });
    expect(both.passages.map(({ id }) => id).sort()).toEqual([long.id, short.id].sort());
    expect(both.token_count).toBe(long.token_count + short.token_count);
    const few = await cairn.memory.recall({ query: 'comet', max_tokens: long.token_count });
    expect(few.token_count).toBeLessThanOrEqual(long.token_count);
    expect(few.passages).toHaveLength(1);
    expect(await cairn.memory.recall({ query: 'comet', max_tokens: 1 })).toMatchObject({
      passages: [],
      token_count: 0,
    });
    const packets = await cairn.memory.recall({ query: 'comet', entity_types: ['packet'] });
    expect(packets.passages).toMatchObject([{ entity_type: 'Packet', text: 'what\ncomet' }]);
    const counts = async () => (await cairn.notes.list()).notes.map(({ access_count }) => access_count);
    const before = await counts();
    await found(cairn, 'comet');
    expect(await counts()).toEqual(before);
    await cairn.memory.recall({ query: 'comet', count_access: false });
    expect(await counts()).toEqual(before);
    await cairn.memory.recall({ query: 'comet' });
    expect(await counts()).toEqual(before.map((count) => count + 1));
    const first = await cairn.memory.recall({ query: 'comet', limit: 1 });
    const second = await cairn.memory.recall({ query: 'comet', limit: 1, cursor: first.next_cursor! });
    expect([...first.passages, ...second.passages].map(({ id }) => id)).toEqual(both.passages.map(({ id }) => id));
    expect(second.next_cursor).toBeNull();
  });

  it('RECALL-1 the same Idempotency-Key remembers once', async () => {
    const { url } = test();
    if (url === undefined) return;
    const cairn = await test().freshTenant();
    const { key } = await cairn.keys.create({ role: 'write' });
    const send = async (body: object, once: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'idempotency-key': once };
      const reply = await fetch(`${url}/api/v1/remember`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: reply.status, ...((await reply.json()) as { id: string; code?: string }) };
    };
    for (const as of ['note', 'turn']) {
      const body = { text: `said once as a ${as}`, as };
      const [one, two] = [await send(body, as), await send(body, as)];
      expect([one.status, two.status]).toEqual([201, 201]);
      expect(two).toEqual(one);
      expect(await send({ ...body, text: 'another' }, as)).toMatchObject({ status: 409 });
    }
    const client = connectCairn({ url, key });
    expect((await client.memory.recall({ query: 'said once' })).passages).toHaveLength(2);
    await client.close();
  });
});
