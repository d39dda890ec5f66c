/**
 * Narrow searches: of one scope or trajectory, or of rare entity types. If these have fewer documents than the terms
 * have postings, the documents are scanned instead of the posting lists.
 */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { DOCS_BY_CONTENT, type Range } from '../../index/sql.js';
import type { DocFilter } from './conditions.js';
import type { Comparison, Filter } from './model.js';

/** With more documents the index is read instead. */
const MAX_SCANNED = 20_000;

/** A document and the terms it has, the first term as the lowest bit. */
export type DocBits = [doc_no: number, bits: number];

/** The value that a top-level filter requires of a field: all filters of the list must hold. */
function requiredValue(filters: readonly Filter[], field: 'scope_id' | 'trajectory_id'): string | undefined {
  const isRequired = (one: Filter) => 'field' in one && one.field === field && one.operator === 'eq';
  return (filters.find(isRequired) as Comparison | undefined)?.value as string | undefined;
}

/** The documents d by one of their indexes: without statistics SQLite would rather scan a range of all of them. */
const docsBy = (index: Sql): Sql =>
  byDialect({ sqlite: sql`search_docs d INDEXED BY ${index}`, postgres: sql`search_docs d` });
export const DOCS_BY_TYPE: Sql = docsBy(sql`search_docs_by_type`);
const DOCS_BY_SCOPE: Sql = docsBy(sql`search_docs_by_scope`);
const DOCS_BY_TRAJECTORY: Sql = docsBy(sql`search_docs_by_trajectory`);

/** Documents, and the condition for which their index exists. */
interface Narrowed {
  readonly docs: Sql;
  readonly condition: Sql;
}

/** Rare types have a partial index, which is used if the statement repeats its condition. */
const RARE_TYPES: readonly string[] = ['artifact', 'note', 'thought'];
export const IS_RARE = sql`d.entity_type IN ('artifact', 'note', 'thought') AND d.gone IS NULL`;

/** Undefined if other types are searched as well. */
const rareTypes = (entity_types: DocFilter['entity_types']): Narrowed | undefined =>
  entity_types?.every((type) => RARE_TYPES.includes(type))
    ? { docs: DOCS_BY_TYPE, condition: sql`d.entity_type = ANY(${entity_types}) AND ${IS_RARE}` }
    : undefined;

/** False if the search is for rare types and there is none. */
export async function mayHaveAny(query: Query, { entity_types }: DocFilter): Promise<boolean> {
  const rare = rareTypes(entity_types);
  return !rare || (await docsAt(query, rare, { from: 0, to: Number.MAX_SAFE_INTEGER }, 1)) === undefined;
}

/** Candidate ids (a superset); undefined if there are as many as the limit, or if the search is not narrow. */
export async function ownDocs(
  query: Query,
  filter: DocFilter,
  range: Range,
  postings: number,
): Promise<readonly number[] | undefined> {
  const limit = Math.min(MAX_SCANNED, postings);
  const rare = rareTypes(filter.entity_types);
  const own = rare && (await docsAt(query, rare, range, limit));
  return own ?? docsWithin(query, filter, range, limit);
}

async function docsWithin(
  query: Query,
  { scopes, trajectory_id, filters = [] }: DocFilter,
  range: Range,
  limit: number,
): Promise<readonly number[] | undefined> {
  const scope = requiredValue(filters, 'scope_id');
  const scope_ids = scopes ? scopes.map(({ scope_id }) => scope_id) : scope === undefined ? [] : [scope];
  if (scope_ids.length > 0) {
    const condition = sql`d.scope_id = ANY(${scope_ids}) AND d.scope_id IS NOT NULL`;
    return docsAt(query, { docs: DOCS_BY_SCOPE, condition }, range, limit);
  }
  const trajectory = trajectory_id ?? requiredValue(filters, 'trajectory_id');
  if (trajectory === undefined) return undefined;
  const condition = sql`d.trajectory_id = ${trajectory} AND d.trajectory_id IS NOT NULL`;
  const own = await docsAt(query, { docs: DOCS_BY_TRAJECTORY, condition }, range, limit);
  if (!own) return undefined;
  const learned = await notesLearnedIn(query, trajectory);
  return [...new Set([...own, ...learned.filter((doc_no) => doc_no >= range.from && doc_no <= range.to)])];
}

/** Undefined if there are as many as the limit: counting comes first, since reading takes ten times as long. */
async function docsAt(
  query: Query,
  { docs, condition }: Narrowed,
  { from, to }: Range,
  limit: number,
): Promise<number[] | undefined> {
  const found = sql`FROM ${docs}
    WHERE d.tenant_id = ${TENANT} AND ${condition} AND d.doc_no BETWEEN ${from} AND ${to}`;
  const some = sql`(SELECT 1 ${found} LIMIT ${limit}) AS found_some`;
  const counted = await query.get<{ found: number }>(sql`SELECT COUNT(*) AS found FROM ${some}`);
  if (Number(counted!.found) >= limit) return undefined;
  const rows = await query.all<{ doc_no: number }>(sql`SELECT d.doc_no ${found}`);
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** The range of the documents of a trajectory up to `to`, including notes learned in it; undefined if it has none. */
export async function rangeOf(query: Query, trajectory_id: string, to: number): Promise<Range | undefined> {
  const end = (order: Sql) =>
    query.get<{ doc_no: number }>(
      sql`SELECT d.doc_no FROM ${DOCS_BY_TRAJECTORY}
          WHERE d.tenant_id = ${TENANT} AND d.trajectory_id = ${trajectory_id} AND d.trajectory_id IS NOT NULL
            AND d.doc_no <= ${to}
          ORDER BY d.doc_no ${order} LIMIT 1`,
    );
  const first = await end(sql`ASC`);
  const last = first && (await end(sql`DESC`));
  const ends = [first, last].flatMap((one) => (one ? [Number(one.doc_no)] : []));
  for (const doc_no of await notesLearnedIn(query, trajectory_id)) if (doc_no <= to) ends.push(doc_no);
  return ends.length === 0 ? undefined : { from: Math.min(...ends), to: Math.max(...ends) };
}

/** Maximum notes of a trajectory that are searched, the newest ones. */
const MAX_LEARNED = 2000;

/** Notes belong to no trajectory; edges tell where they were learned. */
async function notesLearnedIn(query: Query, trajectory_id: string): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM edge_participants source CROSS JOIN edge_participants learned
          CROSS JOIN memory_versions v CROSS JOIN ${DOCS_BY_CONTENT}
        WHERE source.tenant_id = ${TENANT} AND source.entity_id = ${trajectory_id} AND source.edge_type = 'DerivedFrom'
          AND source.position > 1 AND source.deleted_at IS NULL
          AND learned.tenant_id = ${TENANT} AND learned.edge_id = source.edge_id AND learned.position = 1
          AND v.tenant_id = ${TENANT} AND v.memory_id = learned.entity_id AND v.superseded_at IS NULL
          AND d.tenant_id = ${TENANT} AND d.content_id = v.card_id AND d.entity_type = 'note'
        ORDER BY source.edge_id DESC LIMIT ${MAX_LEARNED}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}
