/** Searching by meaning: vectors from an embedder beside the terms, under the same conditions as these. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { httpEmbedder } from '#cairn/providers/index.js';
import { say, someScope, someTrajectory } from '../../support/nouns/scopes.js';
import { type StandIn, startEmbedder } from '../../support/stand-ins/embedder.js';
import { freshDatabase, openTarget, refusalOf, type TestStore, targetNames } from '../../support/targets.js';

const MODEL = 'stand-in';

/** What a search finds, best first. */
const found = async (cairn: Api, query: string, more: object = {}): Promise<string[]> =>
  (await cairn.search.query({ query, ...more })).results.map(({ snippet }) => snippet);

for (const target of targetNames()) {
  describe(`vectors on ${target}`, () => {
    let standIn: StandIn;
    let test: TestStore;
    beforeAll(async () => {
      standIn = await startEmbedder();
      test = await openTarget(target, {
        embedder: httpEmbedder({ url: standIn.url, model: MODEL, key: 'secret-key' }),
      });
    });
    afterAll(async () => {
      await test.close();
      await standIn.close();
    });

    const countOf = async (table: 'vectors' | 'vector_docs', tenant: string): Promise<number> => {
      const query =
        table === 'vectors'
          ? sql`SELECT COUNT(*) AS count FROM vectors WHERE tenant_id = ${tenant}`
          : sql`SELECT COUNT(*) AS count FROM vector_docs WHERE tenant_id = ${tenant} AND content_hash IS NOT NULL`;
      return Number((await test.store.driver.at(tenant).get<{ count: number }>(query))!.count);
    };
    const tenantOf = async (): Promise<{ tenant: string; cairn: Api }> => {
      const tenant = `t-${randomUUID()}`;
      return { tenant, cairn: await test.as({ tenant }) };
    };

    it('EMB-2, EMB-5 finds what means the same in other words, and says that likeness brought it', async () => {
      const { cairn } = await tenantOf();
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, 'we adopted a puppy');
      await say(cairn, scope_id, 'rain again tomorrow');
      for (let i = 0; i < 3; i++) await say(cairn, scope_id, `filler number ${i}`);
      expect(await test.store.embedded()).toBe(0);
      const { results } = await cairn.search.query({ query: 'canine' });
      expect(results.map(({ snippet }) => snippet)).toEqual(['we adopted a puppy']);
      expect(results[0]).toMatchObject({ matched: [], boosts: [{ name: 'similar', factor: 1 }] });
      expect(results[0]!.score).toBeGreaterThan(0);
      expect([...standIn.keys]).toEqual(['Bearer secret-key']);
    });

    it('EMB-5 raises what has the words and the meaning above what has the words alone', async () => {
      const { cairn } = await tenantOf();
      const words = ['the automobile needs paint', 'the vessel needs paint', 'nothing here', 'other text'];
      for (const content of words) await cairn.notes.create({ note_type: 'Fact', title: 't', content });
      await test.store.embedded();
      const { results } = await cairn.search.query({ query: 'ship paint' });
      expect(results.slice(0, 2).map(({ snippet }) => snippet)).toEqual([words[1], words[0]]);
      expect(results[0]!.boosts.map(({ name }) => name)).toContain('similar');
      expect(results[0]!.boosts.at(-1)!.factor).toBeGreaterThan(1);
    });

    it('SEARCH-30 guesses for recall by the embedder, and by words only what has no vector yet', async () => {
      const { cairn } = await tenantOf();
      const terrier = 'Biscuit is our border terrier, turned nine in March';
      await cairn.cards.add({ content: terrier });
      await cairn.cards.add_batch({
        cards: Array.from({ length: 45 }, (_, i) => ({ content: `puppy ${'x'.repeat(i)}` })),
      });
      await test.store.embedded();
      const recalled = async (query: string) => {
        const { passages } = await cairn.memory.recall({ query, limit: 50 });
        return passages.map(({ text }) => text);
      };
      const found = await recalled('dogs? canine!');
      expect(found.length).toBeGreaterThanOrEqual(40);
      expect(found).not.toContain(terrier);
      standIn.behaves = 'fails';
      try {
        expect(await recalled('dogs? canines!')).toContain(terrier);
      } finally {
        standIn.behaves = 'well';
      }
    });

    it('RECALL-20 answers where the embedder finds nothing near, and where no vector is made yet', async () => {
      const { cairn } = await tenantOf();
      const contents = ['hound', 'ship', 'glad'];
      for (const content of contents) await cairn.cards.add({ content });
      const count = async () => (await cairn.memory.recall({ query: 'doctor' })).passages.length;
      expect(await count()).toBe(contents.length);
      await test.store.embedded();
      expect(await count()).toBe(contents.length);
    });

    it('EMB-2 makes one vector of texts that are the same, and asks for it once', async () => {
      const { tenant, cairn } = await tenantOf();
      const { scope_id } = await someScope(cairn);
      const text = `said twice ${randomUUID()}`;
      await say(cairn, scope_id, text);
      await test.store.embedded();
      await say(cairn, scope_id, text);
      await say(cairn, scope_id, text);
      await test.store.embedded();
      expect(await countOf('vector_docs', tenant)).toBe(3);
      expect(await countOf('vectors', tenant)).toBe(1);
      expect(standIn.texts.filter((one) => one === text)).toHaveLength(1);
    });

    it('EMB-6 shows what is near under the same conditions as any other: filters, type, trajectory, agent', async () => {
      const { tenant, cairn } = await tenantOf();
      const [one, other] = [await someTrajectory(cairn), await someTrajectory(cairn)];
      const [first, second] = [
        await someScope(cairn, { trajectory_id: one }),
        await someScope(cairn, { trajectory_id: other }),
      ];
      await say(cairn, first.scope_id, 'a hound in one');
      await say(cairn, second.scope_id, 'a hound in the other');
      await cairn.cards.add({ content: 'a hound on a card' });
      await cairn.agents.register({
        agent_id: 'shy',
        agent_type: 'x',
        capabilities: ['x'],
        memory_access: { read: [{ memory_type: 'Turn', scope: 'own' }] },
      });
      await test.store.embedded();
      expect((await found(cairn, 'dog')).sort()).toEqual([
        'a hound in one',
        'a hound in the other',
        'a hound on a card',
      ]);
      expect(await found(cairn, 'dog', { trajectory_id: one })).toEqual(['a hound in one']);
      expect(await found(cairn, 'dog', { scope_id: second.scope_id })).toEqual(['a hound in the other']);
      expect(await found(cairn, 'dog', { entity_types: ['card'] })).toEqual(['a hound on a card']);
      const filters = [{ not: { field: 'entity_type', operator: 'eq', value: 'turn' } }];
      expect(await found(cairn, 'dog', { filters })).toEqual(['a hound on a card']);
      const shy = await test.as({ tenant, agent: 'shy', role: 'write' });
      expect(await found(shy, 'dog', { entity_types: ['turn'] })).toEqual([]);
    });

    it('EMB-6 finds the few that are wanted behind many that are nearer', async () => {
      const { cairn } = await tenantOf();
      await cairn.notes.create({ note_type: 'Fact', title: 't', content: 'hound and much else, of other things' });
      // More than are looked at first: only the look behind them finds the note.
      const cards = Array.from({ length: 100 }, () => ({ content: 'puppy' }));
      for (let i = 0; i < 11; i++) await cairn.cards.add_batch({ cards });
      await test.store.embedded();
      expect(await found(cairn, 'dog', { entity_types: ['note'] })).toHaveLength(1);
    });

    it('EMB-6 pages through what was found, each once', async () => {
      const { cairn } = await tenantOf();
      for (let i = 0; i < 7; i++) await cairn.cards.add({ content: `physician ${'x'.repeat(i + 1)}` });
      for (let i = 0; i < 7; i++) await cairn.cards.add({ content: `other ${'y'.repeat(i + 1)}` });
      await test.store.embedded();
      const all = await found(cairn, 'doctor', { limit: 100 });
      expect(all.length).toBe(7);
      const paged: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await cairn.search.query({ query: 'doctor', limit: 3, ...(cursor ? { cursor } : {}) });
        paged.push(...page.results.map(({ snippet }) => snippet));
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      expect(paged).toEqual(all);
    });

    it('EMB-5 pages go on where they were when some of what was compared is deleted', async () => {
      const { cairn } = await tenantOf();
      const words = ['doctor', 'physician', 'car', 'glad', 'boat', 'hound', 'vessel'];
      for (let i = 0; i < 49; i++) {
        const said = [0, 1, 2, 3].map((place) => words[(i * (place + 1) + (i >> 2) * place) % words.length]);
        await cairn.cards.add({ content: `${said.join(' ')} ${i}` });
      }
      await test.store.embedded();
      const asked = { query: 'doctor boat glad', limit: 4 };
      const all = await cairn.search.query({ ...asked, limit: 100 });
      const paged: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await cairn.search.query({ ...asked, ...(cursor ? { cursor } : {}) });
        paged.push(...page.results.map(({ id }) => id));
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
        await cairn.cards.delete({ card_id: page.results[0]!.id });
      }
      expect(paged).toEqual(all.results.map(({ id }) => id));
    });

    it('EMB-7 erases the vector with the last content that has it', async () => {
      const { tenant, cairn } = await tenantOf();
      const text = `puppy ${randomUUID()}`;
      const [a, b] = [await cairn.cards.add({ content: text }), await cairn.cards.add({ content: text })];
      await test.store.embedded();
      expect([await countOf('vectors', tenant), await countOf('vector_docs', tenant)]).toEqual([1, 2]);
      await cairn.cards.delete({ card_id: a.card_id });
      expect([await countOf('vectors', tenant), await countOf('vector_docs', tenant)]).toEqual([1, 1]);
      expect(await found(cairn, 'hound')).toEqual([text]);
      await cairn.cards.delete({ card_id: b.card_id });
      expect([await countOf('vectors', tenant), await countOf('vector_docs', tenant)]).toEqual([0, 0]);
      expect(await found(cairn, 'hound')).toEqual([]);
    });

    it('EMB-7 erases the vectors of a scope that was closed, and of a version that another follows', async () => {
      const { tenant, cairn } = await tenantOf();
      const { scope_id } = await someScope(cairn);
      for (let i = 0; i < 5; i++) await say(cairn, scope_id, `vessel ${i}`);
      const note = await cairn.notes.create({ note_type: 'Fact', title: 't', content: 'a vessel at first' });
      await test.store.embedded();
      expect(await countOf('vectors', tenant)).toBe(6);
      await cairn.scopes.close({ scope_id, wait: true });
      expect(await countOf('vectors', tenant)).toBe(1);
      await cairn.notes.update({ note_id: note.note_id, content: 'an automobile by now' });
      await test.store.embedded();
      expect(await countOf('vectors', tenant)).toBe(1);
      expect(await found(cairn, 'ship')).toEqual([]);
      expect(await found(cairn, 'car')).toEqual(['an automobile by now']);
    });

    it('EMB-8 keeps tenants apart: what others have is neither found nor does it change a score', async () => {
      const [mine, theirs] = [await tenantOf(), await tenantOf()];
      const contents = ['a joyful day', 'a grey day', 'a long day in town', 'night'];
      for (const content of contents) await mine.cairn.cards.add({ content });
      await test.store.embedded();
      const ask = async () =>
        (await mine.cairn.search.query({ query: 'happy day' })).results.map(({ snippet, score }) => ({
          snippet,
          score,
        }));
      const before = await ask();
      expect(before[0]!.snippet).toBe(contents[0]);
      for (let i = 0; i < 30; i++) await theirs.cairn.cards.add({ content: `glad and happy ${i}` });
      for (const content of contents) await theirs.cairn.cards.add({ content });
      await test.store.embedded();
      expect(await ask()).toEqual(before);
      expect((await found(theirs.cairn, 'joyful', { limit: 50 })).length).toBeGreaterThan(30);
    });
  });
}

