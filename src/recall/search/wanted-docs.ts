/** Documents that can be read and pass the filters: among some, the newest, and the turns around those found. */
import { byDialect, type Query, type Sql, sql } from '../../driver/index.js';
import { type Asked, canBeRead, isWanted, seenBy } from './conditions.js';

const readable = ({ tenant, now, viewer }: Asked): Sql =>
  sql`d.tenant_id = ${tenant} AND ${canBeRead(now)} AND ${seenBy(viewer)}`;

/** Which of these documents can be read and are wanted. Led by the list: there is no better way into the table. */
export async function wantedAmong(query: Query, asked: Asked, doc_nos: readonly number[]): Promise<number[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(d.doc_no) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.doc_no = i.value AND ${readable(asked)} AND ${isWanted(asked)}`,
      postgres: sql`SELECT json_agg(d.doc_no)::text AS list FROM search_docs d
        WHERE d.doc_no = ANY(${doc_nos}) AND ${readable(asked)} AND ${isWanted(asked)}`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as number[];
}

/** The newest that the filters let through, where nothing is asked for. */
export async function newest(query: Query, asked: Asked, up_to: number, limit: number): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM search_docs d
        WHERE d.doc_no <= ${up_to} AND ${readable(asked)} AND ${isWanted(asked)}
        ORDER BY d.doc_no DESC LIMIT ${limit}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** Turns lend their words to so many others before and after them. */
const NEIGHBOURHOOD = 3;

export interface Placed {
  readonly scope_id: string | null;
  readonly position: number | null;
}

export interface Neighbours {
  /** They may be meant themselves. */
  readonly wanted: number[];
  /** Context alone: the filters leave them out. */
  readonly context: number[];
}

/** The turns around those found that are not among them. */
export async function neighboursOf(query: Query, asked: Asked, found: readonly Placed[]): Promise<Neighbours> {
  const stretches = stretchesAround(found);
  if (stretches.length === 0) return { wanted: [], context: [] };
  const list = JSON.stringify(stretches);
  const sign = sql`CASE WHEN ${isWanted(asked)} THEN d.doc_no ELSE -d.doc_no END`;
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(${sign}) AS list FROM json_each(${list}) s CROSS JOIN search_docs d
        WHERE d.scope_id = s.value ->> 0 AND d.position IS NOT NULL
          AND d.position BETWEEN s.value ->> 1 AND s.value ->> 2 AND ${readable(asked)}`,
      // One look into the index for each stretch: as a join it would go through the whole table.
      postgres: sql`SELECT json_agg(${sign})::text AS list
        FROM unnest(${stretches.map(([scope_id]) => scope_id)}::text[], ${stretches.map(([, from]) => from)}::bigint[],
            ${stretches.map(([, , to]) => to)}::bigint[]) s(scope_id, first, last)
          CROSS JOIN LATERAL (SELECT * FROM search_docs x
            WHERE x.tenant_id = ${asked.tenant} AND x.scope_id = s.scope_id AND x.position IS NOT NULL
              AND x.position BETWEEN s.first AND s.last AND x.terms IS NOT NULL
            ORDER BY x.position LIMIT ${2 * NEIGHBOURHOOD + 1}) d
        WHERE ${readable(asked)}`,
    }),
  );
  const signed = JSON.parse(row?.list ?? '[]') as number[];
  return {
    wanted: signed.filter((doc_no) => doc_no > 0),
    context: signed.filter((doc_no) => doc_no < 0).map((doc_no) => -doc_no),
  };
}

function stretchesAround(found: readonly Placed[]): [scope_id: string, from: number, to: number][] {
  const scopes = new Map<string, Set<number>>();
  for (const { scope_id, position } of found) {
    if (scope_id === null || position === null) continue;
    const positions = scopes.get(scope_id);
    if (positions) positions.add(position);
    else scopes.set(scope_id, new Set([position]));
  }
  return [...scopes].flatMap(([scope_id, positions]) =>
    gapsAround([...positions].sort((a, b) => a - b)).map(([from, to]): [string, number, number] => [
      scope_id,
      from,
      to,
    ]),
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
