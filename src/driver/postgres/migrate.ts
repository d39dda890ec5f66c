/** Migrations on PostgreSQL, on a connection of their own, as the user of the URL, who owns the tables. */
import pg from 'pg';
import type { MigrationReport } from '../driver.js';
import { toCairnError } from '../group.js';
import {
  APP_ROLE,
  APPLIED,
  type AppliedMigration,
  bootstrap,
  checksumOf,
  pending,
  statementsOf,
  versionOf,
} from '../migrate.js';
import type { Schema } from '../schema.js';
import { types } from './channel.js';
import { translatePostgres } from './errors.js';

/** Advisory lock (any constant): one process migrates at a time. */
const MIGRATION_LOCK = 7_233_871_001;

export async function migratePostgres(url: string, schema: Schema): Promise<MigrationReport> {
  const version = versionOf(schema);
  const client = new pg.Client({ connectionString: url, types } as pg.ClientConfig);
  client.on('error', () => undefined);
  try {
    await client.connect();
    // Most starts find nothing to do, and need neither lock nor CREATE privilege for that.
    const known = await client.query<{ known: string | null }>(
      `SELECT to_regclass('schema_migrations')::text AS known`,
    );
    if (known.rows[0]!.known !== null) {
      const { rows } = await client.query<AppliedMigration>(APPLIED);
      if (pending(schema, rows, 'postgres').length === 0) return { applied: [], version };
    }
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await createRole(client);
    await client.query('BEGIN');
    for (const text of bootstrap('postgres')) await client.query(text);
    const applied = await client.query<AppliedMigration>(APPLIED);
    const missing = pending(schema, applied.rows, 'postgres');
    for (const migration of missing) {
      for (const text of statementsOf(migration, 'postgres')) await client.query(text);
      await client.query(
        'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)',
        [migration.version, migration.name, checksumOf(migration, 'postgres'), Date.now()],
      );
    }
    await client.query('COMMIT');
    return { applied: missing.map(({ name }) => name), version };
  } catch (error) {
    throw toCairnError(translatePostgres(error));
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createRole(client: pg.Client): Promise<void> {
  const allowed = async (text: string) =>
    client.query(text).then(
      () => true,
      (error: { code?: string }) => {
        // Roles belong to the whole server: a migration of another database may have created it concurrently.
        if (error.code === '42710' || error.code === '23505') return true;
        if (error.code === '42501') return false;
        throw error;
      },
    );
  const { rowCount } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [APP_ROLE]);
  const exists = rowCount !== 0 || (await allowed(`CREATE ROLE ${APP_ROLE} NOLOGIN`));
  // Tried, not looked up: the rights of membership differ between versions of PostgreSQL.
  const usable =
    exists && ((await allowed(`SET ROLE ${APP_ROLE}`)) || (await allowed(`GRANT ${APP_ROLE} TO CURRENT_USER`)));
  await client.query('RESET ROLE');
  if (usable) return;
  const { rows } = await client.query<{ name: string }>('SELECT quote_ident(current_user) AS name');
  throw new Error(
    `user ${rows[0]!.name} may not use role ${APP_ROLE}: have an administrator run ${exists ? '' : `CREATE ROLE ${APP_ROLE} NOLOGIN; `}GRANT ${APP_ROLE} TO ${rows[0]!.name};`,
  );
}
