/** Cache of all documents of a small tenant. Each search checks that it is complete, and reads only new documents. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';
import { cooperativeYield } from '../kernel/index.js';
import type { NewDoc } from './documents.js';
import { CACHE_MS, FEATURE_COLUMNS, type FeatureRow, type Features } from './features.js';
import type { Extent } from './postings.js';

/** A tenant with more documents is searched in the database. */
const MAX_DOCS = 1900;
/** The same limit for long documents: characters of all terms. */
const MAX_CHARACTERS = 2_000_000;
const MAX_TENANTS = 16;
const CODE_LENGTH = 7;
/** Up to this many new numbers of all tenants are scanned; beyond that, the tenant's own documents. */
const MAX_SCANNED = 500;
/** Page size on PostgreSQL, and the maximum of new documents that are added: with more the cache is rebuilt. */
const PAGE = 500;
/** Documents between two cooperative yields. */
const YIELD_AFTER = 64;

export interface CachedDoc extends Features, Pick<NewDoc, 'expires_at' | 'held_by'> {
  readonly entity_type: string;
}

export interface TenantCache {
  readonly generation: number;
  last: number;
  docs: number;
  /** Identifies the set of documents, where numbers are not committed in order. */
  mark: string;
  characters: number;
  readonly byNumber: Map<number, CachedDoc>;
  /** Posting lists, oldest first. */
  readonly byTerm: Map<string, number[]>;
  readonly byScope: Map<string, Map<number, CachedDoc>>;
}

/** `in_order`: documents are committed in the order of their numbers. */
export interface CacheKey {
  readonly tenant: string;
  readonly store: string;
  readonly in_order: boolean;
}

const cache = new Map<string, TenantCache>();
let clearing: NodeJS.Timeout | undefined;

function clearCache(): void {
  cache.clear();
  clearing = undefined;
}

const nameOf = ({ store, tenant }: CacheKey): string => `${store} ${tenant}`;

/** Tells whether a cache is complete, where numbers are not committed in order; can be read ahead. */
export interface CacheMarks {
  readonly last: number;
  readonly all: string;
  readonly up_to: string;
}

export async function readMarksAhead(query: Query, key: CacheKey): Promise<CacheMarks | undefined> {
  const kept = key.in_order ? undefined : cache.get(nameOf(key));
  return kept && !isTooMuch(kept) ? marksOf(query, kept.last) : undefined;
}

/** The cache of such a tenant stays empty until it has fewer documents. */
const isTooMuch = ({ characters }: TenantCache): boolean => characters > MAX_CHARACTERS;

/** All documents of a tenant at this moment; undefined if there are too many. */
export async function cachedDocs(
  query: Query,
  key: CacheKey,
  extent: Extent,
  marks?: CacheMarks,
): Promise<TenantCache | undefined> {
  if (extent.docs > MAX_DOCS) return undefined;
  const name = nameOf(key);
  const cached = cache.get(name);
  const isCurrent = cached && (await update(query, key, cached, extent, marks));
  const kept = isCurrent ? cached : await load(query, key, extent);
  // Deleted and set again: the least recently used is first.
  cache.delete(name);
  cache.set(name, kept);
  if (!clearing) clearing = setTimeout(clearCache, CACHE_MS).unref();
  if (cache.size > MAX_TENANTS) cache.delete(cache.keys().next().value!);
  return isTooMuch(kept) ? undefined : kept;
}

type Row = [...FeatureRow, entity_type: string, expires_at: number | null, held_by: string | null];

const COLUMNS: Sql = sql`${FEATURE_COLUMNS}, d.entity_type, d.expires_at, d.held_by`;

