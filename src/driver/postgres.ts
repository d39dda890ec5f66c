/**
 * PostgreSQL: a bounded pool of pipelined connections. Every transaction names its tenant first, which row-level
 * security checks against every row. Writes of one tenant share commits; single reads share transactions.
 */
import pg from 'pg';
import { CairnError } from '../model/errors.js';
import {
  type Driver,
  DriverError,
  type DriverOptions,
  type MigrationReport,
  type Query,
  type Table,
  type Tx,
} from './driver.js';
import {
  type Channel,
  commitGroup,
  GROUP_LIMIT,
  QUEUE_LIMIT,
  sleep,
  toCairnError,
  type Write,
} from './group.js';
import {
  APP_ROLE,
  APPLIED,
  type AppliedMigration,
  bootstrap,
  checksumOf,
  migrations,
  pending,
  statementsOf,
} from './migrate.js';
import { isConnectionError, translatePostgres } from './postgres-errors.js';
import { acrossTenants, compile, type Param, type Sql } from './sql.js';

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
const READ_ATTEMPTS = 6;
/**
 * How long one write of a group waits for a row lock. Groups of two servers may lock rows in opposite order; PostgreSQL
 * finds such a deadlock after a second, in which both stand still. What waits longer than this is run again alone.
 */
const GROUP_LOCK_MS = 50;
/** How often other servers' commits are looked for while someone listens. */
const WATCH_MS = 100;
/** Any constant: it keeps two processes from migrating at once. */
const MIGRATION_LOCK = 7_233_871_001;

const INT8 = 20;
const JSON_TYPE = 114;
/** Integers as numbers (all of ours are safe), JSON as the text that was written. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === JSON_TYPE) return (text: string) => text;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

const ENTER_TENANT = `SELECT set_config('cairn.tenant_id', $1, true), (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

export interface PostgresOptions extends DriverOptions {
  readonly pool_size?: number;
  /** Whether requests are served by the role that row-level security binds. Only a benchmark says no. */
  readonly row_level_security?: boolean;
}

export async function openPostgres(url: string, options: PostgresOptions): Promise<Driver> {
  const driver = new PostgresDriver(url, options);
  try {
    await driver.connect();
    return driver;
  } catch (error) {
    await driver.close();
    throw toCairnError(translatePostgres(error));
  }
}

interface PendingRead {
  readonly query: Sql;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

class PostgresDriver implements Driver {
  readonly dialect = 'postgres';
  readonly location: string;
  readonly #url: string;
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  readonly #writes = new Map<string, Write[]>();
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #reads = new Map<string, PendingRead[]>();
  readonly #listeners = new Set<(tenant: string | undefined) => void>();
  readonly #busy = new Set<Promise<unknown>>();
  #watch: NodeJS.Timeout | undefined;
  #clockOffset = 0;
  #waiting = 0;
  #commits = 0;
  #written = 0;
  #closed: Promise<void> | undefined;

