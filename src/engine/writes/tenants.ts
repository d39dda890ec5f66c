/** tenants and store_meta: the head row of each tenant, and the settings of the store itself. */
import { createHmac, randomBytes } from 'node:crypto';
import { acrossTenants, type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import { newId } from '../../kernel/contract.js';

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

/** The recorded time of the newest commit, or of the newest moment that was read as of. */
export async function recordedAt(query: Query): Promise<number> {
  const row = await query.get<{ recorded_at: number }>(
    sql`SELECT recorded_at FROM tenants WHERE tenant_id = ${TENANT}`,
  );
  return row?.recorded_at ?? 0;
}

/** Commits from now on are recorded behind this moment. */
export async function passMoment(tx: Tx, moment: number): Promise<void> {
  await tx.run(
    sql`UPDATE tenants SET recorded_at = ${moment + 1} WHERE tenant_id = ${TENANT} AND recorded_at <= ${moment}`,
  );
}

export async function listTenants(query: Query): Promise<{ tenant_id: string; seq: number }[]> {
  return query.all(acrossTenants`SELECT tenant_id, seq FROM tenants ORDER BY tenant_id`);
}

export interface StoreMeta {
  /** Changes when the store is restored or failed over: resume tokens of before are refused. */
  readonly store_epoch: string;
  /** Turns the hashes of erased content into keyed ones, from which nothing can be guessed. */
  readonly erasure_key: string;
}

/** The settings of the store; made when there are none. */
export async function ensureMeta(tx: Tx): Promise<StoreMeta> {
  const fresh: StoreMeta = { store_epoch: newEpoch(), erasure_key: randomBytes(32).toString('hex') };
  for (const [name, value] of Object.entries(fresh)) {
    await tx.run(
      acrossTenants`INSERT INTO store_meta (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`,
    );
  }
  return (await readMeta(tx))!;
}

export async function readMeta(query: Query): Promise<StoreMeta | undefined> {
  const rows = await query.all<{ name: string; value: string }>(acrossTenants`SELECT name, value FROM store_meta`);
  const meta = Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Partial<StoreMeta>;
  return meta.store_epoch && meta.erasure_key ? (meta as StoreMeta) : undefined;
}

export async function renewEpoch(tx: Tx): Promise<void> {
  await tx.run(acrossTenants`UPDATE store_meta SET value = ${newEpoch()} WHERE name = 'store_epoch'`);
}

/** What makes the codes of a tenant's words: no one else can tell which word has which. */
export const indexKey = ({ erasure_key }: Pick<StoreMeta, 'erasure_key'>, tenant: string): string =>
  createHmac('sha256', erasure_key).update(`search ${tenant}`).digest('hex');

const newEpoch = () => newId().replaceAll('-', '').slice(0, 16);
