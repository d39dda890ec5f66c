/** box_entries: append-only entries. A box at a revision is a list of segments, so forks copy nothing. */
import { byDialect, type Query, type Sql, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import { readableAt } from '../cards/store.js';
import type { BoxRow, Link } from './store.js';

const entriesTable: Table = {
  name: 'box_entries',
  columns: {
    tenant_id: 'text',
    box_id: 'text',
    position: 'bigint',
    card_id: 'text',
    ordinal: 'bigint',
    added_revision: 'bigint',
  },
};

/** Where new entries go: the next position, the ordinal of the entry before them, the revision that adds them. */
interface Place {
  readonly position: number;
  readonly behind: number;
  readonly revision: number;
}

export const insertEntries = (tx: Tx, box_id: string, place: Place, card_ids: readonly string[]): Promise<void> =>
  insertAppends(tx, box_id, place, [card_ids]);

/** Inserts the entries of several appends, each of which makes a revision. */
export const insertAppends = (
  tx: Tx,
  box_id: string,
  { position, behind, revision }: Place,
  appends: readonly (readonly string[])[],
): Promise<void> => {
  let i = 0;
  const rows = appends.flatMap((card_ids, append) =>
    card_ids.map((card_id) => [tx.tenant, box_id, position + i, card_id, behind + ++i, revision + append]),
  );
  return tx.insert(entriesTable, rows);
};

export const removeEntriesFrom = (tx: Tx, box_id: string, position: number, revision: number): Promise<number> =>
  tx.run(
    sql`UPDATE box_entries SET removed_revision = ${revision} WHERE tenant_id = ${TENANT} AND box_id = ${box_id}
        AND position >= ${position} AND removed_revision IS NULL`,
  );

/** The own entries of one box of a chain, at one revision. */
export interface Segment {
  readonly box_id: string;
  readonly revision: number;
  /** Its entries are at positions from ≤ p < until. */
  readonly from: number;
  readonly until: number;
  /** The ordinals of the last entry before the segment, and of the last entry in it. */
  readonly before: number;
  readonly through: number;
}

const hasBaseAt = (box: Link, revision: number): boolean =>
  box.base_box_id !== null && (box.base_until === null || revision < box.base_until);

const baseLengthAt = (box: Link, revision: number): number => (hasBaseAt(box, revision) ? box.base_length! : 0);

/** The segments of a box at a revision, oldest first. Positions rise along them. */
export async function segmentsOf(query: Query, box: BoxRow, revision = box.revision): Promise<Segment[]> {
  return [...(await baseSegments(query, box, revision)), await ownSegment(query, box, revision)];
}

// Row-by-row lookups: PostgreSQL without statistics scans all rows of the tenant, unless a subquery has OFFSET 0.
const nextLink = (): Sql =>
  byDialect({
    sqlite: sql`boxes b`,
    postgres: sql`LATERAL (SELECT * FROM boxes l WHERE l.tenant_id = ${TENANT} AND l.box_id = c.base_box_id OFFSET 0) b`,
  });
const middleEntry = (box_id: string): Sql =>
  byDialect({
    sqlite: sql`box_entries e`,
    postgres: sql`LATERAL (SELECT * FROM box_entries l WHERE l.tenant_id = ${TENANT} AND l.box_id = ${box_id}
                  AND l.position = (s.low + s.high) / 2 OFFSET 0) e`,
  });

/** The segments that a fork has from its base, in one statement; none for a box without a base. */
export async function baseSegments(query: Query, box: Link, revision: number): Promise<Segment[]> {
  if (!hasBaseAt(box, revision)) return [];
  const links = await query.all<Link>(
    sql`WITH RECURSIVE chain(depth, at, box_id, base_box_id, base_revision, base_first, base_position, base_length, base_until) AS (
          SELECT 1, CAST(${box.base_revision} AS BIGINT), b.box_id, b.base_box_id, b.base_revision, b.base_first,
            b.base_position, b.base_length, b.base_until
          FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = ${box.base_box_id}
          UNION ALL
          SELECT c.depth + 1, c.base_revision, b.box_id, b.base_box_id, b.base_revision, b.base_first,
            b.base_position, b.base_length, b.base_until
          FROM chain c CROSS JOIN ${nextLink()}
          WHERE b.tenant_id = ${TENANT} AND b.box_id = c.base_box_id AND (c.base_until IS NULL OR c.at < c.base_until)
        )
        SELECT box_id, base_box_id, base_revision, base_first, base_position, base_length, base_until
        FROM chain ORDER BY depth`,
  );
  const segments: Segment[] = [];
  let fork = box;
  let at = revision;
  for (const link of links) {
    at = fork.base_revision!;
    segments.push({
      box_id: link.box_id,
      revision: at,
      from: fork.base_first!,
      until: fork.base_position!,
      before: baseLengthAt(link, at),
      through: fork.base_length!,
    });
    fork = link;
  }
  if (hasBaseAt(fork, at)) throw new Error(`box ${fork.box_id} is based on ${fork.base_box_id}, which does not exist`);
  return segments.reverse();
}

/** The own segment of a box: from its row for the newest revision, else from its entries. */
export async function ownSegment(query: Query, box: BoxRow, revision: number): Promise<Segment> {
  const before = baseLengthAt(box, revision);
  const { box_id, first_position, next_position, length } = box;
  if (revision === box.revision) {
    return { box_id, revision, from: first_position, until: next_position, before, through: length };
  }
  const from = box.base_position ?? 1;
  const until = await positionAfter(query, box, revision, from);
  const found = { box_id, revision, from, until, before };
  const last = await query.get<{ ordinal: number }>(
    sql`SELECT e.ordinal FROM box_entries e WHERE ${inSegment(found)} ORDER BY e.position DESC LIMIT 1`,
  );
  return { ...found, through: last?.ordinal ?? before };
}

/** The first position added after a revision, by binary search: revisions rise with positions. */
async function positionAfter(query: Query, box: BoxRow, revision: number, from: number): Promise<number> {
  const { box_id, next_position: until } = box;
  const row = await query.get<{ low: number }>(
    sql`WITH RECURSIVE search(low, high) AS (
          SELECT CAST(${from} AS BIGINT), CAST(${until} AS BIGINT)
          UNION ALL
          SELECT CASE WHEN e.added_revision <= ${revision} THEN e.position + 1 ELSE s.low END,
            CASE WHEN e.added_revision <= ${revision} THEN s.high ELSE e.position END
          FROM search s CROSS JOIN ${middleEntry(box_id)}
          WHERE s.low < s.high AND e.tenant_id = ${TENANT} AND e.box_id = ${box_id}
            AND e.position = (s.low + s.high) / 2
        )
        SELECT low FROM search WHERE low = high`,
  );
  // Positions have no holes. If one is missing all the same, a bound that is too high only costs time.
  return row?.low ?? until;
}

const inSegment = ({ box_id, revision, from, until }: Omit<Segment, 'through'>): Sql =>
  sql`e.tenant_id = ${TENANT} AND e.box_id = ${box_id} AND e.position >= ${from} AND e.position < ${until}
      AND e.added_revision <= ${revision} AND (e.removed_revision IS NULL OR e.removed_revision > ${revision})`;

export interface Entry {
  readonly position: number;
  readonly card_id: string;
}

/** Segments as a table s: one statement reads a long chain. */
const tableOf = (segments: readonly Segment[]): Sql => {
  const json = JSON.stringify(segments.map((one) => [one.box_id, one.from, one.until, one.revision]));
  return byDialect({
    sqlite: sql`(SELECT value ->> 0 AS box_id, value ->> 1 AS low, value ->> 2 AS high, value ->> 3 AS revision
                 FROM json_each(${json})) s CROSS JOIN box_entries e`,
    postgres: sql`(SELECT v ->> 0 AS box_id, (v ->> 1)::bigint AS low, (v ->> 2)::bigint AS high, (v ->> 3)::bigint AS revision
                   FROM json_array_elements(${json}::json) v) s
                  CROSS JOIN LATERAL (SELECT * FROM box_entries l WHERE l.tenant_id = ${TENANT} AND l.box_id = s.box_id
                    AND l.position >= s.low AND l.position < s.high OFFSET 0) e`,
  });
};

/** Whether a segment has few removed entries between its bounds, so that scanning over them is cheap. */
const isDense = ({ from, until, before, through }: Segment): boolean => until - from <= 2 * (through - before) + 10;

/** The last entries of a segment, last first. Does not scan entries that were removed before them. */
const lastEntries = (query: Query, segment: Segment, limit: number): Promise<Entry[]> =>
  query.all(
    sql`SELECT e.position, e.card_id FROM box_entries e WHERE ${inSegment(segment)}
        ORDER BY e.position DESC LIMIT ${limit}`,
  );

async function entriesOf(query: Query, segments: readonly Segment[]): Promise<Entry[]> {
  const together = segments.length > 1 ? segments.filter(isDense) : [];
  const found =
    together.length === 0
      ? []
      : await query.all<Entry>(
          sql`SELECT e.position, e.card_id FROM ${tableOf(together)}
              WHERE e.tenant_id = ${TENANT} AND e.box_id = s.box_id AND e.position >= s.low AND e.position < s.high
                AND e.added_revision <= s.revision AND (e.removed_revision IS NULL OR e.removed_revision > s.revision)`,
        );
  for (const segment of segments) {
    if (together.length > 0 && isDense(segment)) continue;
    for (const row of await lastEntries(query, segment, segment.through - segment.before)) found.push(row);
  }
  return found.sort((a, b) => a.position - b.position);
}

export async function tailOf(query: Query, segments: readonly Segment[], limit: number): Promise<Entry[]> {
  const whole: Segment[] = [];
  let wanted = limit;
  for (const segment of [...segments].reverse()) {
    const { before, through } = segment;
    if (through === before) continue;
    if (through - before < wanted) {
      whole.push(segment);
      wanted -= through - before;
      continue;
    }
    const first = await lastEntries(query, segment, wanted);
    return [...first.reverse(), ...(await entriesOf(query, whole))];
  }
  return entriesOf(query, whole);
}

/** Entries after a position, or after skipping `offset` of them, in order. */
export async function entriesAfter(
  query: Query,
  segments: readonly Segment[],
  { after, limit, offset = 0 }: { after: number; limit: number; offset?: number | undefined },
): Promise<Entry[]> {
  const parts: Entry[][] = [];
  let whole: Segment[] = [];
  let wanted = limit;
  for (const segment of segments) {
    const { before, through, until } = segment;
    if (wanted <= 0) break;
    if (through === before || through <= offset || until <= after + 1) continue;
    if (segment.from > after && before >= offset && through - before <= wanted) {
      whole.push(segment);
      wanted -= through - before;
      continue;
    }
    parts.push(await entriesOf(query, whole));
    whole = [];
    // Every skipped entry has at least one position: start behind them instead of scanning them.
    const from = Math.max(segment.from + Math.max(0, offset - before), after + 1);
    const rows = await query.all<Entry>(
      sql`SELECT e.position, e.card_id FROM box_entries e WHERE ${inSegment({ ...segment, from })}
            AND e.ordinal > ${offset}
          ORDER BY e.position LIMIT ${Math.min(wanted, through - Math.max(before, offset))}`,
    );
    parts.push(rows);
    wanted -= rows.length;
  }
  parts.push(await entriesOf(query, whole));
  return parts.flat();
}

/** Without statistics SQLite scans the whole box by its primary key instead of looking up each card. */
const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

type EntryRow = Entry & { box_id: string; added_revision: number; removed_revision: number | null };

/** Those of the cards that the segments contain. */
export async function presentCards(query: Query, segments: Segment[], ids: readonly string[]): Promise<Set<string>> {
  if (segments.length === 0 || ids.length === 0) return new Set();
  const chain = new Map(segments.map((segment) => [segment.box_id, segment]));
  const rows = await query.all<EntryRow>(
    sql`SELECT e.card_id, e.box_id, e.position, e.added_revision, e.removed_revision FROM ${entriesByCard}
        WHERE e.tenant_id = ${TENANT} AND e.card_id = ANY(${ids}) AND e.box_id = ANY(${[...chain.keys()]})`,
  );
  const isPresent = (row: EntryRow) => {
    const { revision, until } = chain.get(row.box_id)!;
    const isAdded = row.position < until && row.added_revision <= revision;
    return isAdded && (row.removed_revision === null || row.removed_revision > revision);
  };
  return new Set(rows.filter(isPresent).map(({ card_id }) => card_id));
}

interface AppendState {
  /** Cards that the newest revision has an own entry for, besides those of its base. */
  readonly entered: Set<string>;
  /** Cards that are readable now. */
  readonly known: Set<string>;
}

/** PostgreSQL without statistics may scan the whole box; only the index by card can serve a range of pairs. */
const isIn = (box_id: string, card_id: string): Sql =>
  byDialect({
    sqlite: sql`e.box_id = ${box_id}`,
    postgres: sql`(e.card_id, e.box_id) >= (${card_id}, ${box_id}) AND (e.card_id, e.box_id) <= (${card_id}, ${box_id})`,
  });

/** Reads in one statement what an append needs to know about its cards. */
export async function readAppendState(
  query: Query,
  box_id: string,
  ids: readonly string[],
  now: number,
): Promise<AppendState> {
  const one = ids.length === 1 ? ids[0]! : undefined;
  // The common case of one card needs no list.
  const isOneOf = one === undefined ? sql`= ANY(${ids})` : sql`= ${one}`;
  const rows = await query.all<{ card_id: string; entered: number }>(
    sql`SELECT c.card_id, 0 AS entered FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id ${isOneOf} AND ${readableAt(now)}
        UNION ALL
        SELECT e.card_id, 1 AS entered FROM ${entriesByCard}
        WHERE e.tenant_id = ${TENANT} AND e.card_id ${isOneOf}
          AND ${one === undefined ? sql`e.box_id = ${box_id}` : isIn(box_id, one)} AND e.removed_revision IS NULL`,
  );
  const state: AppendState = { entered: new Set(), known: new Set() };
  for (const { card_id, entered } of rows) (entered === 1 ? state.entered : state.known).add(card_id);
  return state;
}
