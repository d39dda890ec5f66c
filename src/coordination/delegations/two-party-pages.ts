/**
 * Lists whose rows have two parties, such as sender and receiver. `a = x OR b = x` would scan the whole tenant, so each
 * party's rows are read by that column's index, as far as a page needs them, and united.
 */
import { afterCursor, inOrder, join, type KeysetPage, keyset, type Sql, sql, TENANT } from '../../driver/index.js';

export interface TwoPartyList {
  /** The table with the alias that the conditions use. */
  readonly from: Sql;
  readonly id: Sql;
  readonly parties: readonly [Sql, Sql];
  /** Restricts the list to rows of this agent. */
  readonly party: string | undefined;
  readonly conditions: readonly Sql[];
}

const whereOf = ({ conditions }: TwoPartyList): Sql => join([sql`tenant_id = ${TENANT}`, ...conditions], ' AND ');

/** The conditions, order and limit of a page. */
export function onPage(list: TwoPartyList, page: KeysetPage): Sql {
  const { from, id, parties, party } = list;
  const where = whereOf(list);
  if (party === undefined) return sql`${where}${keyset(id, page)}`;
  const sides = parties.map(
    (column) =>
      sql`SELECT * FROM (SELECT ${id} FROM ${from} WHERE tenant_id = ${TENANT} AND ${column} = ${party} AND ${where}
            ${afterCursor(id, page)} ${inOrder(id, page.order)} LIMIT ${page.limit + (page.offset ?? 0)}) side`,
  );
  return sql`${where} AND ${id} IN (${join(sides, ' UNION ')})${keyset(id, { ...page, after: undefined })}`;
}

export function countRows(list: TwoPartyList): Sql {
  const { from, id, parties, party } = list;
  const where = whereOf(list);
  if (party === undefined) return sql`SELECT COUNT(*) AS total FROM ${from} WHERE tenant_id = ${TENANT} AND ${where}`;
  const sides = parties.map(
    (column) =>
      sql`SELECT tenant_id, ${id} FROM ${from} WHERE tenant_id = ${TENANT} AND ${column} = ${party} AND ${where}`,
  );
  return sql`SELECT COUNT(*) AS total FROM (${join(sides, ' UNION ')}) either WHERE tenant_id = ${TENANT}`;
}
