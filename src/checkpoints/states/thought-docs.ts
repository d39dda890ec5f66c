/** Search documents of thoughts: each under the checkpoint that introduced it, until its execution is deleted. */
import { executionHolder } from '../../engine/sql.js';
import { describe, type Measured, measure, type NewDoc, PLAIN_DOC } from '../../index/sql.js';
import type { Thought } from '../checkpoints/model.js';

/** A character that no id contains. */
const THOUGHT_MARK = '\u001f';

/** The content_id of a thought; pruning its checkpoint moves it to another one. */
export const thoughtContentId = (checkpoint_id: string, id: string): string => `${checkpoint_id}${THOUGHT_MARK}${id}`;

export function parseThoughtContentId(content_id: string): [checkpoint_id: string, id: string] {
  const at = content_id.indexOf(THOUGHT_MARK);
  return at < 0 ? ['', ''] : [content_id.slice(0, at), content_id.slice(at + 1)];
}

export interface ThoughtExecution {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly trajectory_id: string | null;
  readonly subject_ids: string | null;
}

export function thoughtDoc(
  { execution_id, agent_id, trajectory_id, subject_ids }: ThoughtExecution,
  { checkpoint_id, body }: { readonly checkpoint_id: string; readonly body: string },
): NewDoc {
  const thought = JSON.parse(body) as Thought;
  return {
    ...PLAIN_DOC,
    entity_type: 'thought',
    entity_id: thought.id,
    content_id: thoughtContentId(checkpoint_id, thought.id),
    type: thought.type,
    trajectory_id,
    agent_id,
    subject_ids,
    category: 'working',
    created_at: Math.trunc(thought.timestamp),
    expires_at: null,
    held_by: executionHolder(execution_id),
    described: describe(thought.metadata),
  };
}

export function measureThought(index_key: string, body: string): Measured {
  const { content, reasoning, metadata } = JSON.parse(body) as Thought;
  return measure(index_key, { content, more: [reasoning], metadata });
}
