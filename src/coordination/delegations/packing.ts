/** What the context of a delegation is packed of: its task, what else the other should know, boxes, and a scope. */
import type { Work } from '../../engine/index.js';
import { permitted } from '../../facts/index.js';
import { type BoxRow, findBox } from '../../facts/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { openScopeOf } from '../../memory/index.js';
import type { ScopeRow } from '../../memory/sql.js';
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

/** As for any task; and the context becomes a card behind the instruction, unless the recipe makes something else of it. */
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
  const type = 'task.context';
  const card = { arg_key: 'context', type, content: context, metadata: { type, role: 'user' } };
  return { ...plan, cards: [...plan.cards, card] };
}

/** The delegator's scope, locked: open, of its trajectory, and such as it may read. Gives its box. */
export async function checkScope(
  work: Work,
  scope_id: string,
  trajectory_id: string,
  from_agent_id: string,
): Promise<BoxRow> {
  const { tx } = work;
  const scope = await openScopeOf(tx, 'scope_id', scope_id, trajectory_id);
  return scopeBox(work, scope, from_agent_id);
}

/** A scope without an agent is the trajectory's: whoever may delegate in that may give it. */
async function scopeBox({ call, tx }: Work, scope: ScopeRow, from_agent_id: string): Promise<BoxRow> {
  const reader = asAgent(call, scope.agent_id === null ? null : from_agent_id);
  return permitted(reader, tx, scope.box_id, await findBox(tx, scope.box_id), 'read');
}
