/**
 * Rows that belong to an agent in either of two ways. An OR of two columns would walk all that the tenant has: each is
 * read by its own index instead, as far as a page needs it, and both are put together.
 */
import { behind, inOrder, join, type KeysetPage, keyset, type Sql, sql, TENANT } from '../../driver/index.js';

/** A list whose rows have two parties. */
export interface Parted {
  /** The table, under its name in the conditions. */
  readonly from: Sql;
  readonly id: Sql;
  readonly parties: readonly [Sql, Sql];
  /** Whose rows alone are to be seen, if they are one agent's. */
  readonly party: string | undefined;
  readonly where: Sql;
}

/** The conditions, order and length of a page. */
export function onPage(list: Parted, page: KeysetPage): Sql {
  const { from, id, parties, party } = list;
  if (party === undefined) return sql`${list.where}${keyset(id, page)}`;
  const where = sql`${list.where}${behind(id, page)}`;
  const enough = page.limit + (page.offset ?? 0);
  const sides = parties.map(
    (column) =>
      sql`SELECT * FROM (SELECT ${id} FROM ${from} WHERE tenant_id = ${TENANT} AND ${column} = ${party} AND ${where}
            ${inOrder(id, page.order)} LIMIT ${enough}) side`,
  );
  const { after: _, ...rest } = page;
  return sql`${list.where} AND ${id} IN (${join(sides, ' UNION ')})${keyset(id, rest)}`;
}

export function countParted({ from, id, parties, party, where }: Parted): Sql {
  if (party === undefined) return sql`SELECT COUNT(*) AS total FROM ${from} WHERE tenant_id = ${TENANT} AND ${where}`;
  const sides = parties.map(
    (column) =>
      sql`SELECT tenant_id, ${id} FROM ${from} WHERE tenant_id = ${TENANT} AND ${column} = ${party} AND ${where}`,
  );
  return sql`SELECT COUNT(*) AS total FROM (${join(sides, ' UNION ')}) either WHERE tenant_id = ${TENANT}`;
}
