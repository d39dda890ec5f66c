/** Pauses of executions: a finished execution asks nothing any more, and the texts of a deleted one are erased. */
import type { ExecutionHooks } from '../../checkpoints/index.js';
import { cancelPauses } from './moves.js';
import { erasePauses, hasOpenPause } from './store.js';

export const pausesOfExecutions: ExecutionHooks = {
  waits: (query, execution_id) => hasOpenPause(query, { agent_turn_id: null, execution_id }),
  finish: (work, execution_id) => cancelPauses(work, { agent_turn_id: null, execution_id }),
  remove: async (work, execution_ids) => {
    for (const execution_id of execution_ids) await cancelPauses(work, { agent_turn_id: null, execution_id });
    await erasePauses(work.tx, 'execution_id', execution_ids, work.now);
  },
};
