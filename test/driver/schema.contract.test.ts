/** How a database gets its schema: the baseline once, numbered migrations after it, and what is refused. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { schema } from '#cairn/api/index.js';
import type { Driver, MigrationReport } from '#cairn/driver/driver.js';
import { checksumOf } from '#cairn/driver/migrate.js';
import { openPostgres } from '#cairn/driver/postgres/driver.js';
import type { Migration, Schema } from '#cairn/driver/schema.js';
import { sql } from '#cairn/driver/sql.js';
import { openSqlite } from '#cairn/driver/sqlite/driver.js';
import { SqliteConnection } from '#cairn/driver/sqlite/open.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const baseline = schema[0]!;
const journal = { append: async () => undefined, landed: async () => false };

/** As a release after the first might have it. */
const ratings: Migration = {
  version: 2,
  name: 'ratings',
  tables: ['ratings'],
  statements: ({ id, int, compact }) => [
    `CREATE TABLE ratings (
      tenant_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      stars ${int} NOT NULL,
      PRIMARY KEY (tenant_id, card_id)
    ) ${compact}`,
    `ALTER TABLE cards ADD COLUMN rated_at ${int}`,
  ],
};
const withRatings: Schema = [...schema, ratings];

/** What the migrations before the baseline left behind, whose checksums no longer matter. */
const BEFORE = [
  'foundation',
  'memory',
  'checkpoints',
  'coordination',
  'search',
  'contexts',
  'summaries',
  'vectors',
].map((name, i) => ({ version: i + 1, name, checksum: createHash('sha256').update(name).digest('hex') }));

for (const kind of ['sqlite', 'postgres'] as const)
  describe.runIf(targetNames().includes(kind))(`the schema on ${kind}`, () => {
    let database: string;
    let drop: () => Promise<void>;
    beforeEach(async () => {
      ({ database, drop } = await freshDatabase(kind, { empty: true }));
    });
    afterEach(() => drop());

    const withDriver = async <T>(wanted: Schema, work: (driver: Driver) => Promise<T>): Promise<T> => {
      const open = kind === 'sqlite' ? openSqlite : openPostgres;
      const driver = await open(database, { journal, schema: wanted });
      try {
        return await work(driver);
      } finally {
        await driver.close();
      }
    };
    const migrate = (wanted: Schema): Promise<MigrationReport> => withDriver(wanted, (driver) => driver.migrate());

    /** As who owns the tables, beside Cairn. */
    const asOwner = async (...texts: readonly string[]): Promise<Record<string, unknown>[]> => {
      let rows: Record<string, unknown>[] = [];
      if (kind === 'sqlite') {
        const file = await SqliteConnection.open(database);
        for (const text of texts) rows = file.all(text);
        file.close();
        return rows;
      }
      const client = new pg.Client({ connectionString: database });
      await client.connect();
      for (const text of texts) rows = (await client.query<Record<string, unknown>>(text)).rows;
      await client.end();
      return rows;
    };
    const tables = async (): Promise<string[]> =>
      (
        await asOwner(
          kind === 'sqlite'
            ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            : "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
        )
      ).map(({ name }) => name as string);
    const plant = (applied: readonly { version: number; name: string; checksum: string }[]) =>
      asOwner(
        'CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)',
        ...applied.map(
          ({ version, name, checksum }) =>
            `INSERT INTO schema_migrations VALUES (${version}, '${name}', '${checksum}', 0)`,
        ),
      );

    it('is the baseline, made once', async () => {
      expect(await migrate(schema)).toEqual({ applied: ['baseline'], version: 1 });
      expect(await migrate(schema)).toEqual({ applied: [], version: 1 });
      const made = (await tables()).filter((name) => !name.startsWith('sqlite_'));
      expect(made).toEqual([...baseline.tables, 'schema_migrations', 'store_meta'].sort());
    });

    it('is made by one, when several start together', async () => {
      const reports = await Promise.all([migrate(schema), migrate(schema), migrate(schema)]);
      expect(reports.map(({ applied }) => applied).sort()).toEqual([[], [], ['baseline']]);
    });

    it('of a store from before the baseline is refused, and the store is left as it is', async () => {
      await plant(BEFORE);
      await expect(migrate(schema)).rejects.toMatchObject({
        code: 'SCHEMA_MISMATCH',
        message: expect.stringMatching(/before the first release.*recreate it/),
      });
      expect(await tables()).toEqual(['schema_migrations']);
      expect(await asOwner('SELECT version FROM schema_migrations')).toHaveLength(BEFORE.length);
    });

    it('is refused where the baseline was applied in another form', async () => {
      await plant([{ version: 1, name: 'baseline', checksum: checksumOf(ratings, kind) }]);
      await expect(migrate(schema)).rejects.toMatchObject({
        code: 'SCHEMA_MISMATCH',
        message: expect.stringContaining('migration 1 (baseline) was applied in another form'),
      });
    });

    it('gets the migrations that came after the baseline, in a new store and in one that has it', async () => {
      await migrate(schema);
      expect(await migrate(withRatings)).toEqual({ applied: ['ratings'], version: 2 });
      expect(await migrate(withRatings)).toEqual({ applied: [], version: 2 });
      await asOwner("INSERT INTO ratings (tenant_id, card_id, stars) VALUES ('a', 'c', 5)");
      await drop();
      ({ database, drop } = await freshDatabase(kind, { empty: true }));
      expect(await migrate(withRatings)).toEqual({ applied: ['baseline', 'ratings'], version: 2 });
    });

    it('keeps the tables of later migrations behind the wall of their tenant', async () => {
      await migrate(withRatings);
      await withDriver(withRatings, async (driver) => {
        const rate = (tenant: string) =>
          driver.write(tenant, (tx) =>
            tx.run(sql`INSERT INTO ratings (tenant_id, card_id, stars) VALUES (${tenant}, 'c', 5)`),
          );
        await rate('a');
        await rate('b');
        const seen = await driver.at('a').all(sql`SELECT tenant_id FROM ratings`);
        expect(seen).toHaveLength(kind === 'postgres' ? 1 : 2);
        expect(await driver.integrity()).toEqual([]);
        if (kind !== 'postgres') return;
        await asOwner('ALTER TABLE ratings DISABLE ROW LEVEL SECURITY');
        expect(await driver.integrity()).toEqual(['row-level security is off on table ratings']);
      });
    });

    it('of a newer Cairn, or with a later migration in another form, is refused', async () => {
      await migrate(withRatings);
      await expect(migrate(schema)).rejects.toMatchObject({
        code: 'SCHEMA_MISMATCH',
        message: 'the database has schema version 2, this Cairn knows up to 1: upgrade Cairn',
      });
      const edited: Migration = { ...ratings, statements: () => ['SELECT 1'] };
      await expect(migrate([...schema, edited])).rejects.toMatchObject({
        code: 'SCHEMA_MISMATCH',
        message: expect.stringContaining('migration 2 (ratings) was applied in another form'),
      });
    });

    it('stays as it was when a migration fails', async () => {
      await migrate(schema);
      const before = await tables();
      const broken: Migration = {
        ...ratings,
        statements: (words) => [...ratings.statements(words), 'CREATE INDEX x ON nothing (tenant_id)'],
      };
      await expect(migrate([...schema, broken])).rejects.toThrow('nothing');
      expect(await tables()).toEqual(before);
      expect(await migrate(withRatings)).toEqual({ applied: ['ratings'], version: 2 });
    });
  });
