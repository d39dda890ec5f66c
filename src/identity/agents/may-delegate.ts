/** Whether an agent may delegate or hand over to another: its can_delegate_to decides. */
import type { Query } from '../../driver/index.js';
import { CairnError } from '../../kernel/index.js';
import { allowsDelegation } from './rules.js';
import { findAgent } from './store.js';

interface Receiver {
  readonly agent_id: string;
  readonly agent_type: string;
  readonly typed: 0 | 1;
  readonly profile_name: string | null;
}

/** Refuses what the source's rules do not allow. One that was never registered, or none at all, is free. */
export async function checkMayDelegate(query: Query, from_agent_id: string | null, to: Receiver): Promise<void> {
  if (from_agent_id === null) return;
  const source = await findAgent(query, from_agent_id);
  const rules = source?.can_delegate_to == null ? null : (JSON.parse(source.can_delegate_to) as string[]);
  // What an agent says of itself without the right to is no reason to give it work.
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
