/** Fills a box from cards and other boxes, in one statement for any number of cards. */
import { acrossTenants, byDialect, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import { cardsWithin, readableAt, type Segment } from '../../facts/sql.js';

/** A part of a context: cards by id, or segments of boxes. */
export type Part =
  | { readonly card_ids: readonly string[] }
  | { readonly segments: readonly Segment[]; readonly without?: readonly string[] };

/** The entries of the segments as (part, place, card_id). */
const inherited = (json: string): Sql =>
  byDialect({
    sqlite: sql`SELECT s.value ->> 0 AS part, e.position AS place, e.card_id
      FROM json_each(${json}) s CROSS JOIN box_entries e
      WHERE e.tenant_id = ${TENANT} AND e.box_id = s.value ->> 1 AND e.position >= s.value ->> 2
        AND e.position < s.value ->> 3 AND e.added_revision <= s.value ->> 4
        AND (e.removed_revision IS NULL OR e.removed_revision > s.value ->> 4)`,
    postgres: sql`SELECT s.part, e.position AS place, e.card_id
      FROM (SELECT (v ->> 0)::bigint AS part, v ->> 1 AS box_id, (v ->> 2)::bigint AS low, (v ->> 3)::bigint AS high,
              (v ->> 4)::bigint AS revision FROM json_array_elements(${json}::json) v) s
      CROSS JOIN LATERAL (SELECT * FROM box_entries l WHERE l.tenant_id = ${TENANT} AND l.box_id = s.box_id
        AND l.position >= s.low AND l.position < s.high OFFSET 0) e
      WHERE e.tenant_id = ${TENANT} AND e.added_revision <= s.revision
        AND (e.removed_revision IS NULL OR e.removed_revision > s.revision)`,
  });

/** Cards by id in the same form; acrossTenants: it reads no table. */
const byId = (json: string): Sql =>
  byDialect({
    sqlite: acrossTenants`SELECT s.value ->> 0 AS part, s.value ->> 1 AS place, s.value ->> 2 AS card_id FROM json_each(${json}) s`,
    postgres: acrossTenants`SELECT (v ->> 0)::bigint AS part, (v ->> 1)::bigint AS place, v ->> 2 AS card_id
      FROM json_array_elements(${json}::json) v`,
  });

/** Inserts the parts into a new box, each readable card at its first occurrence; returns the number of cards. */
export function fillBox(tx: Tx, box_id: string, parts: readonly Part[], moment: number): Promise<number> {
  const singles = parts.flatMap((part, i) =>
    'card_ids' in part ? part.card_ids.map((card_id, place) => [i, place, card_id]) : [],
  );
  const segments = parts.flatMap((part, i) =>
    'segments' in part ? part.segments.map((s) => [i, s.box_id, s.from, s.until, s.revision]) : [],
  );
  const without = parts.flatMap((part) => ('segments' in part ? (part.without ?? []) : []));
  return tx.run(
    sql`INSERT INTO box_entries (tenant_id, box_id, position, card_id, ordinal, added_revision)
        SELECT c.tenant_id, CAST(${box_id} AS TEXT), ROW_NUMBER() OVER (ORDER BY f.part, f.place), c.card_id,
          ROW_NUMBER() OVER (ORDER BY f.part, f.place), 1
        FROM (SELECT l.part, l.place, l.card_id,
                ROW_NUMBER() OVER (PARTITION BY l.card_id ORDER BY l.part, l.place) AS occurrence
              FROM (${inherited(JSON.stringify(segments))}
                    UNION ALL ${byId(JSON.stringify(singles))}) l) f
        CROSS JOIN cards c
        WHERE f.occurrence = 1 AND c.tenant_id = ${TENANT} AND c.card_id = f.card_id AND ${readableAt(moment)}
          AND NOT f.card_id = ANY(${without})`,
  );
}

/** Up to 100 cards of these segments beyond the reach of the agent. Its own cards are always within it. */
export async function inheritedBeyond(query: Query, segments: readonly Segment[], reach: CardReach): Promise<string[]> {
  const json = JSON.stringify(segments.map((s) => [0, s.box_id, s.from, s.until, s.revision]));
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT c.card_id FROM (${inherited(json)}) f CROSS JOIN cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = f.card_id
          AND CASE WHEN c.author_id = ${reach.agent_id} OR ${cardsWithin(reach)} THEN 0 ELSE 1 END = 1 LIMIT 100`,
  );
  return rows.map(({ card_id }) => card_id);
}

/** The cards of a packed box, in order. */
export async function packedCards(query: Query, box_id: string): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT card_id FROM box_entries WHERE tenant_id = ${TENANT} AND box_id = ${box_id} ORDER BY position`,
  );
  return rows.map(({ card_id }) => card_id);
}
