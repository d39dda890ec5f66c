/** Registers coordination in the registries of lower modules. */

import { executionHooks } from '../checkpoints/index.js';
import { sql, TENANT } from '../driver/index.js';
import { derivations, expiries, forgetters, writeGuards } from '../engine/index.js';
import { agentHoldings, agentWork } from '../identity/index.js';
import { finishingHooks, treeDeletions } from '../memory/index.js';
import { onBehalfConditions } from '../memory/sql.js';
import { contextReferences } from '../recall/index.js';
import { expireBatch, expireDeadline, expireTurn } from './agent-turns/expiry.js';
import { promptsFrom } from './agent-turns/forgetting.js';
import { isPartyTo } from './agent-turns/rules.js';
import { activeTurnOf, findAgentTurn } from './agent-turns/store.js';
import { expireDelegation } from './delegations/expiry.js';
import { checkLockGuard, checkTurnGuard } from './guards/guards.js';
import { expireHandoff } from './handoffs/expiry.js';
import { expireLock } from './locks/queue.js';
import { releaseHeldBy } from './locks/service.js';
import { messageForgetter } from './messages/erasure.js';
import { expireDelivery, releaseDeliveriesOf } from './messages/expiry.js';
import { expirePause } from './pauses/answering.js';
import { pausesOfExecutions } from './pauses/executions.js';
import { deleteTasks, taskFinishing } from './tasks/ending.js';

expiries.fill('agent_turn', expireTurn);
expiries.fill('deadline', expireDeadline);
expiries.fill('batch', expireBatch);
expiries.fill('delegation', expireDelegation);
expiries.fill('handoff', expireHandoff);
expiries.fill('pause', expirePause);
expiries.fill('lock', (work, lease) => expireLock(work, lease.subject_id));
expiries.fill('message', expireDelivery);

derivations.fill('prompts', promptsFrom);
forgetters.fill('message', messageForgetter);

writeGuards.fill('agent_turn', checkTurnGuard);
writeGuards.fill('lock', checkLockGuard);

agentWork.fill('agent_turn', async (query, agent_id) => (await activeTurnOf(query, agent_id))?.agent_turn_id);
agentHoldings.fill('lock', releaseHeldBy);
agentHoldings.fill('message', releaseDeliveriesOf);

onBehalfConditions.add(
  (agent_id) => sql`EXISTS (SELECT 1 FROM delegations d WHERE d.tenant_id = ${TENANT}
    AND d.child_trajectory_id = t.trajectory_id AND d.from_agent_id = ${agent_id})`,
);

executionHooks.fill('pauses', pausesOfExecutions);
treeDeletions.fill('tasks', deleteTasks);
finishingHooks.fill('tasks', taskFinishing);

contextReferences.fill('agent_turn', async ({ caller }, query, id) => {
  const turn = await findAgentTurn(query, id);
  return turn !== undefined && isPartyTo(turn, caller.agent_id);
});
