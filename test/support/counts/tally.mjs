// Counts what reaches a database, by wrapping its connections: statements, transactions, and for
// SQLite the rows changed by a commit and the bytes bound to statements that write. Threads count into the same memory.
import { Worker as RealWorker, workerData } from 'node:worker_threads';

const COUNTED = ['statements', 'transactions', 'rows', 'bytes'];
const memory = new BigInt64Array(workerData?.tally?.memory ?? new SharedArrayBuffer(8 * COUNTED.length));
const add = (name, count) => Atomics.add(memory, COUNTED.indexOf(name), BigInt(count));

/** The counts so far. */
export const tally = () => Object.fromEntries(COUNTED.map((name, i) => [name, Number(Atomics.load(memory, i))]));

/** Called with the text of each statement of this thread, before it is run. */
export const watch = { statement: () => {}, commit: () => {} };

/** Polls for commits of others, which come every so often. */
const POLL = /^PRAGMA data_version/;
/** Opens a connection, which lasts. */
const SETUP = /^SET ROLE/;
const WRITING = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH[\s\S]*\b(INSERT|UPDATE|DELETE)\b)/i;
const CONTROL = /^(BEGIN|COMMIT|ROLLBACK$)/;

function count(text) {
  if (POLL.test(text) || SETUP.test(text)) return;
  watch.statement(text);
  if (/^BEGIN/.test(text)) add('transactions', 1);
  if (!CONTROL.test(text)) add('statements', 1);
}

const bytesOfOne = (param) =>
  typeof param === 'string' ? Buffer.byteLength(param) : param === null ? 0 : (param.byteLength ?? 8);
const bytesOf = (params) => params.reduce((sum, param) => sum + bytesOfOne(param), 0);

/** Wraps the connections of SQLite. */
export function countSqlite({ prototype }) {
  const { all } = prototype;
  /** Changes before the transaction of a connection, those of triggers and of the tables behind tables included. */
  const begun = new WeakMap();
  const changed = (connection) => all.call(connection, 'SELECT total_changes() AS n')[0].n;
  for (const name of ['exec', 'all', 'run']) {
    const call = prototype[name];
    prototype[name] = function (text, params = []) {
      count(text);
      if (WRITING.test(text)) add('bytes', bytesOf(params));
      if (/^ROLLBACK$/.test(text)) begun.delete(this);
      if (/^COMMIT/.test(text) && begun.has(this)) {
        add('rows', changed(this) - begun.get(this));
        begun.delete(this);
        watch.commit();
      }
      const result = call.call(this, text, params);
      if (/^BEGIN IMMEDIATE/.test(text)) begun.set(this, changed(this));
      return result;
    };
  }
}

let asked = 0;
/** Connections, statements and tasks that PostgreSQL or a thread has not answered yet. */
export const pendingAnswers = () => asked;

/** Wraps the connections of pg, but for one that listens: it is asked every so often whether it lives. */
export function countPostgres({ Client: { prototype } }) {
  const { connect, query } = prototype;
  prototype.connect = function (callback) {
    asked++;
    const end = () => asked--;
    if (callback) {
      return connect.call(this, (...answer) => {
        end();
        callback(...answer);
      });
    }
    const connected = connect.call(this);
    connected.then(end, end);
    return connected;
  };
  const listening = new WeakSet();
  prototype.query = function (config, ...rest) {
    const text = typeof config === 'string' ? config : config.text;
    if (/^LISTEN/.test(text)) listening.add(this);
    if (!listening.has(this)) {
      count(text);
      if (/^COMMIT/.test(text)) watch.commit();
    }
    const answer = query.call(this, config, ...rest);
    if (!listening.has(this) && typeof answer?.then === 'function') {
      asked++;
      const end = () => asked--;
      answer.then(end, end);
    }
    return answer;
  };
}

/** A worker thread that counts, too. */
export class CountingWorker extends RealWorker {
  constructor(module, { workerData: data, ...options } = {}) {
    super(new URL('./thread.mjs', import.meta.url), {
      ...options,
      workerData: { ...data, tally: { memory: memory.buffer, module: String(module) } },
    });
    this.on('message', () => asked--);
  }

  postMessage(...message) {
    asked++;
    super.postMessage(...message);
  }
}
