/** The context of a delegation: its task, further context, boxes, and a scope of the delegator. */
import type { Work } from '../../engine/index.js';
import { permitted } from '../../facts/index.js';
import { type BoxRow, findBox } from '../../facts/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { openScopeOf } from '../../memory/index.js';
import type { Handover } from '../handovers/model.js';
import { refuseLost } from '../packing/dispatch.js';
import { type PackingPlan, planPacking } from '../packing/rules.js';
import { asAgent } from '../packing/service.js';

export interface Offer {
  readonly recipe: Handover;
  readonly input_box_ids: readonly string[];
  readonly task_description: string;
  readonly context: JsonObject | null;
}

/** Plans the packing. `context` becomes a card behind the instruction, unless the recipe packs it itself. */
export function planOffer(offer: Offer, profile_name: string | null): PackingPlan {
  const { recipe, input_box_ids, task_description, context } = offer;
  const plan = planPacking(recipe, {
    instruction: task_description,
    ...(context === null ? {} : { context }),
    ...(profile_name === null ? {} : { profile_name }),
    ...(input_box_ids.length === 0 ? {} : { input_box_ids: [...input_box_ids] }),
  });
  refuseLost(plan, input_box_ids);
  if (context === null || plan.cards.some(({ arg_key }) => arg_key === 'context')) return plan;
  const card = { arg_key: 'context', content: context, metadata: { type: 'task.context', role: 'user' } };
  return { ...plan, cards: [...plan.cards, card] };
}

/**
 * Locks the delegator's scope and returns its box: it must be open, in the trajectory, and readable by the delegator. A
 * scope without an agent belongs to the trajectory: any agent that may delegate there may give it.
 */
export async function checkScope(
  { call, tx }: Work,
  scope_id: string,
  trajectory_id: string,
  from_agent_id: string,
): Promise<BoxRow> {
  const { box_id, agent_id } = await openScopeOf(tx, 'scope_id', scope_id, trajectory_id);
  const reader = asAgent(call, agent_id === null ? null : from_agent_id);
  return permitted(reader, tx, box_id, await findBox(tx, box_id), 'read');
}
