/**
 * pgvector, where a database has it: an index by likeness for each tenant that has many vectors. One of a tenant's own
 * rather than one for all, so that what others store changes no answer.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { IndexedVectors, Query, VectorIndexes, VectorSpace, VectorTable } from '../driver.js';
import { acrossTenants } from '../sql.js';
import { goodbye, ownerSettings } from './connection.js';

/** From this version on, an index goes on looking until it has as many as were asked for. */
const OLDEST = [0, 8] as const;
/** Of all tenants and models: each is looked at by whatever writes a vector. The others compare all, as without. */
const MAX_INDEXES = 64;
/** Any constant: it keeps two processes from making one at once. */
const INDEXING_LOCK = 7_233_871_002;
/** It takes as long as it takes: a limit that a role or a database has for others would end it each time. */
const TAKE_TIME = `SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout')`;

export class PostgresVectors implements VectorIndexes {
  readonly #url: string;
  readonly #query: Query;
  #client: pg.Client | undefined;

  constructor(url: string, query: Query) {
    this.#url = url;
    this.#query = query;
  }

  async look(table: VectorTable): Promise<IndexedVectors | undefined> {
    const row = await this.#query.get<{ schema: string; version: string; names: string[] }>(
      acrossTenants`SELECT quote_ident(n.nspname) AS schema, e.extversion AS version,
          ARRAY(SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE i.indrelid = to_regclass(${table.name}) AND i.indisvalid
              AND starts_with(c.relname, ${prefixOf(table)})) AS names
        FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')`,
    );
    const [major = 0, minor = 0] = row?.version.split('.').map(Number) ?? [];
    if (!row || (major <= OLDEST[0] && minor < OLDEST[1])) return undefined;
    const names = new Set(row.names);
    return { schema: row.schema, count: names.size, has: (space) => names.has(nameOf(table, space)) };
  }

  /** As the user of the URL, who owns the tables. Others read and write meanwhile, so it is in no transaction. */
  async index(table: VectorTable, schema: string, space: VectorSpace): Promise<boolean> {
    const client = new pg.Client(ownerSettings(this.#url));
    client.on('error', () => undefined);
    this.#client = client;
    try {
      await client.connect();
      await client.query(TAKE_TIME);
      const locked = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
        INDEXING_LOCK,
      ]);
      if (!locked.rows[0]!.taken) return false;
      const name = nameOf(table, space);
      const { rows } = await client.query<{ name: string; valid: boolean }>(
        `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
          WHERE i.indrelid = $1::regclass AND starts_with(c.relname, $2)`,
        [table.name, prefixOf(table)],
      );
      const there = rows.find((row) => row.name === name);
      if (there?.valid) return true;
      if (!there && rows.length >= MAX_INDEXES) return false;
      // Somebody was at it and did not come to the end: nothing is found by that.
      if (there) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
      await client.query(definition(name, table, schema, space));
      // Else the planner knows nothing of what is new.
      await client.query(`ANALYZE ${table.name}`);
      return true;
    } finally {
      this.#client = undefined;
      await goodbye(client);
    }
  }

  /** What is being made goes on without us, and is there at the next look. */
  close(): void {
    // Not `end`: of a connection that is only being made, nobody who waits for it is told then.
    this.#client?.connection.stream.destroy(new Error('the store is closed'));
  }
}

const prefixOf = ({ name }: VectorTable): string => `${name}_near_`;

const nameOf = (table: VectorTable, space: VectorSpace): string =>
  prefixOf(table) +
  createHash('sha256')
    .update(JSON.stringify([space.tenant, space.model, space.dimensions]))
    .digest('hex')
    .slice(0, 20);

const definition = (
  name: string,
  table: VectorTable,
  schema: string,
  { tenant, model, dimensions }: VectorSpace,
): string =>
  `CREATE INDEX CONCURRENTLY ${name} ON ${table.name}
    USING hnsw ((${table.bits}::bit(${dimensions})) ${schema}.bit_hamming_ops)
    WHERE tenant_id = ${pg.escapeLiteral(tenant)} AND model = ${pg.escapeLiteral(model)}
      AND dimensions = ${dimensions} AND ${table.bits} IS NOT NULL`;
