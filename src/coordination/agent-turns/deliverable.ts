/** What an agent_turn delivers: checked against what the task asks for, and put into the output box as its last card. */
import type { Tx } from '../../driver/index.js';
import { reads } from '../../engine/contract.js';
import type { Call, Work } from '../../engine/index.js';
import type { Card } from '../../facts/contract.js';
import { checkDeliverable, type PreparedCard, prepareCard, resultFields } from '../../facts/index.js';
import { asPermitted, checkUses } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { knownMemories } from '../../memory/sql.js';
import type { DelegationResult } from '../delegations/model.js';
import { cardsSeen } from './cards.js';
import { cardsOfType } from './cards-store.js';
import type { TurnEnd } from './ending.js';
import { appendCards } from './steps.js';
import type { AgentTurnView } from './store.js';

/** Checked and hashed, before any transaction. */
export interface PreparedDeliverable {
  readonly content: string | JsonObject;
  readonly card: PreparedCard;
}

export const prepareDeliverable = (call: Call, content: string | JsonObject): PreparedDeliverable => ({
  content,
  card: prepareCard(call, { content, metadata: { type: 'task.deliverable', role: 'assistant' } }),
});

interface Delivery {
  readonly deliverable: PreparedDeliverable;
  readonly summary?: string | undefined;
  /** What the delegation is told. */
  readonly result: DelegationResult & { readonly status: 'Success' | 'Partial' };
}

/** Delivers in a turn that is held: gives how it ends. */
export async function deliver(
  work: Work,
  turn: AgentTurnView,
  { deliverable, summary, result }: Delivery,
): Promise<TurnEnd> {
  const { content, card } = deliverable;
  if (turn.status === 'suspended') {
    throw new CairnError(
      'STATE_CONFLICT',
      `agent_turn ${turn.agent_turn_id} is suspended: resume it before you complete it`,
      { status: turn.status },
    );
  }
  const fields = resultFields(await fieldCards(work, turn));
  const missing = checkDeliverable(fields, content);
  if (missing.length > 0) {
    throw invalid(`the deliverable lacks what task.result_fields asks for: ${missing.join(', ')}`, {
      missing_fields: missing,
    });
  }
  const { cards } = await appendCards(work, turn, [card]);
  return {
    status: 'completed',
    deliverable_card_id: cards[0]!.card_id,
    result_status: result.status === 'Partial' ? 'partial' : 'success',
    summary: summaryOf(content, summary),
    result,
  };
}

const SUMMARY_LENGTH = 20_000;

/** What is told of a deliverable: what was said, else its own text or summary. */
export function summaryOf(deliverable: string | JsonObject, said: string | undefined): string | undefined {
  const own = typeof deliverable === 'string' ? deliverable : deliverable.summary;
  const told = said ?? (typeof own === 'string' ? own : undefined);
  return told?.slice(0, SUMMARY_LENGTH);
}

/** The cards that say which fields a result must have. */
const fieldCards = async ({ call, tx }: Work, turn: AgentTurnView): Promise<Card[]> =>
  cardsSeen(call, tx, await cardsOfType(tx, turn.context_box_id, 'task.result_fields'));

/** Refuses artifacts that the agent may not read: to name them as its result must not make them its own. */
export async function checkArtifactsReadable(call: Call, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const own = await asPermitted(call, ['parties', reads('Artifact', 'named')], {});
  for (const artifact_id of ids) await checkUses(own, [reads('Artifact', 'artifact_id')], { artifact_id });
}

export async function refuseUnknownArtifacts(
  tx: Tx,
  field: string,
  ids: readonly string[],
  now: number,
): Promise<void> {
  const known = await knownMemories(tx, ids, now, { kind: 'artifact' });
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  throw new CairnError(
    'UNKNOWN_ENTITY',
    `${field} names ${missing.length} artifact(s) that do not exist: ${missing.slice(0, 3).join(', ')}`,
    { missing_ids: missing.slice(0, 100) },
  );
}

/** Text and objects as they are; what else JSON has as text. */
export const asDeliverable = (output: Json): string | JsonObject => {
  if (typeof output === 'string') return output;
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) return output;
  return JSON.stringify(output);
};
