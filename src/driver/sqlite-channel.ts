/** The writing SQLite connection in one transaction. */
import type { Table } from './driver.js';
import type { Channel } from './group.js';
import { inShare } from './loop-share.js';
import { compile, type Param, type Sql } from './sql.js';
import type { SqliteConnection } from './sqlite-open.js';

export class SqliteChannel implements Channel {
  readonly locksRows = false;
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  async all<R>(query: Sql): Promise<R[]> {
    const { text, params } = compile(query, 'sqlite');
    return inShare(this.#connection.all<R>(text, params));
  }

  async run(query: Sql): Promise<number> {
    const { text, params } = compile(query, 'sqlite');
    return inShare(this.#connection.run(text, params));
  }

  async send(query: Sql): Promise<void> {
    await this.run(query);
  }

  async insert(table: Table, rows: readonly (readonly Param[])[]): Promise<void> {
    const text = insertText(table);
    // Not between rows: whatever is asked next comes behind all of them.
    for (const row of rows) this.#connection.run(text, row);
    await inShare(undefined);
  }

  savepoint(): void {
    this.#connection.run('SAVEPOINT op');
  }

  async release(): Promise<void> {
    this.#connection.run('RELEASE op');
  }

  async rollbackTo(): Promise<void> {
    this.#connection.run('ROLLBACK TO op');
    this.#connection.run('RELEASE op');
  }

  async commit(): Promise<void> {
    this.#connection.run('COMMIT');
  }

  async rollback(): Promise<void> {
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
