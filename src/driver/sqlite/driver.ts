/** SQLite: one connection that writes in groups, one that reads, and threads for long reads. */
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CairnError, invalid, nextTurn } from '../../kernel/index.js';
import {
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
import {
  commitGroup,
  GROUP_LIMIT,
  type GroupHost,
  readingError,
  rejectAll,
  sleep,
  toCairnError,
  type Write,
} from '../group.js';
import { APPLIED, type AppliedMigration, bootstrap, checksumOf, pending, statementsOf, versionOf } from '../migrate.js';
import { compile, type Sql } from '../sql.js';
import { Listeners, tellKeys, type WakeListeners } from '../wakes.js';
import { driverClosed, WaitingWrites } from '../write-queue.js';
import { SqliteChannel, statementYield } from './channel.js';
import { integrityOf, LongReader } from './long-reader.js';
import { type LongTask, NearReader } from './long-tasks.js';
import { createPrivate, SqliteConnection } from './open.js';

const LOCK_WAIT_MS = 30_000;
/** How long contention is assumed to last once it was seen. */
const CONTENTION_MS = 1000;
/** How often a busy writer leaves a short gap, in case another process waits unseen. */
const GAP_EVERY_MS = 100;
/** Attempts to truncate the log, some 100 ms apart: a reader or another process may block it. */
const SCRUB_ATTEMPTS = 50;
/** Maximum wait of writers while the log is truncated. */
const PAUSE_MS = 50;

export async function openSqlite(file: string, options: DriverOptions): Promise<Driver> {
  const path = resolve(file);
  if (file === ':memory:') throw invalid('an in-memory database would lose everything: name a file');
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createPrivate(path);
    const writer = await SqliteConnection.open(path);
    await writer
      .patiently(() => writer.exec('PRAGMA journal_mode = WAL'))
      .catch((error) => {
        writer.close();
        throw error;
      });
    // Checkpoint after 16 MB of log instead of 4: pages that change often are written back less often.
    writer.exec('PRAGMA wal_autocheckpoint = 4000');
    const reader = await SqliteConnection.open(path);
    return new SqliteDriver(path, writer, reader, options);
  } catch (error) {
    if (error instanceof DriverError && error.kind !== 'failed') throw toCairnError(error);
    // A folder that cannot be created, or a file that is unreadable or no database: the message names the path.
    const reason = error instanceof Error ? error.message : String(error);
    throw new CairnError('STORAGE_FAILED', `the database ${path} cannot be opened: ${reason}`, undefined, error);
  }
}

/** Whether a connection sees commits of others since the last call; also true while the file cannot be read. */
function changeDetector(connection: SqliteConnection): () => boolean {
  let seen = 0;
  return () => {
    try {
      const version = dataVersion(connection);
      const changed = version !== seen;
      seen = version;
      return changed;
    } catch {
      // Another process recovers the file, or it is unreadable: listeners learn it from their own reads.
      return true;
    }
  };
}

const dataVersion = (connection: SqliteConnection): number =>
  connection.all<{ data_version: number }>('PRAGMA data_version')[0]!.data_version;

class SqliteDriver implements Driver {
  readonly dialect = 'sqlite';
  readonly location: string;
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  readonly #long: LongReader;
  /** A thread of its own, so that no search waits for a count. */
  readonly #away: LongReader;
  readonly #near: NearReader;
  readonly #options: DriverOptions;
  readonly #queue: Write[] = [];
  readonly #waiting: WaitingWrites;
  readonly #commitListeners: Listeners<[tenant: string | undefined]>;
  readonly #wakeListeners: WakeListeners;
  /** By the writing connection, so that commits of this process do not count. */
  readonly #othersWrote: () => boolean;
  #pump: Promise<void> | undefined;
  #group: Promise<void> | undefined;
  #paused: Promise<void> | undefined;
  #snapshots: Promise<unknown> | undefined;
  #seenByWriter = 0;
  #contendedUntil = 0;
  #lastGap = 0;
  #closed: Promise<void> | undefined;
  #commits = 0;
  #written = 0;

