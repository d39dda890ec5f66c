/** What a context can be assembled for, besides a trajectory and a scope: higher modules say what there is. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** Whether there is one with this id that the caller may refer to. */
export type IsReferable = (call: Call, query: Query, id: string) => Promise<boolean>;

export const contextReferences = new SlotRegistry<'agent_turn', IsReferable>('context references', ['agent_turn']);
