/** Lookups of entities that agents refer to, by the modules that own them. */
import type { Query } from '../../driver/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** The owner of the profile or trajectory; undefined if it does not exist. */
type OwnerLookup = (query: Query, id: string) => Promise<{ readonly agent_id: string | null } | undefined>;

export const agentReferences = new SlotRegistry<'profile' | 'trajectory', OwnerLookup>('agent reference', [
  'profile',
  'trajectory',
]);

/** The id of unfinished work that keeps an agent from being unregistered, if there is any. */
export const agentWork = new SlotRegistry<
  'agent_turn',
  (query: Query, agent_id: string) => Promise<string | undefined>
>('work of an agent', ['agent_turn']);
