/** Embedders that misbehave, stores that share the work or die over it, and what is left in the file. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Store, type StoreOptions } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { type Embedder, httpEmbedder } from '#cairn/providers/index.js';
import { illnesses } from '../../support/inspect/audit.js';
import { say, someScope, someTrajectory } from '../../support/nouns/scopes.js';
import { type Behaviour, DIMENSIONS, startEmbedder, vectorOf } from '../../support/stand-ins/embedder.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const MODEL = 'stand-in';
const databases = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));

const open = async (database: string, options: Omit<StoreOptions, 'database'>) => {
  const store = await Store.open({ database, sweep_every_ms: 0, ...options });
  return { store, api: store.api(CALLER) };
};

const results = async (api: Api, query: string) =>
  (await api.search.query({ query })).results.map(({ snippet, score, boosts }) => ({ snippet, score, boosts }));

/** In process, with directions of its own for every text. */
const hashing = (dimensions: number): Embedder => ({
  name: MODEL,
  embed: async (texts) =>
    texts.map((text) => {
      const vector = new Float32Array(dimensions);
      for (let at = 0; at < dimensions; at += 32)
        createHash('sha256')
          .update(`${at} ${text}`)
          .digest()
          .forEach((byte, i) => {
            vector[at + i] = byte - 127.5;
          });
      return vector;
    }),
});

/** An embedder that waits until it is let go on. */
function held(): Embedder & { reached: Promise<void>; goOn: () => void } {
  let goOn = () => {};
  let reach = () => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return {
    name: MODEL,
    embed: async (texts) => {
      reach();
      await gate;
      return texts.map((text) => Float32Array.from(vectorOf(text)));
    },
    reached,
    goOn: () => goOn(),
  };
}

const linksOf = (store: Store) =>
  store.driver
    .at('default')
    .all<{ doc_no: number; content_hash: string | null; attempts: number }>(
      sql`SELECT doc_no, content_hash, attempts FROM vector_docs WHERE tenant_id = ${'default'} ORDER BY doc_no`,
    );

