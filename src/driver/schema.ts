/** What a schema is made of: each module's tables, as one part; and the numbered migrations that bring a database to it. */
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

export interface SchemaPart {
  /** The tables that it creates, and its module owns. */
  readonly tables: readonly string[];
  /** Those without row-level security on PostgreSQL: read before the tenant is known, or an index that holds no content. */
  readonly unprotected?: readonly string[];
  readonly statements: (words: Words) => readonly string[];
}

/** Immutable once released: its checksum is in every database. */
export interface Migration extends SchemaPart {
  readonly version: number;
  readonly name: string;
}

/** The migrations in the order of their versions. The first is the baseline. */
export type Schema = readonly Migration[];

/** One part of several, each of which may refer to tables of those before it. */
export const composed = (parts: readonly SchemaPart[]): SchemaPart => ({
  tables: parts.flatMap(({ tables }) => tables),
  unprotected: parts.flatMap(({ unprotected = [] }) => unprotected),
  statements: (words) => parts.flatMap(({ statements }) => statements(words)),
});

/** Tables under row-level security on PostgreSQL. */
export const protectedTables = ({ tables, unprotected = [] }: SchemaPart): readonly string[] =>
  tables.filter((table) => !unprotected.includes(table));

/** A function that triggers of PostgreSQL call after a row was changed. */
export const triggerFunction = (name: string, statement: string): string =>
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    ${statement};
    RETURN NULL;
  END $$`;
