/**
 * Searches of one scope or trajectory, or of artifacts, notes or thoughts, where there are fewer documents of these than
 * the question's terms have: they are looked through themselves, so that nothing else stands before them.
 */
import { byDialect, join, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { Range } from '../../index/sql.js';
import type { Wanted } from './conditions.js';
import type { Filter } from './model.js';
import { notesLearnedIn } from './trajectory-range.js';

/** Where there are more, the index is read instead. */
const MAX_OWN = 20_000;

/** A document and which of the terms it has, the first as the lowest bit. */
export type Having = [doc_no: number, bits: number];

/** What is in the place or of the types asked for and has any of the terms, the newest first; undefined where that is no shorter way. */
export async function ownHaving(
  query: Query,
  wanted: Wanted,
  codes: readonly string[],
  range: Range,
  postings: number,
): Promise<Having[] | undefined> {
  const own = await ownDocs(query, wanted, range, Math.min(MAX_OWN, postings));
  const found = own && (await having(query, codes, own));
  return found?.sort(([a], [b]) => b - a);
}

/** The single value that a filter in the list asks for: all of the list must hold. */
function askedFor(filters: readonly Filter[], field: 'scope_id' | 'trajectory_id'): string | undefined {
  for (const one of filters)
    if ('field' in one && one.field === field && one.operator === 'eq') return one.value as string;
  return undefined;
}

/** Of these there are few beside turns, and an index leads to them; it is used where the statement says the same. */
const FEW_TYPES: readonly string[] = ['artifact', 'note', 'thought'];
export const IS_FEW = sql`d.entity_type IN ('artifact', 'note', 'thought') AND d.terms IS NOT NULL`;

/** What leads to them; undefined where others are asked for as well. */
const fewOf = (entity_types: Wanted['entity_types']): Sql | undefined =>
  entity_types?.every((type) => FEW_TYPES.includes(type))
    ? sql`d.entity_type = ANY(${entity_types}) AND ${IS_FEW}`
    : undefined;

/** Whether there is anything of the types that are asked for, as far as that is known at once. */
export async function mayHaveAny(query: Query, { entity_types }: Wanted): Promise<boolean> {
  const few = fewOf(entity_types);
  return !few || (await docsAt(query, few, { from: 0, to: Number.MAX_SAFE_INTEGER }, 1)) === undefined;
}

/** The numbers of what can be meant, and more; undefined where there are more than the limit, or nothing narrow is asked for. */
async function ownDocs(
  query: Query,
  wanted: Wanted,
  range: Range,
  limit: number,
): Promise<readonly number[] | undefined> {
  const few = fewOf(wanted.entity_types);
  const own = few && (await docsAt(query, few, range, limit));
  return own ?? docsOfPlace(query, wanted, range, limit);
}

async function docsOfPlace(
  query: Query,
  { scopes, trajectory_id, filters = [] }: Wanted,
  range: Range,
  limit: number,
): Promise<readonly number[] | undefined> {
  const scope = askedFor(filters, 'scope_id');
  const scope_ids = scopes ? scopes.map(({ scope_id }) => scope_id) : scope === undefined ? [] : [scope];
  if (scope_ids.length > 0) return docsAt(query, sql`d.scope_id = ANY(${scope_ids})`, range, limit);
  const trajectory = trajectory_id ?? askedFor(filters, 'trajectory_id');
  if (trajectory === undefined) return undefined;
  const place = sql`d.trajectory_id = ${trajectory} AND d.trajectory_id IS NOT NULL`;
  const own = await docsAt(query, place, range, limit);
  if (!own) return undefined;
  const learned = await notesLearnedIn(query, trajectory);
  return [...new Set([...own, ...learned.filter((doc_no) => doc_no >= range.from && doc_no <= range.to)])];
}

/** Undefined where there are as many as the limit: counted before they are read, which takes ten times as long. */
async function docsAt(query: Query, place: Sql, { from, to }: Range, limit: number): Promise<number[] | undefined> {
  const there = sql`FROM search_docs d
    WHERE d.tenant_id = ${TENANT} AND ${place} AND d.doc_no BETWEEN ${from} AND ${to}`;
  const some = sql`(SELECT 1 ${there} LIMIT ${limit}) AS found_some`;
  const counted = await query.get<{ found: number }>(sql`SELECT COUNT(*) AS found FROM ${some}`);
  if (Number(counted!.found) >= limit) return undefined;
  const rows = await query.all<{ doc_no: number }>(sql`SELECT d.doc_no ${there}`);
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** Codes are as long as what stands between two marks: none is found across. */
const has = (code: string): Sql =>
  byDialect({ sqlite: sql`INSTR(d.terms, ${code}) > 0`, postgres: sql`STRPOS(d.terms, ${code}) > 0` });

/** Led by the list, and as one text, since that is read faster than rows. */
async function having(query: Query, codes: readonly string[], doc_nos: readonly number[]): Promise<Having[]> {
  const bits = join(
    codes.map((code, bit) => sql`CASE WHEN ${has(code)} THEN CAST(${1 << bit} AS INTEGER) ELSE 0 END`),
    ' + ',
  );
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(doc_no, bits)) AS list FROM (SELECT d.doc_no, ${bits} AS bits
          FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
          WHERE d.tenant_id = ${TENANT} AND d.doc_no = i.value AND d.terms IS NOT NULL) WHERE bits > 0`,
      postgres: sql`SELECT json_agg(json_build_array(doc_no, bits))::text AS list FROM (SELECT d.doc_no, ${bits} AS bits
          FROM search_docs d
          WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND d.terms IS NOT NULL) AS own WHERE bits > 0`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as Having[];
}
