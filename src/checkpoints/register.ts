/** Fills the registries of lower modules. */
import { sql, TENANT } from '../driver/index.js';
import { forgetters, holderErasers } from '../engine/index.js';
import { NOTHING, reachedColumn, reachFinders } from '../engine/sql.js';
import { treeDeletions } from '../memory/index.js';
import { trajectoryReadConditions } from '../memory/sql.js';
import { deleteExecutions, executionForgetter } from './executions/ending.js';
import { eraseStates } from './executions/erasure.js';
import { executionsWithin } from './executions/store.js';

holderErasers.add({
  kinds: ['execution', 'pruned'],
  erase: async (call, ending) => {
    if (!(await eraseStates(call, ending))) return undefined;
    // A prune may be repeated while its erasure runs: `position` counts the repetitions.
    return ending.holder.startsWith('pruned:') ? { reached: ending.position } : {};
  },
  facts: ({ versions }) => ({ parts_erased: versions }),
});

reachFinders.fill(
  'execution_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(executionsWithin(reach))} FROM executions e
        WHERE e.tenant_id = ${TENANT} AND e.execution_id = ${id}`,
);
reachFinders.fill(
  'checkpoint_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(executionsWithin(reach))} FROM checkpoints c
        JOIN executions e ON e.tenant_id = c.tenant_id AND e.execution_id = c.execution_id
        WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${id}`,
);

trajectoryReadConditions.add(({ executions }) =>
  executions.extent === 'none'
    ? NOTHING
    : sql`EXISTS (SELECT 1 FROM executions e WHERE e.tenant_id = ${TENANT}
        AND e.trajectory_id = t.trajectory_id AND e.deleted_at IS NULL AND ${executionsWithin(executions)})`,
);

treeDeletions.fill('executions', deleteExecutions);
forgetters.fill('execution', executionForgetter);
