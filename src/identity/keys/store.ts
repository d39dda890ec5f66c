/** api_keys. Outside row-level security, since it is read to learn the tenant. */
import { acrossTenants, inOrder, type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import type { ListOrder } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import type { Key } from './model.js';

interface KeyRow extends Omit<Key, 'created_at' | 'revoked_at'> {
  readonly created_at: number;
  readonly revoked_at: number | null;
}

const toKey = ({ key_id, tenant_id, agent_id, user_id, role, name, created_at, revoked_at }: KeyRow): Key => ({
  key_id,
  tenant_id,
  agent_id,
  user_id,
  role,
  name,
  created_at: toIso(created_at),
  revoked_at: revoked_at === null ? null : toIso(revoked_at),
});

export async function addKey(tx: Tx, key: KeyRow & { readonly key_hash: string }): Promise<void> {
  await tx.run(
    sql`INSERT INTO api_keys (tenant_id, key_id, key_hash, agent_id, user_id, role, name, created_at)
        VALUES (${key.tenant_id}, ${key.key_id}, ${key.key_hash}, ${key.agent_id}, ${key.user_id}, ${key.role}, ${key.name},
          ${key.created_at})`,
  );
}

export async function findKeyByHash(query: Query, hash: string): Promise<Key | undefined> {
  const row = await query.get<KeyRow>(acrossTenants`SELECT * FROM api_keys WHERE key_hash = ${hash}`);
  return row && toKey(row);
}

export async function findKey(query: Query, key_id: string): Promise<Key | undefined> {
  const row = await query.get<KeyRow>(sql`SELECT * FROM api_keys WHERE tenant_id = ${TENANT} AND key_id = ${key_id}`);
  return row && toKey(row);
}

export async function anyKey(query: Query): Promise<boolean> {
  return (await query.get(acrossTenants`SELECT 1 AS found FROM api_keys LIMIT 1`)) !== undefined;
}

export async function listKeys(query: Query, order?: ListOrder): Promise<Key[]> {
  const rows = await query.all<KeyRow>(
    sql`SELECT * FROM api_keys WHERE tenant_id = ${TENANT} ${inOrder(sql`key_id`, order)}`,
  );
  return rows.map(toKey);
}

export async function revokeKey(tx: Tx, key_id: string, now: number): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE api_keys SET revoked_at = ${now}
        WHERE tenant_id = ${TENANT} AND key_id = ${key_id} AND revoked_at IS NULL`,
  );
  return changed > 0;
}