/** Documents after a number, in order; on PostgreSQL in pages, since they are parsed on the event loop. */
async function read(query: Query, after: number, last: number): Promise<Row[]> {
  const index = last - after < MAX_SCANNED ? sql`NOT INDEXED` : sql`INDEXED BY search_docs_by_content`;
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${COLUMNS})) AS list FROM (SELECT * FROM search_docs d ${index}
        WHERE d.tenant_id = ${TENANT} AND d.doc_no > ${after} AND d.terms IS NOT NULL ORDER BY d.doc_no) d`,
      postgres: sql`SELECT json_agg(json_build_array(${COLUMNS}))::text AS list FROM (SELECT * FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no > ${after} AND d.terms IS NOT NULL
        ORDER BY d.doc_no LIMIT ${PAGE}) d`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as Row[];
}

async function load(query: Query, key: CacheKey, extent: Extent): Promise<TenantCache> {
  const kept: TenantCache = {
    ...extent,
    mark: key.in_order ? '' : (await marksOf(query, 0)).all,
    characters: 0,
    byNumber: new Map(),
    byTerm: new Map(),
    byScope: new Map(),
  };
  const maybeYield = cooperativeYield();
  let count = 0;
  for (let after = 0; ; ) {
    const rows = await read(query, after, Number.MAX_SAFE_INTEGER);
    for (const row of rows) {
      add(kept, row);
      if (++count % YIELD_AFTER === 0) await maybeYield();
    }
    after = rows.at(-1)?.[0] ?? after;
    if (isTooMuch(kept)) {
      for (const some of [kept.byNumber, kept.byTerm, kept.byScope]) some.clear();
      return kept;
    }
    if (key.in_order || rows.length < PAGE) {
      if (!key.in_order) kept.last = after;
      return kept;
    }
  }
}

/** Adds new documents. False if some were blanked: only the database knows which. */
async function update(
  query: Query,
  key: CacheKey,
  kept: TenantCache,
  extent: Extent,
  marks?: CacheMarks,
): Promise<boolean> {
  if (kept.generation !== extent.generation) return false;
  if (isTooMuch(kept)) return kept.docs <= extent.docs;
  if (!key.in_order) return updateUnordered(query, kept, extent, marks);
  if (kept.last === extent.last) return kept.docs === extent.docs;
  const rows = await read(query, kept.last, extent.last);
  if (kept.docs + rows.length !== extent.docs) return false;
  for (const row of rows) add(kept, row);
  kept.last = extent.last;
  kept.docs = extent.docs;
  return true;
}

/** `update` where numbers are not committed in order: one may appear between others while another is blanked. */
async function updateUnordered(
  query: Query,
  kept: TenantCache,
  extent: Extent,
  ahead: CacheMarks | undefined,
): Promise<boolean> {
  const { last, mark } = kept;
  const marks = ahead?.last === last ? ahead : await marksOf(query, last);
  if (marks.up_to !== mark || kept.mark !== mark) return false;
  if (marks.all === mark) return true;
  const rows = await read(query, last, extent.last);
  // Another search may have added them in the meantime.
  if (rows.length === 0 || rows.length >= PAGE || kept.mark !== mark) return false;
  for (const row of rows) add(kept, row);
  kept.last = rows.at(-1)![0];
  kept.docs = extent.docs;
  kept.mark = marks.all;
  return true;
}

/** Counts of documents, up to a number and in all, with sums that distinguish sets of equal size. */
async function marksOf(query: Query, last: number): Promise<CacheMarks> {
  const mark = sql`COUNT(*) || ' ' || COALESCE(SUM(doc_no), 0) || ' ' || COALESCE(SUM(hashint8(doc_no)), 0)`;
  const row = await query.get<{ all: string; up_to: string }>(
    sql`SELECT (SELECT ${mark} FROM search_index WHERE tenant_id = ${TENANT}) AS "all",
          (SELECT ${mark} FROM search_index WHERE tenant_id = ${TENANT} AND doc_no <= ${last}) AS up_to`,
  );
  return { last, ...row! };
}

/** Member by member: spread objects are several times slower to read, and a search reads hundreds. */
const docOf = (row: Row): CachedDoc => ({
  doc_no: row[0],
  scope_id: row[1],
  position: row[2],
  role: row[3],
  speaker: row[4],
  occurred_at: row[5],
  length: row[6],
  flags: row[7],
  terms: row[8],
  entity_type: row[9],
  expires_at: row[10],
  held_by: row[11],
});

function add(kept: TenantCache, row: Row): void {
  const doc = docOf(row);
  const { doc_no, scope_id, position, terms } = doc;
  kept.characters += terms.length;
  if (isTooMuch(kept)) return;
  kept.byNumber.set(doc_no, doc);
  for (let at = 0; at < terms.length; at += CODE_LENGTH + 1) {
    const code = terms.slice(at, at + CODE_LENGTH);
    const list = kept.byTerm.get(code);
    if (list) list.push(doc_no);
    else kept.byTerm.set(code, [doc_no]);
  }
  if (scope_id === null || position === null) return;
  const scope = kept.byScope.get(scope_id);
  if (scope) scope.set(position, doc);
  else kept.byScope.set(scope_id, new Map([[position, doc]]));
}
