/** Refuses cards that an agent may not see: those of agent_turns by box, all others by its memory_access. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { cardReachOf, seesAll } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { cardsGiven, unseenCards } from './visibility.js';

const hiddenCards = (call: Call, card_ids: readonly string[]): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not read ${card_ids.length} card(s) of agent_turns that are not its own: ${card_ids.slice(0, 3).join(', ')}; ask for a grant of a box that has them`,
    { rule: 'box_owner_or_grant', card_ids: card_ids.slice(0, 100) },
  );

const nameOf = ({ caller: { agent_id, user_id } }: Call): string =>
  user_id === undefined ? `by its memory_access agent ${agent_id}` : `user ${user_id}`;

export const cardsBeyondReach = (call: Call, card_ids: readonly string[]): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `${nameOf(call)} may not read ${card_ids.length} of these cards: ${card_ids.slice(0, 3).join(', ')}`,
    {
      rule: call.caller.user_id === undefined ? 'memory_access' : 'user',
      memory_type: 'Card',
      need: 'read',
      card_ids: card_ids.slice(0, 100),
    },
  );

const idsOf = (cards: readonly { readonly card_id: string }[]): string[] => cards.map(({ card_id }) => card_id);

/** The cards of agent_turns whose boxes the agent may not see. */
export async function hiddenAmong(call: Call, query: Query, card_ids: readonly string[]): Promise<Set<string>> {
  const { agent_id } = call.caller;
  if (agent_id === null || card_ids.length === 0) return new Set();
  return new Set(idsOf(await unseenCards(query, card_ids, agent_id)));
}

export async function refuseHidden(call: Call, query: Query, card_ids: readonly string[]): Promise<void> {
  const hidden = await hiddenAmong(call, query, card_ids);
  if (hidden.size > 0) throw hiddenCards(call, [...hidden]);
}

/** Cards that an agent may not derive from (subjects are inherited). Cards given to its agent_turns are allowed. */
export async function unreadableSources(call: Call, query: Query, card_ids: readonly string[]): Promise<Set<string>> {
  const { agent_id } = call.caller;
  if (seesAll(call)) return new Set();
  const unseen = await unseenCards(query, card_ids, agent_id, cardReachOf(call));
  const beyond = unseen.filter(({ is_hidden }) => is_hidden === 0);
  const given = agent_id === null ? new Set() : await cardsGiven(query, idsOf(beyond), agent_id);
  return new Set(idsOf(unseen).filter((id) => !given.has(id)));
}

/** Refuses cards that the agent may not read, so that it cannot make them readable by putting them elsewhere. */
export async function refuseUnseen(call: Call, query: Query, card_ids: readonly string[]): Promise<void> {
  const { agent_id } = call.caller;
  if (seesAll(call) || card_ids.length === 0) return;
  const unseen = await unseenCards(query, card_ids, agent_id, cardReachOf(call));
  const hidden = unseen.filter(({ is_hidden }) => is_hidden === 1);
  if (hidden.length > 0) throw hiddenCards(call, idsOf(hidden));
  if (unseen.length > 0) throw cardsBeyondReach(call, idsOf(unseen));
}
