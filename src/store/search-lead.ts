/**
 * Searches of one scope or trajectory that has fewer documents than the question's terms have: these are looked through
 * themselves, so that nothing that others wrote since stands before them.
 */
import type { Query } from '../driver/driver.js';
import { byDialect, join, type Sql, sql } from '../driver/sql.js';
import type { Filter } from '../model/search.js';
import type { Wanted } from './search-conditions.js';
import { notesLearnedIn, type Range } from './search-postings.js';

/** Where there are more, the index is read instead. */
const MAX_OWN = 20_000;

/** A document and which of the terms it has, the first as the lowest bit. */
export type Having = [doc_no: number, bits: number];

/** What is in the scope or trajectory that is asked for and has any of the terms; undefined where that is no shorter way. */
export async function ownHaving(
  query: Query,
  wanted: Wanted,
  codes: readonly string[],
  range: Range,
  postings: number,
): Promise<Having[] | undefined> {
  const own = await ownDocs(query, wanted, range, Math.min(MAX_OWN, postings));
  return own && having(query, wanted.tenant, codes, own);
}

/** The single value that a filter in the list asks for: all of the list must hold. */
function askedFor(filters: readonly Filter[], field: 'scope_id' | 'trajectory_id'): string | undefined {
  for (const one of filters)
    if ('field' in one && one.field === field && one.operator === 'eq') return one.value as string;
  return undefined;
}

/** The numbers of what can be meant, and more; undefined where there are more than the limit, or no such place is asked for. */
async function ownDocs(
  query: Query,
  { tenant, scopes, trajectory_id, filters = [] }: Wanted,
  { from, to }: Range,
  limit: number,
): Promise<number[] | undefined> {
  const scope = askedFor(filters, 'scope_id');
  const scope_ids = scopes ? scopes.map(({ scope_id }) => scope_id) : scope === undefined ? [] : [scope];
  const trajectory = trajectory_id ?? askedFor(filters, 'trajectory_id');
  if (scope_ids.length === 0 && trajectory === undefined) return undefined;
  const place =
    scope_ids.length > 0
      ? sql`d.scope_id = ANY(${scope_ids})`
      : sql`d.trajectory_id = ${trajectory!} AND d.trajectory_id IS NOT NULL`;
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND ${place} AND d.doc_no BETWEEN ${from} AND ${to} LIMIT ${limit}`,
  );
  if (rows.length >= limit) return undefined;
  const own = new Set(rows.map(({ doc_no }) => Number(doc_no)));
  if (scope_ids.length === 0)
    for (const doc_no of await notesLearnedIn(query, tenant, trajectory!))
      if (doc_no >= from && doc_no <= to) own.add(doc_no);
  return [...own];
}

/** Codes are as long as what stands between two marks: none is found across. */
const has = (code: string): Sql =>
  byDialect({ sqlite: sql`INSTR(d.terms, ${code}) > 0`, postgres: sql`STRPOS(d.terms, ${code}) > 0` });

/** Led by the list, and as one text, since that is read faster than rows. */
async function having(
  query: Query,
  tenant: string,
  codes: readonly string[],
  doc_nos: readonly number[],
): Promise<Having[]> {
  const bits = join(
    codes.map((code, bit) => sql`CASE WHEN ${has(code)} THEN CAST(${1 << bit} AS INTEGER) ELSE 0 END`),
    ' + ',
  );
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(doc_no, bits)) AS list FROM (SELECT d.doc_no, ${bits} AS bits
          FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
          WHERE d.tenant_id = ${tenant} AND d.doc_no = i.value AND d.terms IS NOT NULL) WHERE bits > 0`,
      postgres: sql`SELECT json_agg(json_build_array(doc_no, bits))::text AS list FROM (SELECT d.doc_no, ${bits} AS bits
          FROM search_docs d
          WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos}) AND d.terms IS NOT NULL) AS own WHERE bits > 0`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as Having[];
}
