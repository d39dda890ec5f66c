/** The writing SQLite connection in one transaction. */
import type { Channel } from '../channel.js';
import type { Table } from '../driver.js';
import { isShareUsed, nextTurn } from '../loop-share.js';
import { type BoundParam, compile, type Sql } from '../sql.js';
import type { SqliteConnection } from './open.js';

/**
 * Statements run in the order in which they were asked for, awaited or not. Where one has used up its share of the event
 * loop, it is answered in the next turn; only an insert of many rows is itself interrupted, and what is asked meanwhile waits.
 */
export class SqliteChannel implements Channel {
  readonly locksRows = false;
  readonly #connection: SqliteConnection;
  /** The end of an insert that was interrupted, and of what waits behind it. */
  #interrupted: Promise<void> | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  async all<R>(query: Sql, tenant: string): Promise<R[]> {
    const { text, params } = compile(query, 'sqlite', tenant);
    while (this.#interrupted) await this.#interrupted;
    const rows = this.#connection.all<R>(text, params);
    if (isShareUsed()) await nextTurn();
    return rows;
  }

  async run(query: Sql, tenant: string): Promise<number> {
    const { text, params } = compile(query, 'sqlite', tenant);
    while (this.#interrupted) await this.#interrupted;
    const changed = this.#connection.run(text, params);
    if (isShareUsed()) await nextTurn();
    return changed;
  }

  async send(query: Sql, tenant: string): Promise<void> {
    await this.run(query, tenant);
  }

  async insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void> {
    const text = insertText(table);
    while (this.#interrupted) await this.#interrupted;
    for (const [i, row] of rows.entries()) {
      this.#connection.run(text, row);
      if (!isShareUsed()) continue;
      if (i === rows.length - 1) return nextTurn();
      const rest = this.#insertRest(text, rows, i + 1);
      const over = rest.then(
        () => undefined,
        () => undefined,
      );
      this.#interrupted = over.then(() => void (this.#interrupted = undefined));
      return rest;
    }
  }

  async #insertRest(text: string, rows: readonly (readonly BoundParam[])[], from: number): Promise<void> {
    await nextTurn();
    for (let i = from; i < rows.length; i++) {
      this.#connection.run(text, rows[i]!);
      if (isShareUsed()) await nextTurn();
    }
  }

  savepoint(): void {
    const begin = (): void => void this.#connection.run('SAVEPOINT op');
    if (!this.#interrupted) begin();
    else this.#interrupted = this.#interrupted.then(begin);
  }

  async release(): Promise<void> {
    while (this.#interrupted) await this.#interrupted;
    this.#connection.run('RELEASE op');
  }

  async rollbackTo(): Promise<void> {
    while (this.#interrupted) await this.#interrupted;
    this.#connection.run('ROLLBACK TO op');
    this.#connection.run('RELEASE op');
  }

  async commit(): Promise<void> {
    while (this.#interrupted) await this.#interrupted;
    this.#connection.run('COMMIT');
  }

  async rollback(): Promise<void> {
    while (this.#interrupted) await this.#interrupted;
    if (this.#connection.inTransaction) this.#connection.run('ROLLBACK');
  }

  /** One lock guards the whole file: whoever has it waits for no other. */
  sharing(): void {}
  ending(): void {}

  /** A full disk or an I/O error makes SQLite roll back the whole transaction by itself. */
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
