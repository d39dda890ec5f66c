/** Inserts rows given as objects: their members are the table's columns, in any order. */
import type { BoundParam, Table, Tx } from '../driver/index.js';

export function insertRows(tx: Tx, table: Table, rows: readonly object[]): Promise<void> {
  const columns = Object.keys(table.columns);
  return tx.insert(
    table,
    rows.map((row) => {
      const values: Record<string, BoundParam> = { ...row, tenant_id: tx.tenant };
      return columns.map((column) => values[column]!);
    }),
  );
}
