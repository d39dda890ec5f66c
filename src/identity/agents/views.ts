/** Reading agents: all of one's own record, and of other agents who they are and whether they are there. */
import type { Query } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import type { Agent } from './model.js';
import { type AgentRow, findAgent, lockAgent, toAgent, toDirectoryEntry } from './store.js';

export function present(call: Call, agent_id: string, row: AgentRow | undefined): AgentRow {
  if (row && row.unregistered_at === null) return row;
  const was = row ? 'was unregistered' : 'is not registered';
  throw new CairnError('AGENT_NOT_FOUND', `agent ${agent_id} ${was} in tenant ${call.tenant}`);
}

/** An agent that is registered. */
export const openAgent = async (call: Call, query: Query, agent_id: string): Promise<AgentRow> =>
  present(call, agent_id, await findAgent(query, agent_id));

/** The same, and nobody changes it until the commit. */
export const openAgentLocked = async ({ call, tx }: Work, agent_id: string): Promise<AgentRow> =>
  present(call, agent_id, await lockAgent(tx, agent_id));

export function showAgent(call: Call, row: AgentRow, now = call.driver.now()): Agent {
  const { agent_id } = call.caller;
  return agent_id === null || agent_id === row.agent_id ? toAgent(row, now) : toDirectoryEntry(row, now);
}

export const readAgent = async (call: Call, query: Query, agent_id: string): Promise<Agent> =>
  showAgent(call, await openAgent(call, query, agent_id));
