/** An agent whose rights restrict a call. */
import type { MemoryAccess } from './model.js';

/** An agent that was given a part of memory, as a call is made by it. */
export interface ActingAgent {
  readonly agent_id: string;
  readonly current_trajectory_id: string | null;
  readonly memory_access: MemoryAccess;
}
