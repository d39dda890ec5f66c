/** What the stores of memory share: inserting rows, reading ids, grouping. */
import type { BoundParam, Query, Sql, Table, Tx } from '../driver/index.js';
import { toIso } from '../kernel/index.js';

/** A table of a tenant, by the columns that inserts set besides tenant_id. */
interface TenantTable<C extends string> extends Table {
  readonly set: readonly C[];
}

export function tenantTable<const C extends string>(
  name: string,
  columns: { readonly [type in 'text' | 'bigint' | 'json']?: readonly C[] },
): TenantTable<C> {
  const typed = Object.entries(columns).flatMap(([type, names]) => names.map((column) => [column, type] as const));
  return {
    name,
    columns: { tenant_id: 'text', ...Object.fromEntries(typed) } as Table['columns'],
    set: typed.map(([column]) => column),
  };
}

export const insertRows = <C extends string>(
  tx: Tx,
  table: TenantTable<C>,
  rows: readonly { readonly [column in NoInfer<C>]: BoundParam }[],
): Promise<void> =>
  tx.insert(
    table,
    rows.map((row) => [tx.tenant, ...table.set.map((column) => row[column])]),
  );

/** The ids that a statement selects as `id`. */
export const selectIds = async (query: Pick<Query, 'all'>, statement: Sql): Promise<string[]> =>
  (await query.all<{ id: string }>(statement)).map(({ id }) => id);

export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));
