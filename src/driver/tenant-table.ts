/** Tables by their columns, and inserting rows given as objects. */
import type { Table, Tx } from './driver.js';
import type { BoundParam } from './sql.js';

type ColumnType = Table['columns'][string];

/** A table of tenants, declared by its columns besides `tenant_id`, grouped by type. */
export const tenantTable = <const C extends string>(
  name: string,
  columns: { readonly [type in ColumnType]?: readonly C[] },
): { readonly name: string; readonly columns: Readonly<Record<'tenant_id' | C, ColumnType>> } => {
  const typed = Object.entries(columns).flatMap(([type, names]) => names.map((column) => [column, type] as const));
  return { name, columns: { tenant_id: 'text', ...Object.fromEntries(typed) } as Record<'tenant_id' | C, ColumnType> };
};

/** Queues an insert of rows; members that are no columns are ignored, and `tenant_id` is that of the transaction. */
export function insertRows<T extends Table>(
  tx: Tx,
  table: T,
  rows: readonly { readonly [C in Exclude<keyof T['columns'], 'tenant_id'>]: BoundParam }[],
): Promise<void> {
  const names = Object.keys(table.columns) as Exclude<keyof T['columns'], 'tenant_id'>[];
  const valuesOf = (row: (typeof rows)[number]) => names.map((name) => (name === 'tenant_id' ? tx.tenant : row[name]));
  return tx.insert(table, rows.map(valuesOf));
}
