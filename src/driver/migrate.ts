/** The statements of migrations, and which migrations a database still needs. */
import { createHash } from 'node:crypto';
import { CairnError } from '../kernel/index.js';
import { type DialectWords, type Migration, protectedTables, type Schema } from './schema.js';
import type { Dialect } from './sql.js';

const words: Record<Dialect, DialectWords> = {
  sqlite: {
    dialect: 'sqlite',
    id: 'TEXT',
    int: 'INTEGER',
    real: 'REAL',
    json: 'TEXT',
    bytes: 'BLOB',
    origin: 'subject_ids TEXT, source_class TEXT',
    table: 'STRICT',
    compact: 'STRICT, WITHOUT ROWID',
  },
  postgres: {
    dialect: 'postgres',
    id: 'TEXT COLLATE "C"',
    int: 'BIGINT',
    real: 'DOUBLE PRECISION',
    json: 'JSON',
    bytes: 'BYTEA',
    origin: 'subject_ids TEXT, source_class TEXT',
    table: '',
    compact: '',
  },
};

/** The role that serves requests on PostgreSQL. It owns no table, so row-level security binds it. */
export const APP_ROLE = 'cairn_app';

export function statementsOf(migration: Migration, dialect: Dialect): string[] {
  const statements = [...migration.statements(words[dialect])];
  if (dialect === 'postgres') {
    for (const table of protectedTables(migration)) {
      statements.push(
        `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
        `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
        `CREATE POLICY tenant_wall ON ${table} USING (tenant_id = current_setting('cairn.tenant_id', true))`,
      );
    }
    statements.push(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${APP_ROLE}`,
      `GRANT USAGE ON SCHEMA public TO ${APP_ROLE}`,
    );
  }
  return statements;
}

export function checksumOf(migration: Migration, dialect: Dialect): string {
  return createHash('sha256').update(statementsOf(migration, dialect).join(';\n')).digest('hex');
}

export const versionOf = (schema: Schema): number => schema.at(-1)?.version ?? 0;

export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

export const APPLIED = 'SELECT version, name, checksum FROM schema_migrations ORDER BY version';

/** The migrations to apply; refuses a database of another version of Cairn. */
export function pending(schema: Schema, applied: readonly AppliedMigration[], dialect: Dialect): Schema {
  for (const one of applied) refuseForeign(schema, one, dialect);
  const done = new Set(applied.map(({ version }) => version));
  return schema.filter(({ version }) => !done.has(version));
}

function refuseForeign(schema: Schema, { version, name, checksum }: AppliedMigration, dialect: Dialect) {
  const known = schema.find((migration) => migration.version === version);
  if (!known)
    throw mismatch(
      `the database has schema version ${version}, this Cairn knows up to ${versionOf(schema)}: upgrade Cairn`,
    );
  // Migrations from before the baseline had its number and other names.
  if (known === schema[0] && name !== known.name)
    throw mismatch(
      'the database is from before the first release and cannot be migrated: recreate it, in a new file or an empty database',
    );
  if (checksumOf(known, dialect) !== checksum)
    throw mismatch(
      `migration ${version} (${known.name}) was applied in another form, by a different build of Cairn: use that build, or recreate the database`,
    );
}

const mismatch = (message: string): CairnError => new CairnError('SCHEMA_MISMATCH', message);

/** The tables that exist before the first migration. */
export const bootstrapTables = ['schema_migrations', 'store_meta'] as const;

export const bootstrap = (dialect: Dialect): readonly string[] => {
  const { int, table } = words[dialect];
  return [
    `CREATE TABLE IF NOT EXISTS schema_migrations (version ${int} PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at ${int} NOT NULL) ${table}`,
    `CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) ${table}`,
  ];
};
