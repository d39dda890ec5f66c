/** SQLite: one connection that writes in groups, one that reads, and a thread for reads that may be long. */
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CairnError, invalid } from '../../kernel/index.js';
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
import { commitGroup, GROUP_LIMIT, readingError, sleep, toCairnError, type Write } from '../group.js';
import { isShareUsed, nextTurn } from '../loop-share.js';
import { APPLIED, type AppliedMigration, bootstrap, checksumOf, pending, statementsOf, versionOf } from '../migrate.js';
import { compile, type Sql } from '../sql.js';
import { WaitingWrites } from '../write-queue.js';
import { SqliteChannel } from './channel.js';
import { integrityOf, LongReader } from './long-reader.js';
import { createPrivate, SqliteConnection } from './open.js';
import { SqliteWakes } from './wakes.js';

const LOCK_WAIT_MS = 30_000;
/** How often another process's commits are looked for while someone listens. */
const WATCH_MS = 100;
/** Contention that was seen counts as lasting this long. */
const CONTENTION_MS = 1000;
/** A process that holds the lock for long makes a short gap now and then, in case another waits unseen. */
const GAP_EVERY_MS = 100;
/** How often the log is tried to be emptied, some 100 ms apart: a reader or another process may be in the way. */
const SCRUB_ATTEMPTS = 50;
/** How long writers wait at most while the log is emptied. */
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
    // 16 MB of log before it is written back, instead of 4: pages that change often are then written back less often.
    writer.exec('PRAGMA wal_autocheckpoint = 4000');
    const reader = await SqliteConnection.open(path);
    return new SqliteDriver(path, writer, reader, options);
  } catch (error) {
    // A folder that cannot be made, a file that cannot be read or is something else: said with its name.
    const known = error instanceof DriverError && error.kind !== 'failed';
    if (known) throw toCairnError(error);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CairnError('STORAGE_FAILED', `the database ${path} cannot be opened: ${reason}`, undefined, error);
  }
}

