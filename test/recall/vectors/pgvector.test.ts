/** Vectors on a PostgreSQL that has pgvector: indexed for a tenant with many, and found as they are without it. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store, schema } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { openPostgres } from '#cairn/driver/index.js';
import { packetJournal } from '#cairn/engine/index.js';
import { VECTOR_TABLE } from '#cairn/index/index.js';
import type { Embedder } from '#cairn/providers/index.js';
import { type PgvectorServer, startPgvector } from '../../../scripts/pgvector.mjs';
import { targetNames } from '../../support/targets.js';

/** Each word has a direction of its own, and a text all of its words'. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(64);
  for (const word of text.split(' ')) {
    const bytes = createHash('sha256').update(word).digest();
    for (let i = 0; i < 64; i++) vector[i]! += bytes[i % 32]! - 127.5 + (i < 32 ? 0 : bytes[(i + 7) % 32]!);
  }
  return vector;
}

const embedder: Embedder = {
  name: "somebody's model",
  dimensions: 64,
  batch_size: 500,
  embed: async (texts) => texts.map(vectorOf),
};
const SPACE = { tenant: 'large', model: embedder.name, dimensions: 64 };
/** More than are looked at first, so that the index leaves some out. */
const MANY = 1300;
const NEVER = 1_000_000;
/** More than five: from then on a database may make one plan for all. */
const QUESTIONS = ['w3 w5', 'w17', 'w8 w21 w2', 'nothing like it', 'w1', 'w40 w2', 'w9', 'w12 w13'];
const words = (i: number) => `w${i % 41} w${(i * 7) % 31} w${(i * 13) % 53} number${i}`;

