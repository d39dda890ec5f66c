/** Which cards an agent may see, and which are listed: conditions on a card named c. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CardReach, Extent } from '../../engine/index.js';
import { NOTHING, SlotRegistry, subjectsWithin, turnBoxHolder } from '../../engine/sql.js';
import { visibleBox } from '../boxes/store.js';

/** Conditions of higher modules at a moment. `not_superseded`: no readable card supersedes this one. */
export const cardConditions = new SlotRegistry<'not_superseded', (now: number) => Sql>('conditions on cards', [
  'not_superseded',
]);

/** `reachesCard` of the engine, in SQL; also cards of which `own` holds. */
export function cardsWithin(reach: CardReach, own: Sql = NOTHING): Sql {
  const { loose, held, agent_id, user } = reach;
  const by = (extent: Extent): Sql => {
    if (extent === 'all') return sql`1 = 1`;
    return extent === 'none' ? NOTHING : sql`c.author_id = ${agent_id}`;
  };
  const reached = sql`(${own} OR (c.held_by IS NULL AND ${by(loose)}) OR (c.held_by IS NOT NULL AND ${by(held)}))`;
  return user === undefined ? reached : sql`(${subjectsWithin(user, sql`c.subject_ids`)} AND ${reached})`;
}

/** Whether an agent_turn holds a card or box. */
export const isOfTurn = ({ held_by }: { readonly held_by: string | null }): boolean =>
  held_by?.startsWith(turnBoxHolder('')) ?? false;

/** Whether no agent_turn holds the card, or it is in a box that the agent may see. */
export const shownTo = (viewer: string): Sql =>
  sql`(c.held_by IS NULL OR SUBSTR(c.held_by, 1, 11) <> 'agent_turn:'
    OR EXISTS (SELECT 1 FROM box_entries seen CROSS JOIN boxes b
      WHERE seen.tenant_id = ${TENANT} AND seen.card_id = c.card_id AND b.tenant_id = ${TENANT}
        AND b.box_id = seen.box_id AND ${visibleBox(viewer)}))`;

interface UnseenCard {
  readonly card_id: string;
  /** 1 if an agent_turn hides it, 0 if it is beyond the agent's reach. */
  readonly is_hidden: number;
}

/** The cards that an agent may not see, or that are beyond its reach if it has one. Its own cards are never beyond it. */
export function unseenCards(
  query: Query,
  ids: readonly string[],
  viewer: string | null,
  reach?: CardReach,
): Promise<UnseenCard[]> {
  const hidden = viewer === null ? sql`0` : sql`CASE WHEN ${shownTo(viewer)} THEN 0 ELSE 1 END`;
  const reached = reach && cardsWithin(reach, sql`c.author_id = ${viewer}`);
  const beyond = reached ? sql`CASE WHEN ${reached} THEN 0 ELSE 1 END` : sql`0`;
  return query.all(
    sql`SELECT f.card_id, f.is_hidden FROM (
          SELECT c.card_id, ${hidden} AS is_hidden, ${beyond} AS is_beyond FROM cards c
          WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids})) f
        WHERE f.is_hidden = 1 OR f.is_beyond = 1`,
  );
}

/** The cards that are in a box of an agent_turn that the agent may see. */
export async function cardsGiven(query: Query, card_ids: readonly string[], viewer: string): Promise<Set<string>> {
  if (card_ids.length === 0) return new Set();
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT DISTINCT seen.card_id FROM box_entries seen CROSS JOIN boxes b
        WHERE seen.tenant_id = ${TENANT} AND seen.card_id = ANY(${card_ids}) AND b.tenant_id = ${TENANT}
          AND b.box_id = seen.box_id AND SUBSTR(b.held_by, 1, 11) = 'agent_turn:' AND ${visibleBox(viewer)}`,
  );
  return new Set(rows.map(({ card_id }) => card_id));
}
