/**
 * What the conformance suites run on: the library on SQLite, the library on PostgreSQL, and the HTTP client on a
 * server on SQLite. `CAIRN_TEST_TARGETS=sqlite,http` runs a part.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { WebSocket } from 'ws';
import { Store, type StoreOptions } from '#cairn/api/index.js';
import { type Api, connectCairn } from '#cairn/client/index.js';
import type { KeyRole } from '#cairn/engine/contract.js';
import { createServer } from '#cairn/http/index.js';
import { findAgent } from '#cairn/identity/index.js';

export type TargetName = 'sqlite' | 'postgres' | 'http';
/** `websocket` is `http` with streams over WebSocket; `http` itself has them over server-sent events. */
type StreamTargetName = TargetName | 'websocket';
const ALL: readonly TargetName[] = ['sqlite', 'postgres', 'http'];

export function targetNames(): readonly TargetName[] {
  const wanted = process.env.CAIRN_TEST_TARGETS?.split(',');
  return ALL.filter((name) => !wanted || wanted.includes(name));
}

/** The targets of a suite about streams: both transports, where HTTP is wanted. */
const streamTargetNames = (): readonly StreamTargetName[] =>
  targetNames().flatMap((name) => (name === 'http' ? (['http', 'websocket'] as const) : [name]));

/** The WebSocket of the runtime, where it has one: Node 20 has none. */
export const socketOption = (): { WebSocket?: typeof WebSocket } => ('WebSocket' in globalThis ? {} : { WebSocket });

export interface Who {
  readonly tenant?: string;
  readonly agent?: string;
  /** The user that its key is bound to. */
  readonly user?: string;
  readonly role?: KeyRole;
}

export interface TestStore {
  readonly target: TargetName;
  /** Admin of the tenant `default`. */
  readonly cairn: Api;
  /** Another caller on the same store; its tenant is made if needed. Admin of `default` unless said otherwise. */
  as(who: Who): Promise<Api>;
  /** A tenant that nobody has used yet, so that tests do not see each other. */
  freshTenant(): Promise<Api>;
  /** Moves the store's clock forward. */
  advance(ms: number): void;
  readonly store: Store;
  /** Of the server, on the target http. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

async function onTestServer(text: string): Promise<string> {
  const base = process.env.CAIRN_TEST_POSTGRES;
  if (!base) throw new Error('no PostgreSQL server for the tests: run them by `npm test`');
  const client = new pg.Client({ connectionString: base });
  await client.connect();
  await client.query(text).finally(() => client.end());
  return base;
}

/** On the test server; gives its address. */
export async function createDatabase(name: string, template?: string): Promise<string> {
  const url = new URL(await onTestServer(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ''}`));
  url.pathname = `/${name}`;
  return url.toString();
}

/**
 * A database of its own: a file in a new folder, or a new database on the test server. That has the schema already,
 * unless it is to be empty.
 */
export async function freshDatabase(
  kind: 'sqlite' | 'postgres',
  { empty = false } = {},
): Promise<{ database: string; drop(): Promise<void> }> {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-test-'));
    return { database: join(folder, 'cairn.db'), drop: async () => rmSync(folder, { recursive: true, force: true }) };
  }
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const database = await createDatabase(name, empty ? undefined : process.env.CAIRN_TEST_TEMPLATE);
  const drop = async () => void (await onTestServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  return { database, drop };
}

export async function openTarget(
  name: StreamTargetName,
  options: Omit<StoreOptions, 'database'> = {},
): Promise<TestStore> {
  const target = name === 'websocket' ? 'http' : name;
  const { database, drop } = await freshDatabase(target === 'postgres' ? 'postgres' : 'sqlite');
  let offset = 0;
  const store = await Store.open({
    database,
    sweep_every_ms: 0,
    count_every_ms: 0,
    clock_offset_ms: () => offset,
    ...options,
  });
  // Told where the test tells of itself: an answer of 500 says only that the log has the reason.
  const server =
    target === 'http' ? createServer(store, { version: 'test', log: (line) => console.error(line) }) : undefined;
  const url = server && `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`;
  const clients: { close(): Promise<void> }[] = [];

  const as = async ({ tenant = 'default', agent, user, role = 'admin' }: Who): Promise<Api> => {
    await store.ensureTenant(tenant);
    // With all rights unless the agent is there already, on every target: openCairn does the same.
    if (agent !== undefined) await store.ensureAgent(tenant, agent);
    const bound = user === undefined ? {} : { user_id: user };
    if (url === undefined)
      return store.api({ tenant_id: tenant, agent_id: agent ?? null, role, key_id: null, ...bound });
    const admin = store.api({ tenant_id: tenant, agent_id: null, role: 'admin', key_id: null });
    // To open all is to be said; what an agent was given otherwise stays.
    const row = agent === undefined ? undefined : await findAgent(store.driver.at(tenant), agent);
    const open = row?.memory_access === null ? { access: 'all' as const } : {};
    const { key } = await admin.keys.create({
      role,
      ...bound,
      ...(agent === undefined ? {} : { agent_id: agent, ...open }),
    });
    const transport = name === 'websocket' ? { transport: name, ...socketOption() } : { transport: 'sse' as const };
    const client = connectCairn({ url, key, ...transport });
    clients.push(client);
    return client;
  };

  return {
    target,
    cairn: await as({}),
    as,
    freshTenant: () => as({ tenant: `t-${randomUUID()}` }),
    advance: (ms) => {
      offset += ms;
    },
    store,
    url,
    close: async () => {
      for (const client of clients) await client.close();
      await server?.close();
      await store.close();
      await drop();
    },
  };
}

/** Runs a suite on every target, each with a store of its own that is opened once. */
export function onEveryTarget(title: string, suite: Suite, options: Omit<StoreOptions, 'database'> = {}): void {
  onTargets(targetNames(), title, suite, options);
}

/** Runs a suite about streams on every target and over both transports. */
export function onEveryStreamTarget(title: string, suite: Suite): void {
  onTargets(streamTargetNames(), title, suite, {});
}

type Suite = (test: () => TestStore) => void;

function onTargets(
  targets: readonly StreamTargetName[],
  title: string,
  suite: Suite,
  options: Omit<StoreOptions, 'database'>,
): void {
  for (const target of targets) {
    describe(`${title} on ${target}`, () => {
      let opened: TestStore;
      beforeAll(async () => {
        opened = await openTarget(target, options);
      });
      afterAll(() => opened.close());
      suite(() => opened);
    });
  }
}

/** The code that a call is refused with; fails if it is not refused. */
export async function refusalOf(
  promise: Promise<unknown>,
): Promise<{ code: string; status: number; message: string; details: unknown }> {
  try {
    await promise;
  } catch (error) {
    const { code, status, message, details } = error as {
      code: string;
      status: number;
      message: string;
      details: unknown;
    };
    if (code === undefined) throw error;
    return { code, status, message, details };
  }
  throw new Error('the call was not refused');
}
