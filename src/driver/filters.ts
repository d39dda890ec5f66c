/** Conditions that the lists of the hierarchy share. */
import type { ListOrder } from '../kernel/contract.js';
import { type Sql, sql } from './sql.js';

/** Epoch milliseconds; `after` includes its moment, `before` does not. */
export interface Times {
  readonly created_after?: number | undefined;
  readonly created_before?: number | undefined;
  readonly updated_after?: number | undefined;
  readonly updated_before?: number | undefined;
}

export function within(created: Sql, updated: Sql, times: Times): Sql[] {
  const { created_after, created_before, updated_after, updated_before } = times;
  const conditions: Sql[] = [];
  if (created_after !== undefined) conditions.push(sql`${created} >= ${created_after}`);
  if (created_before !== undefined) conditions.push(sql`${created} < ${created_before}`);
  if (updated_after !== undefined) conditions.push(sql`${updated} >= ${updated_after}`);
  if (updated_before !== undefined) conditions.push(sql`${updated} < ${updated_before}`);
  return conditions;
}

/** By code point, on a column that compares byte by byte: an index can serve it. */
export const startsWith = (column: Sql, prefix: string): Sql =>
  sql`${column} >= ${prefix} AND ${column} < ${`${prefix}\u{10ffff}`}`;

/** A page of a list that is read by its key, in either direction. */
export interface KeysetPage<K extends string | number = string> {
  readonly after?: K | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly order?: ListOrder | undefined;
}

/** The condition that a row lies behind the page before; follows other conditions. */
export function behind(key: Sql, { after, order }: Pick<KeysetPage<string | number>, 'after' | 'order'>): Sql {
  if (after === undefined) return sql``;
  return order === 'desc' ? sql` AND ${key} < ${after}` : sql` AND ${key} > ${after}`;
}

export const inOrder = (key: Sql, order: ListOrder | undefined): Sql =>
  order === 'desc' ? sql`ORDER BY ${key} DESC` : sql`ORDER BY ${key}`;

/** The end of a statement that reads one page; follows its conditions. */
export const keyset = (key: Sql, page: KeysetPage<string | number>): Sql =>
  sql`${behind(key, page)} ${inOrder(key, page.order)} LIMIT ${page.limit} OFFSET ${page.offset ?? 0}`;
