/** The rows that states are stored in, held against what the checkpoints that are left show of them. */
import { type Driver, type Sql, sql } from '#cairn/driver/index.js';

interface Row {
  readonly line: number;
  readonly added: number;
  readonly ordinal: number;
  readonly removed: number;
  readonly parent: number;
  readonly key: string | null;
  readonly position: number;
  readonly kind: string;
  readonly child: number | null;
  readonly value: string | null;
}

interface Line {
  readonly line: number;
  readonly base_line: number | null;
  readonly base_revision: number | null;
}

const ROOTS = [1, 2, 3, 4, 5, 6];

/** Which rows a state is made of, by a plain reading: the nearest line that has something in a place, its newest there. */
function shown(rows: readonly Row[], lines: ReadonlyMap<number, Line>, line: number, revision: number): Row[] {
  const places = new Map<string, Row>();
  let here = line;
  let upto = revision;
  for (;;) {
    const own = new Map<string, Row>();
    for (const row of rows) {
      if (row.line !== here || row.added > upto || row.removed <= upto) continue;
      const place = JSON.stringify([row.parent, row.key, row.position]);
      if (row.added > (own.get(place)?.added ?? -1)) own.set(place, row);
    }
    for (const [place, row] of own) if (!places.has(place)) places.set(place, row);
    const { base_line, base_revision }: Line = lines.get(here)!;
    if (base_line === null) break;
    here = base_line;
    upto = base_revision!;
  }
  const of = new Map<number, Row[]>();
  for (const row of places.values()) of.set(row.parent, [...(of.get(row.parent) ?? []), row]);
  const below = (container: number): Row[] =>
    (of.get(container) ?? []).flatMap((row) => [row, ...(row.child === null ? [] : below(row.child))]);
  return ROOTS.flatMap(below);
}

/** Content in the tables of an execution that no checkpoint of it shows. */
export async function contentUnseen(driver: Driver, tenant: string, execution_id: string): Promise<string[]> {
  const which = sql`WHERE tenant_id = ${tenant} AND execution_id = ${execution_id}`;
  const read = <R>(query: Sql) => driver.at(tenant).all<R>(query);
  const at = sql`line, added, ordinal, removed`;
  const rows = [
    ...(await read<Row>(sql`SELECT ${at}, parent, key, position, kind, child, value FROM checkpoint_items ${which}`)),
    ...(await read<Row>(sql`SELECT ${at}, 1 AS parent, NULL AS key, position, 'element' AS kind, NULL AS child, body AS value
      FROM thoughts ${which}`)),
    ...(await read<Row>(sql`SELECT ${at}, 2 AS parent, NULL AS key, position, 'element' AS kind, NULL AS child, body AS value
      FROM tool_calls ${which}`)),
  ];
  const lines = await read<Line>(sql`SELECT line, base_line, base_revision FROM execution_lines ${which}`);
  const byNumber = new Map(lines.map((line) => [line.line, line]));
  const checkpoints = await read<{ line: number; revision: number }>(
    sql`SELECT line, revision FROM checkpoints ${which}`,
  );
  const seen = new Set(checkpoints.flatMap(({ line, revision }) => shown(rows, byNumber, line, revision)));
  return rows
    .filter((row) => !seen.has(row) && row.kind !== 'gone')
    .map(({ line, added, ordinal, value }) => `${line}.${added}.${ordinal} ${value?.slice(0, 40)}`);
}