describe.each(databases)('an embedder on %s', (kind) => {
  it('EMB-1 that is not there is not missed: no vector is made, and those of before change no answer', async () => {
    const { database, drop } = await freshDatabase(kind);
    const before = await open(database, {});
    for (const content of ['a hound', 'a boat', 'hound and boat', 'a puppy']) await before.api.cards.add({ content });
    const ask = async ({ api }: { api: Api }) => [await results(api, 'hound'), await results(api, 'canine boat')];
    const expected = await ask(before);
    expect(await before.store.embedded()).toBe(0);
    expect(await linksOf(before.store)).toEqual([]);
    expect(Object.keys(before.store.figures()).filter((name) => /embed|vector/.test(name))).toEqual([]);
    await before.store.close();
    const filled = await open(database, { embedder: hashing(DIMENSIONS) });
    await filled.store.embedded();
    expect(await linksOf(filled.store)).toHaveLength(4);
    await filled.store.close();
    const after = await open(database, {});
    expect(await ask(after)).toEqual(expected);
    await after.store.close();
    await drop();
  });

  it('EMB-3, EMB-4 that hangs, fails or answers nonsense changes nothing but a figure, and is tried again', async () => {
    const { database, drop } = await freshDatabase(kind);
    const plain = await open(database, {});
    for (const content of ['a hound', 'a boat', 'hound and boat']) await plain.api.cards.add({ content });
    const expected = await results(plain.api, 'hound');
    expect(expected).toHaveLength(2);
    const all: Behaviour[] = ['hangs', 'fails', 'nonsense', 'fewer', 'shorter', 'refuses'];
    // What is made of an answer has nothing to do with the database.
    const behaviours = kind === 'sqlite' ? all : all.slice(0, 2);
    await Promise.all(
      behaviours.map(async (behaves) => {
        const standIn = await startEmbedder();
        standIn.behaves = behaves;
        const settings = { url: standIn.url, dimensions: DIMENSIONS, timeout_ms: 200, attempts: 1 };
        const embedder = httpEmbedder({ ...settings, model: `${MODEL} that ${behaves}` });
        const { store, api } = await open(database, { embedder });
        expect(await results(api, 'hound'), behaves).toEqual(expected);
        // The question, and the documents.
        await expect.poll(() => store.figures().embedder_failures, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
        expect(store.figures().embedder_questions_in_vain, behaves).toBe(1);
        expect(await store.embedded(1), behaves).toBe(3);
        standIn.behaves = 'well';
        expect(await store.embedded(10_000), behaves).toBe(0);
        expect((await results(api, 'canine')).length, behaves).toBe(2);
        await store.close();
        await standIn.close();
      }),
    );
    await plain.store.close();
    await drop();
  });

  it.runIf(kind === 'sqlite')(
    'EMB-3 that refuses one text gives the others theirs, and is asked again for that one',
    async () => {
      const { database, drop } = await freshDatabase(kind);
      const standIn = await startEmbedder();
      standIn.refuses = 'poison';
      let offset = 0;
      const embedder = httpEmbedder({ url: standIn.url, model: MODEL });
      const { store, api } = await open(database, { embedder, clock_offset_ms: () => offset });
      for (const content of ['a hound', 'poison for a hound', 'a boat']) await api.cards.add({ content });
      expect(await store.embedded()).toBe(0);
      expect((await linksOf(store)).map(({ content_hash }) => content_hash !== null)).toEqual([true, false, true]);
      expect((await results(api, 'canine')).map(({ snippet }) => snippet)).toEqual(['a hound']);
      standIn.refuses = undefined;
      offset = 3_600_000;
      // Looks at what is due only when it looks at all: something new makes it.
      await expect
        .poll(
          async () => {
            await api.cards.add({ content: 'something else' });
            await store.embedded();
            return (await results(api, 'canine')).map(({ snippet }) => snippet);
          },
          { timeout: 10_000 },
        )
        .toEqual(['a hound', 'poison for a hound']);
      await store.close();
      await standIn.close();
      await drop();
    },
  );

  it('EMB-9 serves several stores at once: each text is embedded once, and found by all', async () => {
    const { database, drop } = await freshDatabase(kind);
    const standIn = await startEmbedder();
    const embedder = () => httpEmbedder({ url: standIn.url, model: MODEL, batch_size: 8 });
    const stores = [
      await open(database, { embedder: embedder() }),
      await open(database, { embedder: embedder() }),
      await open(database, { embedder: embedder() }),
    ];
    const texts = Array.from({ length: 60 }, (_, i) => `puppy number ${i}`);
    await Promise.all(texts.map((content, i) => stores[i % 3]!.api.cards.add({ content })));
    expect(await Promise.all(stores.map(({ store }) => store.embedded()))).toEqual([0, 0, 0]);
    expect([...standIn.texts].sort()).toEqual([...texts].sort());
    expect(await linksOf(stores[0]!.store)).toHaveLength(60);
    for (const { api } of stores)
      expect((await api.search.query({ query: 'canine', limit: 100 })).results).toHaveLength(60);
    for (const { store } of stores) await store.close();
    await standIn.close();
    await drop();
  });

  it.runIf(kind === 'sqlite')(
    'EMB-9 is gone on with after a crash, and reaches what was written before there was one',
    async () => {
      const { database, drop } = await freshDatabase(kind);
      const before = await open(database, {});
      await before.api.cards.add({ content: 'a vessel from before' });
      await before.store.close();
      const stuck = held();
      const first = await open(database, { embedder: stuck });
      await stuck.reached;
      // The first one still holds the work, and nothing is heard of it any more.
      const next = await open(database, { embedder: hashing(DIMENSIONS) });
      expect(await next.store.embedded(300)).toBe(1);
      const later = await open(database, { embedder: hashing(DIMENSIONS), clock_offset_ms: () => 120_000 });
      expect(await later.store.embedded()).toBe(0);
      for (const { store } of [later, next, first]) await store.close();
      await drop();
    },
  );

  it('EMB-7 that is at work while content is erased leaves no vector of it', async () => {
    const { database, drop } = await freshDatabase(kind);
    const slow = held();
    const { store, api } = await open(database, { embedder: slow });
    const [gone, kept] = [await api.cards.add({ content: 'a hound' }), await api.cards.add({ content: 'a ship' })];
    await slow.reached;
    await api.cards.delete({ card_id: gone.card_id });
    slow.goOn();
    expect(await store.embedded()).toBe(0);
    expect(await linksOf(store)).toHaveLength(1);
    const { results: found } = await api.search.query({ query: 'vessel' });
    expect(found.map(({ id }) => id)).toEqual([kept.card_id]);
    await store.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });

  it.runIf(kind === 'sqlite')(
    'EMB-4 that never answers keeps no question, no write and no closing waiting',
    async () => {
      const { database, drop } = await freshDatabase(kind);
      const never: Embedder = { name: MODEL, embed: () => new Promise(() => undefined) };
      const { store, api } = await open(database, { embedder: never });
      await api.cards.add({ content: 'a hound' });
      expect((await results(api, 'hound')).map(({ snippet }) => snippet)).toEqual(['a hound']);
      await store.close();
      await drop();
    },
  );
});

describe.runIf(databases.includes('sqlite'))('the bytes of a SQLite file', () => {
  /** Parts of every vector and all bits of these cards, as they are in the file. */
  async function traces(store: Store): Promise<Map<string, string[]>> {
    const rows = await store.driver.at('default').all<{ content_id: string; vector: string; bits: string }>(
      sql`SELECT d.content_id, v.vector, l.bits FROM vector_docs l
          JOIN vectors v ON v.tenant_id = l.tenant_id AND v.model = l.model AND v.content_hash = l.content_hash
          JOIN search_docs d ON d.tenant_id = l.tenant_id AND d.doc_no = l.doc_no WHERE l.tenant_id = ${'default'}`,
    );
    return new Map(
      rows.map(({ content_id, vector, bits }) => [
        content_id,
        [0, 0.3, 0.6, 0.95].map((part) => vector.substr(Math.floor(part * vector.length), 40)).concat(bits),
      ]),
    );
  }

  const inFile = (database: string, words: readonly string[]): number => {
    const bytes = [database, `${database}-wal`].filter((file) => existsSync(file)).map((f) => readFileSync(f));
    return words.filter((word) => bytes.some((one) => one.includes(word))).length;
  };

  it('EMB-7 hold no vector of what was erased, with others before and behind it', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const { store, api } = await open(database, { embedder: hashing(384) });
    const trajectory_id = await someTrajectory(api);
    const open_ = await someScope(api, { trajectory_id });
    for (let round = 0; round < 3; round++) {
      const { scope_id } = await someScope(api, { trajectory_id });
      const gone: string[] = [];
      const kept: string[] = [];
      for (let i = 0; i < 40; i++) {
        gone.push((await say(api, scope_id, `${randomUUID()} ${round}`)).turn_id);
        if (i % 4 === round) kept.push((await say(api, open_.scope_id, randomUUID())).turn_id);
      }
      expect(await store.embedded()).toBe(0);
      const all = await traces(store);
      const words = gone.flatMap((id) => all.get(id)!);
      expect(inFile(database, words)).toBe(40 * 5);
      await api.scopes.close({ scope_id, wait: true });
      expect(inFile(database, words), `round ${round}`).toBe(0);
      expect(
        inFile(
          database,
          kept.flatMap((id) => all.get(id)!),
        ),
      ).toBe(kept.length * 5);
    }
    await store.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});
