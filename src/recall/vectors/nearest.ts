/** The documents whose vectors are nearest to a question's: by their signs first, then by the vectors themselves. */
import {
  acrossTenants,
  byDialect,
  type Dialect,
  type Query,
  type Sql,
  sql,
  TENANT,
  verbatim,
} from '../../driver/index.js';
import type { VectorOperators } from '../../index/index.js';
import { bitsAsDigits, bitTable, type Range, signBits, similarity, vectorFromText } from '../../index/sql.js';
import type { Boost } from '../ranking/boosts.js';
import { fuse, type Measures, measuresOf } from '../ranking/fusion.js';
import type { Asked } from '../search/conditions.js';
import type { Result } from '../search/pages.js';
import { wantedAmong } from '../search/wanted-docs.js';

/** A question, as a model has it. */
export interface Likeness {
  readonly model: string;
  /** Of length one. */
  readonly vector: Float32Array;
  readonly weight: number;
  readonly dialect: Dialect;
  /** Where the database can keep an index of vectors. */
  readonly operators?: VectorOperators | undefined;
}

/** So many of the nearest are ranked, and so many of those with the question's terms are compared as well. */
const NEAREST = 200;
const COMPARED = 400;

interface Fused {
  readonly results: Result[];
  readonly measures: Measures;
  readonly complete: boolean;
}

/** What is near joins those that have the question's terms, and all are ranked by both: measured as on the page before. */
export async function withNearest(
  query: Query,
  asked: Asked & { readonly store: string },
  docs: number,
  likeness: Likeness,
  range: Range,
  byTerms: readonly Result[],
  measured: Measures | undefined,
): Promise<Fused> {
  const { doc_nos, complete } = await nearestDocs(query, { ...asked, docs }, likeness, range, NEAREST);
  const compared = new Set(doc_nos);
  for (const { doc_no } of byTerms.slice(0, COMPARED)) compared.add(doc_no);
  // In order, whichever was found first: sums over them come out the same to the last bit.
  const inOrder = [...compared].sort((a, b) => a - b);
  const similarities = await similaritiesOf(query, likeness, inOrder);
  const known = new Map(byTerms.map((result) => [result.doc_no, result]));
  const measures = measured ?? measuresOf(byTerms, similarities);
  const results = fuse(byTerms, similarities, likeness.weight, measures).map(({ doc_no, score, gained }) => {
    const { score: before = 0, matched = [], nearby = [], boosts = [] } = known.get(doc_no) ?? {};
    const isNearer = gained > 0 || before === 0;
    const factor = before === 0 ? 1 : score / before;
    const similar: readonly Boost[] = isNearer ? [{ name: 'similar', factor }] : [];
    return { doc_no, score, matched, nearby, boosts: [...boosts, ...similar] };
  });
  return { results, measures, complete };
}

interface Near {
  readonly doc_nos: number[];
  /** Whether nothing that has a vector was passed over. */
  readonly complete: boolean;
}

/** So many of the nearest are looked at, until enough of them may be seen: first few, then more. */
const LOOKS = [1000, 60_000];
const BATCH = 1000;

/** The nearest by their signs that can be read and are wanted. */
async function nearestDocs(
  query: Query,
  asked: Asked & { readonly store: string; readonly docs: number },
  likeness: Likeness,
  range: Range,
  enough: number,
): Promise<Near> {
  const doc_nos: number[] = [];
  const seen = new Set<number>();
  for (const look of LOOKS) {
    const order = await nearest(query, asked, likeness, range, look);
    // Not by their places: an index misses some, and puts equals in another order.
    const rest = order.filter((doc_no) => !seen.has(doc_no));
    for (let at = 0; at < rest.length; at += BATCH) {
      if (doc_nos.length >= enough) return { doc_nos: doc_nos.slice(0, enough), complete: false };
      const some = rest.slice(at, at + BATCH);
      for (const doc_no of some) seen.add(doc_no);
      const wanted = new Set((await wantedAmong(query, asked, some)).map(Number));
      doc_nos.push(...some.filter((doc_no) => wanted.has(doc_no)));
    }
    if (order.length < look) return { doc_nos: doc_nos.slice(0, enough), complete: doc_nos.length <= enough };
  }
  return { doc_nos: doc_nos.slice(0, enough), complete: false };
}

