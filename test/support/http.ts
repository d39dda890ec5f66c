/** A server on a store of its own, reached over a real socket, and what is in its tables. For the generated tests. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import pg from 'pg';
import { Store } from '#cairn/api/index.js';
import { Sql } from '#cairn/driver/sql.js';
import type { KeyRole } from '#cairn/engine/contract.js';
import { createServer } from '#cairn/http/index.js';
import { type Api, inputLocation, type NamedOperation, namesProject, pathParameters } from './contract.js';
import { type CopyTenant, tenantCopier } from './plant/twins.js';
import { until } from './server.js';
import { freshDatabase, targetNames } from './targets.js';

export type Database = 'sqlite' | 'postgres';

/** The databases that this run is about. */
export function databases(): readonly Database[] {
  const targets = targetNames();
  const all: readonly Database[] = ['sqlite', 'postgres'];
  return all.filter((one) => targets.includes(one) || (one === 'sqlite' && targets.includes('http')));
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of a stream, what came up to its first `until`. */
  readonly text: string;
}

/** No answer takes this long: one that does is a hang. */
const HANG_MS = 15_000;

/** Sends a request as it is given. A stream is read until it holds `until`, then left. */
export function send(port: number, sent: Sent, agent?: Agent, until = '\n\n'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: sent.method,
      path: sent.path,
      headers: {
        ...(sent.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent.body)) }),
        ...sent.headers,
      },
      agent: agent ?? false,
      timeout: HANG_MS,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${sent.method} ${sent.path} hangs`)));
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      const done = () =>
        resolve({
          status: incoming.statusCode!,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        });
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        const streams = incoming.headers['content-type']?.startsWith('text/event-stream');
        if (!streams || !Buffer.concat(chunks).toString('utf8').includes(until)) return;
        done();
        outgoing.destroy();
      });
      incoming.on('end', done);
    });
    outgoing.end(sent.body);
  });
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));

/** An operation's input, put where the table says. */
export function requestOf(operation: NamedOperation, input: Readonly<Record<string, unknown>>, tenant: string): Sent {
  const inPath = pathParameters(operation.path);
  let path = operation.path;
  if (namesProject(path)) path = path.replace('{project_id}', encodeURIComponent(tenant));
  for (const name of inPath) path = path.replace(`{${name}}`, encodeURIComponent(asText(input[name])));
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name));
  if (inputLocation(operation.method) === 'query') {
    const query = new URLSearchParams(rest.map(([name, value]): [string, string] => [name, asText(value)]));
    return { method: operation.method, path: query.size > 0 ? `${path}?${query}` : path };
  }
  return {
    method: operation.method,
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(rest)),
  };
}

export type Row = Readonly<Record<string, unknown>>;
export interface HttpTest {
  readonly store: Store;
  readonly port: number;
  send(sent: Sent, until?: string): Promise<Reply>;
  /** An admin of the tenant, in process; the tenant is made if needed. */
  admin(tenant: string): Promise<Api>;
  /** A key over HTTP; with it the server is no longer open. */
  key(tenant: string, role?: KeyRole, agent_id?: string): Promise<{ key: string; key_id: string }>;
  /** A new tenant with the rows of another one, to which nothing else writes meanwhile. */
  copyTenant(from: string, to: string): Promise<void>;
  /** Every row of every table, as one text: to see whether any of them changed. Of one tenant, if it is named. */
  contents(tenant?: string): Promise<string>;
  /** What the server said went wrong on its side. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

/** Reads every row of every table, or those of one tenant. */
function looker(kind: Database, rows: (text: string) => Promise<Row[]>): (tenant?: string) => Promise<string> {
  let tables: readonly string[] | undefined;
  const tableByTable = async (names: readonly string[], tenant?: string): Promise<string[]> => {
    const contents: string[] = [];
    for (const name of names) {
      const found = await rows(`SELECT * FROM ${name}`);
      const told = tenant === undefined ? found : found.filter(({ tenant_id }) => tenant_id === tenant);
      contents.push(name, ...told.map((row) => JSON.stringify(row)).sort());
    }
    return contents;
  };
  /** On PostgreSQL, where it is the number of queries that takes the time. */
  const inOneQuery = async (names: readonly string[], tenant?: string): Promise<string[]> => {
    const only = tenant === undefined ? '' : `WHERE to_jsonb(entry) ->> 'tenant_id' = '${tenant}'`;
    const each = names.map((name) => `SELECT '${name} ' || entry::text AS told FROM ${name} AS entry ${only}`);
    return (await rows(each.join(' UNION ALL '))).map(({ told }) => String(told)).sort();
  };
  return async (tenant) => {
    // What is erased after an earlier request is no change by the next one.
    await until('the erasures', async () => {
      const [under_way] = await rows('SELECT COUNT(*) AS count FROM endings WHERE done_at IS NULL');
      return Number(under_way!.count) === 0;
    });
    tables ??= (
      await rows(
        kind === 'postgres'
          ? `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
             WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`
          : // The index of the search is read by its own tables.
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
      )
    ).map(({ name }) => String(name));
    const read = kind === 'postgres' ? inOneQuery : tableByTable;
    return (await read(tables, tenant)).join('\n');
  };
}

export async function startHttp(kind: Database): Promise<HttpTest> {
  const { database, drop } = await freshDatabase(kind);
  const store = await Store.open({ database, sweep_every_ms: 0, count_every_ms: 0 });
  const log: string[] = [];
  const server = createServer(store, {
    version: 'test',
    // Generated tests send a revoked key to every operation.
    wrong_keys_per_minute: 0,
    log: (line) => log.push(line),
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  const reader = kind === 'postgres' ? new pg.Client({ connectionString: database }) : undefined;
  await reader?.connect();
  let copy: Promise<CopyTenant> | undefined;

  const admin = async (tenant: string): Promise<Api> => {
    await store.ensureTenant(tenant);
    return store.api({ tenant_id: tenant, agent_id: null, role: 'admin', key_id: null });
  };
  // On PostgreSQL the owner of the server reads, whom row-level security does not hold back.
  const rows = async (text: string): Promise<Row[]> =>
    reader ? (await reader.query<Row>(text)).rows : store.driver.at('').all<Row>(new Sql([text], []));

  return {
    store,
    port,
    log,
    send: (sent, until) => send(port, sent, agent, until),
    admin,
    key: async (tenant, role = 'admin', agent_id) =>
      (await admin(tenant)).keys.create({ role, ...(agent_id === undefined ? {} : { agent_id, access: 'all' }) }),
    copyTenant: async (from, to) => {
      copy ??= tenantCopier(store, reader);
      await (await copy)(from, to);
    },
    contents: looker(kind, rows),
    close: async () => {
      agent.destroy();
      await reader?.end();
      await server.close();
      await store.close();
      await drop();
    },
  };
}
