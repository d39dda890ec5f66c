/** The writing SQLite connection in one transaction. */
import { turnShare } from '../../kernel/index.js';
import type { Channel } from '../channel.js';
import type { Table } from '../driver.js';
import { type BoundParam, compile, type Sql } from '../sql.js';
import type { SqliteConnection } from './open.js';

/**
 * SQLite answers synchronously, so a chain of statements would never let the event loop turn: after 20 ms, the next answer
 * waits for the next turn. Reads and writes of the process share this time.
 */
export const statementYield = turnShare(20);

/** Statements run in the order of the calls, awaited or not. Only an insert of many rows is itself interrupted by a yield. */
export class SqliteChannel implements Channel {
  readonly dialect = 'sqlite';
  readonly locksRows = false;
  readonly #connection: SqliteConnection;
  /** The end of an interrupted insert, and of the statements that wait behind it. */
  #interrupted: Promise<void> | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  all<R>(query: Sql, tenant: string): Promise<R[]> {
    const { text, params } = compile(query, 'sqlite', tenant);
    return this.#answer(() => this.#connection.all<R>(text, params));
  }

  run(query: Sql, tenant: string): Promise<number> {
    const { text, params } = compile(query, 'sqlite', tenant);
    return this.#answer(() => this.#connection.run(text, params));
  }

  async send(query: Sql, tenant: string): Promise<void> {
    await this.run(query, tenant);
  }

  async #answer<T>(statement: () => T): Promise<T> {
    while (this.#interrupted) await this.#interrupted;
    const answer = statement();
    const wait = statementYield();
    if (wait) await wait;
    return answer;
  }

  async insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void> {
    const text = insertText(table);
    while (this.#interrupted) await this.#interrupted;
    for (const [i, row] of rows.entries()) {
      this.#connection.run(text, row);
      const wait = statementYield();
      if (!wait) continue;
      if (i === rows.length - 1) return wait;
      const rest = wait.then(() => this.#insertRest(text, rows, i + 1));
      const end = () => void (this.#interrupted = undefined);
      this.#interrupted = rest.then(end, end);
      return rest;
    }
  }

  async #insertRest(text: string, rows: readonly (readonly BoundParam[])[], from: number): Promise<void> {
    for (let i = from; i < rows.length; i++) {
      this.#connection.run(text, rows[i]!);
      const wait = statementYield();
      if (wait) await wait;
    }
  }

  savepoint(): void {
    const begin = (): void => void this.#connection.run('SAVEPOINT op');
    if (!this.#interrupted) begin();
    else this.#interrupted = this.#interrupted.then(begin);
  }

  release(): Promise<void> {
    return this.#control('RELEASE op');
  }

  rollbackTo(): Promise<void> {
    return this.#control('ROLLBACK TO op', 'RELEASE op');
  }

  commit(): Promise<void> {
    return this.#control('COMMIT');
  }

  async rollback(): Promise<void> {
    while (this.#interrupted) await this.#interrupted;
    if (this.#connection.inTransaction) this.#connection.run('ROLLBACK');
  }

  async #control(...statements: string[]): Promise<void> {
    while (this.#interrupted) await this.#interrupted;
    for (const text of statements) this.#connection.run(text);
  }

  /** No-ops: one lock guards the whole file, and its holder waits for nobody. */
  sharing(): void {}
  ending(): void {}

  /** On a full disk or an I/O error SQLite itself rolls back the whole transaction. */
  lost(): boolean {
    return !this.#connection.inTransaction;
  }
}

const insertTexts = new WeakMap<Table, string>();

function insertText(table: Table): string {
  let text = insertTexts.get(table);
  if (text === undefined) {
    const names = Object.keys(table.columns);
    text = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    insertTexts.set(table, text);
  }
  return text;
}
