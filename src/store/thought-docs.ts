/** Thoughts as they are found: each by the checkpoint that introduced it, and as long as its execution is there. */
import { measure } from '../domain/searchable.js';
import type { Tx } from '../driver/driver.js';
import type { Thought } from '../model/checkpoint.js';
import { executionHolder } from './endings.js';
import { insertDocs, type NewDoc } from './search-docs.js';

export interface ThinkingExecution {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly trajectory_id: string | null;
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
): Promise<void> =>
  insertDocs(
    tx,
    tenant,
    thoughts.map((one) => thoughtDoc(tenant, execution, one)),
  );

export function thoughtDoc(
  tenant: string,
  { execution_id, agent_id, trajectory_id }: ThinkingExecution,
  { checkpoint_id, body }: NewThought,
): NewDoc {
  const thought = JSON.parse(body) as Thought;
  return {
    entity_type: 'thought',
    entity_id: thought.id,
    content_id: `${checkpoint_id}/${thought.id}`,
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
    measured: measure(tenant, {
      content: thought.content,
      more: [thought.reasoning],
      metadata: thought.metadata,
    }),
  };
}
