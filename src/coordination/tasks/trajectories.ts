/** The trajectories of tasks: created for them, finished with their agent_turns once no child is active. */
import type { Tx } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import {
  activeChildren,
  createIn,
  findTrajectory,
  isFinished,
  lockTrajectory,
  preparePatch,
  updateIn,
} from '../../memory/index.js';
import { existingMemories } from '../../memory/sql.js';
import { type AgentTurnView, turnOfTrajectory } from '../agent-turns/store.js';
import type { DelegationResult } from '../delegations/model.js';
import { findDelegation } from '../delegations/store.js';
import { asAgent } from '../packing/service.js';

const NAME_LENGTH = 120;

interface ChildTrajectory {
  readonly parent: string | null;
  readonly agent_id: string;
  /** The task, of any length; its first line becomes the name. */
  readonly label: string;
}

/** Creates the trajectory of a task, owned by its agent; returns its id. Refuses a finished parent. */
export async function createChildTrajectory(work: Work, { parent, agent_id, label }: ChildTrajectory): Promise<string> {
  const [line] = label.trim().split('\n');
  const name = [...line!].slice(0, NAME_LENGTH).join('') || 'task';
  const input = { name, parent_trajectory_id: parent };
  return (await createIn(work, { input, agent_id, metadata: '{}', sent_hash: null, bytes: 0 })).trajectory_id;
}

/** The artifacts of the result that still exist: some may be gone if the task waited for its children. */
async function artifactsNamed(tx: Tx, { delegation_id }: AgentTurnView, now: number): Promise<string[]> {
  const delegation = delegation_id === null ? undefined : await findDelegation(tx, delegation_id);
  const result = delegation?.result == null ? null : (JSON.parse(delegation.result) as DelegationResult);
  const named = [...new Set(result?.artifacts)];
  if (named.length === 0) return [];
  const known = await existingMemories(tx, named, now, { kind: 'artifact' });
  return named.filter((id) => known.has(id));
}

/** Finishes the trajectory of an ended task, unless a completed one has active children. Returns the ended holders. */
async function finishTask(work: Work, turn: AgentTurnView): Promise<readonly string[] | undefined> {
  const { call, tx, now } = work;
  const { trajectory_id, summary, result_status } = turn;
  // Locked before the checks: if a task and its last child end concurrently, the second sees the end of the first.
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
  // Done as the tenant: the caller may have handed the trajectory over.
  const asTenant: Call = { ...asAgent(call, null), acting: undefined };
  return (await updateIn({ ...work, call: asTenant }, { ...patch, with_task: true })).ended;
}

/** Finishes the ancestors of a finished or deleted trajectory that waited only for it. */
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
      // Only trajectories of tasks finish by themselves.
      if (!(await turnOfTrajectory(tx, above))) return holders;
      await lockTrajectory(tx, above);
      const turn = await turnOfTrajectory(tx, above);
      const ended = turn?.ended_at == null ? undefined : await finishTask(work, turn);
      if (!ended) return holders;
      holders.push(...ended);
    }
    below = await findTrajectory(tx, above);
  }
  return holders;
}

/** Finishes the trajectories of ended tasks; returns the holders whose content must be erased. */
export async function finishTasks(
  work: Work,
  ended: readonly AgentTurnView[],
  deleted: readonly string[],
): Promise<string[]> {
  const holders: string[] = [];
  // Deepest first: a trajectory completes only when no child is Active.
  for (const turn of [...ended].sort((a, b) => b.depth - a.depth)) {
    if (deleted.includes(turn.trajectory_id)) continue;
    const own = await finishTask(work, turn);
    if (!own) continue;
    holders.push(...own, ...(await finishAbove(work, turn.trajectory_id, deleted)));
  }
  return holders;
}
