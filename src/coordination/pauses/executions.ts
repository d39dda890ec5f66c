/** Pauses of executions: cancelled with a finished one, erased with a deleted one, handed off with the trajectory. */
import { type ExecutionHooks, lockExecution } from '../../checkpoints/index.js';
import type { Tx } from '../../driver/index.js';
import { cancelPauses } from './moves.js';
import { erasePauses, executionsAskedBy, hasOpenPause, passPauses } from './store.js';

export const pausesOfExecutions: ExecutionHooks = {
  waits: (query, execution_id) => hasOpenPause(query, { agent_turn_id: null, execution_id }),
  finish: (work, execution_id) => cancelPauses(work, { agent_turn_id: null, execution_id }),
  remove: async (work, execution_ids) => {
    for (const execution_id of execution_ids) await cancelPauses(work, { agent_turn_id: null, execution_id });
    await erasePauses(work.tx, 'execution_id', execution_ids, work.now);
  },
};

/** Makes the receiver of a handoff the owner of what is asked in the executions of the giver. */
export async function passQuestions(tx: Tx, trajectory_id: string, giver: string, receiver: string): Promise<void> {
  for (const execution_id of await executionsAskedBy(tx, trajectory_id, giver)) {
    await lockExecution(tx, execution_id);
    await passPauses(tx, execution_id, giver, receiver);
  }
}