class SqliteDriver implements Driver {
  readonly dialect = 'sqlite';
  readonly location: string;
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  readonly #long: LongReader;
  /** Of its own, so that no search waits for a count. */
  readonly #away: LongReader;
  readonly #options: DriverOptions;
  readonly #queue: Write[] = [];
  readonly #waiting: WaitingWrites;
  readonly #listeners = new Set<(tenant: string | undefined) => void>();
  readonly #wakes: SqliteWakes;
  #pump: Promise<void> | undefined;
  #group: Promise<void> | undefined;
  #paused: Promise<void> | undefined;
  #snapshots: Promise<unknown> | undefined;
  #watch: NodeJS.Timeout | undefined;
  #seenByReader = 0;
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
    this.#options = options;
    this.#waiting = new WaitingWrites(options.max_waiting_bytes);
    this.#wakes = new SqliteWakes(() => this.#dataVersion(writer));
  }

  now(): number {
    return Date.now() + (this.#options.clock_offset_ms?.() ?? 0);
  }

  at(tenant: string): Query {
    return queryBy(tenant, async (query) => {
      // A statement beside an open snapshot would see the snapshot's moment, not the newest commit.
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
      // Whatever happens to the snapshot, those who wait for its end must not wait for ever.
      this.#snapshots = undefined;
      done();
      if (this.#reader.inTransaction) this.#reader.run('COMMIT');
    }
  }

  async #readAll<R>(query: Sql, tenant: string): Promise<R[]> {
    const { text, params } = compile(query, 'sqlite', tenant);
    try {
      const rows = await this.#reader.read<R>(text, params);
      if (isShareUsed()) await nextTurn();
      return rows;
    } catch (error) {
      throw readingError(error);
    }
  }

  async long<R>(tenant: string, query: Sql): Promise<R[]> {
    const { text, params } = compile(query, 'sqlite', tenant);
    return this.#long.all<R>(text, params);
  }

  examine<R>(tenant: string, query: Sql): Promise<R[]> {
    return this.long<R>(tenant, query);
  }

  away<O>(tenant: string, module: URL, input: unknown): Promise<O> {
    if (this.#closed) return Promise.reject(new CairnError('SHUTTING_DOWN', 'the store is closed'));
    return this.#away.run<O>(module.href, tenant, input);
  }

  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new CairnError('SHUTTING_DOWN', 'the store is closed'));
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
        // Everyone who is ready in this turn of the event loop joins the group.
        await new Promise((resolve) => setImmediate(resolve));
        while (this.#paused) await this.#paused;
        const group = this.#queue.splice(0, GROUP_LIMIT);
        let started = 0;
        const begin = async () => {
          await this.#lock();
          if (started === 0) group.push(...this.#queue.splice(0, GROUP_LIMIT - group.length));
          started = performance.now();
          return new SqliteChannel(this.#writer);
        };
        const unreachable = (error: unknown) => {
          for (const write of this.#queue.splice(0)) write.reject(error);
        };
        const { journal } = this.#options;
        const { wake } = this.#wakes;
        this.#group = commitGroup({ journal, begin, committed: this.#tellAll, wake, unreachable }, group);
        await this.#group;
        this.#commits++;
        this.#written += group.length;
        await this.#yieldToOthers(performance.now() - started);
      }
    } finally {
      this.#pump = undefined;
    }
  }

  /** Takes the write lock without blocking the event loop, which also serves leases and streams. */
  async #lock(): Promise<void> {
    const start = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        this.#writer.exec('BEGIN IMMEDIATE');
        break;
      } catch (error) {
        if (!(error instanceof DriverError) || error.kind !== 'busy') throw error;
        this.#contendedUntil = performance.now() + CONTENTION_MS;
        if (performance.now() - start > LOCK_WAIT_MS) {
          throw new DriverError('busy', `another process held the write lock for ${LOCK_WAIT_MS / 1000} s`, error);
        }
      }
      // Short at first, since a commit takes less than a timer's millisecond; then with jitter, so that waiters spread.
      if (attempt % 8 < 6) await new Promise((resolve) => setImmediate(resolve));
      else await sleep(1 + Math.random() * Math.min(attempt / 8, 8));
    }
    const version = this.#dataVersion(this.#writer);
    if (version !== this.#seenByWriter) {
      if (this.#seenByWriter > 0) this.#contendedUntil = performance.now() + CONTENTION_MS;
      this.#seenByWriter = version;
    }
  }

  /** SQLite's lock is not fair: after a commit under contention, stand back for as long as the write took. */
  async #yieldToOthers(took: number): Promise<void> {
    const now = performance.now();
    if (now < this.#contendedUntil) await sleep(Math.min(Math.max(took, 1), 50));
    else if (now - this.#lastGap > GAP_EVERY_MS && this.#queue.length > 0) await sleep(1);
    else return;
    this.#lastGap = performance.now();
  }

  #dataVersion(connection: SqliteConnection): number {
    return connection.all<{ data_version: number }>('PRAGMA data_version')[0]!.data_version;
  }

  onCommit(listener: (tenant: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    this.#watch ??= this.#watchOthers();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      }
    };
  }

  onWake(listener: WakeListener): () => void {
    return this.#wakes.listen(listener);
  }

  #watchOthers(): NodeJS.Timeout {
    return setInterval(() => {
      if (this.#snapshots || this.#closed) return;
      try {
        const version = this.#dataVersion(this.#reader);
        if (version === this.#seenByReader) return;
        this.#seenByReader = version;
      } catch {
        // Another process recovers the file, or it cannot be read: whoever follows learns it from its own read.
      }
      this.#tell(undefined);
    }, WATCH_MS).unref();
  }

  #tell(tenant: string | undefined): void {
    for (const listener of this.#listeners) listener(tenant);
  }

  readonly #tellAll = (tenants: Iterable<string>): void => {
    for (const tenant of tenants) this.#tell(tenant);
  };

  async migrate(): Promise<MigrationReport> {
    const { schema } = this.#options;
    const version = versionOf(schema);
    try {
      // Most starts find nothing to do, and need no lock to see it.
      if ((await this.#reader.read("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'")).length > 0) {
        const applied = await this.#reader.read<AppliedMigration>(APPLIED);
        if (pending(schema, applied, 'sqlite').length === 0) return { applied: [], version };
      }
      await this.#lock();
      try {
        for (const text of bootstrap.sqlite) this.#writer.exec(text);
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
      // On the thread, and most of it beside the writers; the second time only what came meanwhile.
      await this.#long.all('PRAGMA wal_checkpoint(PASSIVE)', []);
      await this.#long.all('PRAGMA wal_checkpoint(PASSIVE)', []);
      if (await this.#betweenGroups(() => this.#truncateLog())) return true;
      await sleep(Math.random() * 20 * Math.min(attempt, 10));
    }
    return false;
  }

  async #truncateLog(): Promise<boolean> {
    const [row] = await this.#long.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)', []);
    return row!.busy === 0;
  }

  /**
   * Runs while this process writes nothing: one that writes without a pause would else never let go of the lock. If it
   * takes longer than a moment, the writers go on beside it.
   */
  async #betweenGroups<T>(work: () => Promise<T>): Promise<T> {
    while (this.#paused) await this.#paused;
    let goOn = () => {};
    const pause = new Promise<void>((resolve) => (goOn = resolve));
    this.#paused = pause;
    const release = () => {
      if (this.#paused === pause) this.#paused = undefined;
      goOn();
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
      clearInterval(this.#watch);
      this.#wakes.close();
      while (this.#pump) await this.#pump;
      while (this.#snapshots) await this.#snapshots;
      await this.#long.close();
      await this.#away.close();
      this.#reader.close();
      // The twin on Node 20 leaves the log behind when it closes. Emptied, it takes nothing with it if only the
      // file is copied. Another process that is still at work makes this do less, and that is fine.
      try {
        this.#writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {
        // The log stays and is read by whoever opens the file next.
      }
      this.#writer.close();
    })();
    return this.#closed;
  }
}
