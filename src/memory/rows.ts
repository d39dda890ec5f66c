/** What the stores of memory share: inserting rows, reading ids, grouping. */
import type { BoundParam, Query, Sql, Table, Tx } from '../driver/index.js';
import { toIso } from '../kernel/index.js';

/** Inserts rows by the names of their columns; `tenant_id` is that of the transaction. */
export const insertRows = <C extends string>(
  tx: Tx,
  table: Table & { readonly columns: Record<C, unknown> },
  rows: readonly { readonly [K in Exclude<NoInfer<C>, 'tenant_id'>]: BoundParam }[],
): Promise<void> => {
  const columns = Object.keys(table.columns);
  const values = (row: object) => columns.map((name) => (row as Record<string, BoundParam>)[name]!);
  return tx.insert(
    table,
    rows.map((row) => values({ ...row, tenant_id: tx.tenant })),
  );
};

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
