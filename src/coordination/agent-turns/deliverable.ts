/** The deliverable of an agent_turn: checked against task.result_fields, and the last card of the output box. */
import { reads } from '../../engine/contract.js';
import type { Call, Work } from '../../engine/index.js';
import { checkDeliverable, type PreparedCard, prepareCard, resultFields } from '../../facts/index.js';
import { asPermitted, checkUses } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, invalid, isObject } from '../../kernel/index.js';
import { unknownEntity } from '../../memory/index.js';
import { existingMemories } from '../../memory/sql.js';
import type { DelegationResult } from '../delegations/model.js';
import { cardsOfType, cardsSeen } from './cards.js';
import type { TurnEnd } from './ending.js';
import { appendCards } from './steps.js';
import type { AgentTurnView } from './store.js';

/** Checked and hashed before the transaction. */
interface PreparedDeliverable {
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
  /** The result of the delegation. */
  readonly result: DelegationResult & { readonly status: 'Success' | 'Partial' };
}

/** Appends the deliverable to a held agent_turn; returns how the agent_turn ends. */
export async function deliver(
  work: Work,
  turn: AgentTurnView,
  { deliverable, summary, result }: Delivery,
): Promise<TurnEnd> {
  const { status, agent_turn_id, context_box_id } = turn;
  if (status === 'suspended') {
    throw new CairnError('STATE_CONFLICT', `agent_turn ${agent_turn_id} is suspended: resume it first`, { status });
  }
  const ids = await cardsOfType(work.tx, context_box_id, 'task.result_fields');
  const missing_fields = checkDeliverable(resultFields(await cardsSeen(work.call, work.tx, ids)), deliverable.content);
  if (missing_fields.length > 0) {
    throw invalid(`the deliverable lacks fields of task.result_fields: ${missing_fields.join(', ')}`, {
      missing_fields,
    });
  }
  const { cards } = await appendCards(work, turn, [deliverable.card]);
  return {
    status: 'completed',
    deliverable_card_id: cards[0]!.card_id,
    result_status: result.status === 'Partial' ? 'partial' : 'success',
    summary: summaryOf(deliverable.content, summary),
    result,
  };
}

const SUMMARY_LENGTH = 20_000;

/** The given summary; default: the text of the deliverable, or its `summary` field. */
export function summaryOf(deliverable: string | JsonObject, given: string | undefined): string | undefined {
  const own = typeof deliverable === 'string' ? deliverable : deliverable.summary;
  const summary = given ?? (typeof own === 'string' ? own : undefined);
  return summary?.slice(0, SUMMARY_LENGTH);
}

/** Refuses artifacts that the agent may not read: naming one as a result must not give access to it. */
export async function checkArtifactsReadable(call: Call, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const own = await asPermitted(call, ['parties', reads('Artifact', 'named')], {});
  for (const artifact_id of ids) await checkUses(own, [reads('Artifact', 'artifact_id')], { artifact_id });
}

export async function refuseUnknownArtifacts({ tx, now }: Work, field: string, ids: readonly string[]): Promise<void> {
  const known = await existingMemories(tx, ids, now, { kind: 'artifact' });
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) throw unknownEntity(field, 'artifact', missing);
}

/** Text and objects stay as they are; any other JSON becomes text. */
export const asDeliverable = (output: Json): string | JsonObject =>
  typeof output === 'string' || isObject(output) ? output : JSON.stringify(output);
