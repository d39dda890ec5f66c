/** Types and helpers of all tasks: the input, the write prepared before the transaction, the outcome. */
import type { Tx } from '../../driver/index.js';
import type { Work } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import type { Artifact, Note, PolicyOutput } from '../../memory/contract.js';
import { createMemory, type Fields, type Memory, type Noun } from '../../memory/index.js';
import type { EntityRef } from '../../memory/sql.js';
import { PlainFailure, type ProviderCost, sumOfCosts } from '../../providers/index.js';
import type { JobSettings, NewJob } from './store.js';

/** A job without its state. */
export interface Task extends Pick<NewJob, 'job_id' | 'policy_id' | 'trigger_type' | 'trajectory_id' | 'scope_id'> {
  readonly settings: JobSettings;
  /** The owner of new artifacts and notes; default: the agent of the scope. */
  readonly agent_id?: string | null;
}

export interface Outcome {
  readonly sources: readonly EntityRef[];
  readonly made: readonly PolicyOutput[];
  readonly strengthened: readonly PolicyOutput[];
  readonly contradictions: number;
  readonly artifacts: readonly Artifact[];
  readonly notes: readonly Note[];
  readonly cost: ProviderCost | null;
  /** Why nothing was made, or why the fallback was used. */
  readonly reason: string | null;
}

export const nothingMade = (reason: string | null, cost: ProviderCost | null = null): Outcome => ({
  sources: [],
  made: [],
  strengthened: [],
  contradictions: 0,
  artifacts: [],
  notes: [],
  cost,
  reason,
});

export const addCosts = (before: ProviderCost | null, more: ProviderCost | null): ProviderCost | null =>
  before && more ? sumOfCosts(before, more) : (more ?? before);

/** A task whose provider calls are done: only the transaction is left. */
export interface PreparedTask {
  /** Approximate size of the write. */
  readonly bytes: number;
  /** Spent even if nothing is written. */
  readonly cost: ProviderCost | null;
  /** Locks the trajectories and scopes that it depends on, in lock order. */
  readonly lock: (tx: Tx) => Promise<void>;
  /** Runs after the check that the job may still be written. */
  readonly write: (work: Work) => Promise<Outcome>;
}

export const nothingToWrite = (reason: string, cost: ProviderCost | null = null): PreparedTask => ({
  bytes: 0,
  cost,
  lock: async () => undefined,
  write: async () => nothingMade(reason, cost),
});

/** The sources have changed since they were read: the task starts again. */
export class SourcesChanged extends PlainFailure {}

/** At most `length` UTF-16 units of a text, without half a character at the end. */
export function startOf(text: string, length: number): string {
  const start = text.slice(0, length);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** The metadata that says how something was made. With a fallback, the cost may be that of a model whose answer was unusable. */
export const howMade = (
  { job_id, policy_id, trigger_type }: Task,
  { cost: { provider, model }, fallback_reason }: { readonly cost: ProviderCost; readonly fallback_reason?: string },
): JsonObject => ({
  ...(fallback_reason === undefined
    ? { method: model === null ? 'offline' : 'model', provider, model }
    : { method: 'offline', provider: 'offline', model: null }),
  job_id,
  policy_id,
  trigger: trigger_type,
  ...(fallback_reason === undefined ? {} : { fallback_reason }),
});

export const inferred = (source_turn: number | null, confidence: number | null): JsonObject => ({
  source_turn,
  extraction_method: 'Inferred',
  confidence,
});

type NewMemory = Parameters<typeof createMemory>[2];

/** Creates an artifact or note with the default lifetime of its type. */
export const createByDefault = <M extends Memory>(
  work: Work,
  noun: Noun<M>,
  memory: Pick<NewMemory, 'agent_id' | 'prepared' | 'place'> & { readonly fields: Omit<Fields, 'ttl'> },
): Promise<M> =>
  createMemory(work, noun, {
    ...memory,
    memory_id: undefined,
    sent_hash: null,
    fields: { ...memory.fields, ttl: undefined },
  });
