// Checkpointers for LangGraph to measure: Cairn's, and the official one of the same kind of database. Both are shown to
// wait for the disk with every commit.
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { CairnSaver } from '../../dist/adapters/langgraph/index.js';
import { sql } from '../../dist/driver/sql.js';
import { openCairn, openSqliteFile, TENANT } from './databases.mjs';
import { peer } from './peers.mjs';

const DURABLE = {
  sqlite: { journal_mode: 'wal', synchronous: '2' },
  postgres: { synchronous_commit: 'on', fsync: 'on' },
};
const ASK = {
  sqlite: { journal_mode: sql`PRAGMA journal_mode`, synchronous: sql`PRAGMA synchronous` },
  postgres: { synchronous_commit: sql`SHOW synchronous_commit`, fsync: sql`SHOW fsync` },
};

const NATIVE = { name: 'better-sqlite3', result: 'build/Release/better_sqlite3.node' };

/** Cairn's saver on a database of its own. */
export async function openOurs({ kind }, database) {
  const cairn = await openCairn(database);
  const settings = {};
  for (const [name, query] of Object.entries(ASK[kind])) {
    const row = await cairn.driver.write(TENANT, (tx) => tx.get(query));
    settings[name] = String(row[name]);
  }
  refuseOthers('Cairn', settings, DURABLE[kind]);
  return {
    saver: new CairnSaver(cairn.api),
    /** One that knows nothing of what was put or loaded before. */
    newSaver: () => new CairnSaver(cairn.api),
    settings,
    bytes: () => bytesOf(database),
    close: async () => {
      await cairn.close();
      await removeFiles(kind, database);
    },
  };
}

/** The official one; or the reason why it cannot be had. */
export async function openOfficial({ kind }, database) {
  const name = `@langchain/langgraph-checkpoint-${kind}`;
  const found = await peer(name, kind === 'sqlite' ? NATIVE : undefined);
  if (typeof found === 'string') return found;
  const opened = kind === 'sqlite' ? await onSqlite(found, database) : await onPostgres(found, database);
  refuseOthers(name, opened.settings, DURABLE[kind]);
  return {
    ...opened,
    name,
    version: found.version,
    close: async () => {
      await opened.close();
      await removeFiles(kind, database);
    },
  };
}

async function onSqlite({ module }, file) {
  const saver = module.SqliteSaver.fromConnString(file);
  saver.setup();
  const asItComes = pragmasOf(saver.db);
  saver.db.pragma('synchronous = FULL');
  return {
    saver,
    newSaver: () => new module.SqliteSaver(saver.db),
    as_it_comes: asItComes,
    settings: pragmasOf(saver.db),
    bytes: () => bytesOf(file),
    close: async () => saver.db.close(),
  };
}

const pragmasOf = (db) =>
  Object.fromEntries(Object.keys(DURABLE.sqlite).map((name) => [name, String(db.pragma(name, { simple: true }))]));

async function onPostgres({ module }, url) {
  const saver = module.PostgresSaver.fromConnString(url);
  await saver.setup();
  const settings = {};
  for (const name of Object.keys(DURABLE.postgres))
    settings[name] = (await saver.pool.query(`SHOW ${name}`)).rows[0][name];
  return { saver, newSaver: () => new module.PostgresSaver(saver.pool), settings, close: () => saver.end() };
}

function refuseOthers(name, settings, wanted) {
  for (const [setting, value] of Object.entries(wanted))
    if (settings[setting] !== value) throw new Error(`${name} has ${setting} ${settings[setting]}, not ${value}`);
}

/** What a file takes once all of its log is in it. */
async function bytesOf(file) {
  const db = await openSqliteFile(file);
  const [{ busy }] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  db.close();
  if (busy !== 0 || statSync(`${file}-wal`).size > 0) throw new Error(`the log of ${file} was not truncated`);
  return statSync(file).size;
}

/** Some are of a gigabyte. */
async function removeFiles(kind, file) {
  if (kind === 'sqlite') for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
}
