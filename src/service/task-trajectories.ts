/** The trajectories of tasks finish with their agent_turns, once nothing below them is under way. */
import type { Tx } from '../driver/driver.js';
import type { DelegationResult } from '../model/delegation.js';
import { type AgentTurnView, findAgentTurn } from '../store/agent-turns.js';
import { findDelegation } from '../store/delegations.js';
import { knownMemories } from '../store/memories.js';
import { activeChildren, findTrajectory } from '../store/trajectories.js';
import { asAgent } from './packing.js';
import type { Call } from './runtime.js';
import { preparePatch, updateIn } from './trajectories.js';

/** The agent_turns that ended, and above them those that ended before and waited for what they had delegated. */
async function chainOf(call: Call, tx: Tx, ended: readonly AgentTurnView[]): Promise<AgentTurnView[]> {
  const chain = new Map(ended.map((turn) => [turn.agent_turn_id, turn]));
  for (const turn of ended) {
    for (let id = turn.parent_agent_turn_id; id !== null && !chain.has(id); ) {
      const parent = await findAgentTurn(tx, call.tenant, id);
      if (!parent || parent.ended_at === null) break;
      chain.set(id, parent);
      id = parent.parent_agent_turn_id;
    }
  }
  // The deepest first: a trajectory is completed when none below it is Active.
  return [...chain.values()].sort((a, b) => b.depth - a.depth);
}

/** The artifacts that the result names. Some may have gone while it waited for what was delegated. */
async function artifactsNamed(
  call: Call,
  tx: Tx,
  { delegation_id }: AgentTurnView,
  now: number,
): Promise<string[]> {
  const delegation =
    delegation_id === null ? undefined : await findDelegation(tx, call.tenant, delegation_id);
  const result = delegation?.result == null ? null : (JSON.parse(delegation.result) as DelegationResult);
  const named = [...new Set(result?.artifacts)];
  if (named.length === 0) return [];
  const known = await knownMemories(tx, call.tenant, named, now, { kind: 'artifact' });
  return named.filter((id) => known.has(id));
}

/** Gives holders that ended with them, whose content is to be erased. */
export async function finishTasks(
  call: Call,
  tx: Tx,
  ended: readonly AgentTurnView[],
  now: number,
  deleted: readonly string[],
): Promise<string[]> {
  const holders: string[] = [];
  // Cairn does it, whoever ended the turn: that one may have given the trajectory away.
  const system = asAgent(call, null);
  for (const turn of await chainOf(call, tx, ended)) {
    const { trajectory_id, summary, result_status } = turn;
    if (deleted.includes(trajectory_id)) continue;
    const trajectory = await findTrajectory(tx, call.tenant, trajectory_id);
    if (!trajectory || trajectory.deleted_at !== null || trajectory.status !== 'Active') continue;
    const completed = turn.status === 'completed';
    if (completed && (await activeChildren(tx, call.tenant, trajectory_id, 1)).length > 0) continue;
    const produced_artifacts = await artifactsNamed(call, tx, turn, now);
    const outcome = {
      status: completed ? (result_status === 'partial' ? 'Partial' : 'Success') : 'Failure',
      ...(summary === null ? {} : { summary }),
      ...(produced_artifacts.length === 0 ? {} : { produced_artifacts }),
    } as const;
    const patch = preparePatch(trajectory_id, { status: completed ? 'Completed' : 'Failed', outcome });
    holders.push(...(await updateIn(system, tx, patch, now)).ended);
  }
  return holders;
}
