/** Checks delegations and handoffs against the can_delegate_to of the source agent. */
import type { Query } from '../../driver/index.js';
import { CairnError } from '../../kernel/index.js';
import { allowsDelegation } from './rules.js';
import { type AgentRow, findAgent } from './store.js';

type Receiver = Pick<AgentRow, 'agent_id' | 'agent_type' | 'typed' | 'profile_name'>;

/** Throws if the source's rules forbid it. A source that was never registered, or none, has no rules. */
export async function checkMayDelegate(query: Query, from_agent_id: string | null, to: Receiver): Promise<void> {
  if (from_agent_id === null) return;
  const source = await findAgent(query, from_agent_id);
  const rules = source?.can_delegate_to == null ? null : (JSON.parse(source.can_delegate_to) as string[]);
  // A type or profile that an agent claimed without the right to does not count.
  const named = to.typed === 1 ? to : { ...to, agent_type: null, profile_name: null };
  if (allowsDelegation(rules, named)) return;
  const allowed =
    rules!.length === 0 ? 'to nobody' : `to ${rules!.slice(0, 10).join(', ')}${rules!.length > 10 ? ', …' : ''}`;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${from_agent_id} may not delegate to ${to.agent_id} of type ${to.agent_type}: its can_delegate_to allows it ${allowed}`,
    { rule: 'can_delegate_to', from_agent_id, to_agent_id: to.agent_id, can_delegate_to: rules!.slice(0, 100) },
  );
}
