/** Opens an SQLite file with the DatabaseSync API: Node's own where it is stable, a prebuilt twin on Node 20. */
import { closeSync, openSync } from 'node:fs';
import { DriverError } from '../driver.js';
import { sleep } from '../group.js';
import type { Param } from '../sql.js';

/** What is used of the API, which both libraries share. */
interface Statement {
  all(...params: (string | number | null)[]): unknown[];
  run(...params: (string | number | null)[]): { changes: number | bigint };
}
interface Database {
  readonly isTransaction: boolean;
  exec(text: string): void;
  prepare(text: string): Statement;
  close(): void;
}
type DatabaseConstructor = new (path: string, options: { timeout: number }) => Database;

let loaded: Promise<DatabaseConstructor> | undefined;

const databaseClass = (): Promise<DatabaseConstructor> => (loaded ??= load());

async function load(): Promise<DatabaseConstructor> {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  const builtIn = major > 22 || (major === 22 && minor >= 13);
  const name = builtIn ? 'node:sqlite' : '@photostructure/sqlite';
  // Node 22 says at the import that its SQLite is experimental. What is used here is tested, and a user of Cairn
  // can do nothing about it.
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning(warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    const { DatabaseSync } = (await import(name)) as { DatabaseSync: DatabaseConstructor };
    return DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Makes the file readable by its owner alone; SQLite gives its log the same mode. Only a file that is not there is opened:
 * closing one that is would drop the locks that this process holds on it. What else fails, SQLite says in its own words.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or cannot be made.
  }
}

const STATEMENT_LIMIT = 1000;
/** How often what met a lock is tried again, some 12 ms apart. */
const PATIENCE = 1000;

/** One connection with its prepared statements. Synchronous: SQLite is. */
export class SqliteConnection {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(path: string): Promise<SqliteConnection> {
    const DatabaseSync = await databaseClass();
    let connection: SqliteConnection;
    try {
      connection = new SqliteConnection(new DatabaseSync(path, { timeout: 0 }));
    } catch (error) {
      throw translate(error);
    }
    try {
      // FULL: a commit is on the disk before it is acknowledged. secure_delete: what is erased is overwritten.
      // cache_size: 16 MiB, so that a read of a few megabytes is not one of the file every time.
      for (const pragma of ['synchronous = FULL', 'foreign_keys = ON', 'secure_delete = ON', 'cache_size = -16384']) {
        await connection.patiently(() => connection.exec(`PRAGMA ${pragma}`));
      }
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /**
   * For the moments in which even a read meets a lock: another process opens the file for the first time, recovers
   * it after a crash, or is the last one to close it.
   */
  async patiently<T>(action: () => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return action();
      } catch (error) {
        if (!(error instanceof DriverError) || error.kind !== 'busy' || attempt > PATIENCE) throw error;
      }
      await sleep(5 + Math.random() * 15);
    }
  }

  async read<R>(text: string, params: readonly Param[] = []): Promise<R[]> {
    try {
      return this.all<R>(text, params);
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== 'busy') throw error;
      return this.patiently(() => this.all<R>(text, params));
    }
  }

  exec(text: string): void {
    try {
      this.#db.exec(text);
    } catch (error) {
      throw translate(error);
    }
  }

  all<R>(text: string, params: readonly Param[] = []): R[] {
    try {
      return this.#prepare(text).all(...bind(params)) as R[];
    } catch (error) {
      throw translate(error);
    }
  }

  run(text: string, params: readonly Param[] = []): number {
    try {
      return Number(this.#prepare(text).run(...bind(params)).changes);
    } catch (error) {
      throw translate(error);
    }
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(text: string) {
    let statement = this.#statements.get(text);
    if (!statement) {
      // Shapes of statements are few; the bound is against a defect, not a habit.
      if (this.#statements.size >= STATEMENT_LIMIT) this.#statements.clear();
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

function bind(params: readonly Param[]): (string | number | null)[] {
  for (let i = 0; i < params.length; i++) {
    if (typeof params[i] === 'object' && params[i] !== null) {
      return params.map((param) =>
        typeof param === 'object' && param !== null ? JSON.stringify(param) : (param as string | number | null),
      );
    }
  }
  return params as (string | number | null)[];
}

const PRIMARY = 0xff;

function translate(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode;
  if (typeof code !== 'number') return error;
  const message = (error as Error).message;
  switch (code & PRIMARY) {
    case 5: // BUSY
    case 6: // LOCKED
      return new DriverError('busy', message, error);
    case 13: // FULL
      return new DriverError('full', message, error);
    case 10: // IOERR
    case 8: // READONLY
    case 11: // CORRUPT
    case 14: // CANTOPEN
    case 26: // NOTADB
      return new DriverError('failed', message, error);
    case 19: // CONSTRAINT
      return new DriverError('constraint', message, error);
    default:
      return error;
  }
}
