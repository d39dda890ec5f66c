/** Shared conditions of lists and lookups, and a codec for lists of ids. */
import type { ListOrder } from '../kernel/contract.js';
import { type Sql, sql } from './sql.js';

/** Epoch milliseconds; `after` is inclusive, `before` exclusive. */
export interface TimeRange {
  readonly created_after?: number | undefined;
  readonly created_before?: number | undefined;
  readonly updated_after?: number | undefined;
  readonly updated_before?: number | undefined;
}

export function timeConditions(created: Sql, updated: Sql, times: TimeRange): Sql[] {
  const { created_after, created_before, updated_after, updated_before } = times;
  return [
    created_after === undefined ? [] : sql`${created} >= ${created_after}`,
    created_before === undefined ? [] : sql`${created} < ${created_before}`,
    updated_after === undefined ? [] : sql`${updated} >= ${updated_after}`,
    updated_before === undefined ? [] : sql`${updated} < ${updated_before}`,
  ].flat();
}

/** As a range of code points, which an index on a byte-ordered column can serve. */
export const startsWith = (column: Sql, prefix: string): Sql =>
  sql`${column} >= ${prefix} AND ${column} < ${`${prefix}\u{10ffff}`}`;

/** A page of a list in key order, in either direction. */
export interface KeysetPage<K extends string | number = string> {
  readonly after?: K | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly order?: ListOrder | undefined;
}

/** The condition that a row lies behind the previous page; follows other conditions. */
export function afterCursor(key: Sql, { after, order }: Pick<KeysetPage<string | number>, 'after' | 'order'>): Sql {
  if (after === undefined) return sql``;
  return order === 'desc' ? sql` AND ${key} < ${after}` : sql` AND ${key} > ${after}`;
}

export const inOrder = (key: Sql, order: ListOrder | undefined): Sql =>
  order === 'desc' ? sql`ORDER BY ${key} DESC` : sql`ORDER BY ${key}`;

/** The end of a statement that reads one page; follows other conditions. */
export const keyset = (key: Sql, page: KeysetPage<string | number>): Sql =>
  sql`${afterCursor(key, page)} ${inOrder(key, page.order)} LIMIT ${page.limit} OFFSET ${page.offset ?? 0}`;

/** Distinct ids on PostgreSQL as `i.id`, for CROSS JOIN LATERAL: without it PostgreSQL may scan the whole tenant. */
export const idsToJoin = (ids: readonly string[]): Sql => sql`(SELECT DISTINCT unnest(${ids}::text[]) AS id) i`;

/** Lists of ids in a column: JSON text, or NULL for an empty list. */
export const listToText = (list: readonly string[]): string | null => (list.length > 0 ? JSON.stringify(list) : null);
export const textToList = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));
