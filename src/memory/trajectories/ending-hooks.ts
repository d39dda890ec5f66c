/** Hooks for what ends with a trajectory outside of memory. The modules above fill them in, each in its register.ts. */
import type { Query } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';
import type { FinalStatus } from './rules.js';

/**
 * The deletion of a trajectory with all below it, in one transaction: what a module locks, stops and clears of its own. The
 * steps are called in this order, memory's own between them. Made anew for each transaction, so that a later step can use
 * the rows that an earlier one locked.
 */
export interface TreeDeletion {
  /** Locks rows that precede trajectories in the lock order, in the tree below a trajectory that is not locked yet. */
  lockBeforeTree?(trajectory_id: string): Promise<void>;
  /** Stops work under way in these trajectories, which are locked. Gives holders whose content is to be erased. */
  stop?(trajectory_ids: readonly string[], now: number): Promise<readonly string[]>;
  /** Locks rows that follow scopes in the lock order. */
  lockAfterScopes?(trajectory_ids: readonly string[]): Promise<void>;
  /** Deletes entities that end before the trajectories do. `deleted_at` is behind every seal, and may be after `now`. */
  remove?(trajectory_ids: readonly string[], deleted_at: number, now: number): Promise<void>;
  /** Adds endings, for holders that end with the trajectories. */
  addEndings?(trajectory_ids: readonly string[], deleted_at: number): Promise<void>;
  /** Clears content from rows that stay. */
  clear?(trajectory_ids: readonly string[], deleted_at: number): Promise<void>;
}

/** What is deleted with trajectories. The order of the slots is that of the locks (invariant 7 in ARCHITECTURE.md). */
export const treeDeletions = new SlotRegistry<'tasks' | 'jobs' | 'executions', (work: Work) => TreeDeletion>(
  'what is deleted with trajectories',
  ['tasks', 'jobs', 'executions'],
);

/** The task that a trajectory was made for: it ends with the trajectory, and finishes the one above. */
export interface FinishingHooks {
  /** Refuses a status that disagrees with a task under way. */
  check(call: Call, query: Query, trajectory_id: string, status: FinalStatus): Promise<void>;
  /** The same, and ends the task; called before the trajectory is locked. Gives holders whose content is to be erased. */
  end(work: Work, trajectory_id: string, status: FinalStatus): Promise<readonly string[]>;
  /** Finishes the trajectories above one that finished or was deleted, if they waited for it alone. Gives holders likewise. */
  finishAbove(work: Work, trajectory_id: string): Promise<readonly string[]>;
}

export const finishingHooks = new SlotRegistry<'tasks', FinishingHooks>('what finishes with a trajectory', ['tasks']);
