/** clock_overlaps: periods that a tenant recorded twice after a clock ran ahead; and heads that are ahead now. */
import { acrossTenants, type Query, sql, TENANT, type Tx } from '../../driver/index.js';

export interface Overlap {
  readonly from_at: number;
  readonly until_at: number;
}

/** The newest recorded time of all tenants. */
export async function newestHead(query: Query): Promise<number> {
  const row = await query.get<{ newest: number | null }>(acrossTenants`SELECT MAX(recorded_at) AS newest FROM tenants`);
  return Number(row?.newest ?? 0);
}

/** The tenants whose head is later than this moment. */
export function headsAfter(query: Query, moment: number): Promise<{ tenant_id: string; recorded_at: number }[]> {
  return query.all(
    acrossTenants`SELECT tenant_id, recorded_at FROM tenants WHERE recorded_at > ${moment} ORDER BY tenant_id`,
  );
}

/** The overlap that contains a moment. */
export function overlapAt(query: Query, moment: number): Promise<Overlap | undefined> {
  return query.get<Overlap>(
    sql`SELECT from_at, until_at FROM clock_overlaps
        WHERE tenant_id = ${TENANT} AND from_at <= ${moment} AND until_at >= ${moment} LIMIT 1`,
  );
}

/** Resets the head and returns its old value. Locks the row first, since another server may commit. */
export async function resetHead(tx: Tx, now: number): Promise<number> {
  await tx.run(sql`UPDATE tenants SET seq = seq WHERE tenant_id = ${TENANT}`);
  const row = await tx.get<{ recorded_at: number }>(sql`SELECT recorded_at FROM tenants WHERE tenant_id = ${TENANT}`);
  await tx.run(sql`UPDATE tenants SET recorded_at = ${now} WHERE tenant_id = ${TENANT}`);
  return Number(row?.recorded_at ?? 0);
}

/** `seq` is the first packet after the reset. */
export function addOverlap(tx: Tx, seq: number, { from_at, until_at }: Overlap): Promise<void> {
  return tx.send(
    sql`INSERT INTO clock_overlaps (tenant_id, seq, from_at, until_at) VALUES (${TENANT}, ${seq}, ${from_at}, ${until_at})`,
  );
}
