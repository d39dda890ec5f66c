/** The trajectories of tasks finish with their agent_turns, once nothing below them is under way. */
import type { Tx } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import {
  activeChildren,
  findTrajectory,
  isFinished,
  lockTrajectory,
  preparePatch,
  updateIn,
} from '../../memory/index.js';
import { knownMemories } from '../../memory/sql.js';
import { type AgentTurnView, turnOfTrajectory } from '../agent-turns/store.js';
import type { DelegationResult } from '../delegations/model.js';
import { findDelegation } from '../delegations/store.js';
import { asAgent } from '../packing/service.js';

/** The artifacts that the result names. Some may have gone while it waited for what was delegated. */
async function artifactsNamed(tx: Tx, { delegation_id }: AgentTurnView, now: number): Promise<string[]> {
  const delegation = delegation_id === null ? undefined : await findDelegation(tx, delegation_id);
  const result = delegation?.result == null ? null : (JSON.parse(delegation.result) as DelegationResult);
  const named = [...new Set(result?.artifacts)];
  if (named.length === 0) return [];
  const known = await knownMemories(tx, named, now, { kind: 'artifact' });
  return named.filter((id) => known.has(id));
}

/** Finishes the trajectory of a task that has ended, if it is time. Gives what ended with it, or undefined. */
async function finishTask(work: Work, turn: AgentTurnView): Promise<readonly string[] | undefined> {
  const { call, tx, now } = work;
  const { trajectory_id, summary, result_status } = turn;
  // Locked before anything is asked: of a task and the last below it that end at once, one sees that the other has.
  const trajectory = await lockTrajectory(tx, trajectory_id);
  if (!trajectory || trajectory.deleted_at !== null || isFinished(trajectory)) return undefined;
  const completed = turn.status === 'completed';
  if (completed && (await activeChildren(tx, trajectory_id, 1)).length > 0) return undefined;
  const produced_artifacts = await artifactsNamed(tx, turn, now);
  const outcome = {
    status: completed ? (result_status === 'partial' ? 'Partial' : 'Success') : 'Failure',
    ...(summary === null ? {} : { summary }),
    ...(produced_artifacts.length === 0 ? {} : { produced_artifacts }),
  } as const;
  const patch = preparePatch(trajectory_id, { status: completed ? 'Completed' : 'Failed', outcome });
  // Cairn does it, whoever ended the turn: that one may have given the trajectory away.
  const own: Call = { ...asAgent(call, null), acting: undefined };
  return (await updateIn({ ...work, call: own }, { ...patch, with_task: true })).ended;
}

/** Finishes what is above a trajectory that finished or went, as far as that waited for nothing else. */
export async function finishAbove(
  work: Work,
  trajectory_id: string,
  deleted: readonly string[] = [],
): Promise<string[]> {
  const { tx } = work;
  const holders: string[] = [];
  let below = await findTrajectory(tx, trajectory_id);
  while (below && below.parent_trajectory_id !== null) {
    const above = below.parent_trajectory_id;
    if (!deleted.includes(above)) {
      // What is no task is finished by whoever began it.
      if (!(await turnOfTrajectory(tx, above))) return holders;
      await lockTrajectory(tx, above);
      const turn = await turnOfTrajectory(tx, above);
      const ended = turn && turn.ended_at !== null ? await finishTask(work, turn) : undefined;
      if (!ended) return holders;
      holders.push(...ended);
    }
    below = await findTrajectory(tx, above);
  }
  return holders;
}

/** Gives holders that ended with them, whose content is to be erased. */
export async function finishTasks(
  work: Work,
  ended: readonly AgentTurnView[],
  deleted: readonly string[],
): Promise<string[]> {
  const holders: string[] = [];
  // The deepest first: a trajectory is completed when none below it is Active.
  for (const turn of [...ended].sort((a, b) => b.depth - a.depth)) {
    if (deleted.includes(turn.trajectory_id)) continue;
    const own = await finishTask(work, turn);
    if (!own) continue;
    holders.push(...own, ...(await finishAbove(work, turn.trajectory_id, deleted)));
  }
  return holders;
}
