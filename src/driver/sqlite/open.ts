/** SQLite connections, by Node's DatabaseSync or a prebuilt library with the same API on Node 20. */
import { closeSync, openSync } from 'node:fs';
import { DriverError } from '../driver.js';
import { sleep } from '../group.js';
import type { Param } from '../sql.js';

/** The used part of the API of both libraries. */
interface Statement {
  all(...params: Bound[]): unknown[];
  run(...params: Bound[]): { changes: number | bigint };
}
interface Database {
  readonly isTransaction: boolean;
  exec(text: string): void;
  prepare(text: string): Statement;
  close(): void;
}
type Bound = string | number | null | Uint8Array;
type DatabaseConstructor = new (path: string, options: { timeout: number }) => Database;

let loaded: Promise<DatabaseConstructor> | undefined;

async function load(): Promise<DatabaseConstructor> {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  const builtIn = major > 22 || (major === 22 && minor >= 13);
  const name = builtIn ? 'node:sqlite' : '@photostructure/sqlite';
  // Suppresses the warning of Node 22 that its SQLite is experimental: the used part is tested.
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
 * Creates the file readable by its owner alone; SQLite gives its log the same mode. Never opens an existing file, since
 * closing it would drop the locks of this process. SQLite reports other errors.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It exists, or cannot be created.
  }
}

const STATEMENT_LIMIT = 1000;
/** Retries of a locked statement, some 12 ms apart. */
const LOCK_RETRIES = 1000;

/** One connection with its prepared statements. Synchronous: SQLite is. */
export class SqliteConnection {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(path: string): Promise<SqliteConnection> {
    const DatabaseSync = await (loaded ??= load());
    const connection = new SqliteConnection(opened(DatabaseSync, path));
    try {
      // FULL: a commit is on disk before it is acknowledged. secure_delete: erased content is overwritten.
      // cache_size: 16 MiB, so that reads of a few megabytes come from memory.
      for (const pragma of ['synchronous = FULL', 'foreign_keys = ON', 'secure_delete = ON', 'cache_size = -16384']) {
        await connection.patiently(() => connection.exec(`PRAGMA ${pragma}`));
      }
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** For moments when even reads are locked out: another process creates the file, recovers it, or closes it last. */
  async patiently<T>(action: () => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return action();
      } catch (error) {
        if (!(error instanceof DriverError) || error.kind !== 'busy' || attempt > LOCK_RETRIES) throw error;
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
      throw translated(error);
    }
  }

  all<R>(text: string, params: readonly Param[] = []): R[] {
    try {
      return this.#prepare(text).all(...bind(params)) as R[];
    } catch (error) {
      throw translated(error);
    }
  }

  run(text: string, params: readonly Param[] = []): number {
    try {
      return Number(this.#prepare(text).run(...bind(params)).changes);
    } catch (error) {
      throw translated(error);
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
      // Never reached without a defect: there are few shapes of statements.
      if (this.#statements.size >= STATEMENT_LIMIT) this.#statements.clear();
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

const isList = (param: Param) => Array.isArray(param);

/** Lists as JSON. */
const bind = (params: readonly Param[]): Bound[] =>
  (params.some(isList) ? params.map((one) => (isList(one) ? JSON.stringify(one) : one)) : params) as Bound[];

/** By primary result code. */
const KINDS: Readonly<Record<number, DriverError['kind']>> = {
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  8: 'failed', // READONLY
  10: 'failed', // IOERR
  11: 'failed', // CORRUPT
  13: 'full', // FULL
  14: 'failed', // CANTOPEN
  19: 'constraint', // CONSTRAINT
  26: 'failed', // NOTADB
};

function opened(DatabaseSync: DatabaseConstructor, path: string): Database {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw translated(error);
  }
}

/** An error of the library as a DriverError; any other error as it is. */
function translated(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: unknown; message: string };
  const kind = typeof errcode === 'number' ? KINDS[errcode & 0xff] : undefined;
  return kind ? new DriverError(kind, message, error) : error;
}
