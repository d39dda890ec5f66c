/** The agent on whose behalf a call acts. */
import { type Call, checkNamedAgent } from '../engine/index.js';
import { invalid } from '../kernel/index.js';

/** The agent of the key, else the one that the input names. */
export const agentOf = (call: Call, named: string | undefined, field: string): string | undefined =>
  checkNamedAgent(call, named, field) ?? named;

export function requiredAgent(call: Call, named: string | undefined, field: string): string {
  const agent_id = agentOf(call, named, field);
  if (agent_id === undefined) throw invalid(`${field} is required: this key has no agent`);
  return agent_id;
}
