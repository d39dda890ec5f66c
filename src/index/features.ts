/** Cache of the ranking features of documents: they never change, and a search reads hundreds. Visibility is not cached. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';
import { frequencyIn } from './term-codes.js';

export interface Features {
  readonly doc_no: number;
  readonly scope_id: string | null;
  readonly position: number | null;
  readonly role: string | null;
  readonly speaker: string | null;
  readonly occurred_at: number;
  readonly length: number;
  readonly flags: number;
  readonly terms: string;
}

/** Cache key: a store, until it is reindexed. */
export interface StoreMark {
  readonly store: string;
  readonly generation: number;
}

/** About 20 MB of short turns. */
const MAX_CACHED = 50_000;
/** Documents with longer terms are not cached. */
const MAX_CACHED_LENGTH = 4000;

/** Nothing tells this thread of erasures: erased terms leave the cache after this time. */
export const CACHE_MS = 600_000;

const cache = new Map<string, Map<number, Features>>();
let count = 0;
let clearing: NodeJS.Timeout | undefined;

function cachedOf({ store, generation }: StoreMark, tenant: string): Map<number, Features> {
  const name = `${store} ${generation} ${tenant}`;
  let cached = cache.get(name);
  if (!cached) cache.set(name, (cached = new Map()));
  return cached;
}

function clearCache(): void {
  for (const features of cache.values()) features.clear();
  cache.clear();
  count = 0;
  clearTimeout(clearing);
  clearing = undefined;
}

/** In the order of FEATURE_COLUMNS. */
export type FeatureRow = [
  doc_no: number,
  scope_id: string | null,
  position: number | null,
  role: string | null,
  speaker: string | null,
  occurred_at: number,
  length: number,
  flags: number,
  terms: string,
];

export const FEATURE_COLUMNS: Sql = sql`d.doc_no, d.scope_id, d.position, d.role, d.speaker, d.occurred_at, d.length, d.flags, d.terms`;

/** Reads all rows as one JSON text, which is faster than hundreds of rows. */
async function read(query: Query, doc_nos: readonly number[]): Promise<FeatureRow[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${FEATURE_COLUMNS})) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = i.value AND d.terms IS NOT NULL`,
      postgres: sql`SELECT json_agg(json_build_array(${FEATURE_COLUMNS}))::text AS list FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND d.terms IS NOT NULL`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as FeatureRow[];
}

/** The features of these documents, unordered; without blanked ones. */
export async function featuresOf(query: Query, mark: StoreMark, doc_nos: readonly number[]): Promise<Features[]> {
  const cached = cachedOf(mark, query.tenant);
  const found: Features[] = [];
  const missing: number[] = [];
  for (const doc_no of doc_nos) {
    const features = cached.get(doc_no);
    if (features) found.push(features);
    else missing.push(doc_no);
  }
  if (missing.length === 0) return found;
  if (count + missing.length > MAX_CACHED) clearCache();
  const target = cachedOf(mark, query.tenant);
  clearing ??= setTimeout(clearCache, CACHE_MS).unref();
  const rows = await read(query, missing);
  for (const [doc_no, scope_id, position, role, speaker, occurred_at, length, flags, terms] of rows) {
    const features = { doc_no, scope_id, position, role, speaker, occurred_at, length, flags, terms };
    found.push(features);
    if (terms.length > MAX_CACHED_LENGTH || target.has(doc_no)) continue;
    target.set(doc_no, features);
    count++;
  }
  return found;
}

/** How often each term occurs in a document; `mayHave` limits the lookup to the terms at these places, if known. */
export function frequencies(
  { terms }: Features,
  codes: readonly string[],
  mayHave: readonly number[] | undefined,
  none: readonly number[],
): readonly number[] {
  if (mayHave === undefined) return codes.map((code) => frequencyIn(terms, code));
  if (mayHave.length === 0) return none;
  const found = none.slice();
  for (const at of mayHave) found[at] = frequencyIn(terms, codes[at]!);
  return found;
}