  constructor(path: string, writer: SqliteConnection, reader: SqliteConnection, options: DriverOptions) {
    this.location = path;
    this.#writer = writer;
    this.#reader = reader;
    this.#long = new LongReader(path);
    this.#away = new LongReader(path);
    this.#near = new NearReader(path, reader);
    this.#options = options;
    this.#waiting = new WaitingWrites(options.max_waiting_bytes);
    const committed = changeDetector(reader);
    this.#commitListeners = new Listeners(() => {
      if (!this.#snapshots && !this.#closed && committed()) this.#commitListeners.tell(undefined);
    });
    this.#othersWrote = changeDetector(writer);
    this.#wakeListeners = new Listeners(() => {
      if (!this.#closed && this.#othersWrote()) this.#wakeListeners.tell(undefined, undefined);
    });
  }

  now(): number {
    return Date.now() + (this.#options.clock_offset_ms?.() ?? 0);
  }

  at(tenant: string): Query {
    return queryBy(tenant, async (query) => {
      // During a snapshot, the connection would read the state of the snapshot, not the newest commit.
      while (this.#snapshots) await this.#snapshots;
      return this.#readAll(query, tenant);
    });
  }

  async snapshot<T>(tenant: string, read: (query: Query) => Promise<T>): Promise<T> {
    while (this.#snapshots) await this.#snapshots;
    let done = () => {};
    this.#snapshots = new Promise<void>((resolve) => (done = resolve));
    try {
      this.#reader.run('BEGIN');
      return await read(queryBy(tenant, (query) => this.#readAll(query, tenant)));
    } finally {
      // First of all, so that a failing COMMIT leaves nobody waiting.
      this.#snapshots = undefined;
      done();
      if (this.#reader.inTransaction) this.#reader.run('COMMIT');
    }
  }

  async #readAll<R>(query: Sql, tenant: string): Promise<R[]> {
    const { text, params } = compile(query, 'sqlite', tenant);
    try {
      const rows = await this.#reader.read<R>(text, params);
      const wait = statementYield();
      if (wait) await wait;
      return rows;
    } catch (error) {
      throw readingError(error);
    }
  }

  long<R>(tenant: string, query: Sql): Promise<R[]> {
    return this.#perform<R[]>(this.#long, compile(query, 'sqlite', tenant));
  }

  examine<R>(tenant: string, query: Sql): Promise<R[]> {
    return this.long<R>(tenant, query);
  }

  away<O>(tenant: string, module: URL, input: unknown): Promise<O> {
    return this.#perform<O>(this.#away, { module: module.href, tenant, input });
  }

  async #perform<O>(thread: LongReader, task: LongTask): Promise<O> {
    if (this.#closed) throw driverClosed();
    return this.#near.takes ? this.#near.run<O>(task) : thread.run<O>(task);
  }

  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(driverClosed());
    return this.#waiting.take(tenant, work, options, (write) => {
      this.#queue.push(write);
      this.#pump ??= this.#drain();
    });
  }

  system<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write('', work);
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        // All writes of this turn of the event loop join the group.
        await nextTurn();
        while (this.#paused) await this.#paused;
        const group = this.#queue.splice(0, GROUP_LIMIT);
        let started = 0;
        const begin = async () => {
          await this.#lock();
          if (started === 0) group.push(...this.#queue.splice(0, GROUP_LIMIT - group.length));
          started = performance.now();
          return new SqliteChannel(this.#writer);
        };
        const host: GroupHost = {
          journal: this.#options.journal,
          begin,
          committed: (tenants) => {
            for (const tenant of tenants) this.#commitListeners.tell(tenant);
          },
          wake: (keys) => tellKeys(this.#wakeListeners, keys),
          unreachable: (error) => rejectAll(this.#queue.splice(0), error),
        };
        this.#group = commitGroup(host, group);
        await this.#group;
        this.#commits++;
        this.#written += group.length;
        await this.#yieldToOthers(performance.now() - started);
      }
    } finally {
      this.#pump = undefined;
    }
  }

  /** Takes the write lock without blocking the event loop. */
  async #lock(): Promise<void> {
    const start = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        this.#writer.exec('BEGIN IMMEDIATE');
        break;
      } catch (error) {
        if (!(error instanceof DriverError) || error.kind !== 'busy') throw error;
        this.#contendedUntil = performance.now() + CONTENTION_MS;
        if (performance.now() - start > LOCK_WAIT_MS)
          throw new DriverError('busy', `another process held the write lock for ${LOCK_WAIT_MS / 1000} s`, error);
      }
      // Short at first, since a commit takes less than a timer's millisecond; then with jitter, to spread the waiters.
      if (attempt % 8 < 6) await nextTurn();
      else await sleep(1 + Math.random() * Math.min(attempt / 8, 8));
    }
    const version = dataVersion(this.#writer);
    if (version !== this.#seenByWriter) {
      if (this.#seenByWriter > 0) this.#contendedUntil = performance.now() + CONTENTION_MS;
      this.#seenByWriter = version;
    }
  }

  /** SQLite's lock is not fair: after a commit under contention, pauses for as long as the write took. */
  async #yieldToOthers(took: number): Promise<void> {
    const now = performance.now();
    if (now < this.#contendedUntil) await sleep(Math.min(Math.max(took, 1), 50));
    else if (now - this.#lastGap > GAP_EVERY_MS && this.#queue.length > 0) await sleep(1);
    else return;
    this.#lastGap = performance.now();
  }

  onCommit(listener: (tenant: string | undefined) => void): () => void {
    return this.#commitListeners.listen(listener);
  }

  onWake(listener: WakeListener): () => void {
    if (this.#wakeListeners.size === 0) this.#othersWrote();
    return this.#wakeListeners.listen(listener);
  }

  async migrate(): Promise<MigrationReport> {
    const { schema } = this.#options;
    const version = versionOf(schema);
    try {
      // Most starts find nothing to do, and need no lock for that.
      if ((await this.#reader.read("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'")).length > 0) {
        const applied = await this.#reader.read<AppliedMigration>(APPLIED);
        if (pending(schema, applied, 'sqlite').length === 0) return { applied: [], version };
      }
      await this.#lock();
      try {
        for (const text of bootstrap('sqlite')) this.#writer.exec(text);
        const applied = this.#writer.all<AppliedMigration>(APPLIED);
        const missing = pending(schema, applied, 'sqlite');
        for (const migration of missing) {
          for (const text of statementsOf(migration, 'sqlite')) this.#writer.exec(text);
          this.#writer.run('INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)', [
            migration.version,
            migration.name,
            checksumOf(migration, 'sqlite'),
            Date.now(),
          ]);
        }
        this.#writer.exec('COMMIT');
        return { applied: missing.map(({ name }) => name), version };
      } finally {
        if (this.#writer.inTransaction) this.#writer.exec('ROLLBACK');
      }
    } catch (error) {
      throw toCairnError(error);
    }
  }

  integrity(): Promise<string[]> {
    return integrityOf(this.location);
  }

  async scrub(): Promise<boolean> {
    for (let attempt = 1; attempt <= SCRUB_ATTEMPTS; attempt++) {
      // On the thread, beside the writers; the second one has only the pages written meanwhile.
      await this.#long.run({ text: 'PRAGMA wal_checkpoint(PASSIVE)', params: [] });
      await this.#long.run({ text: 'PRAGMA wal_checkpoint(PASSIVE)', params: [] });
      if (await this.#betweenGroups(() => this.#truncateLog())) return true;
      await sleep(Math.random() * 20 * Math.min(attempt, 10));
    }
    return false;
  }

  async #truncateLog(): Promise<boolean> {
    const truncate = { text: 'PRAGMA wal_checkpoint(TRUNCATE)', params: [] };
    const [row] = await this.#long.run<{ busy: number }[]>(truncate);
    return row!.busy === 0;
  }

  /** Pauses the writers of this process, at most for `PAUSE_MS`: otherwise they might never leave the lock free. */
  async #betweenGroups<T>(work: () => Promise<T>): Promise<T> {
    while (this.#paused) await this.#paused;
    let resume = () => {};
    const pause = new Promise<void>((resolve) => (resume = resolve));
    this.#paused = pause;
    const release = () => {
      if (this.#paused === pause) this.#paused = undefined;
      resume();
    };
    await this.#group?.catch(() => undefined);
    const tooLong = setTimeout(release, PAUSE_MS);
    try {
      return await work();
    } finally {
      clearTimeout(tooLong);
      release();
    }
  }

  figures(): Readonly<Record<string, number>> {
    return {
      write_groups: this.#commits,
      writes: this.#written,
      writes_waiting: this.#waiting.count,
      writes_waiting_bytes: this.#waiting.bytes,
    };
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#commitListeners.stop();
      this.#wakeListeners.stop();
      while (this.#pump) await this.#pump;
      while (this.#snapshots) await this.#snapshots;
      await this.#long.close();
      await this.#away.close();
      await this.#near.close();
      this.#reader.close();
      // The library for Node 20 leaves the log behind at close. Truncated, nothing is lost if only the file is copied.
      // Another open process limits the effect, which does no harm.
      try {
        this.#writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {
        // The log stays; the next process that opens the file reads it.
      }
      this.#writer.close();
    })();
    return this.#closed;
  }
}
