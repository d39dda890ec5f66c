// A process of its own: `node count.mjs <folder or postgres URL> [--show] [operation…]` prints the counts of each
// operation as JSON, averages of ten runs; with --show the statements of the last run go to stderr.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import worker from 'node:worker_threads';
import { advance, pause, pendingTimers, reseed } from './steady.mjs';
import { CountingWorker, countPostgres, countSqlite, pendingAnswers, tally, watch } from './tally.mjs';

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { show: { type: 'boolean' } } });
const [target, ...only] = positionals;
const onPostgres = /^postgres/.test(target);
const WARM_UP = 5;
const RUNS = 10;
const CONTENTION_MS = 2000;
const WAL_HEADER = 32;
const FRAME = 4096 + 24;

const pg = createRequire(import.meta.url)('pg');
countPostgres(pg);
worker.Worker = CountingWorker;
syncBuiltinESMExports();
// Loaded here: what it imports from Node is replaced by then.
const { SqliteConnection } = await import('#cairn/driver/index.js');
countSqlite(SqliteConnection);
const { Store } = await import('#cairn/api/index.js');
const { emptiesLog, holdsMuch, operations, storeOptions } = await import('./operations.mjs');
const { wireBytes } = await import('./wire.mjs');

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null };
const nothing = () => {};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until nothing is asked of the database any more: work may go on behind an answer. */
async function settle() {
  for (let before, waited; waited || before !== JSON.stringify(tally()); ) {
    before = JSON.stringify(tally());
    for (let i = 0; i < 20; i++) await turn();
    waited = pendingTimers() > 0 || pendingAnswers() > 0;
    while (pendingTimers() > 0 || pendingAnswers() > 0) await pause(1);
  }
}

let made = 0;
async function freshDatabase() {
  if (!onPostgres) {
    const folder = mkdtempSync(join(target, 'counts-'));
    return { database: join(folder, 'cairn.db'), drop: async () => rmSync(folder, { recursive: true }) };
  }
  const name = `counts_${process.pid}_${made++}`;
  const admin = async (text) => {
    const client = new pg.Client({ connectionString: target });
    await client.connect();
    await client.query(text);
    await client.end();
  };
  await admin(`CREATE DATABASE ${name}`);
  const url = new URL(target);
  url.pathname = `/${name}`;
  return { database: url.href, drop: () => admin(`DROP DATABASE ${name}`) };
}

/** Frames in the log of an SQLite file. */
function framesOf(database) {
  const size = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return size === 0 ? 0 : (size - WAL_HEADER) / FRAME;
}

/** Empties the log, so that its size tells what is written from now on. */
async function emptyLog(database) {
  const connection = await SqliteConnection.open(database);
  const [{ busy }] = connection.all('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
  if (busy !== 0) throw new Error('the log is in use');
}

/** Live objects of the program, after a collection. */
const liveObjects = () => v8.queryObjects(Object, { format: 'count' });

/** Objects that a run holds at most, at its commits or with its answer, beyond what is there when it is over. */
async function objectsOf(run) {
  const during = [];
  watch.commit = () => during.push(liveObjects());
  await (async () => {
    const answer = await run();
    watch.commit = nothing;
    during.push(liveObjects());
    return answer === during;
  })();
  await settle();
  // Only the second collection finds what was behind weak references.
  liveObjects();
  await settle();
  return { objects: Math.max(...during) - liveObjects() };
}

/** Statements, transactions, rows, bytes, frames and bytes on the wire of one run. */
async function costOf(run, database) {
  await settle();
  const state = () => ({ ...tally(), wire: wireBytes(), ...(onPostgres ? {} : { frames: framesOf(database) }) });
  const before = state();
  await run();
  await settle();
  return Object.entries(state()).map(([name, count]) => [name, count - before[name]]);
}

async function count(name) {
  reseed();
  const { database, drop } = await freshDatabase();
  const store = await Store.open({ database, sweep_every_ms: 0, count_every_ms: 0, ...storeOptions[name] });
  const opened = { api: store.api(CALLER), driver: store.driver, store };
  const newRun = await operations[name](opened, WARM_UP + RUNS + 1);
  let n = 0;
  const next = async () => {
    advance(10);
    return newRun(n++);
  };
  if (!onPostgres) await emptyLog(database);
  for (let i = 0; i < WARM_UP; i++) {
    await (await next())();
    await settle();
    // A store pauses between commits while another process seems to write, as the emptied log looks to it.
    if (i === 0) advance(CONTENTION_MS);
  }
  const sums = {};
  const texts = [];
  for (let i = 0; i < RUNS; i++) {
    const run = await next();
    if (flags.show && i === RUNS - 1) watch.statement = (text) => texts.push(text);
    for (const [what, cost] of await costOf(run, database)) sums[what] = (sums[what] ?? 0) + cost;
  }
  watch.statement = nothing;
  if (texts.length > 0) console.error([name, ...texts.map((text) => text.replace(/\s+/g, ' ').trim())].join('\n  '));
  const averages = Object.fromEntries(
    Object.entries(sums).map(([what, sum]) => [what, Math.round((10 * sum) / RUNS) / 10]),
  );
  const objects = !onPostgres && holdsMuch.has(name) ? await objectsOf(await next()) : {};
  await newRun.close?.();
  await store.close();
  await drop();
  if (onPostgres) return { statements: averages.statements, transactions: averages.transactions };
  const { bytes, wire, ...counted } = averages;
  if (emptiesLog.has(name)) delete counted.frames;
  return { ...counted, bytes: Math.round(bytes), ...(wire > 0 ? { wire: Math.round(wire) } : {}), ...objects };
}

const counts = {};
for (const name of only.length > 0 ? only : Object.keys(operations)) counts[name] = await count(name);
console.log(JSON.stringify(counts));
