/** One PostgreSQL connection in one transaction; statements without an answer are pipelined. */
import pg from 'pg';
import type { Channel } from '../channel.js';
import { DriverError, type Table } from '../driver.js';
import { type BoundParam, compile, type Sql } from '../sql.js';
import { translatePostgres } from './errors.js';

/**
 * How long a write of a group waits for a row lock before it runs again alone. Groups of two servers may lock rows in
 * opposite order, and PostgreSQL detects such a deadlock only after a second.
 */
const GROUP_LOCK_MS = 50;
const INT8 = 20;
const JSON_TYPE = 114;
/** Parses BIGINT as a number (all of Cairn's are safe integers) and leaves JSON as text. */
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === JSON_TYPE) return (text: string) => text;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

export class PostgresChannel implements Channel {
  readonly dialect = 'postgres';
  readonly locksRows = true;
  readonly #client: pg.PoolClient;
  readonly #begun: Promise<void>;
  /** Statements whose answers nobody awaits yet. */
  readonly #sent: Promise<unknown>[] = [];
  #aborted = false;
  #released = false;

  constructor(client: pg.PoolClient, begun: Promise<void>) {
    this.#client = client;
    this.#begun = begun;
    this.#send(begun);
  }

  async all<R>(query: Sql, tenant: string): Promise<R[]> {
    return (await this.#wait(this.#run(query, tenant))).rows as R[];
  }

  async run(query: Sql, tenant: string): Promise<number> {
    return (await this.#wait(this.#run(query, tenant))).rowCount ?? 0;
  }

  async send(query: Sql, tenant: string): Promise<void> {
    this.#send(this.#run(query, tenant));
  }

  #run(query: Sql, tenant: string): Promise<pg.QueryResult> {
    const { text, params } = compile(query, 'postgres', tenant);
    return run(this.#client, text, params);
  }

  async insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void> {
    const texts = insertTexts(table);
    if (rows.length === 1) return this.#send(run(this.#client, texts.one, rows[0]!));
    const tenant = rows[0]![0]!;
    if (rows.some((row) => row[0] !== tenant)) throw new Error(`rows of several tenants for ${table.name}`);
    const arrays = texts.columns.slice(1).map((_, i) => rows.map((row) => row[i + 1] as BoundParam));
    this.#send(run(this.#client, texts.many, [tenant, ...(arrays as unknown as BoundParam[])]));
  }

  savepoint(): void {
    this.#send(this.#client.query('SAVEPOINT op'));
  }

  async release(): Promise<void> {
    await this.#wait(this.#client.query('RELEASE SAVEPOINT op'));
  }

  async rollbackTo(): Promise<void> {
    await this.#client.query('ROLLBACK TO SAVEPOINT op');
    await this.#client.query('RELEASE SAVEPOINT op');
    // Statements that failed are undone too.
    this.#sent.length = 0;
    this.#aborted = false;
  }

  async commit(): Promise<void> {
    try {
      await this.#begun;
      const result = await this.#client.query('COMMIT');
      this.#release(false);
      // PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK; the statements sent before have the cause.
      if (result.command !== 'COMMIT') {
        await Promise.all(this.#sent);
        throw new DriverError('conflict', 'the transaction had been aborted');
      }
    } catch (error) {
      throw translatePostgres(error);
    }
  }

  async rollback(): Promise<void> {
    if (this.#released) return;
    try {
      await this.#client.query('ROLLBACK');
      this.#release(false);
    } catch {
      this.#release(true);
    }
  }

  lost(): boolean {
    return this.#aborted || this.#released;
  }

  sharing(): void {
    this.#send(this.#client.query(`SET LOCAL lock_timeout = ${GROUP_LOCK_MS}`));
  }

  ending(): void {
    this.#send(this.#client.query('SET LOCAL lock_timeout = 0'));
  }

  #release(broken: boolean): void {
    if (this.#released) return;
    this.#released = true;
    this.#client.release(broken);
  }

  #send(promise: Promise<unknown>): void {
    promise.catch(() => (this.#aborted = true));
    this.#sent.push(promise);
  }

  async #wait<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer;
      if (this.#sent.length > 0) await Promise.all(this.#sent.splice(0));
      return value;
    } catch (error) {
      this.#aborted = true;
      // The first failure is the cause; later ones only say that the transaction is aborted.
      const first = (await Promise.allSettled(this.#sent.splice(0))).find((one) => one.status === 'rejected');
      throw translatePostgres(first ? first.reason : error);
    }
  }
}

const names = new Map<string, string>();

/** `query_timeout` replaces the one of the connection. */
export async function rowsOf(client: pg.PoolClient, query: Sql, tenant: string, query_timeout?: number) {
  const { text, params } = compile(query, 'postgres', tenant);
  return (await run(client, text, params, query_timeout)).rows as unknown[];
}

/** Runs a statement under a name, so that it is prepared once per connection. */
function run(
  client: pg.PoolClient,
  text: string,
  params: readonly BoundParam[],
  query_timeout?: number,
): Promise<pg.QueryResult> {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `s${names.size}`));
  const sent = { name, text, values: params as unknown[] };
  return client.query(query_timeout === undefined ? sent : ({ ...sent, query_timeout } as pg.QueryConfig));
}

interface InsertTexts {
  readonly columns: readonly string[];
  readonly one: string;
  /** For any number of rows of one tenant, as one array per other column. */
  readonly many: string;
}

const insertsOf = new WeakMap<Table, InsertTexts>();

function insertTexts(table: Table): InsertTexts {
  let texts = insertsOf.get(table);
  if (!texts) {
    const columns = Object.keys(table.columns);
    if (columns[0] !== 'tenant_id') throw new Error(`the first column of ${table.name} must be tenant_id`);
    const into = `INSERT INTO ${table.name} (${columns.join(', ')})`;
    const values = columns.map((_, i) => `$${i + 1}`);
    const arrays = columns.slice(1).map((name, i) => `$${i + 2}::${table.columns[name]}[]`);
    texts = {
      columns,
      one: `${into} VALUES (${values.join(', ')})`,
      many: `${into} SELECT $1::text, * FROM unnest(${arrays.join(', ')})`,
    };
    insertsOf.set(table, texts);
  }
  return texts;
}
