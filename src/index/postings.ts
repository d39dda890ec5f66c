/** Posting lists: how many documents have a term, and which; the same on both databases. */
import { acrossTenants, byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';

export interface Extent {
  readonly last: number;
  readonly docs: number;
  readonly generation: number;
}

/** A range of document numbers, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A code belongs to one tenant, and has no character with a meaning in either query language. */
const matching = (code: string, { from, to }: Range): Sql =>
  byDialect({
    sqlite: acrossTenants`SELECT rowid AS doc_no FROM search_index WHERE search_index MATCH ${code}
      AND rowid BETWEEN ${from} AND ${to} ORDER BY rowid DESC`,
    postgres: sql`SELECT doc_no FROM search_index WHERE terms @@ CAST(${code} AS tsquery) AND tenant_id = ${TENANT}
      AND doc_no BETWEEN ${from} AND ${to} ORDER BY doc_no DESC`,
  });

/** Number of documents with a term, counted up to a limit. */
export async function countPostings(query: Query, code: string, limit: number): Promise<number> {
  const row = await query.get<{ found: number }>(
    byDialect({
      sqlite: acrossTenants`SELECT COUNT(*) AS found FROM
        (SELECT 1 FROM search_index WHERE search_index MATCH ${code} LIMIT ${limit})`,
      postgres: sql`SELECT COUNT(*) AS found FROM
        (SELECT 1 FROM search_index WHERE terms @@ CAST(${code} AS tsquery) AND tenant_id = ${TENANT} LIMIT ${limit}) AS found_some`,
    }),
  );
  return Number(row!.found);
}

/** The documents with a term, newest first; read as one JSON text, which is faster than rows. */
export async function postings(query: Query, code: string, range: Range, limit: number): Promise<number[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(doc_no) AS list FROM (${matching(code, range)} LIMIT ${limit})`,
      postgres: sql`SELECT json_agg(doc_no)::text AS list FROM (${matching(code, range)} LIMIT ${limit}) AS found_some`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as number[];
}

/** The newest document number, the document count of the tenant, and the number of reindexings. */
export async function extentOf(query: Query): Promise<Extent> {
  const row = await query.get<{ last: number | null; docs: number | null; generation: string | null }>(
    sql`SELECT ${last()} AS last, (SELECT SUM(docs) FROM search_counts WHERE tenant_id = ${TENANT}) AS docs,
          (SELECT value FROM store_meta WHERE name = ${GENERATION}) AS generation`,
  );
  return { last: Number(row?.last ?? 0), docs: Number(row?.docs ?? 0), generation: Number(row?.generation ?? 0) };
}

/** In store_meta: the number of reindexings. */
export const GENERATION = 'search_generation';

/** On SQLite of all tenants: it is only a bound, and cursors seal it. */
const last = (): Sql =>
  byDialect({
    sqlite: acrossTenants`(SELECT seq FROM sqlite_sequence WHERE name = 'search_docs')`,
    postgres: sql`(SELECT MAX(doc_no) FROM search_docs WHERE tenant_id = ${TENANT})`,
  });
