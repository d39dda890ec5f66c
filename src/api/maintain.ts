/** Work on a database as a whole: bring its schema up to date, say that it was restored, examine it, index it anew. */
import { existsSync } from 'node:fs';
import type { Finding } from '../engine/index.js';
import { CairnError } from '../kernel/index.js';
import { examine, type RecoveredTenant, recoverClock as recover } from '../maintenance/index.js';
import type { Embedder } from '../providers/index.js';
import { needsReindex, type Reindexing, reindex } from '../recall/index.js';
import { isPostgres, openDriver, Store } from './store.js';

export type { Finding } from '../engine/index.js';
export type { Reindexing } from '../recall/index.js';

export interface Migrated {
  readonly location: string;
  readonly applied: readonly string[];
  readonly version: number;
}

/**
 * `restored` starts a new epoch: readers of the stream are told to begin anew. What was written before this version's
 * search is indexed as well; `indexing` is told how far that is.
 */
export async function migrateStore(options: {
  database: string;
  restored?: boolean | undefined;
  indexing?: (progress: Reindexing) => void;
}): Promise<Migrated> {
  // What was restored is there: to begin another would say that all went well.
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

/** Lets the tenants whose records are ahead of the clock go on at the present time. */
export async function recoverClock(options: { database: string }): Promise<{ recovered: readonly RecoveredTenant[] }> {
  const store = await openExisting(options.database, 'recovered');
  try {
    return { recovered: await recover(store.runtime) };
  } finally {
    await store.close();
  }
}

/** Gives findings as they come, so that a long examination shows progress. */
export async function* examineStore(options: { database: string }): AsyncGenerator<Finding, void, undefined> {
  const store = await openExisting(options.database, 'examined');
  try {
    yield* examine(store.driver);
  } finally {
    await store.close();
  }
}

/** Makes the index what the content says, also while others read and write; gives how far it is from time to time. */
export async function* reindexStore(options: {
  database: string;
  tenant?: string | undefined;
}): AsyncGenerator<Reindexing, void, undefined> {
  const store = await openExisting(options.database, 'indexed');
  try {
    yield* reindex(store.driver, { tenant: options.tenant });
  } finally {
    await store.close();
  }
}

/** Makes the vectors that are missing, and says now and then of how many documents: 0 at the end. Gives up without progress. */
export async function* embedStore(options: {
  database: string;
  embedder: Embedder;
}): AsyncGenerator<number, void, undefined> {
  const store = await openExisting(options.database, 'embedded', options.embedder);
  try {
    let least = Number.POSITIVE_INFINITY;
    let since = performance.now();
    for (;;) {
      const left = await store.embedded(least === Number.POSITIVE_INFINITY ? 0 : LOOK_MS);
      yield left;
      if (left === 0) return;
      if (left < least) since = performance.now();
      least = Math.min(least, left);
      if (performance.now() - since > PATIENCE_MS)
        throw new CairnError(
          'STATE_CONFLICT',
          `the embedder makes no vectors, and ${left} documents have none: see that it is there, and run this again`,
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

const LOOK_MS = 1000;
const PATIENCE_MS = 30_000;
