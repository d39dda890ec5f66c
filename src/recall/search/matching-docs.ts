/** Readable documents that pass the filters: among some, the newest, and turns around others. */
import { byDialect, type Query, type Sql, sql } from '../../driver/index.js';
import { type DocQuery, isReadable, passesFilter, visibleTo } from './conditions.js';

const readable = ({ tenant, now, viewer }: DocQuery): Sql =>
  sql`d.tenant_id = ${tenant} AND ${isReadable(now)} AND ${visibleTo(viewer)}`;

/** Driven by the list: no index of the table is better. */
export async function matchingAmong(query: Query, request: DocQuery, doc_nos: readonly number[]): Promise<number[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(d.doc_no) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.doc_no = i.value AND ${readable(request)} AND ${passesFilter(request)}`,
      postgres: sql`SELECT json_agg(d.doc_no)::text AS list FROM search_docs d
        WHERE d.doc_no = ANY(${doc_nos}) AND ${readable(request)} AND ${passesFilter(request)}`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as number[];
}

/** For a search without a question. */
export async function newest(query: Query, request: DocQuery, up_to: number, limit: number): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM search_docs d
        WHERE d.doc_no <= ${up_to} AND ${readable(request)} AND ${passesFilter(request)}
        ORDER BY d.doc_no DESC LIMIT ${limit}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** Turns count as context for so many turns before and after them. */
const NEIGHBOURHOOD = 3;

export interface TurnPosition {
  readonly scope_id: string | null;
  readonly position: number | null;
}

export interface Neighbours {
  /** They pass the filters and may be results. */
  readonly matching: number[];
  /** Rejected by the filters: context only. */
  readonly context: number[];
}

export async function neighboursOf(
  query: Query,
  request: DocQuery,
  found: readonly TurnPosition[],
): Promise<Neighbours> {
  const ranges = rangesAround(found);
  if (ranges.length === 0) return { matching: [], context: [] };
  const list = JSON.stringify(ranges);
  const sign = sql`CASE WHEN ${passesFilter(request)} THEN d.doc_no ELSE -d.doc_no END`;
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(${sign}) AS list FROM json_each(${list}) s CROSS JOIN search_docs d
        WHERE d.scope_id = s.value ->> 0 AND d.position IS NOT NULL
          AND d.position BETWEEN s.value ->> 1 AND s.value ->> 2 AND ${readable(request)}`,
      // One index lookup per range: a join would scan the whole table.
      postgres: sql`SELECT json_agg(${sign})::text AS list
        FROM unnest(${ranges.map(([scope_id]) => scope_id)}::text[], ${ranges.map(([, from]) => from)}::bigint[],
            ${ranges.map(([, , to]) => to)}::bigint[]) s(scope_id, first, last)
          CROSS JOIN LATERAL (SELECT * FROM search_docs x
            WHERE x.tenant_id = ${request.tenant} AND x.scope_id = s.scope_id AND x.position IS NOT NULL
              AND x.position BETWEEN s.first AND s.last AND x.gone IS NULL
            ORDER BY x.position LIMIT ${2 * NEIGHBOURHOOD + 1}) d
        WHERE ${readable(request)}`,
    }),
  );
  const signed = JSON.parse(row?.list ?? '[]') as number[];
  return {
    matching: signed.filter((doc_no) => doc_no > 0),
    context: signed.filter((doc_no) => doc_no < 0).map((doc_no) => -doc_no),
  };
}

function rangesAround(found: readonly TurnPosition[]): [scope_id: string, from: number, to: number][] {
  const scopes = new Map<string, Set<number>>();
  for (const { scope_id, position } of found) {
    if (scope_id === null || position === null) continue;
    const positions = scopes.get(scope_id);
    if (positions) positions.add(position);
    else scopes.set(scope_id, new Set([position]));
  }
  return [...scopes].flatMap(([scope_id, positions]) => {
    const gaps = gapsAround([...positions].sort((a, b) => a - b));
    return gaps.map(([from, to]): [string, number, number] => [scope_id, from, to]);
  });
}

/** The ranges around sorted positions that contain none of them. */
export function gapsAround(positions: readonly number[]): [from: number, to: number][] {
  const gaps: [number, number][] = [];
  let covered = 0;
  for (const [i, position] of positions.entries()) {
    const from = Math.max(covered + 1, position - NEIGHBOURHOOD);
    if (from < position) gaps.push([from, position - 1]);
    const next = positions[i + 1] ?? Number.MAX_SAFE_INTEGER;
    const to = Math.min(position + NEIGHBOURHOOD, next - 1);
    if (to > position) gaps.push([position + 1, to]);
    covered = Math.max(position, to);
  }
  return gaps;
}
