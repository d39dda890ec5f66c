/** Hooks for entities of higher modules that an execution waits for, or that end with it. Filled in their register.ts. */
import type { Query } from '../../driver/index.js';
import type { Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** The executions are locked. */
export interface ExecutionHooks {
  /** Whether a paused one waits for something: a new checkpoint then leaves it paused. */
  waits(query: Query, execution_id: string): Promise<boolean>;
  /** It is completed, failed or cancelled. */
  finish(work: Work, execution_id: string): Promise<void>;
  /** They are deleted, with all their content. */
  remove(work: Work, execution_ids: readonly string[]): Promise<void>;
}

export const executionHooks = new SlotRegistry<'pauses', ExecutionHooks>('execution hooks', ['pauses']);