  constructor(url: string, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
    this.location = withoutPassword(url);
    this.#pool = new pg.Pool({
      connectionString: url,
      max: options.pool_size ?? POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      pipeline: true,
      application_name: 'cairn',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 5000,
      idleTimeoutMillis: 60_000,
      types,
    } as pg.PoolConfig);
    // A connection that breaks while idle is replaced by the pool; one that breaks in use fails its query.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
    });
  }

  async connect(): Promise<void> {
    const client = await this.#pool.connect();
    client.release();
  }

  now(): number {
    return Math.round(Date.now() + this.#clockOffset) + (this.#options.clock_offset_ms?.() ?? 0);
  }

  at(tenant: string): Query {
    const all = <R>(query: Sql): Promise<R[]> =>
      new Promise<R[]>((resolve, reject) => {
        if (this.#closed) return reject(new CairnError('SHUTTING_DOWN', 'the store is closed'));
        const read = { query, resolve: resolve as (rows: unknown[]) => void, reject };
        const queue = this.#reads.get(tenant);
        if (queue) queue.push(read);
        else {
          this.#reads.set(tenant, [read]);
          setImmediate(() => this.#track(this.#readTogether(tenant)));
        }
      });
    return { all, get: async <R>(query: Sql) => (await all<R>(query))[0] };
  }

  /** Single reads that wait at the same time share one transaction, so that naming the tenant costs little. */
  async #readTogether(tenant: string): Promise<void> {
    const reads = this.#reads.get(tenant) ?? [];
    this.#reads.delete(tenant);
    const failed: PendingRead[] = [];
    try {
      await this.#retrying(async () => {
        await this.#withClient(async (client) => {
          const begun = this.#begin(client, tenant, 'BEGIN READ ONLY');
          const results = reads.map((read) => {
            const { text, params } = compile(read.query, 'postgres');
            return run(client, text, params);
          });
          const ended = client.query('COMMIT');
          const settled = await Promise.allSettled([...results, begun, ended]);
          const broken = settled.find((one) => one.status === 'rejected' && isConnectionError(one.reason));
          if (broken) throw (broken as PromiseRejectedResult).reason;
          reads.forEach((read, i) => {
            const one = settled[i]!;
            if (one.status === 'fulfilled') read.resolve((one.value as pg.QueryResult).rows);
            else if (reads.length > 1) failed.push(read);
            else read.reject(toCairnError(translatePostgres(one.reason)));
          });
        });
      });
    } catch (error) {
      for (const read of reads) read.reject(error);
      return;
    }
    // After an error a transaction refuses the rest: those are asked again, each alone.
    for (const read of failed)
      this.snapshot(tenant, (query) => query.all<unknown>(read.query)).then(read.resolve, read.reject);
  }

  snapshot<T>(tenant: string, read: (query: Query) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new CairnError('SHUTTING_DOWN', 'the store is closed'));
    return this.#track(
      this.#retrying(() =>
        this.#withClient(async (client) => {
          const begun = this.#begin(client, tenant, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
          begun.catch(() => undefined);
          const all = async <R>(query: Sql) => {
            const { text, params } = compile(query, 'postgres');
            return (await run(client, text, params)).rows as R[];
          };
          try {
            return await read({ all, get: async <R>(query: Sql) => (await all<R>(query))[0] });
          } finally {
            await begun;
            await client.query('COMMIT');
          }
        }),
      ),
    );
  }

  long<R>(tenant: string, query: Sql): Promise<R[]> {
    return this.snapshot(tenant, (reader) => reader.all<R>(query));
  }

  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, entity?: string): Promise<T> {
    if (this.#closed) return Promise.reject(new CairnError('SHUTTING_DOWN', 'the store is closed'));
    if (this.#waiting >= QUEUE_LIMIT) {
      return Promise.reject(
        new CairnError(
          'OVERLOADED',
          `${QUEUE_LIMIT} writes are waiting already, this one was not taken: try again later`,
        ),
      );
    }
    this.#waiting++;
    const done = new Promise<T>((resolve, reject) => {
      const write: Write = { tenant, work, entity, resolve: resolve as (value: unknown) => void, reject };
      const queue = this.#writes.get(tenant);
      if (queue) queue.push(write);
      else this.#writes.set(tenant, [write]);
    });
    if (!this.#lanes.has(tenant)) this.#lanes.set(tenant, this.#drain(tenant));
    return done.finally(() => this.#waiting--);
  }

  system<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write('', work);
  }

  async #drain(tenant: string): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const queue = this.#writes.get(tenant)!;
      if (queue.length === 0) break;
      const group = queue.splice(0, GROUP_LIMIT);
      let joined = false;
      await commitGroup(
        {
          journal: this.#options.journal,
          begin: async () => {
            const channel = await this.#openChannel(tenant);
            // Only when the group begins: one that is run again, or looked up, is counted already.
            if (!joined) group.push(...queue.splice(0, GROUP_LIMIT - group.length));
            joined = true;
            return channel;
          },
          committed: (tenants) => {
            for (const one of tenants) this.#tell(one);
          },
          unreachable: (error) => {
            for (const write of queue.splice(0)) write.reject(error);
          },
        },
        group,
      );
      this.#commits++;
      this.#written += group.length;
    }
    // In the same breath as the look at the queue: a write that comes after it starts a new lane.
    this.#writes.delete(tenant);
    this.#lanes.delete(tenant);
  }

  async #openChannel(tenant: string): Promise<PostgresChannel> {
    try {
      const client = await this.#connected();
      return new PostgresChannel(client, this.#begin(client, tenant, 'BEGIN'));
    } catch (error) {
      throw translatePostgres(error);
    }
  }

  /** Sent without waiting: whatever follows on this connection is answered after it. */
  async #begin(client: pg.PoolClient, tenant: string, begin: string): Promise<void> {
    const [, entered] = await Promise.all([
      client.query(begin),
      client.query<{ now: number }>({ name: 'enter', text: ENTER_TENANT, values: [tenant] }),
    ]);
    this.#clockOffset = entered.rows[0]!.now - Date.now();
  }

  readonly #prepared = new WeakSet<pg.PoolClient>();

  async #connected(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect();
    if (this.#prepared.has(client)) return client;
    try {
      const role = this.#options.row_level_security === false ? 'NONE' : APP_ROLE;
      await client.query(`SET ROLE ${role}`);
      this.#prepared.add(client);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connected();
    let broken = true;
    try {
      const value = await work(client);
      broken = false;
      return value;
    } catch (error) {
      broken = isConnectionError(error);
      if (!broken) await client.query('ROLLBACK').catch(() => (broken = true));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Reads are safe to repeat: a lost connection or a restarting server is waited for, briefly. */
  async #retrying<T>(action: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await action();
      } catch (error) {
        if (error instanceof CairnError) throw error;
        const translated = translatePostgres(error);
        const lost = translated instanceof DriverError && translated.kind === 'connection';
        if (!lost || attempt >= READ_ATTEMPTS) throw toCairnError(translated);
        await sleep(Math.min(1000, 25 * 2 ** attempt) * (0.5 + Math.random()));
      }
    }
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    const quiet = promise.catch(() => undefined).finally(() => this.#busy.delete(quiet));
    this.#busy.add(quiet);
    return promise;
  }

  onCommit(listener: (tenant: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    this.#watch ??= setInterval(() => this.#tell(undefined), WATCH_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      }
    };
  }

  #tell(tenant: string | undefined): void {
    for (const listener of this.#listeners) listener(tenant);
  }

  /** Runs as the user of the URL, who owns the tables; on a connection of its own. */
  async migrate(): Promise<MigrationReport> {
    const client = new pg.Client({ connectionString: this.#url, types } as pg.ClientConfig);
    client.on('error', () => undefined);
    try {
      await client.connect();
      // Most starts find nothing to do, and need no lock and no right to create anything to see it.
      const known = await client.query<{ known: string | null }>(
        `SELECT to_regclass('schema_migrations')::text AS known`,
      );
      if (known.rows[0]!.known !== null) {
        const { rows } = await client.query<AppliedMigration>(APPLIED);
        if (pending(rows, 'postgres').length === 0) return { applied: [], version: migrations.length };
      }
      await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await createRole(client);
      await client.query('BEGIN');
      for (const text of bootstrap.postgres) await client.query(text);
      const applied = await client.query<AppliedMigration>(APPLIED);
      const missing = pending(applied.rows, 'postgres');
      for (const migration of missing) {
        for (const text of statementsOf(migration, 'postgres')) await client.query(text);
        await client.query(
          'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)',
          [migration.version, migration.name, checksumOf(migration, 'postgres'), Date.now()],
        );
      }
      await client.query('COMMIT');
      return { applied: missing.map(({ name }) => name), version: migrations.length };
    } catch (error) {
      throw toCairnError(translatePostgres(error));
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async integrity(): Promise<string[]> {
    const protectedTables = migrations.flatMap(({ protect }) => protect);
    const rows = await this.snapshot('', (query) =>
      query.all<{ relname: string }>(
        acrossTenants`SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = 'public' AND relname = ANY(${protectedTables})
            AND NOT (relrowsecurity AND relforcerowsecurity)`,
      ),
    );
    return rows.map(({ relname }) => `row-level security is off on table ${relname}`);
  }

  figures(): Readonly<Record<string, number>> {
    return {
      write_groups: this.#commits,
      writes: this.#written,
      writes_waiting: this.#waiting,
      pool_connections: this.#pool.totalCount,
      pool_idle: this.#pool.idleCount,
      pool_waiting: this.#pool.waitingCount,
    };
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      clearInterval(this.#watch);
      while (this.#lanes.size > 0) await Promise.all(this.#lanes.values());
      while (this.#busy.size > 0) await Promise.all(this.#busy);
      await this.#pool.end();
    })();
    return this.#closed;
  }
}

class PostgresChannel implements Channel {
  readonly locksRows = true;
  readonly #client: pg.PoolClient;
  readonly #begun: Promise<void>;
  /** Statements whose answers nobody waits for yet: savepoints and changes travel with what follows. */
  readonly #sent: Promise<unknown>[] = [];
  #aborted = false;
  #released = false;

  constructor(client: pg.PoolClient, begun: Promise<void>) {
    this.#client = client;
    this.#begun = begun;
    this.#send(begun);
  }

  async all<R>(query: Sql): Promise<R[]> {
    const { text, params } = compile(query, 'postgres');
    return (await this.#wait(run(this.#client, text, params))).rows as R[];
  }

  async run(query: Sql): Promise<number> {
    const { text, params } = compile(query, 'postgres');
    return (await this.#wait(run(this.#client, text, params))).rowCount ?? 0;
  }

  async send(query: Sql): Promise<void> {
    const { text, params } = compile(query, 'postgres');
    this.#send(run(this.#client, text, params));
  }

  async insert(table: Table, rows: readonly (readonly Param[])[]): Promise<void> {
    const texts = insertTexts(table);
    if (rows.length === 1) return this.#send(run(this.#client, texts.one, rows[0]!));
    const arrays = texts.columns.map((_, i) => rows.map((row) => row[i] as Param));
    this.#send(run(this.#client, texts.many, arrays as unknown as Param[]));
  }

  savepoint(): void {
    this.#send(this.#client.query('SAVEPOINT op'));
  }

  async release(): Promise<void> {
    await this.#wait(this.#client.query('RELEASE SAVEPOINT op'));
  }

  async rollbackTo(): Promise<void> {
    await this.#client.query('ROLLBACK TO SAVEPOINT op');
    await this.#client.query('RELEASE SAVEPOINT op');
    // Whatever of it failed is undone with it.
    this.#sent.length = 0;
    this.#aborted = false;
  }

  async commit(): Promise<void> {
    try {
      await this.#begun;
      const result = await this.#client.query('COMMIT');
      this.#release(false);
      // COMMIT of an aborted transaction is answered with ROLLBACK, not with an error: what was sent before says why.
      if (result.command !== 'COMMIT') {
        await Promise.all(this.#sent);
        throw new DriverError('conflict', 'the transaction had been aborted');
      }
    } catch (error) {
      throw translatePostgres(error);
    }
  }

  async rollback(): Promise<void> {
    if (this.#released) return;
    try {
      await this.#client.query('ROLLBACK');
      this.#release(false);
    } catch {
      this.#release(true);
    }
  }

  lost(): boolean {
    return this.#aborted || this.#released;
  }

  sharing(): void {
    this.#send(this.#client.query(`SET LOCAL lock_timeout = ${GROUP_LOCK_MS}`));
  }

  ending(): void {
    this.#send(this.#client.query('SET LOCAL lock_timeout = 0'));
  }

  #release(broken: boolean): void {
    if (this.#released) return;
    this.#released = true;
    this.#client.release(broken);
  }

  #send(promise: Promise<unknown>): void {
    promise.catch(() => (this.#aborted = true));
    this.#sent.push(promise);
  }

  async #wait<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer;
      if (this.#sent.length > 0) await Promise.all(this.#sent.splice(0));
      return value;
    } catch (error) {
      this.#aborted = true;
      // The first failure is the cause; those behind it only say that the transaction is aborted.
      const first = (await Promise.allSettled(this.#sent.splice(0))).find((one) => one.status === 'rejected');
      throw translatePostgres(first ? first.reason : error);
    }
  }
}

const names = new Map<string, string>();

/** Runs a named, hence prepared, statement. */
function run(client: pg.PoolClient, text: string, params: readonly Param[]): Promise<pg.QueryResult> {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `s${names.size}`));
  return client.query({ name, text, values: params as unknown[] });
}

interface InsertTexts {
  readonly columns: readonly string[];
  readonly one: string;
  /** One statement for any number of rows, given as one array a column. */
  readonly many: string;
}

const insertsOf = new WeakMap<Table, InsertTexts>();

function insertTexts(table: Table): InsertTexts {
  let texts = insertsOf.get(table);
  if (!texts) {
    const columns = Object.keys(table.columns);
    const into = `INSERT INTO ${table.name} (${columns.join(', ')})`;
    const values = columns.map((_, i) => `$${i + 1}`);
    const arrays = columns.map((name, i) => `$${i + 1}::${table.columns[name]}[]`);
    texts = {
      columns,
      one: `${into} VALUES (${values.join(', ')})`,
      many: `${into} SELECT * FROM unnest(${arrays.join(', ')})`,
    };
    insertsOf.set(table, texts);
  }
  return texts;
}

async function createRole(client: pg.Client): Promise<void> {
  const allowed = async (text: string) =>
    client.query(text).then(
      () => true,
      (error: { code?: string }) => {
        // Roles belong to the whole server: another database's migration may have made it in this moment.
        if (error.code === '42710' || error.code === '23505') return true;
        if (error.code === '42501') return false;
        throw error;
      },
    );
  const { rowCount } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [APP_ROLE]);
  const exists = rowCount !== 0 || (await allowed(`CREATE ROLE ${APP_ROLE} NOLOGIN`));
  // Tried rather than looked up: what membership allows differs between versions of PostgreSQL.
  const usable =
    exists &&
    ((await allowed(`SET ROLE ${APP_ROLE}`)) || (await allowed(`GRANT ${APP_ROLE} TO CURRENT_USER`)));
  await client.query('RESET ROLE');
  if (usable) return;
  const { rows } = await client.query<{ name: string }>('SELECT quote_ident(current_user) AS name');
  throw new Error(
    `the user ${rows[0]!.name} may not use the role ${APP_ROLE}: let an administrator run ${exists ? '' : `CREATE ROLE ${APP_ROLE} NOLOGIN; `}GRANT ${APP_ROLE} TO ${rows[0]!.name};`,
  );
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password) parsed.password = '***';
    return parsed.toString();
  } catch {
    return 'postgres';
  }
}
