/** The documents whose vectors are nearest to the question's: first by sign bits, then by the vectors themselves. */
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
import type { DocQuery } from '../search/conditions.js';
import { matchingAmong } from '../search/matching-docs.js';
import type { Result } from '../search/pages.js';

export interface QuestionVector {
  readonly model: string;
  /** A unit vector. */
  readonly vector: Float32Array;
  readonly weight: number;
  readonly dialect: Dialect;
  /** Present if the database can index vectors. */
  readonly operators?: VectorOperators | undefined;
}

/** The nearest documents that are ranked. */
const NEAREST = 200;
/** The best results by terms whose vectors are compared as well. */
const COMPARED = 400;

interface VectorQuery extends DocQuery {
  readonly store: string;
  /** The number of documents of the tenant. */
  readonly docs: number;
}

/** Adds the nearest documents to the results by terms and ranks all by both, measured as on an earlier page. */
export async function withNearest(
  query: Query,
  question: QuestionVector,
  near: readonly number[],
  { results: byTerms, measures: earlier }: { results: readonly Result[]; measures: Measures | undefined },
): Promise<{ results: Result[]; measures: Measures }> {
  const compared = new Set(near);
  for (const { doc_no } of byTerms.slice(0, COMPARED)) compared.add(doc_no);
  // Sorted, so that sums over them are equal to the last bit.
  const inOrder = [...compared].sort((a, b) => a - b);
  const similarities = await similaritiesOf(query, question, inOrder);
  const known = new Map(byTerms.map((result) => [result.doc_no, result]));
  const measures = earlier ?? measuresOf(byTerms, similarities);
  const results = fuse(byTerms, similarities, question.weight, measures).map(({ doc_no, score, gained }) => {
    const { score: before = 0, matched = [], nearby = [], boosts = [] } = known.get(doc_no) ?? {};
    const isNearer = gained > 0 || before === 0;
    const factor = before === 0 ? 1 : score / before;
    const similar: readonly Boost[] = isNearer ? [{ name: 'similar', factor }] : [];
    return { doc_no, score, matched, nearby, boosts: [...boosts, ...similar] };
  });
  return { results, measures };
}

interface NearestDocs {
  /** Nearest first. */
  readonly doc_nos: number[];
  readonly complete: boolean;
}

/** Documents read per attempt, until enough of them pass the filters. */
const READS = [1000, 60_000];
const BATCH = 1000;

/** The nearest readable documents that pass the filters; `complete` if no document with a vector was skipped. */
export async function nearestDocs(
  query: Query,
  request: VectorQuery,
  question: QuestionVector,
  range: Range,
): Promise<NearestDocs> {
  const doc_nos: number[] = [];
  const seen = new Set<number>();
  for (const limit of READS) {
    const order = await nearest(query, request, question, range, limit);
    // By number, not by place: an index misses some documents and orders equals differently.
    const rest = order.filter((doc_no) => !seen.has(doc_no));
    for (let at = 0; at < rest.length; at += BATCH) {
      if (doc_nos.length >= NEAREST) return { doc_nos: doc_nos.slice(0, NEAREST), complete: false };
      const some = rest.slice(at, at + BATCH);
      for (const doc_no of some) seen.add(doc_no);
      const matching = new Set((await matchingAmong(query, request, some)).map(Number));
      doc_nos.push(...some.filter((doc_no) => matching.has(doc_no)));
    }
    if (order.length < limit) return { doc_nos: doc_nos.slice(0, NEAREST), complete: doc_nos.length <= NEAREST };
  }
  return { doc_nos: doc_nos.slice(0, NEAREST), complete: false };
}

/** The nearest by sign bits, without filters; equals newest first. */
export async function nearest(
  query: Query,
  { tenant, store, docs }: Pick<VectorQuery, 'tenant' | 'store' | 'docs'>,
  { model, vector, dialect, operators }: QuestionVector,
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
  if (isMany && limit <= MAX_BY_INDEX) {
    const found = await nearestByIndex(query, operators.schema, within, digits, limit);
    // An index scan may stop early: fewer than `limit` are not necessarily all.
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

/** The maximum of pgvector's hnsw.ef_search. */
const MAX_BY_INDEX = 1000;

/** By the index of the tenant; PostgreSQL compares all rows while there is none. */
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
    // The index covers one tenant, so a generic plan cannot use it.
    query.all(
      acrossTenants`SELECT set_config('hnsw.ef_search', ${String(MAX_BY_INDEX)}, true),
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

/** Similarities to the question, without documents that have no vector. */
async function similaritiesOf(
  query: Query,
  { model, vector }: QuestionVector,
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
  const similarities = new Map<number, number>();
  // In list order, not in row order.
  for (const doc_no of doc_nos) {
    const found = vectors.get(doc_no);
    if (found !== undefined) similarities.set(doc_no, similarity(vectorFromText(found), vector));
  }
  return similarities;
}
