/** Checkpoints to be added, and their rows. */
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { metadataText } from '../../memory/index.js';
import { carriedBy } from '../states/carried-members.js';
import type { NextState, State } from '../states/snapshot-state.js';
import { type Owner, storedText } from '../states/store.js';
import { toolCallIds } from '../states/tool-call-ids.js';
import type { Checkpoint, CheckpointMetadata, CheckpointSummary, ToolCall } from './model.js';
import type { CheckpointRow } from './store.js';

/** A checkpoint to be added, without its state. */
export interface Draft {
  /** Default: generated. */
  readonly checkpoint_id?: string | undefined;
  readonly execution_id: string;
  readonly agent_id?: string | undefined;
  /** Default: the current checkpoint; null for a root. */
  readonly parent_id: string | null | undefined;
  /** Default: a branch if its parent already has a child. */
  readonly branch?: { readonly is_branch: boolean; readonly reason: string | null } | undefined;
  /** The parent named by a file, if it is not in this store. */
  readonly absent_parent_id?: string | undefined;
  /** Whether it reopens a finished execution. */
  readonly resumes?: boolean;
  /** Creates its execution if necessary, and moves the current checkpoint only if that is its parent. */
  readonly imported?: boolean;
  readonly metadata: Partial<CheckpointMetadata>;
  readonly name: string | null;
  readonly description: string | null;
  readonly labels: JsonObject | undefined;
  readonly timestamp?: number | undefined;
  /** Members of an imported document without a column. */
  readonly carried?: string | null;
}

/** The draft of an imported document whose parent is not looked up. */
export const draftOf = (document: CheckpointSummary & Pick<Checkpoint, 'diff'>): Draft => ({
  checkpoint_id: document.id,
  execution_id: document.execution_id,
  parent_id: null,
  absent_parent_id: document.parent?.checkpoint_id,
  branch: { is_branch: document.parent?.is_branch ?? false, reason: document.parent?.branch_reason ?? null },
  metadata: document.metadata,
  name: document.name ?? null,
  description: document.description ?? null,
  labels: document.labels,
  timestamp: document.timestamp,
  carried: carriedBy(document),
});

/** Stored size of an edit, in characters. */
export const bytesOf = ({ added }: NextState): number => added.reduce((sum, part) => sum + storedText(part).length, 0);

export function rowFor(
  draft: Draft,
  parent_id: string | null,
  at: { readonly line: number; readonly revision: number; readonly agent_id: string },
  next: NextState,
  now: number,
): CheckpointRow {
  const { metadata, branch } = draft;
  return {
    checkpoint_id: draft.checkpoint_id ?? newId(),
    execution_id: draft.execution_id,
    line: at.line,
    revision: at.revision,
    agent_id: at.agent_id,
    parent_id: parent_id ?? draft.absent_parent_id ?? null,
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

/** Derives ids of tool calls only if one is stored. */
export function ownerOf({ execution_id, checkpoint_id }: CheckpointRow, has_base: boolean, state: State): Owner {
  let ids: Map<ToolCall, string[]> | undefined;
  const toolCallId = (call: ToolCall): string => {
    if (call.id !== undefined) return call.id;
    ids ??= derivedIds(state.tool_calls.value as unknown as ToolCall[]);
    // If the list has the same object several times, the last ones are new.
    return ids.get(call)!.pop()!;
  };
  return { execution_id, checkpoint_id, has_base, toolCallId };
}

/** By call, since a caller may put one frozen object in several places. */
function derivedIds(completed: readonly ToolCall[]): Map<ToolCall, string[]> {
  const derived = new Map<ToolCall, string[]>();
  for (const [i, id] of toolCallIds(completed).entries()) {
    const ids = derived.get(completed[i]!);
    if (ids) ids.push(id);
    else derived.set(completed[i]!, [id]);
  }
  return derived;
}
