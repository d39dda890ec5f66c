/** Work on a database as a whole: bring its schema up to date, say that it was restored, examine it. */
import { existsSync } from 'node:fs';
import { CairnError } from './model/errors.js';
import type { Embedder } from './provider/embedder.js';
import { examine, type Finding } from './service/doctor.js';
import { isPostgres, openDriver, Store } from './service/open.js';

export type { Finding } from './service/doctor.js';

export interface Migrated {
  readonly location: string;
  readonly applied: readonly string[];
  readonly version: number;
}

/** `restored` starts a new epoch: readers of the stream are told to begin anew. */
export async function migrateStore(options: {
  database: string;
  restored?: boolean | undefined;
}): Promise<Migrated> {
  const driver = await openDriver(options);
  try {
    const { applied, version } = await driver.migrate();
    if (options.restored) {
      const store = await Store.on(driver, { sweep_every_ms: 0 });
      await store.renewEpoch();
    }
    return { location: driver.location, applied, version };
  } finally {
    await driver.close();
  }
}

/** Gives findings as they come, so that a long examination shows progress. */
export async function* examineStore(options: { database: string }): AsyncGenerator<Finding, void, undefined> {
  if (!isPostgres(options.database) && !existsSync(options.database)) {
    throw new CairnError('STORAGE_FAILED', `there is no file ${options.database}: nothing was examined`);
  }
  const store = await Store.open({ database: options.database, sweep_every_ms: 0 });
  try {
    yield* examine(store.driver);
  } finally {
    await store.close();
  }
}

/** Makes the vectors that are missing, and says now and then of how many documents: 0 at the end. Gives up without progress. */
export async function* embedStore(options: {
  database: string;
  embedder: Embedder;
}): AsyncGenerator<number, void, undefined> {
  const store = await Store.open({ ...options, sweep_every_ms: 0 });
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

const LOOK_MS = 1000;
const PATIENCE_MS = 30_000;
