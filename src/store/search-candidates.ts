/** The first stage of a search: which documents may be meant, by how many rare terms of the question they have. */
import { frequencyIn } from '../domain/term-codes.js';
import type { Query } from '../driver/driver.js';
import { byDialect, type Sql, sql } from '../driver/sql.js';
import type { MemoryCategory, SearchedType } from '../model/search.js';
import { canBeRead, isWanted, seenBy, type Viewer, type Wanted } from './search-conditions.js';
import { countPostings, postings, type Range } from './search-postings.js';

export interface DocRow {
  readonly doc_no: number;
  readonly entity_type: SearchedType;
  readonly entity_id: string;
  readonly content_id: string;
  readonly type: string | null;
  readonly name: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly position: number | null;
  readonly role: string | null;
  readonly speaker: string | null;
  readonly agent_id: string | null;
  readonly abstraction_level: string;
  readonly category: MemoryCategory;
  readonly tags: string | null;
  readonly occurred_at: number;
  readonly created_at: number;
  readonly length: number;
  readonly flags: number;
  readonly terms: string;
  readonly wanted: number;
}

/** A document as the second stage needs it. */
export interface CandidateDoc extends DocRow {
  readonly tf: readonly number[];
  readonly context_only: boolean;
}

/** Who asks, and for what. */
export interface Asked extends Wanted {
  readonly tenant: string;
  readonly now: number;
  readonly viewer: Viewer | null;
}

/** Of a term that more have, no more are counted: it weighs next to nothing. */
const MAX_COUNTED = 100_000;
/** So many entries of the index are read for one question, the rarest terms first; of one term, the newest. */
const MAX_POSTINGS = 60_000;
const MAX_POSTINGS_OF_TERM = 30_000;
const FIRST_BATCH = 400;
const LARGEST_BATCH = 5000;

const COLUMNS = sql`d.doc_no, d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags, d.occurred_at, d.created_at,
  d.length, d.flags, d.terms`;

const rowsAmong = (query: Query, asked: Asked, among: Sql, rest: Sql = sql``): Promise<DocRow[]> =>
  query.all<DocRow>(
    sql`SELECT ${COLUMNS}, CASE WHEN ${isWanted(asked)} THEN 1 ELSE 0 END AS wanted FROM search_docs d
        WHERE d.tenant_id = ${asked.tenant} AND ${among} AND ${canBeRead(asked.tenant, asked.now)}
          AND ${seenBy(asked.tenant, asked.viewer)} ${rest}`,
  );

export interface Found {
  readonly rows: DocRow[];
  /** In how many documents of the tenant each term is. */
  readonly df: readonly number[];
  /** Whether nothing that matches was passed over. */
  readonly complete: boolean;
}

/** The documents that share the most, and the rarest, terms with the question; no more than about `enough`. */
export async function findCandidates(
  query: Query,
  asked: Asked,
  codes: readonly string[],
  range: Range,
  enough: number,
): Promise<Found> {
  const everywhere = { from: 0, to: Number.MAX_SAFE_INTEGER };
  const df: number[] = [];
  for (const code of codes) df.push(await countPostings(query, asked.tenant, code, everywhere, MAX_COUNTED));
  const { groups, complete } = await groupsOf(query, asked.tenant, codes, df, range);
  const rows: DocRow[] = [];
  let size = FIRST_BATCH;
  for (let at = 0; at < groups.length; ) {
    if (rows.length >= enough) return { rows, df, complete: false };
    const batch: number[] = [];
    while (at < groups.length && batch.length < size) batch.push(groups[at++]!);
    const found = await rowsAmong(query, asked, sql`d.doc_no = ANY(${batch})`);
    for (const row of found) if (row.wanted === 1) rows.push(row);
    size = Math.min(size * 2, LARGEST_BATCH);
  }
  return { rows, df, complete };
}

