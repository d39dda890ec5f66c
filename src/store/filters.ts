/** Conditions that the lists of the hierarchy share. */
import { type Sql, sql } from '../driver/sql.js';

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