describe.runIf(targetNames().includes('sqlite'))('vectors of two stores on one file', () => {
  it('EMB-5 a page is refused rather than ranked otherwise than the first: without a vector it can be asked for again', async () => {
    const standIn = await startEmbedder();
    const { database, drop } = await freshDatabase('sqlite');
    const embedder = () => httpEmbedder({ url: standIn.url, model: MODEL });
    const open = () => Store.open({ database, sweep_every_ms: 0, embedder: embedder() });
    const [one, other] = [await open(), await open()];
    const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
    for (let i = 0; i < 12; i++) await one.api(caller).cards.add({ content: `a glad hound ${i}` });
    await one.embedded();
    const asked = { query: 'happy dog', limit: 5 };
    const first = await one.api(caller).search.query(asked);
    const next = () => other.api(caller).search.query({ ...asked, cursor: first.next_cursor! });
    standIn.behaves = 'fails';
    expect(await refusalOf(next())).toMatchObject({ code: 'MODEL_FAILED', status: 502 });
    standIn.behaves = 'well';
    const shown = new Set(first.results.map(({ id }) => id));
    const { results } = await next();
    expect(results.filter(({ id }) => !shown.has(id))).toHaveLength(5);
    await Promise.all([one.close(), other.close()]);
    await drop();
    await standIn.close();
  });
});
