/**
 * PostgreSQL: a bounded pool of pipelined connections. Every transaction names its tenant first, which row-level
 * security checks against every row. Writes of one tenant share commits; single reads share transactions.
 */
import pg from 'pg';
import { CairnError, nextTurn } from '../../kernel/index.js';
import {
  type AwayModule,
  type Driver,
  DriverError,
  type DriverOptions,
  type MigrationReport,
  type Query,
  queryBy,
  type Tx,
  type WakeListener,
  type WriteOptions,
} from '../driver.js';
import { commitGroup, GROUP_LIMIT, readingError, rejectAll, sleep, toCairnError, type Write } from '../group.js';
import { Lane } from '../lane.js';
import { protectedTables } from '../schema.js';
import { acrossTenants, type Sql } from '../sql.js';
import { Listeners } from '../wakes.js';
import { driverClosed, WaitingWrites } from '../write-queue.js';
import { PostgresChannel, rowsOf } from './channel.js';
import { ANY_TIME_MS, connectionSettings, enterRole, UNHURRIED, withoutPassword } from './connection.js';
import { isConnectionError, translatePostgres } from './errors.js';
import { migratePostgres } from './migrate.js';
import { PostgresVectors } from './vectors.js';
import { PostgresWakes } from './wakes.js';

const POOL_SIZE = 10;
/** Concurrent `away` reads: each holds much memory, and more would stall the event loop without being faster. */
const AWAY_AT_ONCE = 2;
/** Maximum wait for a turn, since the database may be unreachable. */
const AWAY_PATIENCE_MS = 10_000;
/** A larger step back of the database's clock means that somebody has set it. */
const CLOCK_JITTER_MS = 1000;
const READ_ATTEMPTS = 6;
const NOW = { name: 'now', text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now' };

export interface PostgresOptions extends DriverOptions {
  readonly pool_size?: number;
  /** Whether requests are served by the role that row-level security binds (default: true). False only in a benchmark. */
  readonly row_level_security?: boolean;
  /** Interval of the health check of the connection that listens for wakes (default: 1,000). */
  readonly wake_look_ms?: number;
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
  readonly vectors: PostgresVectors;
  readonly #url: string;
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  readonly #away = new Lane(AWAY_AT_ONCE, AWAY_PATIENCE_MS);
  readonly #writes = new Map<string, Write[]>();
  readonly #waiting: WaitingWrites;
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #reads = new Map<string, PendingRead[]>();
  readonly #listeners: Listeners<[tenant: string | undefined]> = new Listeners(() => this.#listeners.tell(undefined));
  readonly #busy = new Set<Promise<unknown>>();
  readonly #wakes: PostgresWakes;
  #clockOffset = 0;
  #latest = 0;
  #commits = 0;
  #written = 0;
  #closed: Promise<void> | undefined;

  constructor(url: string, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
    this.#waiting = new WaitingWrites(options.max_waiting_bytes);
    this.location = withoutPassword(url);
    this.vectors = new PostgresVectors(url, this.at(''));
    this.#pool = new pg.Pool({
      ...connectionSettings(url),
      max: options.pool_size ?? POOL_SIZE,
      idleTimeoutMillis: 60_000,
    });
    // The pool replaces a connection that breaks while idle; one that breaks in use fails its query.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => void client.on('error', () => undefined));
    this.#wakes = new PostgresWakes(
      () => new pg.Client(connectionSettings(url)),
      enterRole(options.row_level_security),
      options.wake_look_ms,
    );
  }

  async connect(): Promise<void> {
    (await this.#pool.connect()).release();
  }

  now(): number {
    const estimate = Math.round(Date.now() + this.#clockOffset);
    // The estimate is off by the latency of the last answer, whose variation must not turn the clock back.
    const jitters = estimate < this.#latest && this.#latest - estimate < CLOCK_JITTER_MS;
    if (!jitters) this.#latest = estimate;
    return this.#latest + (this.#options.clock_offset_ms?.() ?? 0);
  }

  at(tenant: string): Query {
    return queryBy(
      tenant,
      (query) =>
        new Promise<unknown[]>((resolve, reject) => {
          if (this.#closed) return reject(driverClosed());
          const read = { query, resolve, reject };
          const queue = this.#reads.get(tenant);
          if (queue) queue.push(read);
          else {
            this.#reads.set(tenant, [read]);
            setImmediate(() => this.#track(this.#readTogether(tenant)));
          }
        }),
    );
  }

  /** Reads that wait at the same time share one transaction, so that naming the tenant costs little. */
  async #readTogether(tenant: string): Promise<void> {
    const reads = this.#reads.get(tenant) ?? [];
    this.#reads.delete(tenant);
    const failed: PendingRead[] = [];
    try {
      await this.#retrying(async () => {
        await this.#reading(async (client) => {
          const begun = this.#begin(client, tenant, 'BEGIN READ ONLY');
          const results = reads.map((read) => rowsOf(client, read.query, tenant));
          const settled = await Promise.allSettled([...results, begun]);
          const broken = settled.find((one) => one.status === 'rejected' && isConnectionError(one.reason));
          if (broken) throw (broken as PromiseRejectedResult).reason;
          reads.forEach((read, i) => {
            const one = settled[i]!;
            if (one.status === 'fulfilled') read.resolve(one.value as unknown[]);
            else if (reads.length > 1) failed.push(read);
            else read.reject(readingError(translatePostgres(one.reason)));
          });
        });
      });
    } catch (error) {
      for (const read of reads) read.reject(error);
      return;
    }
    // After an error the transaction refuses the remaining reads: each is repeated alone.
    for (const read of failed)
      this.snapshot(tenant, (query) => query.all<unknown>(read.query)).then(read.resolve, read.reject);
  }

  snapshot<T>(tenant: string, read: (query: Query) => Promise<T>, unhurried = false): Promise<T> {
    if (this.#closed) return Promise.reject(driverClosed());
    return this.#track(
      this.#retrying(() =>
        this.#reading(async (client) => {
          const begun = this.#begin(client, tenant, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
          begun.catch(() => undefined);
          if (unhurried) await client.query(UNHURRIED);
          const time = unhurried ? ANY_TIME_MS : undefined;
          try {
            return await read(queryBy(tenant, (query) => rowsOf(client, query, tenant, time)));
          } finally {
            await begun;
          }
        }),
      ),
    );
  }

  long<R>(tenant: string, query: Sql): Promise<R[]> {
    return this.snapshot(tenant, (reader) => reader.all<R>(query));
  }

  examine<R>(tenant: string, query: Sql): Promise<R[]> {
    return this.snapshot(tenant, (reader) => reader.all<R>(query), true);
  }

  async away<O>(tenant: string, module: URL, input: unknown): Promise<O> {
    const { run: runAway } = (await import(module.href)) as AwayModule;
    return this.#away.run(() => this.snapshot(tenant, async (query) => (await runAway(query, input)) as O));
  }

  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(driverClosed());
    return this.#waiting.take(tenant, work, options, (write) => {
      const queue = this.#writes.get(tenant);
      if (queue) queue.push(write);
      else this.#writes.set(tenant, [write]);
      if (!this.#lanes.has(tenant)) this.#lanes.set(tenant, this.#drain(tenant));
    });
  }

  system<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write('', work);
  }

  async #drain(tenant: string): Promise<void> {
    for (;;) {
      await nextTurn();
      const queue = this.#writes.get(tenant)!;
      if (queue.length === 0) break;
      const group = queue.splice(0, GROUP_LIMIT);
      let joined = false;
      await commitGroup(
        {
          journal: this.#options.journal,
          begin: async () => {
            const channel = await this.#openChannel(tenant);
            // Only at the first attempt: later ones run the same writes again.
            if (!joined) group.push(...queue.splice(0, GROUP_LIMIT - group.length));
            joined = true;
            return channel;
          },
          committed: (tenants) => {
            for (const one of tenants) this.#listeners.tell(one);
          },
          announce: this.#wakes.announce,
          wake: this.#wakes.wake,
          commitLost: this.#wakes.commitLost,
          unreachable: (error) => rejectAll(queue.splice(0), error),
        },
        group,
      );
      this.#commits++;
      this.#written += group.length;
    }
    // No await since the check of the queue: a later write starts a new lane.
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

  /**
   * Sent without waiting: later statements on this connection are answered after it. SET LOCAL and not set_config: a
   * distributed database passes it on to the nodes that have the rows.
   */
  async #begin(client: pg.PoolClient, tenant: string, begin: string): Promise<void> {
    const [, { rows }] = await Promise.all([
      client.query(`${begin}; SET LOCAL cairn.tenant_id = ${pg.escapeLiteral(tenant)}`),
      client.query<{ now: number }>(NOW),
    ]);
    this.#clockOffset = rows[0]!.now - Date.now();
  }

  readonly #prepared = new WeakSet<pg.PoolClient>();

  async #connected(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect();
    if (this.#prepared.has(client)) return client;
    try {
      await client.query(enterRole(this.#options.row_level_security));
      this.#prepared.add(client);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Runs reads on a connection of their own. Does not wait for the final COMMIT: the rows are known by then. */
  async #reading<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connected();
    const end = (by: 'COMMIT' | 'ROLLBACK') =>
      void this.#track(
        client.query(by).then(
          () => client.release(),
          () => client.release(true),
        ),
      );
    try {
      const value = await work(client);
      end('COMMIT');
      return value;
    } catch (error) {
      if (isConnectionError(error)) client.release(true);
      else end('ROLLBACK');
      throw error;
    }
  }

  /** Repeats a read, briefly, after a lost connection or while the server restarts. */
  async #retrying<T>(action: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await action();
      } catch (error) {
        if (error instanceof CairnError) throw error;
        const translated = translatePostgres(error);
        const lost = translated instanceof DriverError && translated.kind === 'connection';
        if (!lost || attempt >= READ_ATTEMPTS) throw readingError(translated);
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
    return this.#listeners.listen(listener);
  }

  onWake(listener: WakeListener): () => void {
    return this.#wakes.listen(listener);
  }

  migrate(): Promise<MigrationReport> {
    return migratePostgres(this.#url, this.#options.schema);
  }

  async integrity(): Promise<string[]> {
    const tables = this.#options.schema.flatMap(protectedTables);
    const rows = await this.long<{ relname: string }>(
      '',
      acrossTenants`SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND relname = ANY(${tables})
          AND NOT (relrowsecurity AND relforcerowsecurity)`,
    );
    return rows.map(({ relname }) => `row-level security is off on table ${relname}`);
  }

  /** Nothing to do: VACUUM and log retention are up to the operator (docs/guides/operations.md). */
  async scrub(): Promise<boolean> {
    return true;
  }

  figures(): Readonly<Record<string, number>> {
    return {
      write_groups: this.#commits,
      writes: this.#written,
      writes_waiting: this.#waiting.count,
      writes_waiting_bytes: this.#waiting.bytes,
      pool_connections: this.#pool.totalCount,
      pool_idle: this.#pool.idleCount,
      pool_waiting: this.#pool.waitingCount,
    };
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#listeners.stop();
      const wakesClosed = this.#wakes.close();
      while (this.#lanes.size > 0) await Promise.all(this.#lanes.values());
      while (this.#busy.size > 0) await Promise.all(this.#busy);
      await this.#pool.end();
      await wakesClosed;
    })();
    return this.#closed;
  }
}
