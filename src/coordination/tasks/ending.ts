/** Ends tasks with their trajectories: Failed stops their agent_turns, deletion also erases their content. */
import type { Query, Tx } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import {
  type FinalStatus,
  type FinishingHooks,
  refuseFormerOwner,
  type TreeDeletion,
  treeIds,
} from '../../memory/index.js';
import { endTurns, lockForEnding, type TurnEnd } from '../agent-turns/ending.js';
import type { AgentTurnView } from '../agent-turns/store.js';
import { endDelegation } from '../delegations/moves.js';
import { lockOffersIn } from '../delegations/store.js';
import { clearHandoffs, endHandoffBoxes, lockHandoffsOf } from '../handoffs/store.js';
import { eraseMessagesAbout } from '../messages/erasure.js';
import { erasePauses } from '../pauses/store.js';
import { clearTasks, endTurnBoxes, unfinishedTurnsIn } from './store.js';
import { finishAbove } from './trajectories.js';

const FAILED: TurnEnd = { status: 'stopped', error: { code: 'TRAJECTORY_FAILED', message: 'its trajectory failed' } };

/** Ids of the unfinished agent_turns of a trajectory. Refuses to complete a trajectory that has one. */
async function taskOf(
  call: Call,
  query: Query,
  trajectory_id: string,
  status: FinalStatus,
): Promise<readonly string[]> {
  const turns = await unfinishedTurnsIn(query, [trajectory_id]);
  if (turns.length === 0) return turns;
  await refuseFormerOwner(call, query, trajectory_id);
  if (status === 'Failed') return turns;
  throw new CairnError(
    'STATE_CONFLICT',
    `trajectory ${trajectory_id} belongs to unfinished agent_turn ${turns[0]}: complete or stop that`,
    { agent_turn_id: turns[0]! },
  );
}

/** Stops the task of a failing trajectory. Lock order: the agent_turn before the trajectory. */
async function endTaskOf(work: Work, trajectory_id: string, status: FinalStatus): Promise<readonly string[]> {
  const turns = await taskOf(work.call, work.tx, trajectory_id, status);
  if (turns.length === 0) return [];
  const locked = await lockForEnding(work.tx, turns, FAILED.status);
  return endTurns(work, locked, new Map(turns.map((id) => [id, FAILED])), [trajectory_id]);
}

export const taskFinishing: FinishingHooks = {
  check: async (call, query, trajectory_id, status) => {
    await taskOf(call, query, trajectory_id, status);
  },
  end: endTaskOf,
  finishAbove,
};

const REASON = 'its trajectory was deleted';
const DELETED: TurnEnd = { status: 'stopped', error: { code: 'TRAJECTORY_DELETED', message: REASON } };

type LockedTasks = ReadonlyMap<string, AgentTurnView>;

/** Locks the unfinished agent_turns and offers of a tree of trajectories, before its trajectories are locked. */
async function lockTasksBelow(tx: Tx, trajectory_id: string): Promise<LockedTasks> {
  const ids = await treeIds(tx, trajectory_id);
  const turns = await unfinishedTurnsIn(tx, ids);
  const locked = turns.length === 0 ? new Map() : await lockForEnding(tx, turns, DELETED.status);
  await lockOffersIn(tx, ids);
  return locked;
}

/** Ends the tasks of locked trajectories, where none can start any more. Returns the ended holders. */
async function stopTasks(
  work: Work,
  trajectory_ids: readonly string[],
  locked: LockedTasks,
): Promise<readonly string[]> {
  const turns = await unfinishedTurnsIn(work.tx, trajectory_ids);
  // A task that started before the trajectories were locked is locked out of order: a deadlock is retried.
  const all = turns.every((id) => locked.has(id)) ? locked : await lockForEnding(work.tx, turns, DELETED.status);
  const holders = await endTurns(work, all, new Map(turns.map((id) => [id, DELETED])), trajectory_ids);
  for (const offer of await lockOffersIn(work.tx, trajectory_ids)) {
    await endDelegation(work, offer, { status: 'Cancelled', reason: REASON });
  }
  return holders;
}

/** Deletes agent_turns, delegations, handoffs, pauses and messages with their trajectories. */
export function deleteTasks(work: Work): TreeDeletion {
  const { tx } = work;
  let locked: LockedTasks = new Map();
  return {
    lockBeforeTree: async (trajectory_id) => {
      locked = await lockTasksBelow(tx, trajectory_id);
      await lockHandoffsOf(tx, await treeIds(tx, trajectory_id));
    },
    stop: (trajectory_ids, now) => stopTasks({ ...work, now }, trajectory_ids, locked),
    addEndings: async (trajectory_ids, deleted_at) => {
      await endHandoffBoxes(tx, trajectory_ids, deleted_at);
      await endTurnBoxes(tx, trajectory_ids, deleted_at);
    },
    clear: async (trajectory_ids, deleted_at) => {
      await clearHandoffs(tx, trajectory_ids);
      await clearTasks(tx, trajectory_ids, deleted_at);
      await erasePauses(tx, 'trajectory_id', trajectory_ids, deleted_at);
      await eraseMessagesAbout(tx, trajectory_ids, deleted_at);
    },
  };
}
