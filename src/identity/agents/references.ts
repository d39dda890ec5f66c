/** What an agent's record refers to, looked up by the modules that own it. */
import type { Query } from '../../driver/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** Who owns the profile or trajectory; undefined where there is none, or it is gone. */
type OwnerLookup = (query: Query, id: string) => Promise<{ readonly agent_id: string | null } | undefined>;

export const agentReferences = new SlotRegistry<'profile' | 'trajectory', OwnerLookup>('agent reference', [
  'profile',
  'trajectory',
]);

/** What an agent has under way, which keeps it from being unregistered: the id of one, if there is any. */
export const agentWork = new SlotRegistry<
  'agent_turn',
  (query: Query, agent_id: string) => Promise<string | undefined>
>('work of an agent', ['agent_turn']);