describe.runIf(targetNames().includes('postgres'))('pgvector', () => {
  let server: PgvectorServer;
  let ids: string[];

  /** One after another: that server has one session for all. Only who owns the tables can make an index in it. */
  async function withStore<T>(from: number, as: 'owner' | 'server', work: (store: Store) => Promise<T>): Promise<T> {
    const driver = await openPostgres(server.url, {
      journal: packetJournal(() => driver.now(), 8192),
      schema,
      pool_size: 1,
      row_level_security: as === 'server',
    });
    const store = await Store.on(driver, { embedder, sweep_every_ms: 0, vectors_indexed_from: from });
    try {
      return await work(store);
    } finally {
      await store.close();
      await server.query('DEALLOCATE ALL');
      await server.query('RESET ROLE');
    }
  }
  const apiOf = (store: Store, tenant_id: string): Api =>
    store.api({ tenant_id, agent_id: null, role: 'admin', key_id: null });
  const answers = async (store: Store, tenant: string, type?: string) => {
    const filters = type === undefined ? [] : [{ field: 'type', operator: 'eq', value: type } as const];
    const found = [];
    for (const query of QUESTIONS) {
      const { results } = await apiOf(store, tenant).search.query({ query, filters, limit: 50 });
      found.push(results.map(({ id, score, boosts }) => ({ id, score, boosts })));
    }
    return found;
  };
  const compared = (tenant: string, type?: string) =>
    withStore(NEVER, 'server', (store) => answers(store, tenant, type));
  const indexes = () =>
    server.query<{ name: string; valid: boolean; definition: string }>(
      `SELECT c.relname AS name, i.indisvalid AS valid, pg_get_indexdef(c.oid) AS definition
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'vector_docs_near_%'`,
    );
  const indexed = (store: Store, many = 1) =>
    expect.poll(() => store.figures().vector_indexes, { timeout: 60_000 }).toBe(many);
  const timesUsed = async (): Promise<number> => {
    await server.query('SELECT pg_stat_force_next_flush()');
    const [row] = await server.query<{ times: string }>(
      `SELECT SUM(idx_scan) AS times FROM pg_stat_user_indexes WHERE indexrelname LIKE 'vector_docs_near_%'`,
    );
    return Number(row?.times ?? 0);
  };

  beforeAll(async () => {
    server = await startPgvector();
    ids = await withStore(NEVER, 'owner', async (store) => {
      for (const tenant of ['large', 'small']) await store.ensureTenant(tenant);
      const add = (tenant: string, i: number) =>
        apiOf(store, tenant).cards.add({ content: words(i), metadata: { type: i % 11 === 0 ? 'rare' : 'common' } });
      const added = await Promise.all(Array.from({ length: MANY }, (_, i) => add('large', i)));
      await Promise.all(Array.from({ length: 40 }, (_, i) => add('small', i)));
      expect(await store.embedded()).toBe(0);
      return added.map(({ card_id }) => card_id);
    });
  }, 120_000);
  afterAll(() => server?.stop());

  it('EMB-12 is not needed: where it is not installed all are compared', async () => {
    await withStore(1000, 'owner', async (store) => {
      expect(await store.embedded()).toBe(0);
      expect((await answers(store, 'large')).map((found) => found.length)).toEqual(QUESTIONS.map(() => 50));
      expect(store.figures().vector_indexes).toBe(0);
    });
    expect(await indexes()).toEqual([]);
  });

  it('EMB-12 indexes the vectors of a tenant with many, and answers as by comparing all', async () => {
    await server.query('CREATE EXTENSION vector');
    await withStore(1000, 'owner', (store) => indexed(store));
    expect(await indexes()).toMatchObject([{ valid: true, definition: expect.stringContaining(`= 'large'::text`) }]);
    const expected = [await compared('large'), await compared('small')];
    const before = await timesUsed();
    // Of so few, the database would rather compare all.
    await server.query('SET enable_sort = off');
    const found = await withStore(1000, 'server', async (store) => {
      await indexed(store);
      return [await answers(store, 'large'), await answers(store, 'small')];
    });
    expect(found).toEqual(expected);
    await server.query('RESET enable_sort');
    expect((await timesUsed()) - before).toBe(QUESTIONS.length);
    expect(found[1]!.flat().filter(({ id }) => ids.includes(id))).toEqual([]);
  });

  it('EMB-12 compares all where a filter leaves too few of what the index gave', async () => {
    const expected = await compared('large', 'rare');
    await server.query('SET enable_sort = off');
    const found = await withStore(1000, 'server', async (store) => {
      await indexed(store);
      return answers(store, 'large', 'rare');
    });
    await server.query('RESET enable_sort');
    expect(found).toEqual(expected);
  });

  it('EMB-12, EMB-7 finds what is new by the index, and nothing that was erased', async () => {
    await server.query('SET enable_sort = off');
    const found = await withStore(500, 'server', async (store) => {
      const api = apiOf(store, 'large');
      const added = await api.cards.add({ content: 'w3 w5 anew' });
      expect(await store.embedded()).toBe(0);
      await indexed(store);
      for (const card_id of ids.splice(0, 200)) await api.cards.delete({ card_id });
      const first = await answers(store, 'large');
      expect(first[0]!.map(({ id }) => id)).toContain(added.card_id);
      // Fewer than the index is asked for: whether these are all is known by comparing alone.
      for (const card_id of ids.splice(0, 200)) await api.cards.delete({ card_id });
      return [first, await answers(store, 'large')];
    });
    await server.query('RESET enable_sort');
    const left = new Set(ids);
    const known = found[1]!.flat().filter(({ id }) => left.has(id));
    expect(known.length).toBeGreaterThan(300);
    expect(found[1]).toEqual(await compared('large'));
    expect(found[0]!.flat().length).toBe(50 * QUESTIONS.length);
  });

  it('EMB-12 makes an index again that nobody came to the end of', async () => {
    await server.query('UPDATE pg_index SET indisvalid = false WHERE indexrelid = $1::regclass', [
      (await indexes())[0]!.name,
    ]);
    const seen = await withStore(500, 'owner', async (store) => {
      const before = await store.driver.vectors!.look(VECTOR_TABLE);
      await indexed(store);
      return [before, await store.driver.vectors!.look(VECTOR_TABLE)];
    });
    expect(seen.map((one) => [one!.count, one!.has(SPACE)])).toEqual([
      [0, false],
      [1, true],
    ]);
    expect(seen[1]!.has({ ...SPACE, tenant: 'small' })).toBe(false);
    expect(await indexes()).toMatchObject([{ valid: true }]);
  });

  it('EMB-12 compares all where no index can be made, and counts that', async () => {
    await server.query(`DROP INDEX ${(await indexes())[0]!.name}`);
    const found = await withStore(500, 'server', async (store) => {
      await expect.poll(() => store.figures().vector_index_failures, { timeout: 60_000 }).toBe(1);
      return answers(store, 'large');
    });
    expect(found).toEqual(await compared('large'));
  });

  it('EMB-12 makes no more than 64 of them', async () => {
    for (let i = 0; i < 64; i++)
      await server.query(`CREATE INDEX vector_docs_near_other${i} ON vector_docs (doc_no) WHERE doc_no < 0`);
    await withStore(NEVER, 'owner', async ({ driver }) => {
      expect(await driver.vectors!.index(VECTOR_TABLE, 'public', SPACE)).toBe(false);
    });
    expect(await indexes()).toHaveLength(64);
    for (let i = 0; i < 64; i++) await server.query(`DROP INDEX vector_docs_near_other${i}`);
  });

  it('EMB-12 goes on by comparing all when pgvector is taken away', async () => {
    const found = await withStore(500, 'owner', async (store) => {
      await indexed(store);
      await server.query('DROP EXTENSION vector CASCADE');
      return answers(store, 'large');
    });
    expect(await indexes()).toEqual([]);
    expect(found).toEqual(await compared('large'));
  });
});
