/** The upkeep of the search index by hand, in steps that a test chooses, and what the index holds. */
import type { Store } from '#cairn/api/index.js';
import { mergeSegments, purgeHidden } from '#cairn/index/index.js';
import {
  contentMeasures,
  indexState,
  listSegments,
  makeFold,
  readSegment,
  type Segment,
  storeFold,
} from '#cairn/index/sql.js';

/** Folds the oldest documents of the tail; whether it did. */
export async function foldSome({ driver }: Store, tenant: string, limit: number): Promise<boolean> {
  const fold = await driver.snapshot(tenant, (query) => makeFold(query, contentMeasures.get('contents'), limit));
  return fold !== undefined && driver.write(tenant, (tx) => storeFold(tx, fold));
}

/** Folds the whole tail into segments of at most this many documents. */
export async function foldAll(store: Store, tenant: string, limit = 2048): Promise<void> {
  while (await foldSome(store, tenant, limit));
}

export const mergeOnce = ({ driver }: Store, tenant: string): Promise<boolean> => mergeSegments(driver, tenant);

export const purge = ({ driver }: Store, tenant: string): Promise<void> => purgeHidden(driver, tenant);

/** Documents that no segment has yet. */
export async function tailOf({ driver }: Store, tenant: string): Promise<number> {
  const { last, folded } = await indexState(driver.at(tenant));
  return last - folded;
}

export async function segmentsOf({ driver }: Store, tenant: string): Promise<Segment[]> {
  const query = driver.at(tenant);
  const segments: Segment[] = [];
  for (const { segment } of await listSegments(query)) segments.push(await readSegment(query, segment));
  return segments;
}
