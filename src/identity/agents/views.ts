/** Reads of agents: an agent sees its whole record, and the directory entries of others. */
import type { Query } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { notFound } from '../../kernel/index.js';
import type { Agent } from './model.js';
import { type AgentRow, findAgent, lockAgent, toAgent, toDirectoryEntry } from './store.js';

export function registered(call: Call, agent_id: string, row: AgentRow | undefined): AgentRow {
  if (row && row.unregistered_at === null) return row;
  throw notFound(call, 'agent', agent_id, row ? ': it was unregistered' : ': register it first');
}

export const openAgentLocked = async ({ call, tx }: Work, agent_id: string): Promise<AgentRow> =>
  registered(call, agent_id, await lockAgent(tx, agent_id));

export function showAgent(call: Call, row: AgentRow, now = call.driver.now()): Agent {
  const { agent_id } = call.caller;
  return agent_id === null || agent_id === row.agent_id ? toAgent(row, now) : toDirectoryEntry(row, now);
}

export const readAgent = async (call: Call, query: Query, agent_id: string): Promise<Agent> =>
  showAgent(call, registered(call, agent_id, await findAgent(query, agent_id)));
