/** store_meta: the keys of the store, also for the reading thread. */
import { createHmac } from 'node:crypto';
import { acrossTenants, type Query } from '../../driver/index.js';

export interface StoreMeta {
  /** Changes when the store is restored or failed over, and invalidates earlier resume tokens. */
  readonly store_epoch: string;
  /** Makes the hashes of erased content keyed ones, which reveal nothing. */
  readonly erasure_key: string;
}

export async function readMeta(query: Query): Promise<StoreMeta | undefined> {
  const rows = await query.all<{ name: string; value: string }>(acrossTenants`SELECT name, value FROM store_meta`);
  const meta = Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Partial<StoreMeta>;
  return meta.store_epoch && meta.erasure_key ? (meta as StoreMeta) : undefined;
}

/** The last key of a store: most calls in a row are of one tenant. */
const lastKeys = new WeakMap<object, { readonly tenant: string; readonly key: string }>();

/** The key of a tenant's term codes: without it nobody can map a code to its word. */
export function indexKey(meta: Pick<StoreMeta, 'erasure_key'>, tenant: string): string {
  const last = lastKeys.get(meta);
  if (last?.tenant === tenant) return last.key;
  const key = createHmac('sha256', meta.erasure_key).update(`search ${tenant}`).digest('hex');
  lastKeys.set(meta, { tenant, key });
  return key;
}
