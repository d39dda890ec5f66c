/** The cards in the boxes of an agent_turn: as of a revision, by type, by tool call. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import type { Card } from '../../facts/contract.js';
import { hydrateViews } from '../../facts/index.js';
import { type BoxRow, entriesAfter, findBox, findCards, segmentsOf, toCard } from '../../facts/sql.js';
import { CairnError } from '../../kernel/index.js';
import { MAX_CONTEXT_CARDS } from '../../recall/contract.js';

/** Reads cards by id, in this order; refuses erased ones. */
export async function cardsSeen(call: Call, query: Query, ids: readonly string[]): Promise<Card[]> {
  const rows = await findCards(query, ids);
  const erased = ids.filter((id) => rows.get(id)?.erased_at !== null);
  if (erased.length > 0) throw cardsErased(erased);
  return ids.map((id) => toCard(call.tenant, rows.get(id)!));
}

const cardsErased = (card_ids: readonly string[]): CairnError =>
  new CairnError('CONTENT_ERASED', `${card_ids.length} card(s) were erased: ${card_ids.slice(0, 3).join(', ')}`, {
    card_ids: card_ids.slice(0, 100),
  });

/** A box of an agent_turn. Its content ends when its trajectory is deleted. */
export async function turnBox(query: Query, box_id: string): Promise<BoxRow> {
  const box = await findBox(query, box_id);
  if (box && box.ended_at === null) return box;
  throw new CairnError('CONTENT_ERASED', `box ${box_id} was deleted with its trajectory`, { box_ids: [box_id] });
}

/** A box with its cards as of a revision. */
export interface BoxView {
  readonly row: BoxRow;
  readonly card_ids: readonly string[];
}

export async function turnBoxAt(query: Query, box_id: string, revision: number): Promise<BoxView> {
  const row = await turnBox(query, box_id);
  const segments = await segmentsOf(query, row, revision);
  const entries = await entriesAfter(query, segments, { after: 0, limit: MAX_CONTEXT_CARDS });
  return { row, card_ids: entries.map(({ card_id }) => card_id) };
}

/** The cards of boxes at a moment, box by box. Omits expired cards of unsealed boxes; refuses other erased cards. */
export async function cardsAt(call: Call, query: Query, boxes: readonly BoxView[], moment: number): Promise<Card[]> {
  const shown = await hydrateViews(call, query, boxes, 'cards: replace the boxes by shorter ones', moment);
  const missing = shown.flatMap((one, i) => (boxes[i]!.row.sealed_at === null ? [] : one.missing));
  const open = shown.flatMap((one, i) => (boxes[i]!.row.sealed_at === null ? one.missing : []));
  if (open.length > 0) {
    const rows = await findCards(query, open);
    const expired = (id: string) => (rows.get(id)?.expires_at ?? moment + 1) <= moment;
    missing.push(...open.filter((id) => !expired(id)));
  }
  if (missing.length > 0) throw cardsErased(missing);
  return shown.flatMap(({ cards }) => cards);
}

/** INDEXED BY: SQLite would otherwise scan the whole box. */
const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/** The tool.result cards in a box for these tool_call_ids. */
export const resultsIn = async (
  query: Query,
  box_id: string,
  tool_call_ids: readonly string[],
): Promise<{ tool_call_id: string; card_id: string }[]> =>
  query.all(
    sql`SELECT c.tool_call_id, c.card_id FROM cards c CROSS JOIN ${entriesByCard}
        WHERE c.tenant_id = ${TENANT} AND c.tool_call_id = ANY(${tool_call_ids})
          AND c.metadata ->> 'type' = 'tool.result' AND e.tenant_id = ${TENANT} AND e.card_id = c.card_id
          AND e.box_id = ${box_id} AND e.removed_revision IS NULL`,
  );

/** Ids of the cards of this type in a box, in order. */
export async function cardsOfType(query: Query, box_id: string, type: string): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT e.card_id FROM box_entries e CROSS JOIN cards c
        WHERE e.tenant_id = ${TENANT} AND e.box_id = ${box_id} AND e.removed_revision IS NULL
          AND c.tenant_id = ${TENANT} AND c.card_id = e.card_id AND c.metadata ->> 'type' = ${type}
        ORDER BY e.position`,
  );
  return rows.map((row) => row.card_id);
}
