/** The index itself: how many documents have a term, and which. It says the same of both databases. */
import type { Query } from '../driver/driver.js';
import { acrossTenants, byDialect, type Sql, sql } from '../driver/sql.js';

/** The documents that can be meant: the newest up to one, and, of a trajectory, between its first and last. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A code is of one tenant alone, and holds no character that either query language knows. */
const matching = (tenant: string, code: string, { from, to }: Range): Sql =>
  byDialect({
    sqlite: acrossTenants`SELECT rowid AS doc_no FROM search_index WHERE search_index MATCH ${code}
      AND rowid BETWEEN ${from} AND ${to} ORDER BY rowid DESC`,
    postgres: sql`SELECT doc_no FROM search_index WHERE terms @@ CAST(${code} AS tsquery) AND tenant_id = ${tenant}
      AND doc_no BETWEEN ${from} AND ${to} ORDER BY doc_no DESC`,
  });

/** How many documents have a term, counted no further than a limit. */
export async function countPostings(
  query: Query,
  tenant: string,
  code: string,
  limit: number,
): Promise<number> {
  const row = await query.get<{ found: number }>(
    byDialect({
      sqlite: acrossTenants`SELECT COUNT(*) AS found FROM
        (SELECT 1 FROM search_index WHERE search_index MATCH ${code} LIMIT ${limit})`,
      postgres: sql`SELECT COUNT(*) AS found FROM
        (SELECT 1 FROM search_index WHERE terms @@ CAST(${code} AS tsquery) AND tenant_id = ${tenant} LIMIT ${limit}) AS found_some`,
    }),
  );
  return Number(row!.found);
}

/** The documents that have a term, the newest first; as one text, since that is read faster than rows. */
export async function postings(
  query: Query,
  tenant: string,
  code: string,
  range: Range,
  limit: number,
): Promise<number[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(doc_no) AS list FROM (${matching(tenant, code, range)} LIMIT ${limit})`,
      postgres: sql`SELECT json_agg(doc_no)::text AS list FROM (${matching(tenant, code, range)} LIMIT ${limit}) AS found_some`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as number[];
}

/** Where the documents of a trajectory are, up to one; undefined where it has none. */
export async function rangeOf(
  query: Query,
  tenant: string,
  trajectory_id: string,
  to: number,
): Promise<Range | undefined> {
  const end = (order: Sql) =>
    query.get<{ doc_no: number }>(
      sql`SELECT doc_no FROM search_docs
          WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id} AND doc_no <= ${to}
          ORDER BY doc_no ${order} LIMIT 1`,
    );
  const first = await end(sql`ASC`);
  const last = first && (await end(sql`DESC`));
  const ends = [first, last].flatMap((one) => (one ? [Number(one.doc_no)] : []));
  for (const doc_no of await notesLearnedIn(query, tenant, trajectory_id))
    if (doc_no <= to) ends.push(doc_no);
  return ends.length === 0 ? undefined : { from: Math.min(...ends), to: Math.max(...ends) };
}

/** Of a trajectory; where more were learned in it, the newest are searched. */
const MAX_LEARNED = 2000;

/** The documents of notes, which are in no trajectory but were learned in this one. */
export async function notesLearnedIn(query: Query, tenant: string, trajectory_id: string): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM edge_participants source CROSS JOIN edge_participants learned
          CROSS JOIN memory_versions v CROSS JOIN search_docs d
        WHERE source.tenant_id = ${tenant} AND source.entity_id = ${trajectory_id} AND source.edge_type = 'DerivedFrom'
          AND source.position > 1 AND source.deleted_at IS NULL
          AND learned.tenant_id = ${tenant} AND learned.edge_id = source.edge_id AND learned.position = 1
          AND v.tenant_id = ${tenant} AND v.memory_id = learned.entity_id AND v.superseded_at IS NULL
          AND d.tenant_id = ${tenant} AND d.content_id = v.card_id AND d.entity_type = 'note'
        ORDER BY source.edge_id DESC LIMIT ${MAX_LEARNED}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** The newest document of a tenant, how many it has, and how often all was indexed anew. */
export async function extentOf(
  query: Query,
  tenant: string,
): Promise<{ readonly last: number; readonly docs: number; readonly generation: number }> {
  const row = await query.get<{ last: number | null; docs: number | null; generation: string | null }>(
    sql`SELECT ${last(tenant)} AS last, (SELECT SUM(docs) FROM search_counts WHERE tenant_id = ${tenant}) AS docs,
          (SELECT value FROM store_meta WHERE name = ${GENERATION}) AS generation`,
  );
  return {
    last: Number(row?.last ?? 0),
    docs: Number(row?.docs ?? 0),
    generation: Number(row?.generation ?? 0),
  };
}

/** In store_meta: how often all was indexed anew. */
export const GENERATION = 'search_generation';

/** Of all tenants, where numbers are not led by theirs: it is a bound, and cursors have it sealed. */
const last = (tenant: string): Sql =>
  byDialect({
    sqlite: acrossTenants`(SELECT seq FROM sqlite_sequence WHERE name = 'search_docs')`,
    postgres: sql`(SELECT MAX(doc_no) FROM search_docs WHERE tenant_id = ${tenant})`,
  });
