/** How SQLite finds the rows of the statements that an action asks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Store, schema } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { WriteOptions } from '#cairn/driver/index.js';
import { type Driver, openSqlite, type Query, type Sql, SqliteConnection } from '#cairn/driver/index.js';
import { compile } from '#cairn/driver/sql.js';
import { packetJournal } from '#cairn/engine/index.js';

export interface Plans {
  readonly store: Store;
  readonly cairn: Api;
  /** How each statement of an action finds its rows, one line a table. */
  plansOf(action: () => Promise<unknown>): Promise<string[]>;
  /** The same of the statements within its write transactions alone. */
  plansOfWrites(action: () => Promise<unknown>): Promise<string[]>;
  close(): Promise<void>;
}

/** The same object, and what is asked of it is noted. */
const noting = <T extends object>(target: T, asked: Sql[]): T =>
  new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (!['all', 'get', 'run', 'send', 'returning'].includes(String(name))) return call;
      return (query: Sql) => {
        asked.push(query);
        return call(query);
      };
    },
  });

const notingDriver = (real: Driver, asked: Sql[], written: Sql[]): Driver =>
  new Proxy(real, {
    get: (_, name) => {
      if (name === 'write')
        return (tenant: string, work: (tx: object) => Promise<unknown>, options?: WriteOptions) =>
          real.write(tenant, (tx) => work(noting(noting(tx, asked), written)), options);
      if (name === 'snapshot')
        return (tenant: string, read: (query: Query) => Promise<unknown>) =>
          real.snapshot(tenant, (query) => read(noting(query, asked)));
      if (name === 'at') return (tenant: string) => noting(real.at(tenant), asked);
      if (name === 'long')
        return (tenant: string, query: Sql) => {
          asked.push(query);
          return real.long(tenant, query);
        };
      const value: unknown = Reflect.get(real, name);
      return typeof value === 'function' ? (value.bind(real) as unknown) : value;
    },
  });

/** A store on a new file that notes what it is asked, what is written with the journal included. */
export async function notePlans(): Promise<Plans> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-plans-'));
  const database = join(folder, 'cairn.db');
  const asked: Sql[] = [];
  const written: Sql[] = [];
  const plain = packetJournal(() => Date.now(), 8192);
  const journal = {
    ...plain,
    append: (...[tx, entries, late]: Parameters<typeof plain.append>) => plain.append(noting(tx, asked), entries, late),
  };
  const real = await openSqlite(database, { journal, schema });
  const store = await Store.on(notingDriver(real, asked, written), { sweep_every_ms: 0, count_every_ms: 0 });
  const file = await SqliteConnection.open(database);
  const plansAmong = async (noted: Sql[], action: () => Promise<unknown>) => {
    noted.length = 0;
    await action();
    if (noted.length < 1) throw new Error('nothing was noted');
    return noted.flatMap((query) => {
      const { text, params } = compile(query, 'sqlite', 'default');
      return file.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params).map(({ detail }) => detail);
    });
  };
  return {
    store,
    cairn: store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null }),
    plansOf: (action) => plansAmong(asked, action),
    plansOfWrites: (action) => plansAmong(written, action),
    close: async () => {
      file.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
