/** checkpoint_writes: what steps under way had done since a checkpoint. */
import { type Query, type Sql, sql, type Table, TENANT, type Tx } from '../../driver/index.js';

export interface WriteRow {
  readonly task_id: string;
  readonly place: number;
  readonly channel: string;
  readonly value: string;
}

const table: Table = {
  name: 'checkpoint_writes',
  columns: {
    tenant_id: 'text',
    checkpoint_id: 'text',
    execution_id: 'text',
    task_id: 'text',
    place: 'bigint',
    ordinal: 'bigint',
    channel: 'text',
    value: 'json',
  },
};

/** Those of a checkpoint. Other executions may have written to its id before it came, for one of their own: not these. */
export interface WritesOf {
  readonly checkpoint_id: string;
  readonly execution_id: string;
}

const among = ({ checkpoint_id, execution_id }: WritesOf): Sql =>
  sql`tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id} AND execution_id = ${execution_id}`;

/** In the order in which they came. */
export function readWrites(query: Query, of: WritesOf): Promise<WriteRow[]> {
  return query.all<WriteRow>(
    sql`SELECT task_id, place, channel, value FROM checkpoint_writes WHERE ${among(of)} ORDER BY ordinal`,
  );
}

export async function insertWrites(
  tx: Tx,
  { checkpoint_id, execution_id }: WritesOf,
  after: number,
  rows: readonly WriteRow[],
): Promise<void> {
  await tx.insert(
    table,
    rows.map(({ task_id, place, channel, value }, i) => [
      tx.tenant,
      checkpoint_id,
      execution_id,
      task_id,
      place,
      after + i + 1,
      channel,
      value,
    ]),
  );
}

/** Of those that are there: where each is, and the last number of all. */
export function takenPlaces(
  query: Query,
  of: WritesOf,
): Promise<{ task_id: string; place: number; ordinal: number }[]> {
  return query.all(sql`SELECT task_id, place, ordinal FROM checkpoint_writes WHERE ${among(of)} ORDER BY ordinal`);
}

export async function replaceWrite(tx: Tx, of: WritesOf, row: WriteRow): Promise<void> {
  await tx.send(
    sql`UPDATE checkpoint_writes SET channel = ${row.channel}, value = ${row.value}
        WHERE ${among(of)} AND task_id = ${row.task_id} AND place = ${row.place}`,
  );
}

/** Takes their content out before any row is deleted, which would leave copies of its neighbours in the file. */
export async function emptyWritesOf(tx: Tx, execution_id: string): Promise<void> {
  await tx.send(
    sql`UPDATE checkpoint_writes SET channel = '', value = 'null'
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

/** Also those whose checkpoint never came. */
export async function deleteWritesOf(tx: Tx, execution_id: string): Promise<void> {
  await tx.send(sql`DELETE FROM checkpoint_writes WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`);
}
