/** Dispatch requests: a task and how it is refused. */
import type { JsonObject } from '../../kernel/contract.js';

/** One task, as delegate_async and fork_join take it. */
export interface Task {
  readonly target_strategy: 'new' | 'reuse' | 'clone';
  /** A profile for new, an agent for reuse and clone; a clone without it is one of the delegator. */
  readonly target_ref?: string | undefined;
  readonly instruction: string;
  readonly context_box_id?: string | undefined;
  readonly input_box_ids?: readonly string[] | undefined;
  readonly arguments?: JsonObject | undefined;
}

/** Whether it was refused rather than done: nothing is left of it then. */
export interface Refusal {
  readonly status: 'busy' | 'rejected';
  readonly error_code: string;
  readonly message: string;
}