/** The nearest by their signs, whatever they are; of equals the newer. */
export async function nearest(
  query: Query,
  { tenant, store, docs }: { readonly tenant: string; readonly store: string; readonly docs: number },
  { model, vector, dialect, operators }: Likeness,
  range: Range,
  limit: number,
): Promise<number[]> {
  if (dialect === 'sqlite') {
    const table = await bitTable(query, store, { tenant, model, dimensions: vector.length });
    return table.nearest(signBits(vector), range, limit);
  }
  const digits = bitsAsDigits(vector);
  const within = sql`tenant_id = ${tenant} AND model = ${model} AND dimensions = ${vector.length} AND bits IS NOT NULL
    AND doc_no BETWEEN ${range.from} AND ${range.to}`;
  const isMany = operators && docs >= operators.from && range.to - range.from >= operators.from;
  if (isMany && limit <= MOST_BY_INDEX) {
    const found = await nearestByIndex(query, operators.schema, within, digits, limit);
    // An index stops where it has looked far enough. With fewer than asked for, it is not known whether these are all.
    if (found.length === limit) return found;
  }
  const row = await query.get<{ list: string | null }>(
    sql`SELECT json_agg(doc_no)::text AS list FROM (SELECT doc_no FROM vector_docs
          WHERE ${within}
          ORDER BY bit_count(bits # CAST(CAST(${digits} AS TEXT) AS BIT VARYING)), doc_no DESC
          LIMIT ${limit}) AS nearest`,
  );
  return JSON.parse(row?.list ?? '[]') as number[];
}

/** As many as an index of pgvector keeps in view at once, at most. */
const MOST_BY_INDEX = 1000;

/** By the index of the tenant; as long as it has none, by comparing all. */
async function nearestByIndex(
  query: Query,
  schema: string,
  within: Sql,
  digits: string,
  limit: number,
): Promise<number[]> {
  const bits = verbatim(`bit(${digits.length})`);
  const distance = sql`CAST(bits AS ${bits}) OPERATOR(${verbatim(schema)}.<~>) CAST(CAST(${digits} AS TEXT) AS ${bits})`;
  const [, rows] = await Promise.all([
    // The index is one tenant's: a plan that is made for any tenant cannot use it.
    query.all(
      acrossTenants`SELECT set_config('hnsw.ef_search', ${String(MOST_BY_INDEX)}, true),
        set_config('hnsw.iterative_scan', 'strict_order', true), set_config('plan_cache_mode', 'force_custom_plan', true)`,
    ),
    query.all<{ doc_no: number }>(
      sql`SELECT doc_no FROM (SELECT doc_no, ${distance} AS far FROM vector_docs
            WHERE ${within} ORDER BY ${distance} LIMIT ${verbatim(String(limit))}) AS nearest
          ORDER BY far, doc_no DESC`,
    ),
    query.all(acrossTenants`SELECT set_config('plan_cache_mode', 'auto', true)`),
  ]);
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** How alike these documents are to the question; those without a vector are left out. */
async function similaritiesOf(
  query: Query,
  { model, vector }: Likeness,
  doc_nos: readonly number[],
): Promise<Map<number, number>> {
  const same = sql`v.tenant_id = ${TENANT} AND v.model = ${model} AND v.content_hash = l.content_hash
    AND l.tenant_id = ${TENANT} AND l.model = ${model} AND l.dimensions = ${vector.length}`;
  const rows = await query.all<{ doc_no: number; vector: string }>(
    byDialect({
      sqlite: sql`SELECT l.doc_no, v.vector FROM json_each(${JSON.stringify(doc_nos)}) i
        CROSS JOIN vector_docs l CROSS JOIN vectors v WHERE l.doc_no = i.value AND ${same}`,
      postgres: sql`SELECT l.doc_no, v.vector FROM vector_docs l JOIN vectors v ON ${same}
        WHERE l.doc_no = ANY(${doc_nos})`,
    }),
  );
  const vectors = new Map(rows.map((row) => [Number(row.doc_no), row.vector]));
  const alike = new Map<number, number>();
  // In the order of the list, whatever that of the rows.
  for (const doc_no of doc_nos) {
    const found = vectors.get(doc_no);
    if (found !== undefined) alike.set(doc_no, similarity(vectorFromText(found), vector));
  }
  return alike;
}
