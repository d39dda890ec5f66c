/** The trajectories of tasks finish with their agent_turns, once nothing below them is under way. */
import type { Tx } from '../driver/driver.js';
import { type AgentTurnView, findAgentTurn } from '../store/agent-turns.js';
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

/** Gives holders that ended with them, whose content is to be erased. */
export async function finishTasks(
  call: Call,
  tx: Tx,
  ended: readonly AgentTurnView[],
  now: number,
): Promise<string[]> {
  const holders: string[] = [];
  // Cairn does it, whoever ended the turn: that one may have given the trajectory away.
  const system = asAgent(call, null);
  for (const turn of await chainOf(call, tx, ended)) {
    const { trajectory_id, summary, result_status } = turn;
    const trajectory = await findTrajectory(tx, call.tenant, trajectory_id);
    if (!trajectory || trajectory.deleted_at !== null || trajectory.status !== 'Active') continue;
    const completed = turn.status === 'completed';
    if (completed && (await activeChildren(tx, call.tenant, trajectory_id, 1)).length > 0) continue;
    const outcome = {
      status: completed ? (result_status === 'partial' ? 'Partial' : 'Success') : 'Failure',
      ...(summary === null ? {} : { summary }),
    } as const;
    const patch = preparePatch(trajectory_id, { status: completed ? 'Completed' : 'Failed', outcome });
    holders.push(...(await updateIn(system, tx, patch, now)).ended);
  }
  return holders;
}
