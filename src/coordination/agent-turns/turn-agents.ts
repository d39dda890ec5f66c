/** Agent_turns and the agents that do them. */
import type { Query } from '../../driver/driver.js';
import { sql, TENANT } from '../../driver/sql.js';
import type { AgentRow } from '../../identity/agents/store.js';

/** The agent that does an agent_turn. */
export function agentOfTurn(query: Query, agent_turn_id: string): Promise<AgentRow | undefined> {
  return query.get<AgentRow>(
    sql`SELECT a.* FROM agent_turns t CROSS JOIN agents a
        WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ${agent_turn_id}
          AND a.tenant_id = ${TENANT} AND a.agent_id = t.agent_id`,
  );
}

/** The agent_turn of an agent that has not ended: there is one at most. */
export async function unfinishedTurn(query: Query, agent_id: string): Promise<string | undefined> {
  const row = await query.get<{ agent_turn_id: string }>(
    sql`SELECT agent_turn_id FROM agent_turns
        WHERE tenant_id = ${TENANT} AND agent_id = ${agent_id} AND ended_at IS NULL`,
  );
  return row?.agent_turn_id;
}
