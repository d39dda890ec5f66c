/** Schemas: the tables of each module as one part, and numbered migrations. */
import type { Dialect } from './sql.js';

/** Words that differ by dialect. Ids compare byte by byte in both. */
export interface DialectWords {
  readonly dialect: Dialect;
  readonly id: string;
  readonly int: string;
  readonly real: string;
  readonly json: string;
  readonly bytes: string;
  /**
   * Columns of a table with content: subject_ids, null for content about nobody; in a part of something else (a checkpoint,
   * an edge) null where the subjects are those of what it belongs to. source_class, null for the class agent.
   */
  readonly origin: string;
  /** Suffix of a table. */
  readonly table: string;
  /** Suffix of a table of small rows, stored in its primary key. */
  readonly compact: string;
}

export interface SchemaPart {
  /** The tables that it creates; its module owns them. */
  readonly tables: readonly string[];
  /** Tables without row-level security on PostgreSQL: read before the tenant is known, or an index without content. */
  readonly unprotected?: readonly string[];
  readonly statements: (words: DialectWords) => readonly string[];
}

/** Immutable once released: every database stores its checksum. */
export interface Migration extends SchemaPart {
  readonly version: number;
  readonly name: string;
}

/** Migrations in the order of their versions, from the baseline on. */
export type Schema = readonly Migration[];

/** Joins parts; each may refer to tables of earlier ones. */
export const composed = (parts: readonly SchemaPart[]): SchemaPart => ({
  tables: parts.flatMap(({ tables }) => tables),
  unprotected: parts.flatMap(({ unprotected = [] }) => unprotected),
  statements: (words) => parts.flatMap(({ statements }) => statements(words)),
});

/** Tables under row-level security on PostgreSQL. */
export const protectedTables = ({ tables, unprotected = [] }: SchemaPart): readonly string[] =>
  tables.filter((table) => !unprotected.includes(table));
