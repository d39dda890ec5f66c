/** Entities of higher modules that a context can refer to. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** Whether the entity exists and the caller may refer to it. */
type IsReferable = (call: Call, query: Query, id: string) => Promise<boolean>;

export const contextReferences = new SlotRegistry<'agent_turn', IsReferable>('context references', ['agent_turn']);
