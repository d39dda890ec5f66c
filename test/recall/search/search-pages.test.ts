/** Pages of a search: one ranking, whatever is written meanwhile. */
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { acrossTenants, type Query, type Sql, sql } from '#cairn/driver/index.js';
import { neighboursOf } from '#cairn/recall/search/matching-docs.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { found, note, pages, theOne } from '../../support/nouns/search.js';
import { freshDatabase, onEveryTarget, openTarget, refusalOf, targetNames } from '../../support/targets.js';

/** So many turns in one scope, of which every third is about it twice. */
async function talk(cairn: Api, count: number, word: string): Promise<void> {
  const { scope_id } = await someScope(cairn, { token_budget: 1_000_000 });
  const text = (i: number) => (i % 3 === 0 ? `${word} ${i} and ${word} again` : `${word} number ${i}`);
  const items = Array.from({ length: count }, (_, i) => ({
    create: { scope_id, role: 'User' as const, content: text(i), token_count: 1 },
  }));
  for (let at = 0; at < count; at += 500) await cairn.turns.batch({ items: items.slice(at, at + 500) });
}

onEveryTarget('pages of a search', (test) => {
  it('SEARCH-12 show each thing once and all of them, in the order of one page', async () => {
    const cairn = await test().freshTenant();
    await talk(cairn, 90, 'lighthouse');
    for (const query of ['lighthouse', 'lighthouse again', '']) {
      const whole = await found(cairn, query);
      expect(whole).toHaveLength(90);
      for (const limit of [7, 90]) expect(await pages(cairn, { query, limit })).toEqual(whole);
    }
    const { total, next_cursor } = await cairn.search.query({ query: 'lighthouse', limit: 7 });
    expect(total).toBe(90);
    const second = await cairn.search.query({ query: 'lighthouse', limit: 7, cursor: next_cursor! });
    expect(second.total).toBeNull();
    const { results } = await cairn.search.query({ query: 'lighthouse' });
    expect(results).toHaveLength(10);
  });

  it('SEARCH-12 go on where they were when others write, change and delete', async () => {
    const cairn = await test().freshTenant();
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push((await note(cairn, `A ferry ${'sails '.repeat(i % 5)}at ${i}.`)).note_id);
    const query = 'ferry sailing';
    const before = await found(cairn, query);
    expect(before).toHaveLength(40);
    let turn = 0;
    const seen = await pages(cairn, { query, limit: 6 }, async () => {
      await note(cairn, `a ferry, a ferry sails ${turn}`);
      for (let i = 0; i < 5; i++) await note(cairn, `sailing ${turn} ${i}`);
      // One that was shown, the last one among them, and one that was not yet.
      await cairn.notes.delete({ note_id: before[6 * turn + 5]!.slice(5) });
      await cairn.notes.delete({ note_id: before[39 - turn]!.slice(5) });
      turn++;
    });
    const gone = new Set(Array.from({ length: turn }, (_, i) => before[39 - i]));
    expect(seen).toEqual(before.filter((one) => seen.includes(one)));
    expect(before.filter((one) => !seen.includes(one) && !gone.has(one))).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('SEARCH-12 leave nothing out when some of very many are deleted', async () => {
    const cairn = await test().freshTenant();
    const cards = Array.from({ length: 750 }, (_, i) => ({
      content: `The ferry ${'sails '.repeat((i * 5) % 7)}${i}.`,
    }));
    await cairn.cards.add_batch({ cards });
    const asked = { query: 'ferry sails', limit: 100 };
    const before = await pages(cairn, asked);
    expect(before).toHaveLength(750);
    const gone: string[] = [];
    const seen = await pages(cairn, asked, async () => {
      // Shown already: what comes behind them is not to move up.
      for (const one of before.slice(gone.length, gone.length + 10)) {
        gone.push(one);
        await cairn.cards.delete({ card_id: one.slice(5) });
      }
    });
    expect(seen).toHaveLength(new Set(seen).size);
    expect(before.filter((one) => !seen.includes(one) && !gone.includes(one))).toEqual([]);
  });

  it('SEARCH-12 leave nothing out when the last of all that had a word is deleted', async () => {
    const cairn = await test().freshTenant();
    const rare = await note(cairn, 'zebra, the only one');
    const say = (word: string, count: number) =>
      cairn.cards.add_batch({ cards: Array.from({ length: count }, (_, i) => ({ content: `${word} number ${i}` })) });
    await say('alpha', 200);
    await say('bravo', 500);
    const asked = { query: 'zebra alpha bravo', limit: 100 };
    const before = await pages(cairn, asked);
    expect(before).toHaveLength(701);
    let turn = 0;
    const seen = await pages(cairn, asked, async () => {
      if (++turn === 4) await cairn.notes.delete({ note_id: rare.note_id });
    });
    expect(seen).toEqual(before);
  });

  it('SEARCH-12 go as far as a thousand', async () => {
    const cairn = await test().freshTenant();
    await talk(cairn, 1100, 'beacon');
    for (const query of ['beacon', '']) {
      const seen = await pages(cairn, { query, limit: 100 });
      expect(seen).toHaveLength(1000);
      expect(new Set(seen).size).toBe(1000);
    }
    const first = await cairn.search.query({ query: 'beacon', limit: 1 });
    expect(first.total).toBeNull();
    const scores: number[] = [];
    for (let cursor: string | undefined, at = 0; at < 5; at++) {
      const page = await cairn.search.query({ query: 'beacon again', limit: 100, ...(cursor && { cursor }) });
      scores.push(...page.results.map(({ score }) => score));
      cursor = page.next_cursor!;
    }
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  it('SEARCH-12 begin with a cursor that tells nothing of what others write, and is of its tenant', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    for (const one of [cairn, other]) for (let i = 0; i < 4; i++) await note(one, `a buoy ${i}`);
    const asked = { query: 'buoy', limit: 2 };
    const cursor = (await cairn.search.query(asked)).next_cursor!;
    const [, place] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, string];
    expect(place).not.toMatch(/[ .]/);
    expect((await cairn.search.query(asked)).next_cursor).not.toBe(cursor);
    expect((await cairn.search.query({ ...asked, cursor })).results).toHaveLength(2);
    expect(await refusalOf(other.search.query({ ...asked, cursor }))).toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('SEARCH-12 are refused with a cursor of another search', async () => {
    const cairn = await test().freshTenant();
    for (let i = 0; i < 4; i++) await note(cairn, `a buoy ${i}`);
    const asked = { query: 'buoy', limit: 2 };
    const { next_cursor } = await cairn.search.query(asked);
    const cursor = next_cursor!;
    expect((await cairn.search.query({ ...asked, limit: 1, cursor })).results).toHaveLength(1);
    const filters = [{ field: 'tag', operator: 'eq', value: 'a' }] as const;
    for (const other of [
      { ...asked, query: 'buoys', cursor },
      { ...asked, filters: [...filters], cursor },
      { ...asked, min_score: 0.1, cursor },
      { ...asked, cursor: 'x' },
    ])
      expect(await refusalOf(cairn.search.query(other))).toMatchObject({ code: 'INVALID_CURSOR' });
    expect(await refusalOf(cairn.notes.search({ ...asked, cursor }))).toMatchObject({ code: 'INVALID_CURSOR' });
    for (const limit of [0, 101, 1.5])
      expect(await refusalOf(cairn.search.query({ ...asked, limit }))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('SEARCH-13 leave out what scores less than min_score', async () => {
    const cairn = await test().freshTenant();
    await note(cairn, 'a red barge');
    await note(cairn, 'a red kite');
    await note(cairn, 'a green kite');
    const { results } = await cairn.search.query({ query: 'red barge' });
    expect(results).toHaveLength(2);
    const [best, other] = results as [(typeof results)[0], (typeof results)[0]];
    expect(best.score).toBeGreaterThan(other.score);
    expect(best).toMatchObject({ matched: ['red', 'barge'], snippet: 'a red barge' });
    expect(other.matched).toEqual(['red']);
    const one = await theOne(cairn, 'red barge', { min_score: best.score });
    expect(one.id).toBe(best.id);
    expect(await cairn.search.query({ query: 'red barge', min_score: best.score })).toMatchObject({ total: 1 });
    expect(await found(cairn, 'red barge', { min_score: best.score * 1.01 })).toEqual([]);
    expect(await found(cairn, '', { min_score: 0.001 })).toEqual([]);
  });

  it('SEARCH-13 without a question show the newest first, and nothing for a question of no words', async () => {
    const cairn = await test().freshTenant();
    const ids = [];
    for (const text of ['first', 'second', 'third']) ids.push(`Note ${(await note(cairn, text)).note_id}`);
    expect(await found(cairn, '')).toEqual([...ids].reverse());
    expect(await found(cairn, ' \n ')).toEqual([...ids].reverse());
    expect(await cairn.search.query({ query: '?!…' })).toEqual({ results: [], next_cursor: null, total: 0 });
    expect(await found(cairn, '"first" OR second* -third NEAR( {')).toHaveLength(3);
    expect(await found(cairn, 'x'.repeat(4000))).toEqual([]);
  });

  it('SEARCH-11 show the part that answers, with its words marked', async () => {
    const cairn = await test().freshTenant();
    const filler = 'Nothing of that kind was said here. '.repeat(20);
    await note(cairn, `${filler}The 𠮷 sloop sank 🎉 in May. ${filler}`);
    const { snippet, highlights } = await theOne(cairn, 'when did the sloop sink in may');
    const marked = highlights.map(({ start, end }) => snippet.slice(start, end));
    expect(marked).toEqual(['sloop', 'sank', 'May']);
    expect(snippet).toMatch(/^….*The 𠮷 sloop sank 🎉 in May\..*…$/);
    expect(snippet.length).toBeLessThan(260);
  });

  it('SEARCH-11 show a word that stands in the name, in a call, or far behind alone', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await note(cairn, 'the body', { title: 'A gharial' });
    await note(cairn, `${'filler word. '.repeat(3000)} platypus`);
    const tool_calls = [{ id: 'x', name: 'find', arguments: { q: 'capybara' } }];
    const tool_results = [{ tool_call_id: 'x', result: 'lemur found' }];
    await cairn.turns.add({ scope_id, role: 'Assistant', content: 'calling', tool_calls });
    for (let i = 0; i < 4; i++) await say(cairn, scope_id, `between ${i}`);
    await cairn.turns.add({ scope_id, role: 'Tool', content: '', tool_results });
    for (const [word, shown] of [
      ['gharial', 'A gharial'],
      ['capybara', 'find {"q":"capybara"}'],
      ['lemur', 'lemur found'],
      ['platypus', 'filler word.  platypus'],
    ] as const) {
      const { results } = await cairn.search.query({ query: word, limit: 1 });
      const { snippet, highlights } = results[0]!;
      expect(snippet.endsWith(shown), snippet).toBe(true);
      expect(highlights.map(({ start, end }) => snippet.slice(start, end))).toEqual([word]);
    }
  });
});

describe.runIf(targetNames().includes('sqlite'))('a search of very many', () => {
  it('SEARCH-18 what is let through far behind has all of its words, also those that very many have', async () => {
    const { cairn, close } = await openTarget('sqlite');
    const tags = ['rare'];
    const both = await note(cairn, 'bravo zebra', { metadata: { tags } });
    const one = await note(cairn, 'zebra charlie', { metadata: { tags } });
    // More than are read of a word at once.
    await talk(cairn, 31_000, 'bravo');
    const filters = [{ field: 'tag' as const, operator: 'eq' as const, value: 'rare' }];
    const { results } = await cairn.search.query({ query: 'bravo zebra', filters });
    expect(results.map(({ id, matched }) => [id, matched])).toEqual([
      [both.note_id, ['bravo', 'zebra']],
      [one.note_id, ['zebra']],
    ]);
    await close();
  });
});

describe.runIf(targetNames().includes('postgres'))('a search on PostgreSQL', () => {
  it('SEARCH-17 reads the turns around those found by their places, and not all that there are', async () => {
    const { database, drop } = await freshDatabase('postgres');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const owner = new pg.Client({ connectionString: database });
    await owner.connect();
    await owner.query(`INSERT INTO search_docs (tenant_id, doc_no, entity_type, entity_id, content_id, scope_id, position, role,
        abstraction_level, category, occurred_at, created_at)
      SELECT 'default', n, 'turn', 't' || n, 't' || n, 's', n, 'user', 'L0', 'ephemeral', 0, 0
        FROM generate_series(1, 20000) AS n; ANALYZE search_docs`);
    await owner.end();
    const asked = { tenant: 'default', now: 0, viewer: null };
    const found = Array.from({ length: 200 }, (_, i) => ({ scope_id: 's', position: 20 * i + 10 }));
    const plan = await store.driver.snapshot('default', async (query) => {
      const lines: Record<string, string>[] = [];
      const all = async <R>(one: Sql): Promise<R[]> => {
        lines.push(...(await query.all<Record<string, string>>(sql`EXPLAIN ${one}`)));
        return [];
      };
      const explained: Query = { tenant: query.tenant, all, get: async <R>(one: Sql) => (await all<R>(one))[0] };
      await neighboursOf(explained, asked, found);
      return lines.flatMap((line) => Object.values(line)).join('\n');
    });
    expect(plan).toContain('search_docs_by_scope');
    expect(plan).not.toContain('Seq Scan on search_docs');
    await store.close();
    await drop();
  });

  it('SEARCH-17 says of a read that took too long that it did, and nothing of writers', async () => {
    const { store, close } = await openTarget('postgres');
    const slow = store.driver.snapshot('default', async (query) => {
      await query.all(sql`SELECT set_config('statement_timeout', '20', true)`);
      await query.all(sql`SELECT pg_sleep(10)`);
    });
    const { code, message } = await refusalOf(slow);
    expect(code).toBe('OVERLOADED');
    expect(message).toMatch(/read.*took too long/);
    expect(message).not.toContain('writ');
    await close();
  });

  it('SEARCH-17 lets who examines the store take more time than a request', async () => {
    const { database, drop } = await freshDatabase('postgres');
    const store = await Store.open({ database: `${database}?statement_timeout=200&query_timeout=400` });
    const slow = acrossTenants`SELECT 1 AS slept FROM pg_sleep(0.6)`;
    expect((await refusalOf(store.driver.long('default', slow))).code).toBe('OVERLOADED');
    expect(await store.driver.examine('default', slow)).toEqual([{ slept: 1 }]);
    // On the same connections as before.
    expect((await refusalOf(store.driver.long('default', slow))).code).toBe('OVERLOADED');
    await store.close();
    await drop();
  });
});
