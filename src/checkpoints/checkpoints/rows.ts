/** A checkpoint to be added, and the rows that it becomes. */
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { metadataText } from '../../memory/index.js';
import type { NextState, State } from '../states/snapshot-state.js';
import { type Owner, storedText } from '../states/store.js';
import { toolCallIds } from '../states/tool-call-ids.js';
import type { CheckpointMetadata, ToolCall } from './model.js';
import type { CheckpointPlace, CheckpointRow } from './store.js';

/** A checkpoint to be added, beside its state. */
export interface Draft {
  /** Made here when absent. */
  readonly checkpoint_id?: string | undefined;
  readonly execution_id: string;
  readonly agent_id?: string | undefined;
  /** Where the execution stands when absent; null for a root. */
  readonly parent_id: string | null | undefined;
  /** Of a branch by intention, or as a file says; else it is one if its parent has a child already. */
  readonly branch?: { readonly is_branch: boolean; readonly reason: string | null } | undefined;
  /** The parent that a file names, where it is not here. */
  readonly absent_parent_id?: string | undefined;
  /** Whether a finished execution is taken up again by it. */
  readonly resumes?: boolean;
  /** It comes from elsewhere: makes its execution if there is none, and does not take one back that has gone on. */
  readonly imported?: boolean;
  readonly metadata: Partial<CheckpointMetadata>;
  readonly name: string | null;
  readonly description: string | null;
  readonly labels: JsonObject | undefined;
  readonly timestamp?: number | undefined;
  /** What an imported document brought besides. */
  readonly carried?: string | null;
}

/** What it takes where it is stored. */
export const bytesOf = ({ added }: NextState): number => added.reduce((sum, part) => sum + storedText(part).length, 0);

export function rowFor(
  draft: Draft,
  parent: CheckpointPlace | undefined,
  at: { readonly line: number; readonly revision: number; readonly agent_id: string },
  next: NextState,
  now: number,
): CheckpointRow {
  const { metadata, branch } = draft;
  const parent_id = parent?.checkpoint_id ?? draft.absent_parent_id ?? null;
  return {
    checkpoint_id: draft.checkpoint_id ?? newId(),
    execution_id: draft.execution_id,
    line: at.line,
    revision: at.revision,
    agent_id: at.agent_id,
    followed: 0,
    parent_id,
    is_branch: branch?.is_branch ? 1 : 0,
    branch_reason: branch?.reason ?? null,
    name: draft.name,
    description: draft.description,
    labels: metadataText(draft.labels),
    step_number: metadata.step_number ?? 0,
    total_steps_estimate: metadata.total_steps_estimate ?? null,
    tokens_used: metadata.tokens_used ?? 0,
    duration_ms: metadata.duration_ms ?? 0,
    checkpoint_reason: metadata.checkpoint_reason ?? 'manual',
    timestamp: draft.timestamp ?? now,
    rest: canonical(next.state.rest as unknown as Json),
    carried: draft.carried ?? null,
  };
}

/** Whose parts these are. The ids of tool calls are derived when one is stored. */
export function ownerOf(row: CheckpointRow, has_base: boolean, state: State): Owner {
  let ids: Map<unknown, string[]> | undefined;
  const { execution_id, checkpoint_id } = row;
  const toolCallId = (asked: ToolCall): string => {
    if (asked.id !== undefined) return asked.id;
    ids ??= derivedIds(state.tool_calls.value as unknown as ToolCall[]);
    // Of one that stands in the list several times, the later are the ones that are new.
    return ids.get(asked)!.pop()!;
  };
  return { execution_id, checkpoint_id, has_base, toolCallId };
}

/** A caller may put one frozen object in several places. */
function derivedIds(completed: readonly ToolCall[]): Map<unknown, string[]> {
  const derived = new Map<unknown, string[]>();
  for (const [i, id] of toolCallIds(completed).entries()) {
    const before = derived.get(completed[i]);
    if (before) before.push(id);
    else derived.set(completed[i], [id]);
  }
  return derived;
}
