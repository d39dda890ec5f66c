/**
 * Lists whose rows have several parties, such as sender and receiver. `a = x OR b = x` would scan the whole tenant, so each
 * party's rows are read by that column's index, as far as a page needs them, and united.
 */
import { afterCursor, inOrder, join, type KeysetPage, keyset, type Sql, sql, TENANT } from '../driver/index.js';

export interface PartyList {
  /** The table with the alias that the conditions use. */
  readonly from: Sql;
  readonly id: Sql;
  /** Conditions of which one must hold, each with an index; undefined if the list is not restricted to an agent. */
  readonly sides: readonly Sql[] | undefined;
  readonly conditions: readonly Sql[];
}

/** The rows of which this agent is a party: one of the columns names it. */
export const sidesOf = (party: string | undefined, columns: readonly Sql[]): PartyList['sides'] =>
  party === undefined ? undefined : columns.map((column) => sql`${column} = ${party}`);

const whereOf = ({ conditions }: PartyList): Sql => join([sql`tenant_id = ${TENANT}`, ...conditions], ' AND ');

/** The conditions, order and limit of a page. */
export function onPage(list: PartyList, page: KeysetPage): Sql {
  const { from, id, sides } = list;
  const where = whereOf(list);
  if (sides === undefined) return sql`${where}${keyset(id, page)}`;
  const parts = sides.map(
    (side) =>
      sql`SELECT * FROM (SELECT ${id} FROM ${from} WHERE tenant_id = ${TENANT} AND ${side} AND ${where}
            ${afterCursor(id, page)} ${inOrder(id, page.order)} LIMIT ${page.limit + (page.offset ?? 0)}) side`,
  );
  return sql`${where} AND ${id} IN (${join(parts, ' UNION ')})${keyset(id, { ...page, after: undefined })}`;
}

export function countRows(list: PartyList): Sql {
  const { from, id, sides } = list;
  const where = whereOf(list);
  if (sides === undefined) return sql`SELECT COUNT(*) AS total FROM ${from} WHERE tenant_id = ${TENANT} AND ${where}`;
  const parts = sides.map(
    (side) => sql`SELECT tenant_id, ${id} FROM ${from} WHERE tenant_id = ${TENANT} AND ${side} AND ${where}`,
  );
  return sql`SELECT COUNT(*) AS total FROM (${join(parts, ' UNION ')}) either WHERE tenant_id = ${TENANT}`;
}
