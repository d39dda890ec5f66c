/** tenants and store_meta: the head row of each tenant, and settings of the store. */
import { randomBytes } from 'node:crypto';
import { acrossTenants, type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import { newId } from '../../kernel/contract.js';
import { readMeta, type StoreMeta } from './store-meta.js';

export async function ensureTenant(tx: Tx, tenant: string, now: number): Promise<void> {
  await tx.run(
    sql`INSERT INTO tenants (tenant_id, seq, recorded_at, created_at) VALUES (${tenant}, 0, 0, ${now})
        ON CONFLICT (tenant_id) DO NOTHING`,
  );
}

export async function hasTenant(query: Query): Promise<boolean> {
  return (await query.get(sql`SELECT 1 AS found FROM tenants WHERE tenant_id = ${TENANT}`)) !== undefined;
}

export async function headOf(query: Query): Promise<number> {
  const row = await query.get<{ seq: number }>(sql`SELECT seq FROM tenants WHERE tenant_id = ${TENANT}`);
  return row?.seq ?? 0;
}

/** The high-water mark of recorded times: of commits, and of `as_of` reads. */
export async function recordedAt(query: Query): Promise<number> {
  const row = await query.get<{ recorded_at: number }>(
    sql`SELECT recorded_at FROM tenants WHERE tenant_id = ${TENANT}`,
  );
  return row?.recorded_at ?? 0;
}

/** Makes later commits be recorded after this moment. */
export async function advancePast(tx: Tx, moment: number): Promise<void> {
  await tx.run(
    sql`UPDATE tenants SET recorded_at = ${moment + 1} WHERE tenant_id = ${TENANT} AND recorded_at <= ${moment}`,
  );
}

export async function listTenants(query: Query): Promise<{ tenant_id: string; seq: number }[]> {
  return query.all(acrossTenants`SELECT tenant_id, seq FROM tenants ORDER BY tenant_id`);
}

/** The settings of the store, created on first use. */
export async function ensureMeta(tx: Tx): Promise<StoreMeta> {
  const fresh: StoreMeta = { store_epoch: newEpoch(), erasure_key: randomBytes(32).toString('hex') };
  for (const [name, value] of Object.entries(fresh))
    await tx.run(
      acrossTenants`INSERT INTO store_meta (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`,
    );
  return (await readMeta(tx))!;
}

export async function renewEpoch(tx: Tx): Promise<void> {
  await tx.run(acrossTenants`UPDATE store_meta SET value = ${newEpoch()} WHERE name = 'store_epoch'`);
}

const newEpoch = () => newId().replaceAll('-', '').slice(0, 16);
