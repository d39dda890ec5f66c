/** An agent that gave a trajectory away by a handoff no longer writes in it, whatever its memory_access says. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { findFormerOwner } from './former-owners-store.js';

/**
 * The refusal of a write in these trajectories, if the agent gave one of them away: the one that the call is made as, or
 * that a key without an agent names. Asked in the writing transaction, once the trajectory or what is in it is locked.
 */
export async function formerOwnerRefusal(
  call: Call,
  query: Query,
  trajectory_ids: readonly string[],
  named: string | null = null,
): Promise<CairnError | undefined> {
  const agent_id = call.caller.agent_id ?? named;
  if (agent_id === null || trajectory_ids.length === 0) return undefined;
  const former = await findFormerOwner(query, trajectory_ids, agent_id);
  if (!former) return undefined;
  const { trajectory_id, handoff_id } = former;
  return new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} gave trajectory ${trajectory_id} away by handoff ${handoff_id}, and may no longer write in it`,
    { rule: 'former_owner', trajectory_id, handoff_id },
  );
}

export async function refuseFormerOwner(
  call: Call,
  query: Query,
  trajectory_id: string | null,
  named?: string | null,
): Promise<void> {
  const refusal = trajectory_id && (await formerOwnerRefusal(call, query, [trajectory_id], named));
  if (refusal) throw refusal;
}
