/** Maintenance of a whole database: migrate, recover the clock, examine, reindex, embed. */
import { existsSync } from 'node:fs';
import type { Out } from '../engine/contract.js';
import { type Finding, systemCall } from '../engine/index.js';
import { CairnError } from '../kernel/index.js';
import {
  deleteTenant as deleteIn,
  examine,
  type RecoveredTenant,
  recoverClock as recover,
  showErasure,
  type TenantSummary,
  tenantsOf,
} from '../maintenance/index.js';
import type { Embedder } from '../providers/index.js';
import { needsReindex, type Reindexing, reindex } from '../recall/index.js';
import { isPostgres, openDriver, Store } from './store.js';

export type { Reindexing } from '../recall/index.js';

interface Migrated {
  readonly location: string;
  readonly applied: readonly string[];
  readonly version: number;
}

/**
 * Applies migrations and reindexes content of older versions; `indexing` gets the progress. `restored` starts a new epoch,
 * which resets stream readers.
 */
export async function migrateStore(options: {
  database: string;
  restored?: boolean | undefined;
  indexing?: (progress: Reindexing) => void;
}): Promise<Migrated> {
  // A restored database exists: creating one would hide a mistyped name.
  if (options.restored) refuseMissing(options.database, 'restored');
  const driver = await openDriver(options);
  try {
    const { applied, version } = await driver.migrate();
    if (options.restored) {
      const store = await Store.on(driver, { sweep_every_ms: 0, reindex: false });
      await store.renewEpoch();
    }
    if (await needsReindex(driver)) for await (const progress of reindex(driver)) options.indexing?.(progress);
    return { location: driver.location, applied, version };
  } finally {
    await driver.close();
  }
}

/** Continues tenants whose records are ahead of the clock at the present time. */
export async function recoverClock(options: { database: string }): Promise<{ recovered: readonly RecoveredTenant[] }> {
  const store = await openExisting(options.database, 'recovered');
  try {
    return { recovered: await recover(store.runtime) };
  } finally {
    await store.close();
  }
}

/** The tenants of a store. */
export async function listStoreTenants(options: { database: string }): Promise<readonly TenantSummary[]> {
  const store = await openExisting(options.database, 'listed');
  try {
    return await tenantsOf(store.driver);
  } finally {
    await store.close();
  }
}

/** Forgets all of a tenant; the receipt stays. */
export async function deleteStoreTenant(options: { database: string; tenant: string }): Promise<Out<'erasures.show'>> {
  const store = await openExisting(options.database, 'deleted');
  try {
    const call = systemCall(store.runtime, options.tenant);
    return await showErasure(call, { erasure_id: await deleteIn(call) });
  } finally {
    await store.close();
  }
}

/** Yields findings one by one, so that a long examination shows progress. */
export const examineStore = (options: { database: string }): AsyncGenerator<Finding, void> =>
  onExisting(options.database, 'examined', (store) => examine(store.driver));

/** Repairs the search index while others read and write; yields its progress. */
export const reindexStore = (options: {
  database: string;
  tenant?: string | undefined;
}): AsyncGenerator<Reindexing, void> =>
  onExisting(options.database, 'indexed', (store) => reindex(store.driver, { tenant: options.tenant }));

const POLL_MS = 1000;
const PATIENCE_MS = 30_000;

/** Embeds documents that have no vector; yields how many are left, 0 at the end. Gives up after 30 s without progress. */
export async function* embedStore(options: { database: string; embedder: Embedder }): AsyncGenerator<number, void> {
  const store = await openExisting(options.database, 'embedded', options.embedder);
  try {
    let least = Number.POSITIVE_INFINITY;
    let since = performance.now();
    for (;;) {
      const left = await store.embedded(least === Number.POSITIVE_INFINITY ? 0 : POLL_MS);
      yield left;
      if (left === 0) return;
      if (left < least) since = performance.now();
      least = Math.min(least, left);
      if (performance.now() - since > PATIENCE_MS)
        throw new CairnError(
          'STATE_CONFLICT',
          `the embedder makes no progress, and ${left} documents have no vector: check it and run this again`,
        );
    }
  } finally {
    await store.close();
  }
}

function refuseMissing(database: string, done: string): void {
  if (!isPostgres(database) && !existsSync(database))
    throw new CairnError('STORAGE_FAILED', `there is no file ${database}: nothing was ${done}`);
}

async function openExisting(database: string, done: string, embedder?: Embedder): Promise<Store> {
  refuseMissing(database, done);
  return Store.open({ database, sweep_every_ms: 0, reindex: false, embedder });
}

async function* onExisting<T>(
  database: string,
  done: string,
  work: (store: Store) => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  const store = await openExisting(database, done);
  try {
    yield* work(store);
  } finally {
    await store.close();
  }
}
