/** Numbered, immutable migrations: which there are, what they compile to, and which of them a database still needs. */
import { createHash } from 'node:crypto';
import { CairnError } from '../kernel/errors.js';
import { foundation } from './migrations/0001-foundation.js';
import { memory } from './migrations/0002-memory.js';
import { checkpoints } from './migrations/0003-checkpoints.js';
import { coordination } from './migrations/0004-coordination.js';
import { search } from './migrations/0005-search.js';
import { contexts } from './migrations/0006-contexts.js';
import { summaries } from './migrations/0007-summaries.js';
import { vectors } from './migrations/0008-vectors.js';
import type { Dialect } from './sql.js';

/** What the dialects call things. Ids compare byte by byte on both. */
export interface Words {
  readonly dialect: Dialect;
  readonly id: string;
  readonly int: string;
  readonly real: string;
  readonly json: string;
  /** Ends a table that holds content. */
  readonly table: string;
  /** Ends a table of small rows, which is its own index. */
  readonly compact: string;
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Tables under row-level security on PostgreSQL. */
  readonly protect: readonly string[];
  readonly statements: (words: Words) => readonly string[];
}

export const migrations: readonly Migration[] = [
  foundation,
  memory,
  checkpoints,
  coordination,
  search,
  contexts,
  summaries,
  vectors,
];

const words: Record<Dialect, Words> = {
  sqlite: {
    dialect: 'sqlite',
    id: 'TEXT',
    int: 'INTEGER',
    real: 'REAL',
    json: 'TEXT',
    table: 'STRICT',
    compact: 'STRICT, WITHOUT ROWID',
  },
  postgres: {
    dialect: 'postgres',
    id: 'TEXT COLLATE "C"',
    int: 'BIGINT',
    real: 'DOUBLE PRECISION',
    json: 'JSON',
    table: '',
    compact: '',
  },
};

/** The role that serves requests on PostgreSQL: it owns nothing, so row-level security binds it. */
export const APP_ROLE = 'cairn_app';

export function statementsOf(migration: Migration, dialect: Dialect): string[] {
  const statements = [...migration.statements(words[dialect])];
  if (dialect === 'postgres') {
    for (const table of migration.protect) {
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

export interface AppliedMigration {
  readonly version: number;
  readonly checksum: string;
}

export const APPLIED = 'SELECT version, checksum FROM schema_migrations ORDER BY version';

/** Which migrations are still to run; refuses a database that another version of Cairn made. */
export function pending(applied: readonly AppliedMigration[], dialect: Dialect): readonly Migration[] {
  for (const { version, checksum } of applied) {
    const known = migrations.find((migration) => migration.version === version);
    if (!known) {
      throw new CairnError(
        'SCHEMA_MISMATCH',
        `the database has schema version ${version}, this Cairn knows up to ${migrations.length}: upgrade Cairn`,
      );
    }
    if (checksumOf(known, dialect) !== checksum) {
      throw new CairnError(
        'SCHEMA_MISMATCH',
        `migration ${version} (${known.name}) was applied in another form: this database was made by a different build of Cairn`,
      );
    }
  }
  const done = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !done.has(version));
}

/** The tables that exist before the first migration. */
export const bootstrap: Record<Dialect, readonly string[]> = {
  sqlite: [
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
    'CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT',
  ],
  postgres: [
    'CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)',
    'CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
  ],
};
