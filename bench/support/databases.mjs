// Databases to measure on: a fresh one of a kind, Cairn on it, and a bare connection beside Cairn.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { schema } from '../../dist/api/schema.js';
import { Store } from '../../dist/api/store.js';
import { openPostgres } from '../../dist/driver/postgres/driver.js';
import { packetJournal } from '../../dist/engine/writes/journal.js';
import { startPostgres } from '../../scripts/postgres.mjs';

export const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null };

/** Where fresh databases come from: a folder of files, or a PostgreSQL server of our own. */
export async function startTarget(kind) {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-bench-'));
    let made = 0;
    return {
      kind,
      version: await sqliteVersion(),
      fresh: async () => join(folder, `${made++}.db`),
      stop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  const server = await startPostgres();
  const admin = new pg.Client({ connectionString: server.url() });
  await admin.connect();
  const { rows } = await admin.query('SHOW server_version');
  let made = 0;
  return {
    kind,
    version: rows[0].server_version,
    fresh: async () => {
      const name = `bench_${made++}`;
      await admin.query(`CREATE DATABASE ${name}`);
      return server.url(name);
    },
    stop: async () => {
      await admin.end();
      await server.stop();
    },
  };
}

async function sqliteVersion() {
  const db = await openSqliteFile(':memory:');
  const { version } = db.prepare('SELECT sqlite_version() AS version').get();
  db.close();
  return version;
}

/** Cairn in process. */
export async function openCairn(database) {
  return asCairn(await Store.open({ database, sweep_every_ms: 0 }));
}

/** Cairn in process, with the background work that a server does. */
export async function openWithBackgroundWork(database) {
  return asCairn(await Store.open({ database }));
}

/** Cairn on PostgreSQL, served by a role that row-level security does not bind. */
export async function openWithoutRowSecurity(database) {
  const journal = packetJournal(() => driver.now());
  const driver = await openPostgres(database, { journal, schema, row_level_security: false });
  return asCairn(await Store.on(driver, { sweep_every_ms: 0 }));
}

export function asCairn(store) {
  return { api: store.api(CALLER), driver: store.driver, close: () => store.close() };
}

/** A connection of the driver's own library, with nothing of Cairn around it, to a database of Cairn's schema. */
export async function openBare(kind, database) {
  const { close } = await openCairn(database);
  await close();
  return connectBare(kind, database);
}

/** The same to one that has the schema for certain. */
export const connectBare = (kind, database) => (kind === 'sqlite' ? bareSqlite(database) : barePostgres(database));

/** A connection to any SQLite file, by the library that Cairn uses. */
export async function openSqliteFile(file) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const builtIn = major > 22 || (major === 22 && minor >= 13);
  const { DatabaseSync } = await import(builtIn ? 'node:sqlite' : '@photostructure/sqlite');
  return new DatabaseSync(file);
}

async function bareSqlite(file) {
  const db = await openSqliteFile(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', 'secure_delete = ON'])
    db.exec(`PRAGMA ${pragma}`);
  return {
    prepare: (text) => db.prepare(text.replace(/\$\d+/g, '?')),
    exec: async (text) => db.exec(text),
    first: async (text) => db.prepare(text).get(),
    close: async () => db.close(),
  };
}

/** Pipelined and with named statements, as Cairn's own connections are. */
async function barePostgres(url) {
  const parsers = {
    getTypeParser: (oid, format) => (oid === 20 ? Number : oid === 114 ? String : pg.types.getTypeParser(oid, format)),
  };
  const client = new pg.Client({ connectionString: url, pipeline: true, types: parsers });
  await client.connect();
  const names = new Map();
  return {
    run: (text, values) => {
      let name = names.get(text);
      if (name === undefined) names.set(text, (name = `b${names.size}`));
      return client.query({ name, text, values });
    },
    exec: (text) => client.query(text),
    first: async (text) => (await client.query(text)).rows[0],
    close: () => client.end(),
  };
}

/** Brings the database into the state in which one is that was filled long ago. */
export async function settle(kind, database) {
  const bare = await openBare(kind, database);
  await bare.exec(kind === 'postgres' ? 'VACUUM ANALYZE' : 'PRAGMA wal_checkpoint(TRUNCATE)');
  await bare.close();
}
