/** States of checkpoints: read in one query, retained for the next checkpoint, shown in the portable form. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { notFound } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { withCarried } from '../states/carried-members.js';
import { retainedStates } from '../states/retained-states.js';
import { type Rest, type State, snapshotOf, stateOf } from '../states/snapshot-state.js';
import { readParts } from '../states/store.js';
import {
  CHECKPOINT_VERSION,
  type Checkpoint,
  type CheckpointSummary,
  type PendingWrite,
  presentMembers,
} from './model.js';
import { type CheckpointRow, findCheckpoint, type PlacedCheckpoint } from './store.js';
import type { WriteRow } from './writes.js';

export async function openCheckpoint(query: Query, checkpoint_id: string): Promise<PlacedCheckpoint> {
  const row = await findCheckpoint(query, checkpoint_id);
  if (!row) throw notFound(query, 'checkpoint', checkpoint_id);
  return row;
}

export async function readState(query: Query, row: PlacedCheckpoint, retained = false): Promise<State> {
  const parts = await readParts(query, row, retained);
  return stateOf(parts, JSON.parse(row.rest) as Rest, retained);
}

export async function openState(query: Query, checkpoint_id: string, retained = false) {
  const row = await openCheckpoint(query, checkpoint_id);
  return { row, state: await readState(query, row, retained) };
}

/** The state of a checkpoint from the cache, else read and retained. */
export async function retainedState(call: Call, checkpoint_id: string): Promise<State> {
  const known = retainedStates.of(call).get(call.tenant, checkpoint_id);
  if (known) return known;
  const { row, state } = await call.driver.snapshot(call.tenant, (query) => openState(query, checkpoint_id, true));
  retainedStates.of(call).set(call.tenant, row, state);
  return state;
}

export function showSummary(row: CheckpointRow): CheckpointSummary {
  const { step_number, tokens_used, duration_ms, checkpoint_reason, total_steps_estimate, branch_reason } = row;
  const shown: CheckpointSummary = {
    version: CHECKPOINT_VERSION,
    id: row.checkpoint_id,
    timestamp: row.timestamp,
    execution_id: row.execution_id,
    agent_id: row.agent_id,
    metadata: { step_number, tokens_used, duration_ms, checkpoint_reason, ...presentMembers({ total_steps_estimate }) },
    ...presentMembers({ name: row.name, description: row.description }),
  };
  if (row.labels !== null) shown.labels = JSON.parse(row.labels) as JsonObject;
  if (row.parent_id !== null) {
    const is_branch = row.is_branch === 1;
    shown.parent = { checkpoint_id: row.parent_id, is_branch, ...presentMembers({ branch_reason }) };
  }
  return shown;
}

export const showCheckpoint = (row: CheckpointRow, state: State): Checkpoint =>
  withCarried<Checkpoint>({ ...showSummary(row), snapshot: snapshotOf(state) }, row.carried);

export const showWrite = ({ task_id, place, channel, value }: WriteRow): PendingWrite => ({
  task_id,
  index: place,
  channel,
  value: JSON.parse(value) as Json,
});

export const writeRow = ({ index, value, ...write }: PendingWrite): WriteRow => ({
  ...write,
  place: index,
  value: canonical(value),
});
