/** The agent that a call acts as. */
import type { Json } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import type { Call } from './call.js';

/** The agent of the key, or null for a key without one; a body that names another agent is refused. */
export function checkNamedAgent(call: Call, named: Json | undefined, field: string): string | null {
  const agent = call.caller.agent_id;
  if (agent !== null && named != null && named !== agent)
    throw new CairnError('FORBIDDEN', `${field} names another agent: this key acts as ${agent}`, { rule: 'key_agent' });
  return agent;
}
