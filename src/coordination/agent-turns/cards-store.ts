/** Cards in the boxes of agent_turns, found by what they are. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';

/** SQLite would rather walk the whole box than look up the few cards. */
const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/** The tool.results of these tool_call_ids in a box. */
export async function resultsIn(
  query: Query,
  box_id: string,
  tool_call_ids: readonly string[],
): Promise<{ tool_call_id: string; card_id: string }[]> {
  return query.all(
    sql`SELECT c.tool_call_id, c.card_id FROM cards c CROSS JOIN ${entriesByCard}
        WHERE c.tenant_id = ${TENANT} AND c.tool_call_id = ANY(${tool_call_ids})
          AND c.metadata ->> 'type' = 'tool.result'
          AND e.tenant_id = ${TENANT} AND e.card_id = c.card_id AND e.box_id = ${box_id} AND e.removed_revision IS NULL`,
  );
}

/** The ids of a box's cards of a type, in order. */
export async function cardsOfType(query: Query, box_id: string, type: string): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT e.card_id FROM box_entries e CROSS JOIN cards c
        WHERE e.tenant_id = ${TENANT} AND e.box_id = ${box_id} AND e.removed_revision IS NULL
          AND c.tenant_id = ${TENANT} AND c.card_id = e.card_id AND c.metadata ->> 'type' = ${type}
        ORDER BY e.position`,
  );
  return rows.map((row) => row.card_id);
}
