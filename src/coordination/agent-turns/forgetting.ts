/** The rendered prompts of agent_turns whose context had a card: system messages are rendered from it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Forgettable } from '../../engine/index.js';
import { showedAnyCard } from '../../recall/index.js';

export async function promptsFrom(query: Query, ids: readonly string[]): Promise<Forgettable[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT DISTINCT e.card_id FROM manifests m
          JOIN agent_turns a ON a.tenant_id = m.tenant_id AND a.agent_turn_id = m.agent_turn_id
          JOIN box_entries e ON e.tenant_id = a.tenant_id AND e.box_id = a.record_box_id
        WHERE m.tenant_id = ${TENANT} AND m.kind = 'packing' AND ${showedAnyCard(ids)}`,
  );
  return rows.map(({ card_id }) => ({ kind: 'card', id: card_id }));
}
