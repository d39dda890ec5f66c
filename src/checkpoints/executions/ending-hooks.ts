/** Hooks for entities of higher modules that end with an execution. Each module fills them in its register.ts. */
import type { Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** The executions are locked. */
export interface ExecutionHooks {
  /** It is completed, failed or cancelled. */
  finish(work: Work, execution_id: string): Promise<void>;
  /** They are deleted, with all their content. */
  remove(work: Work, execution_ids: readonly string[]): Promise<void>;
}

export const executionHooks = new SlotRegistry<'pauses', ExecutionHooks>('execution hooks', ['pauses']);
