/** Hooks for entities of higher modules that end with a trajectory. Each module fills them in its register.ts. */
import type { Query } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';
import type { FinalStatus } from './rules.js';

/**
 * The part of a module in the deletion of a trajectory tree, which is one transaction. The steps are called in this
 * order, with memory's own between them. Created per transaction, so that a step can use rows that an earlier one locked.
 */
export interface TreeDeletion {
  /** Locks rows that precede trajectories in the lock order; the tree is not locked yet. */
  lockBeforeTree?(trajectory_id: string): Promise<void>;
  /** Stops running work in these locked trajectories. Returns holders whose content is to be erased. */
  stop?(trajectory_ids: readonly string[], now: number): Promise<readonly string[]>;
  /** Locks rows that follow scopes in the lock order. */
  lockAfterScopes?(trajectory_ids: readonly string[]): Promise<void>;
  /** Deletes entities that end before the trajectories do. `deleted_at` is later than every seal, and can be after `now`. */
  remove?(trajectory_ids: readonly string[], deleted_at: number, now: number): Promise<void>;
  /** Adds endings of holders that end with the trajectories. */
  addEndings?(trajectory_ids: readonly string[], deleted_at: number): Promise<void>;
  /** Clears content from rows that remain. */
  clear?(trajectory_ids: readonly string[], deleted_at: number): Promise<void>;
}

/** The order of the slots is the lock order (invariant 7 in ARCHITECTURE.md). */
export const treeDeletions = new SlotRegistry<'tasks' | 'jobs' | 'executions', (work: Work) => TreeDeletion>(
  'tree deletions',
  ['tasks', 'jobs', 'executions'],
);

/** The task that a trajectory was made for ends with the trajectory, and can finish the one above. */
export interface FinishingHooks {
  /** Refuses a status that contradicts a running task. */
  check(call: Call, query: Query, trajectory_id: string, status: FinalStatus): Promise<void>;
  /** The same, and ends the task; called before the trajectory is locked. Returns holders to erase. */
  end(work: Work, trajectory_id: string, status: FinalStatus): Promise<readonly string[]>;
  /** Finishes ancestors of a finished or deleted trajectory that waited only for it. Returns holders to erase. */
  finishAbove(work: Work, trajectory_id: string): Promise<readonly string[]>;
}

export const finishingHooks = new SlotRegistry<'tasks', FinishingHooks>('finishing hooks', ['tasks']);
