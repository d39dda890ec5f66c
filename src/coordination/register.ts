/** What coordination adds to the registries of lower modules. */
import { contextReferences } from '../recall/contexts/references.js';
import { isPartyTo } from './agent-turns/rules.js';
import { findAgentTurn } from './agent-turns/store.js';

contextReferences.fill('agent_turn', async ({ tenant, caller }, query, id) => {
  const turn = await findAgentTurn(query, tenant, id);
  return turn !== undefined && isPartyTo(turn, caller.agent_id);
});
