/** What jobs have in common: where they write, what is prepared before the transaction, what comes of it. */
import type { Tx } from '../../driver/index.js';
import type { Work } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import type { Artifact, Made, Note } from '../../memory/contract.js';
import type { Fields } from '../../memory/index.js';
import type { EntityRef } from '../../memory/sql.js';
import type { ProviderCost } from '../../providers/index.js';
import type { Job } from './model.js';
import type { JobSettings, NewJob } from './store.js';

/** A job, as those who do it see it. */
export interface Task extends Pick<NewJob, 'job_id' | 'policy_id' | 'trigger_type' | 'trajectory_id' | 'scope_id'> {
  readonly settings: JobSettings;
  /** Whose the new artifacts and notes are; that of the scope unless given. */
  readonly agent_id?: string | null;
}

/** What came of a task. */
export interface Outcome {
  readonly sources: readonly EntityRef[];
  readonly made: readonly Made[];
  readonly strengthened: readonly Made[];
  readonly contradictions: number;
  readonly artifacts: readonly Artifact[];
  readonly notes: readonly Note[];
  readonly cost: ProviderCost | null;
  /** Why nothing was made, or another way was taken. */
  readonly reason: string | null;
}

export const nothingMade = (reason: string, cost: ProviderCost | null = null): Outcome => ({
  sources: [],
  made: [],
  strengthened: [],
  contradictions: 0,
  artifacts: [],
  notes: [],
  cost,
  reason,
});

/** All that is asked of providers is done; what is left needs nothing but a transaction. */
export interface Ready {
  /** About how much is written. */
  readonly bytes: number;
  /** What was spent on it, whatever becomes of it. */
  readonly cost: ProviderCost | null;
  /** Locks the trajectories and scopes that it depends on, in the order of locks. */
  readonly lock: (tx: Tx) => Promise<void>;
  /** After what says that it may still be written. */
  readonly write: (work: Work) => Promise<Outcome>;
}

export const ready = (outcome: Outcome): Ready => ({
  bytes: 0,
  cost: outcome.cost,
  lock: async () => undefined,
  write: async () => outcome,
});

export const costOf = (cost: ProviderCost | null): Job['cost'] => cost && { ...cost };

/** So much of a text at most, and no half of a character. */
export function startOf(text: string, length: number): string {
  const start = text.slice(0, length);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** How something was made, as its metadata says it. The cost may be that of a model whose answer was of no use. */
export const howMade = (
  task: Task,
  { provider, model }: ProviderCost,
  fallback_reason: string | undefined,
): JsonObject => ({
  ...(fallback_reason === undefined
    ? { method: model === null ? 'offline' : 'model', provider, model }
    : { method: 'offline', provider: 'offline', model: null }),
  job_id: task.job_id,
  policy_id: task.policy_id,
  trigger: task.trigger_type,
  ...(fallback_reason === undefined ? {} : { fallback_reason }),
});

export const inferred = (source_turn: number | null, confidence: number | null): JsonObject => ({
  source_turn,
  extraction_method: 'Inferred',
  confidence,
});

export const persistent = (fields: Omit<Fields, 'ttl'>): Fields => ({ ...fields, ttl: 'Persistent' });
