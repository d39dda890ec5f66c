/** Holds an agent to the cards that it may see: by the boxes of agent_turns, and by its memory_access. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { cardReachOf } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import type { CardRow } from './store.js';
import { cardsGiven, isOfTurn, unseenCards } from './visibility.js';

const hiddenCards = (call: Call, card_ids: readonly string[]): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not read ${card_ids.length} card(s) of agent_turns that are not its own: ${card_ids.slice(0, 3).join(', ')}; ask for a grant of a box that has them`,
    { rule: 'box_owner_or_grant', card_ids: card_ids.slice(0, 100) },
  );

export const cardsBeyond = (call: Call, card_ids: readonly string[]): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not read ${card_ids.length} of these cards by its memory_access: ${card_ids.slice(0, 3).join(', ')}`,
    { rule: 'memory_access', memory_type: 'Card', need: 'read', card_ids: card_ids.slice(0, 100) },
  );

/** A card that was found, unless it is of an agent_turn whose boxes the agent may not see. */
export async function checkShown(call: Call, query: Query, card: CardRow): Promise<CardRow> {
  const hidden = isOfTurn(card) ? await hiddenAmong(call, query, [card.card_id]) : undefined;
  if (hidden?.has(card.card_id)) throw hiddenCards(call, [card.card_id]);
  return card;
}

/** Which of these cards are of agent_turns whose boxes the agent may not see. */
export async function hiddenAmong(call: Call, query: Query, card_ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { agent_id } = call.caller;
  if (agent_id === null || card_ids.length === 0) return new Set();
  const unseen = await unseenCards(query, card_ids, agent_id, undefined);
  return new Set(unseen.map(({ card_id }) => card_id));
}

export async function refuseHidden(call: Call, query: Query, card_ids: readonly string[]): Promise<void> {
  const hidden = await hiddenAmong(call, query, card_ids);
  if (hidden.size > 0) throw hiddenCards(call, [...hidden]);
}

/**
 * Which of these cards an agent may not derive from, since what is derived inherits their subjects. Cards that an
 * agent_turn was given it may, whatever its memory_access.
 */
export async function unreadableSources(
  call: Call,
  query: Query,
  card_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { agent_id } = call.caller;
  if (agent_id === null) return new Set();
  const unseen = await unseenCards(query, card_ids, agent_id, cardReachOf(call));
  const beyond = unseen.filter(({ is_hidden }) => is_hidden === 0).map(({ card_id }) => card_id);
  const given = await cardsGiven(query, beyond, agent_id);
  return new Set(unseen.map(({ card_id }) => card_id).filter((id) => !given.has(id)));
}

/** Refuses cards that the agent may not read: to put them somewhere else must not make them readable. */
export async function refuseUnseen(call: Call, query: Query, card_ids: readonly string[]): Promise<void> {
  const { agent_id } = call.caller;
  if (agent_id === null || card_ids.length === 0) return;
  const unseen = await unseenCards(query, card_ids, agent_id, cardReachOf(call));
  if (unseen.length === 0) return;
  const idsOf = (hidden: number) =>
    unseen.filter(({ is_hidden }) => is_hidden === hidden).map(({ card_id }) => card_id);
  throw idsOf(1).length > 0 ? hiddenCards(call, idsOf(1)) : cardsBeyond(call, idsOf(0));
}
