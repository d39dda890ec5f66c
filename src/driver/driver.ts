/** The Driver seam: what a store needs of a database, and how writes are journalled. */
import type { Schema } from './schema.js';
import type { BoundParam, Dialect, Sql } from './sql.js';

/** Reads, one statement at a time, of one tenant. */
export interface Query {
  readonly tenant: string;
  all<R>(query: Sql): Promise<R[]>;
  get<R>(query: Sql): Promise<R | undefined>;
}

/** A table as many rows are inserted into it: its columns with their types. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, 'text' | 'bigint' | 'double precision' | 'json' | 'bit varying'>>;
}

/** The values of a row, in the order of the columns of its table. */
export const valuesOf = <T extends Table>(
  { columns }: T,
  row: Readonly<Record<keyof T['columns'], BoundParam>>,
): BoundParam[] => Object.keys(columns).map((name) => row[name as keyof T['columns']]);

/** One write among those that share a commit. Awaits nothing but these calls while it is open. */
export interface Tx extends Query {
  /** Runs a statement and says how many rows it changed. */
  run(query: Sql): Promise<number>;
  /** Runs a statement that changes rows and returns them. */
  returning<R>(query: Sql): Promise<R[]>;
  /** Runs a statement of which nothing is asked. It may still be under way: a failure shows by the commit. */
  send(query: Sql): Promise<void>;
  /** Inserts rows given in the order of the table's columns; in the same way. */
  insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void>;
  /** What was journalled by this tenant's writes of the same commit so far, this one's included. */
  readonly journalled: readonly JournalEntry[];
  /** Adds an entry that is written in the last statements before the commit. */
  journal(entry: JournalEntry): void;
  /** Wakes, after the commit, those who wait for this key, such as `lock:<id>`, in this tenant, on every server. */
  wake(key: string): void;
}

/**
 * Told of a key that was woken. Without a key, any of the tenant's may have been; without a tenant, any at all. A hint:
 * it may come twice or in vain.
 */
export type WakeListener = (tenant: string | undefined, key: string | undefined) => void;

/** What the driver must know of an entry: its id, by which an unknown commit outcome is looked up. */
export interface JournalEntry {
  readonly packet_id: string;
}

/** How entries become rows. Given by the store, called by the driver. */
export interface Journal {
  /** Takes the tenant's next numbers and writes the entries: the last statements before COMMIT. */
  append(tx: Tx, entries: readonly JournalEntry[]): Promise<void>;
  /** Whether these entries are there: asked when the connection was lost at COMMIT. Waits for a commit under way. */
  landed(tx: Tx, entries: readonly JournalEntry[]): Promise<boolean>;
}

export interface WriteOptions {
  /** The one entity that it changes. */
  readonly entity?: string | undefined;
  /** What it holds in memory while it waits, about. */
  readonly bytes?: number | undefined;
}

/** The vectors that one model made of a tenant's texts. */
export interface VectorSpace {
  readonly tenant: string;
  readonly model: string;
  readonly dimensions: number;
}

/** A table of vectors, as its owner describes it. It has the members of a space as columns of the same names. */
export interface VectorTable {
  readonly name: string;
  /** The column with the signs of a vector; null where there is none. */
  readonly bits: string;
}

/** What a database has to compare vectors with, and by now has indexed. */
export interface IndexedVectors {
  /** Of what compares them; quoted. */
  readonly schema: string;
  /** How many indexes there are, of all tenants and models. */
  readonly count: number;
  has(space: VectorSpace): boolean;
}

/** Of databases that can keep an index of vectors. */
export interface VectorIndexes {
  /** Undefined while there is nothing that serves. */
  look(table: VectorTable): Promise<IndexedVectors | undefined>;
  /** Makes the index of these unless it is there; it may take long, and nobody waits for it. Whether it is there then. */
  index(table: VectorTable, schema: string, space: VectorSpace): Promise<boolean>;
  /** Waits no longer for what is being made. */
  close(): void;
}

export interface Driver {
  readonly dialect: Dialect;
  readonly vectors?: VectorIndexes;
  /** Where the data is, fit to print. */
  readonly location: string;
  /** The database's clock, in epoch milliseconds. */
  now(): number;
  /** Reads of which each stands alone. */
  at(tenant: string): Query;
  /** Several reads of one moment. */
  snapshot<T>(tenant: string, read: (query: Query) => Promise<T>): Promise<T>;
  /** A read that may be long: off the event loop where the database would block it. */
  long<R>(tenant: string, query: Sql): Promise<R[]>;
  /** The same for who examines a store, and not for a request: it takes the time that it needs. */
  examine<R>(tenant: string, query: Sql): Promise<R[]>;
  /**
   * A read that computes as well, such as a ranking, of one moment: beside the event loop, where the database would block
   * it. The module's `run(query, input)` does it; what goes in and comes out are plain values.
   */
  away<O>(tenant: string, module: URL, input: unknown): Promise<O>;
  /**
   * A write. Concurrent ones share a commit; every outcome waits for it, refusals included. One that says which entity
   * it changes, and looks at no other's journal entries, may overlap with those that change another.
   */
  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** A write outside all tenants: keys, tenants, the store's own settings. */
  system<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Calls back after commits that journalled something, and when another process may have. */
  onCommit(listener: (tenant: string | undefined) => void): () => void;
  /** Calls back for keys that were woken, here or elsewhere, and without one when some may have been missed. */
  onWake(listener: WakeListener): () => void;
  /** Brings the schema to this version; safe when several processes start together. */
  migrate(): Promise<MigrationReport>;
  /** What the database itself says about its health; empty when it is well. */
  integrity(): Promise<string[]>;
  /**
   * Takes what was overwritten out of the database's own log, as far as that is in this process's hands; false when
   * someone who still reads an older state stood in the way.
   */
  scrub(): Promise<boolean>;
  figures(): Readonly<Record<string, number>>;
  /** Drains what is under way, then closes. */
  close(): Promise<void>;
}

/** What a module that is run by `away` exports. */
export interface AwayModule {
  run(query: Query, input: unknown): Promise<unknown>;
}

/** By what gives all rows of a statement. */
export const queryBy = (tenant: string, rows: (query: Sql) => Promise<unknown[]>): Query => ({
  tenant,
  all: <R>(query: Sql) => rows(query) as Promise<R[]>,
  get: async <R>(query: Sql) => (await rows(query))[0] as R | undefined,
});

/** Reads that may be long, as a Query. */
export function atLength(driver: Driver, tenant: string): Query {
  return queryBy(tenant, (query) => driver.long(tenant, query));
}

export interface MigrationReport {
  readonly applied: readonly string[];
  readonly version: number;
}

export interface DriverOptions {
  readonly journal: Journal;
  /** What `migrate` brings the database to. */
  readonly schema: Schema;
  /** Milliseconds to add to the database's clock; for tests of expiry and leases. */
  readonly clock_offset_ms?: () => number;
  /** What waiting writes may hold together; 256 MiB unless given. */
  readonly max_waiting_bytes?: number;
}

/** Native errors, translated at the edge to what a caller can act on. */
export type DriverErrorKind =
  /** A lock was not to be had in time. */
  | 'busy'
  /** Others were in the way (a deadlock, say): run again, it may go through. */
  | 'conflict'
  /** A row was there already. If it was a race, running again finds the row; if not, it is a defect. */
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
