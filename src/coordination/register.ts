/** What coordination adds to the registries of lower modules. */
import { sql, TENANT } from '../driver/sql.js';
import { expiries } from '../engine/leases/expiries.js';
import { writeGuards } from '../engine/writes/guards.js';
import { agentWork } from '../identity/agents/references.js';
import { agentHoldings } from '../identity/presence/offline.js';
import { madeForAgents } from '../memory/access/reach.js';
import { finishingHooks, treeDeletions } from '../memory/trajectories/ending-hooks.js';
import { expireBatch, expireDeadline, expireTurn } from './agent-turns/expiry.js';
import { unfinishedTurn } from './agent-turns/turn-agents.js';
import { expireDelegation } from './delegations/expiry.js';
import { checkLockGuard, checkTurnGuard } from './guards/guards.js';
import { expireHandoff } from './handoffs/expiry.js';
import { expireLock } from './locks/queue.js';
import { releaseHeldBy } from './locks/service.js';
import { deliveryOver, releaseDeliveriesOf } from './messages/expiry.js';
import { deleteTasks, taskFinishing } from './tasks/ending.js';

expiries.fill('agent_turn', expireTurn);
expiries.fill('deadline', expireDeadline);
expiries.fill('batch', expireBatch);
expiries.fill('delegation', expireDelegation);
expiries.fill('handoff', expireHandoff);
expiries.fill('lock', (work, lease) => expireLock(work, lease.subject_id));
expiries.fill('message', deliveryOver);

writeGuards.fill('agent_turn', checkTurnGuard);
writeGuards.fill('lock', checkLockGuard);

agentWork.fill('agent_turn', unfinishedTurn);
agentHoldings.fill('lock', releaseHeldBy);
agentHoldings.fill('message', releaseDeliveriesOf);

madeForAgents.add(
  (agent_id) => sql`EXISTS (SELECT 1 FROM delegations d WHERE d.tenant_id = ${TENANT}
    AND d.child_trajectory_id = t.trajectory_id AND d.from_agent_id = ${agent_id})`,
);

treeDeletions.fill('tasks', deleteTasks);
finishingHooks.fill('tasks', taskFinishing);

import { contextReferences } from '../recall/contexts/references.js';
import { isPartyTo } from './agent-turns/rules.js';
import { findAgentTurn } from './agent-turns/store.js';

contextReferences.fill('agent_turn', async ({ caller }, query, id) => {
  const turn = await findAgentTurn(query, id);
  return turn !== undefined && isPartyTo(turn, caller.agent_id);
});
