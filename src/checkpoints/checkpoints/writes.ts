/** checkpoint_writes: results of tasks finished since a checkpoint. */
import { insertRows, type Query, type Sql, sql, TENANT, type Tx, tenantTable } from '../../driver/index.js';

export interface WriteRow {
  readonly task_id: string;
  readonly place: number;
  readonly channel: string;
  readonly value: string;
}

const table = tenantTable('checkpoint_writes', {
  text: ['checkpoint_id', 'execution_id', 'task_id', 'channel'],
  bigint: ['place', 'ordinal'],
  json: ['value'],
});

/** Other executions may have written under the id before the checkpoint existed: those writes are not its own. */
interface WritesOf {
  readonly checkpoint_id: string;
  readonly execution_id: string;
}

const among = ({ checkpoint_id, execution_id }: WritesOf): Sql =>
  sql`tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id} AND execution_id = ${execution_id}`;

/** In the order of their arrival; undefined if there is no such checkpoint. */
export async function findWrites(query: Query, checkpoint_id: string): Promise<WriteRow[] | undefined> {
  const rows = await query.all<WriteRow | { readonly task_id: null }>(
    sql`SELECT w.task_id, w.place, w.channel, w.value FROM checkpoints c
        JOIN executions e ON e.tenant_id = c.tenant_id AND e.execution_id = c.execution_id
        LEFT JOIN checkpoint_writes w ON w.tenant_id = c.tenant_id AND w.checkpoint_id = c.checkpoint_id
          AND w.execution_id = c.execution_id
        WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id} AND e.deleted_at IS NULL
        ORDER BY w.ordinal`,
  );
  return rows.length === 0 ? undefined : rows.filter((row) => row.task_id !== null);
}

/** `after`: the last ordinal in use. */
export const insertWrites = (
  tx: Tx,
  { checkpoint_id, execution_id }: WritesOf,
  after: number,
  rows: readonly WriteRow[],
): Promise<void> =>
  insertRows(
    tx,
    table,
    rows.map(({ task_id, place, channel, value }, i) => {
      const ordinal = after + i + 1;
      return { checkpoint_id, execution_id, task_id, place, ordinal, channel, value };
    }),
  );

/** The places in use, without content. */
export const takenPlaces = (
  query: Query,
  of: WritesOf,
): Promise<{ task_id: string; place: number; ordinal: number }[]> =>
  query.all(sql`SELECT task_id, place, ordinal FROM checkpoint_writes WHERE ${among(of)} ORDER BY ordinal`);

export const replaceWrite = (tx: Tx, of: WritesOf, row: WriteRow): Promise<void> =>
  tx.send(
    sql`UPDATE checkpoint_writes SET channel = ${row.channel}, value = ${row.value}
        WHERE ${among(of)} AND task_id = ${row.task_id} AND place = ${row.place}`,
  );

/** Erases the content before any row is deleted: a DELETE would leave copies of its neighbours in the file. */
export const emptyWritesOf = (tx: Tx, execution_id: string): Promise<void> =>
  tx.send(
    sql`UPDATE checkpoint_writes SET channel = '', value = 'null'
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );

/** Also deletes writes whose checkpoint was never created. */
export const deleteWritesOf = (tx: Tx, execution_id: string): Promise<void> =>
  tx.send(sql`DELETE FROM checkpoint_writes WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`);
