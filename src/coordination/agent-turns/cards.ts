/** Reading the cards of an agent_turn's boxes, as they stood at some revision. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import type { Card } from '../../facts/contract.js';
import { hydrateViews } from '../../facts/index.js';
import { type BoxRow, entriesAfter, findBox, findCards, segmentsOf, toCard } from '../../facts/sql.js';
import { CairnError } from '../../kernel/index.js';
import { MAX_CONTEXT_CARDS } from '../../recall/contract.js';

/** Cards that are there by their ids, in this order. */
export async function cardsSeen(call: Call, query: Query, ids: readonly string[]): Promise<Card[]> {
  const rows = await findCards(query, ids);
  const erased = ids.filter((id) => (rows.get(id)?.erased_at ?? null) !== null || !rows.has(id));
  if (erased.length > 0) throw gone(erased);
  return ids.map((id) => toCard(call.tenant, rows.get(id)!));
}

const gone = (card_ids: readonly string[]): CairnError =>
  new CairnError(
    'CONTENT_ERASED',
    `${card_ids.length} card(s) that belong to it were erased: ${card_ids.slice(0, 3).join(', ')}`,
    { card_ids: card_ids.slice(0, 100) },
  );

/** A box of an agent_turn; it went if its trajectory was deleted. */
export async function turnBox(query: Query, box_id: string): Promise<BoxRow> {
  const box = await findBox(query, box_id);
  if (box && box.ended_at === null) return box;
  throw new CairnError('CONTENT_ERASED', `box ${box_id} went with the trajectory that it was made for`, {
    box_ids: [box_id],
  });
}

export interface BoxAt {
  readonly box: BoxRow;
  readonly revision: number;
}

/** A box, and what it held at a revision. */
export interface Held {
  readonly row: BoxRow;
  readonly card_ids: readonly string[];
}

export async function heldAt(query: Query, { box, revision }: BoxAt): Promise<Held> {
  const segments = await segmentsOf(query, box, revision);
  const entries = await entriesAfter(query, segments, { after: 0, limit: MAX_CONTEXT_CARDS });
  return { row: box, card_ids: entries.map(({ card_id }) => card_id) };
}

/**
 * The cards of some boxes as they were shown at a moment, one box after the other: without those of an output that had
 * expired by then. Refuses when another was erased.
 */
export async function cardsAt(call: Call, query: Query, boxes: readonly Held[], moment: number): Promise<Card[]> {
  const shown = await hydrateViews(call, query, boxes, 'cards: replace the boxes by shorter ones', moment);
  const missing = shown.flatMap((one, i) => (boxes[i]!.row.sealed_at === null ? [] : one.missing));
  const open = shown.flatMap((one, i) => (boxes[i]!.row.sealed_at === null ? one.missing : []));
  if (open.length > 0) {
    const rows = await findCards(query, open);
    const expired = (id: string) => (rows.get(id)?.expires_at ?? moment + 1) <= moment;
    missing.push(...open.filter((id) => !expired(id)));
  }
  if (missing.length > 0) throw gone(missing);
  return shown.flatMap(({ cards }) => cards);
}
