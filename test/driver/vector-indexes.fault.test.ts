/**
 * Indexes of vectors on a server with many sessions: made beside others, by one at a time, and let go of when a store closes.
 * What stands for pgvector is a hash index by its names: how it is made is the same.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Driver, VectorSpace, VectorTable } from '#cairn/driver/index.js';
import { PostgresVectors } from '#cairn/driver/postgres/vectors.js';
import { VECTOR_TABLE, VectorIndexing } from '#cairn/index/index.js';
import { until, within } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const STAND_IN = `CREATE ACCESS METHOD hnsw TYPE INDEX HANDLER hashhandler;
  CREATE FUNCTION bit_hash(bit) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT hashtext($1::text)';
  CREATE OPERATOR CLASS bit_hamming_ops FOR TYPE bit USING hnsw AS OPERATOR 1 =, FUNCTION 1 bit_hash(bit)`;
const nothing = { tenant: '', all: async () => [], get: async () => undefined };

describe.runIf(targetNames().includes('postgres'))('indexes of vectors', () => {
  let database: string;
  let drop: () => Promise<void>;
  let admin: pg.Client;
  let other: pg.Client;
  const vectors = (url = database) => new PostgresVectors(url, nothing);
  const space = (tenant: string, model = 'm') => ({ tenant, model, dimensions: 16 });
  const indexes = async (): Promise<{ valid: boolean; definition: string }[]> =>
    (
      await admin.query<{ valid: boolean; definition: string }>(
        `SELECT indisvalid AS valid, pg_get_indexdef(indexrelid) AS definition FROM pg_index
          WHERE indexrelid::regclass::text LIKE 'vector_docs_near_%' ORDER BY indexrelid`,
      )
    ).rows;
  /** Whoever makes an index waits for those who read an older state. */
  const reading = async () => {
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.query('SELECT COUNT(*) FROM vector_docs');
  };
  const begun = (many: number) => expect.poll(indexes).toHaveLength(many);

  beforeAll(async () => {
    ({ database, drop } = await freshDatabase('postgres'));
    admin = new pg.Client({ connectionString: database });
    other = new pg.Client({ connectionString: database });
    await Promise.all([admin.connect(), other.connect()]);
    await admin.query(STAND_IN);
  });
  afterAll(async () => {
    await Promise.all([admin?.end(), other?.end()]);
    await drop?.();
  });

  it('EMB-12 are made by one at a time, however long it takes', async () => {
    await admin.query(`ALTER DATABASE ${admin.database} SET statement_timeout = 500`);
    await reading();
    const made = vectors().index(VECTOR_TABLE, 'public', space('first'));
    await begun(1);
    expect(await vectors().index(VECTOR_TABLE, 'public', space('second'))).toBe(false);
    // Longer than that limit.
    await other.query('SELECT pg_sleep(0.7)');
    expect(await indexes()).toMatchObject([{ valid: false }]);
    await other.query('COMMIT');
    expect(await made).toBe(true);
    await admin.query(`ALTER DATABASE ${admin.database} RESET statement_timeout`);
    expect(await vectors().index(VECTOR_TABLE, 'public', space('first'))).toBe(true);
    expect(await indexes()).toMatchObject([{ valid: true }]);
  });

  it('EMB-12 keep no store from closing, and are made to the end all the same', async () => {
    await reading();
    const one = vectors();
    const made = one.index(VECTOR_TABLE, 'public', space('left'));
    await begun(2);
    one.close();
    await expect(within(10_000, made, 'the index')).rejects.toThrow('the store is closed');
    await other.query('COMMIT');
    await expect.poll(async () => (await indexes())[1]!.valid).toBe(true);
  });

  it('EMB-12 keep no store from closing that is only just connecting, or whose server does not answer', async () => {
    const connecting = vectors();
    const unmade = connecting.index(VECTOR_TABLE, 'public', space('never'));
    connecting.close();
    await expect(within(10_000, unmade, 'the index')).rejects.toThrow('the store is closed');

    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const waiting = vectors(`postgres://postgres@127.0.0.1:${port}/postgres`);
    const unanswered = waiting.index(VECTOR_TABLE, 'public', space('never'));
    const [socket] = (await once(silent, 'connection')) as [Socket];
    waiting.close();
    await expect(within(10_000, unanswered, 'the index')).rejects.toThrow('the store is closed');
    socket.destroy();
    silent.close();
    expect(await indexes()).toHaveLength(2);
  });

  it('EMB-12 are of the tenant and the model alone, whatever those are called', async () => {
    const names = ["it's", 'a\\', "\\'; DROP TABLE vector_docs; --", '"$$"'];
    for (const name of names) expect(await vectors().index(VECTOR_TABLE, 'public', space(name, name))).toBe(true);
    const definitions = (await indexes()).slice(2).map(({ definition }) => definition);
    const quoted = names.map((name) => `'${name.replaceAll("'", "''")}'::text`);
    expect(definitions).toEqual(
      quoted.map((name) => expect.stringContaining(`(tenant_id = ${name}) AND (model = ${name}) AND`)),
    );
  });

  it('EMB-12 one that cannot be made keeps those of others from nothing', async () => {
    const made = vectors();
    const look = async () => ({ schema: 'public', count: 0, has: () => false });
    const index = (table: VectorTable, schema: string, one: VectorSpace) => made.index(table, schema, one);
    const indexing = new VectorIndexing({ vectors: { look, index, close: () => {} } } as unknown as Driver, 1);
    await indexing.look();
    // More than the database takes.
    indexing.keep({ ...space('too-many'), dimensions: 1_000_000_000 }, 1);
    await until('it to fail', () => indexing.figures().vector_index_failures === 1);
    const before = (await indexes()).length;
    indexing.keep(space('other-of-a-failed-one'), 1);
    await begun(before + 1);
    await indexing.stop();
    made.close();
  });
});
