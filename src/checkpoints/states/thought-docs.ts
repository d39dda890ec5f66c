/** Thoughts as they are found: each by the checkpoint that introduced it, and as long as its execution is there. */
import type { Tx } from '../../driver/driver.js';
import { executionHolder } from '../../engine/lifetimes/endings.js';
import { insertDocs, type NewDoc, thoughtContent } from '../../index/documents.js';
import type { Measured } from '../../index/searchable.js';
import type { Thought } from '../checkpoints/model.js';

export interface ThinkingExecution {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly trajectory_id: string | null;
}

/** What bodies of thoughts say: measured before, as far as it was known that they come. */
export interface ThoughtMeasures {
  of(body: string): Measured;
}

export interface NewThought {
  readonly checkpoint_id: string;
  readonly body: string;
}

export const insertThoughtDocs = (
  tx: Tx,
  tenant: string,
  execution: ThinkingExecution,
  thoughts: readonly NewThought[],
  measures: ThoughtMeasures,
): Promise<void> =>
  insertDocs(
    tx,
    tenant,
    thoughts.map((one) => thoughtDoc(execution, one, measures.of(one.body))),
  );

export function thoughtDoc(
  { execution_id, agent_id, trajectory_id }: ThinkingExecution,
  { checkpoint_id, body }: NewThought,
  measured: Measured,
): NewDoc {
  const thought = JSON.parse(body) as Thought;
  return {
    entity_type: 'thought',
    entity_id: thought.id,
    content_id: thoughtContent(checkpoint_id, thought.id),
    type: thought.type,
    name: null,
    trajectory_id,
    scope_id: null,
    position: null,
    role: null,
    agent_id,
    abstraction_level: 'L0',
    category: 'working',
    created_at: Math.trunc(thought.timestamp),
    expires_at: null,
    held_by: executionHolder(execution_id),
    measured,
  };
}
