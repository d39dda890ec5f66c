/** The state of a checkpoint: read in one query, retained for the one that follows, shown in the portable form. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { withCarried } from '../states/carried-members.js';
import { retainedStates } from '../states/retained-states.js';
import { type Rest, type State, snapshotOf, stateOf } from '../states/snapshot-state.js';
import { readParts } from '../states/store.js';
import {
  CHECKPOINT_VERSION,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointSummary,
  type PendingWrite,
} from './model.js';
import { type CheckpointRow, findCheckpoint, type PlacedCheckpoint } from './store.js';
import type { WriteRow } from './writes.js';

export const noCheckpoint = (checkpoint_id: string): CairnError =>
  new CairnError('CHECKPOINT_NOT_FOUND', `there is no checkpoint ${checkpoint_id}`);

export async function openCheckpoint(query: Query, checkpoint_id: string): Promise<PlacedCheckpoint> {
  const row = await findCheckpoint(query, checkpoint_id);
  if (!row) throw noCheckpoint(checkpoint_id);
  return row;
}

export async function readState(query: Query, row: PlacedCheckpoint, retained = false): Promise<State> {
  const parts = await readParts(query, row, retained);
  return stateOf(parts, JSON.parse(row.rest) as Rest, retained);
}

/** The state of a checkpoint to compare another with: the one that is retained, or read and retained from now on. */
export async function retainedState(call: Call, checkpoint_id: string): Promise<State> {
  const known = retainedStates.of(call).get(call.tenant, checkpoint_id);
  if (known) return known;
  const { row, state } = await call.driver.snapshot(call.tenant, async (query) => {
    const row = await openCheckpoint(query, checkpoint_id);
    return { row, state: await readState(query, row, true) };
  });
  retainedStates.of(call).set(call.tenant, row, state);
  return state;
}

export function showSummary(row: CheckpointRow): CheckpointSummary {
  const metadata: CheckpointMetadata = {
    step_number: row.step_number,
    tokens_used: row.tokens_used,
    duration_ms: row.duration_ms,
    checkpoint_reason: row.checkpoint_reason,
  };
  if (row.total_steps_estimate !== null) metadata.total_steps_estimate = row.total_steps_estimate;
  const shown: CheckpointSummary = {
    version: CHECKPOINT_VERSION,
    id: row.checkpoint_id,
    timestamp: row.timestamp,
    execution_id: row.execution_id,
    agent_id: row.agent_id,
    metadata,
  };
  if (row.name !== null) shown.name = row.name;
  if (row.description !== null) shown.description = row.description;
  if (row.labels !== null) shown.labels = JSON.parse(row.labels) as JsonObject;
  if (row.parent_id !== null) {
    shown.parent = { checkpoint_id: row.parent_id, is_branch: row.is_branch === 1 };
    if (row.branch_reason !== null) shown.parent.branch_reason = row.branch_reason;
  }
  return shown;
}

/** Whole, with all that its document brought, if it came as one. */
export const showCheckpoint = (row: CheckpointRow, state: State): Checkpoint =>
  withCarried<Checkpoint>({ ...showSummary(row), snapshot: snapshotOf(state) }, row.carried);

export const showWrite = ({ task_id, place, channel, value }: WriteRow): PendingWrite => ({
  task_id,
  index: place,
  channel,
  value: JSON.parse(value) as Json,
});
