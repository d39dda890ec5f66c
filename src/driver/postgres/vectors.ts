/** pgvector indexes, if the extension exists: one per large tenant, so that other tenants' data changes no answer. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { IndexedVectors, Query, VectorIndexes, VectorSpace, VectorTable } from '../driver.js';
import { acrossTenants } from '../sql.js';
import { closeClient, ownerSettings } from './connection.js';

/** Iterative index scans, which continue until there are enough rows, came with this version. */
const MIN_VERSION = [0, 8] as const;
/** Maximum over all tenants and models, since every write of a vector checks each. Other tenants are scanned. */
const MAX_INDEXES = 64;
/** Advisory lock (any constant): one process builds indexes at a time. */
const INDEXING_LOCK = 7_233_871_002;
/** Lifts timeouts of the role or database, which would abort every build. */
const NO_TIMEOUTS = `SELECT set_config(name, '0', false) FROM pg_settings
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
    if (!row || (major <= MIN_VERSION[0] && minor < MIN_VERSION[1])) return undefined;
    const names = new Set(row.names);
    return { schema: row.schema, count: names.size, has: (space) => names.has(nameOf(table, space)) };
  }

  /** As the user of the URL, who owns the tables. CONCURRENTLY, hence outside a transaction. */
  async index(table: VectorTable, schema: string, space: VectorSpace): Promise<boolean> {
    const client = new pg.Client(ownerSettings(this.#url));
    client.on('error', () => undefined);
    this.#client = client;
    try {
      await client.connect();
      await client.query(NO_TIMEOUTS);
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
      const existing = rows.find((row) => row.name === name);
      if (existing?.valid) return true;
      if (!existing && rows.length >= MAX_INDEXES) return false;
      // An earlier build was interrupted and left an invalid index.
      if (existing) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
      await client.query(
        `CREATE INDEX CONCURRENTLY ${name} ON ${table.name}
          USING hnsw ((${table.bits}::bit(${space.dimensions})) ${schema}.bit_hamming_ops)
          WHERE tenant_id = ${pg.escapeLiteral(space.tenant)} AND model = ${pg.escapeLiteral(space.model)}
            AND dimensions = ${space.dimensions} AND ${table.bits} IS NOT NULL`,
      );
      // Without it the planner has no statistics of the index expression.
      await client.query(`ANALYZE ${table.name}`);
      return true;
    } finally {
      this.#client = undefined;
      await closeClient(client);
    }
  }

  /** A build under way continues on the server, and the next `look` finds its index. */
  close(): void {
    // Not `end`, after which a pending `connect` would never settle.
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