/** Documents in the order of what their terms are worth together, and of equals the newest first. */
async function groupsOf(
  query: Query,
  tenant: string,
  codes: readonly string[],
  df: readonly number[],
  range: Range,
): Promise<{ groups: number[]; complete: boolean }> {
  const rarestFirst = codes.map((_, at) => at).filter((at) => df[at]! > 0);
  rarestFirst.sort((a, b) => df[a]! - df[b]! || a - b);
  // What each has, as bits in the order of rarity. A question has more terms than bits: the rarest count.
  const has = new Map<number, number>();
  let room = MAX_POSTINGS;
  let complete = true;
  for (const [bit, at] of rarestFirst.entries()) {
    if (room <= 0 || bit >= 30) {
      complete = false;
      break;
    }
    const limit = Math.min(room, MAX_POSTINGS_OF_TERM);
    const list = await postings(query, tenant, codes[at]!, range, limit);
    for (const doc_no of list) has.set(doc_no, (has.get(doc_no) ?? 0) | (1 << bit));
    if (list.length === limit) complete = false;
    room -= list.length;
  }
  const alike = new Map<number, number[]>();
  for (const [doc_no, bits] of has) {
    const others = alike.get(bits);
    if (others) others.push(doc_no);
    else alike.set(bits, [doc_no]);
  }
  const worth = (bits: number): number =>
    rarestFirst.reduce((sum, at, bit) => sum + ((bits >> bit) & 1 ? 1 / Math.log2(2 + df[at]!) : 0), 0);
  const byWorth = [...alike].map(([bits, docs]) => ({ bits, worth: worth(bits), docs }));
  byWorth.sort((a, b) => b.worth - a.worth || a.bits - b.bits);
  return { groups: byWorth.flatMap(({ docs }) => docs.sort((a, b) => b - a)), complete };
}

/** The newest that the filters let through, where nothing is asked for. */
export const newest = (query: Query, asked: Asked, before: number, limit: number): Promise<DocRow[]> =>
  rowsAmong(
    query,
    asked,
    sql`d.doc_no < ${before} AND ${isWanted(asked)}`,
    sql`ORDER BY d.doc_no DESC LIMIT ${limit}`,
  );

/** These documents, by what has their content. */
export const docsOf = (query: Query, asked: Asked, content_ids: readonly string[]): Promise<DocRow[]> =>
  rowsAmong(query, asked, sql`d.content_id = ANY(${content_ids})`);

/** Turns lend their words to so many others before and after them. */
const NEIGHBOURHOOD = 3;

/** The turns around those found that are not among them, wanted or not: they are context, and may be meant themselves. */
export async function neighboursOf(query: Query, asked: Asked, rows: readonly DocRow[]): Promise<DocRow[]> {
  const known = new Map<string, Set<number>>();
  for (const { scope_id, position } of rows) {
    if (scope_id === null || position === null) continue;
    const positions = known.get(scope_id);
    if (positions) positions.add(position);
    else known.set(scope_id, new Set([position]));
  }
  const stretches: [scope_id: string, from: number, to: number][] = [];
  for (const [scope_id, positions] of known) {
    for (const [from, to] of gapsAround([...positions].sort((a, b) => a - b)))
      stretches.push([scope_id, from, to]);
  }
  if (stretches.length === 0) return [];
  const list = JSON.stringify(stretches);
  return rowsAmong(
    query,
    asked,
    byDialect({
      sqlite: sql`d.doc_no IN (SELECT n.doc_no FROM json_each(${list}) s CROSS JOIN search_docs n
        WHERE n.tenant_id = ${asked.tenant} AND n.scope_id = s.value ->> 0 AND n.position IS NOT NULL
          AND n.position BETWEEN s.value ->> 1 AND s.value ->> 2)`,
      postgres: sql`d.doc_no IN (SELECT n.doc_no FROM json_array_elements(${list}::json) s CROSS JOIN search_docs n
        WHERE n.tenant_id = ${asked.tenant} AND n.scope_id = s.value ->> 0 AND n.position IS NOT NULL
          AND n.position BETWEEN (s.value ->> 1)::bigint AND (s.value ->> 2)::bigint)`,
    }),
  );
}

/** The stretches around sorted positions that hold none of them. */
export function gapsAround(positions: readonly number[]): [from: number, to: number][] {
  const gaps: [number, number][] = [];
  let behind = 0;
  for (const [i, position] of positions.entries()) {
    const from = Math.max(behind + 1, position - NEIGHBOURHOOD);
    if (from < position) gaps.push([from, position - 1]);
    const next = positions[i + 1] ?? Number.MAX_SAFE_INTEGER;
    const to = Math.min(position + NEIGHBOURHOOD, next - 1);
    if (to > position) gaps.push([position + 1, to]);
    behind = Math.max(position, to);
  }
  return gaps;
}

/** With how often each has the terms. */
export const asCandidates = (rows: readonly DocRow[], codes: readonly string[]): CandidateDoc[] =>
  rows.map((row) => ({
    ...row,
    tf: codes.map((code) => frequencyIn(row.terms, code)),
    context_only: row.wanted !== 1,
  }));
