/** What documents are ranked by. Their columns never change, and a search reads hundreds: those of folded ones are cached. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';
import type { TermIndex } from './postings.js';
import { CACHE_MS, type RankedColumns } from './tail.js';

export interface Features extends RankedColumns {
  readonly length: number;
  readonly flags: number;
}

/** Cache key: a store, until it is reindexed. */
export interface StoreMark {
  readonly store: string;
  readonly generation: number;
}

/** About 15 MB. */
const MAX_CACHED = 50_000;

const cache = new Map<string, Map<number, RankedColumns>>();
let count = 0;
let clearing: NodeJS.Timeout | undefined;

function cachedOf({ store, generation }: StoreMark, tenant: string): Map<number, RankedColumns> {
  const name = `${store} ${generation} ${tenant}`;
  let cached = cache.get(name);
  if (!cached) cache.set(name, (cached = new Map()));
  return cached;
}

function clearCache(): void {
  for (const columns of cache.values()) columns.clear();
  cache.clear();
  count = 0;
  clearTimeout(clearing);
  clearing = undefined;
}

type Row = [
  doc_no: number,
  scope_id: string | null,
  position: number | null,
  role: string | null,
  speaker: string | null,
  occurred_at: number,
];

const COLUMNS: Sql = sql`d.doc_no, d.scope_id, d.position, d.role, d.speaker, d.occurred_at`;

/** Reads all rows as one JSON text, which is faster than hundreds of rows. */
async function read(query: Query, doc_nos: readonly number[]): Promise<Row[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${COLUMNS})) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = i.value AND d.gone IS NULL`,
      postgres: sql`SELECT json_agg(json_build_array(${COLUMNS}))::text AS list FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND d.gone IS NULL`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as Row[];
}

/** The features of these documents, unordered; without hidden ones. */
export async function featuresOf(
  query: Query,
  mark: StoreMark,
  index: TermIndex,
  doc_nos: readonly number[],
): Promise<Features[]> {
  const cached = cachedOf(mark, query.tenant);
  const found: Features[] = [];
  const missing: number[] = [];
  const add = (columns: RankedColumns) => {
    const { doc_no, scope_id, position, role, speaker, occurred_at } = columns;
    const measures = index.measures(doc_no);
    if (!measures) return;
    const { length, flags } = measures;
    found.push({ doc_no, scope_id, position, role, speaker, occurred_at, length, flags });
  };
  for (const doc_no of doc_nos) {
    const columns = index.tail.get(doc_no) ?? cached.get(doc_no);
    if (columns) add(columns);
    else missing.push(doc_no);
  }
  if (missing.length === 0) return found;
  if (count + missing.length > MAX_CACHED) clearCache();
  const target = cachedOf(mark, query.tenant);
  clearing ??= setTimeout(clearCache, CACHE_MS).unref();
  for (const [doc_no, scope_id, position, role, speaker, occurred_at] of await read(query, missing)) {
    const columns = { doc_no, scope_id, position, role, speaker, occurred_at };
    add(columns);
    if (target.has(doc_no)) continue;
    target.set(doc_no, columns);
    count++;
  }
  return found;
}
