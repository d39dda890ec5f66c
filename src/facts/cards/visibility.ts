/** Which cards an agent may see: those of agent_turns are for those who may see a box that has them. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import { turnBoxHolder } from '../../engine/sql.js';
import { visibleBox } from '../boxes/store.js';
import { cardsWithin } from './reach.js';

/** Whether a card or box is held by an agent_turn. */
export const isOfTurn = ({ held_by }: { readonly held_by: string | null }): boolean =>
  held_by?.startsWith(turnBoxHolder('')) ?? false;

/** Whether a card under the name c is of no agent_turn, or in a box that the agent may see. */
export const shownTo = (viewer: string): Sql =>
  sql`(c.held_by IS NULL OR SUBSTR(c.held_by, 1, 11) <> 'agent_turn:'
    OR EXISTS (SELECT 1 FROM box_entries seen CROSS JOIN boxes b
      WHERE seen.tenant_id = ${TENANT} AND seen.card_id = c.card_id AND b.tenant_id = ${TENANT}
        AND b.box_id = seen.box_id AND ${visibleBox(viewer)}))`;

export interface UnseenCard {
  readonly card_id: string;
  /** By the agent_turn that holds it, and not by its reach. */
  readonly is_hidden: number;
}

/** Which of these cards an agent may not see, or not reach, if it has a reach. What it wrote itself it reaches here. */
export function unseenCards(
  query: Query,
  card_ids: readonly string[],
  viewer: string,
  reach: CardReach | undefined,
): Promise<UnseenCard[]> {
  const hidden = sql`CASE WHEN ${shownTo(viewer)} THEN 0 ELSE 1 END`;
  const beyond = reach ? sql`CASE WHEN c.author_id = ${viewer} OR ${cardsWithin(reach)} THEN 0 ELSE 1 END` : sql`0`;
  return query.all<UnseenCard>(
    sql`SELECT f.card_id, f.is_hidden FROM (
          SELECT c.card_id, ${hidden} AS is_hidden, ${beyond} AS is_beyond FROM cards c
          WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids})) f
        WHERE f.is_hidden = 1 OR f.is_beyond = 1`,
  );
}

/** Which of these cards are in a box of an agent_turn that the agent may see. */
export async function cardsGiven(query: Query, card_ids: readonly string[], viewer: string): Promise<Set<string>> {
  if (card_ids.length === 0) return new Set();
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT DISTINCT seen.card_id FROM box_entries seen CROSS JOIN boxes b
        WHERE seen.tenant_id = ${TENANT} AND seen.card_id = ANY(${card_ids}) AND b.tenant_id = ${TENANT}
          AND b.box_id = seen.box_id AND SUBSTR(b.held_by, 1, 11) = 'agent_turn:' AND ${visibleBox(viewer)}`,
  );
  return new Set(rows.map(({ card_id }) => card_id));
}
