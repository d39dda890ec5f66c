/** The Driver seam: what a store needs from a database, and how writes are journalled. */
import type { Schema } from './schema.js';
import type { BoundParam, Dialect, Sql } from './sql.js';

/** Reads of one tenant, one statement at a time. */
export interface Query {
  readonly tenant: string;
  all<R>(query: Sql): Promise<R[]>;
  get<R>(query: Sql): Promise<R | undefined>;
}

/** The columns and types of a table, for `Tx.insert`. `tenant_id` is the first. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, 'text' | 'bigint' | 'double precision' | 'json' | 'bit varying' | 'bytea'>>;
}

/** One write of a group. Its function awaits nothing but these calls. */
export interface Tx extends Query {
  readonly dialect: Dialect;
  /** Runs a statement and returns the number of changed rows. */
  run(query: Sql): Promise<number>;
  /** Runs a statement with RETURNING. */
  returning<R>(query: Sql): Promise<R[]>;
  /** Queues a statement; errors surface at commit. */
  send(query: Sql): Promise<void>;
  /** Queues an insert of rows in the order of the table's columns. */
  insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void>;
  /** Entries of this tenant's writes in the same commit so far, this one included. */
  readonly journalled: readonly JournalEntry[];
  /** Adds an entry, which is written by the last statements before the commit. */
  journal(entry: JournalEntry): void;
  /** Queues rows that the journal writes with its own, once the head row has given them numbers. */
  late(rows: LateRows): void;
  /** After the commit, wakes all waiters of this tenant for a key such as `lock:<id>`, on every server. */
  wake(key: string): void;
}

/** Without a key, any key of the tenant may have been woken; without a tenant, any at all. A hint that may be spurious. */
export type WakeListener = (tenant: string | undefined, key: string | undefined) => void;

/** Rows that are written with the last statements before the commit; the engine knows their writers by kind. */
export interface LateRows {
  readonly kind: string;
}

/** The id by which an unknown commit outcome is resolved. */
export interface JournalEntry {
  readonly packet_id: string;
}

/** Turns entries into rows; implemented by the engine. */
export interface Journal {
  /** Takes the tenant's next numbers and inserts the entries and late rows: the last statements before COMMIT. */
  append(tx: Tx, entries: readonly JournalEntry[], late: readonly LateRows[]): Promise<void>;
  /** Whether these entries are committed, after the connection was lost at COMMIT. Waits for a commit under way. */
  landed(tx: Tx, entries: readonly JournalEntry[]): Promise<boolean>;
}

export interface WriteOptions {
  /** The only entity that the write changes. */
  readonly entity?: string | undefined;
  /** Approximate memory of the write while it waits. */
  readonly bytes?: number | undefined;
  readonly joint?: Joint | undefined;
}

/**
 * Lets concurrent writes with the same key run as one, so that a commit reads and writes the rows that they share once. A
 * write that is alone, or that has to be undone alone, runs by itself.
 */
export interface Joint {
  readonly key: string;
  /** What this write is about. */
  readonly item: unknown;
  /**
   * Runs the writes of all items, in order, with the effects and outcomes of one after another. Undefined, before it has
   * changed anything: they run one by one. If an item is refused after a change, it throws, and they run one by one.
   */
  readonly work: (tx: Tx, items: readonly unknown[]) => Promise<readonly PromiseSettledResult<unknown>[] | undefined>;
}

/** The vectors of one tenant and embedding model. */
export interface VectorSpace {
  readonly tenant: string;
  readonly model: string;
  readonly dimensions: number;
}

/** A table of vectors. It has a column for each member of `VectorSpace`. */
export interface VectorTable {
  readonly name: string;
  /** The nullable column with the signs of a vector. */
  readonly bits: string;
}

/** The vector indexes that a database has. */
export interface IndexedVectors {
  /** Schema of the extension, quoted. */
  readonly schema: string;
  /** Number of indexes of all tenants and models. */
  readonly count: number;
  has(space: VectorSpace): boolean;
}

export interface VectorIndexes {
  /** Undefined if the database has no usable extension. */
  look(table: VectorTable): Promise<IndexedVectors | undefined>;
  /** Builds the index unless it exists, which may take long; whether it exists afterwards. */
  index(table: VectorTable, schema: string, space: VectorSpace): Promise<boolean>;
  close(): void;
}

export interface Driver {
  readonly dialect: Dialect;
  readonly vectors?: VectorIndexes;
  /** Where the data is, without secrets. */
  readonly location: string;
  /** The database's clock, in epoch milliseconds. */
  now(): number;
  /** Independent single reads. */
  at(tenant: string): Query;
  /** Several reads of one snapshot. */
  snapshot<T>(tenant: string, read: (query: Query) => Promise<T>): Promise<T>;
  /** A read that may be long; off the event loop if the database would block it. */
  long<R>(tenant: string, query: Sql): Promise<R[]>;
  /** `long` without a time limit, for the doctor rather than for requests. */
  examine<R>(tenant: string, query: Sql): Promise<R[]>;
  /** Calls `run(query, input)` of a module on one snapshot, off the event loop if the database would block it. */
  away<O>(tenant: string, module: URL, input: unknown): Promise<O>;
  /**
   * A write. Concurrent writes share a commit, for which every outcome waits, refusals included. A write that names its
   * entity must not read `journalled` of others, and may overlap with writes to other entities.
   */
  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** A write outside all tenants: keys, tenants, settings of the store. */
  system<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Calls back after commits with journal entries, and without a tenant when another process may have committed. */
  onCommit(listener: (tenant: string | undefined) => void): () => void;
  onWake(listener: WakeListener): () => void;
  /** Applies pending migrations; safe when several processes start together. */
  migrate(): Promise<MigrationReport>;
  /** Problems that the database's own checks find. */
  integrity(): Promise<string[]>;
  /** Removes overwritten content from the database's log; false if a reader of an older state prevented it. */
  scrub(): Promise<boolean>;
  figures(): Readonly<Record<string, number>>;
  /** Drains pending work, then closes. */
  close(): Promise<void>;
}

/** The exports of a module for `away`. */
export interface AwayModule {
  run(query: Query, input: unknown): Promise<unknown>;
}

/** A Query on a function that returns all rows of a statement. */
export const queryBy = (tenant: string, rows: (query: Sql) => Promise<unknown[]>): Query => ({
  tenant,
  all: <R>(query: Sql) => rows(query) as Promise<R[]>,
  get: async <R>(query: Sql) => (await rows(query))[0] as R | undefined,
});

/** A Query whose reads may be long. */
export const longQuery = (driver: Driver, tenant: string): Query =>
  queryBy(tenant, (query) => driver.long(tenant, query));

export interface MigrationReport {
  readonly applied: readonly string[];
  readonly version: number;
}

export interface DriverOptions {
  readonly journal: Journal;
  readonly schema: Schema;
  /** Added to the database's clock, in tests of expiry and leases. */
  readonly clock_offset_ms?: () => number;
  /** Maximum memory of waiting writes (default: 256 MiB). */
  readonly max_waiting_bytes?: number;
}

/** Native errors, translated to kinds that callers can act on. */
type DriverErrorKind =
  /** A lock wait timed out. */
  | 'busy'
  /** Concurrent transactions interfered, as in a deadlock: a retry may succeed. */
  | 'conflict'
  /** A row already exists. After a race, a retry finds the row; otherwise it is a defect. */
  | 'constraint'
  | 'full'
  | 'failed'
  | 'connection';

export class DriverError extends Error {
  readonly kind: DriverErrorKind;

  constructor(kind: DriverErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'DriverError';
    this.kind = kind;
  }
}
