/** Use cases of checkpoints: create, read, compare, restore, branch; pending writes. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, storedReplay, type Work } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, cooperativeYield, invalid, notFound, toImmutable } from '../../kernel/index.js';
import { openExecution, openExecutionLocked } from '../executions/service.js';
import { type ExecutionRow, updateExecution } from '../executions/store.js';
import { diffStates } from '../states/diff.js';
import { describeChanges } from '../states/diff-summary.js';
import { snapshotOf } from '../states/snapshot-state.js';
import { addCheckpoint } from './adding.js';
import { type Delta, parentOf, stateFrom } from './deltas.js';
import { type Checkpoint, type CheckpointSummary, presentMembers } from './model.js';
import {
  openCheckpoint,
  openState,
  readState,
  retainedState,
  showCheckpoint,
  showSummary,
  showWrite,
  writeRow,
} from './states.js';
import { type CheckpointRow, findCheckpoint, findHead, findUsed } from './store.js';
import { findWrites, insertWrites, replaceWrite, takenPlaces, type WriteRow } from './writes.js';

export async function create(call: Call, input: In<'checkpoints.create'>): Promise<CheckpointSummary> {
  if (input.root && input.parent_checkpoint_id !== undefined)
    throw invalid('`root` and `parent_checkpoint_id` exclude each other: give one of them');
  const { base, changes, ...rest } = input;
  if (input.snapshot !== undefined) {
    if (base === undefined && changes === undefined) return createFrom(call, rest);
    throw invalid('`snapshot` excludes `base` and `changes`: give the whole state, or the changes from a checkpoint');
  }
  if (base === undefined || changes === undefined)
    throw invalid(
      base === changes
        ? 'checkpoints.create: snapshot: required, unless `base` and `changes` are given'
        : '`base` and `changes` belong together: give both, or the whole state as `snapshot`',
    );
  const owned = call.options.owned ? input : (toImmutable(input) as unknown as typeof input);
  const snapshot = await stateFrom(call, owned as typeof input & Delta);
  const { base: _, changes: __, ...others } = owned;
  return createFrom(call, { ...others, snapshot });
}

/** A request with changes has the key of the same request with the whole state. */
const createFrom = (call: Call, input: In<'checkpoints.create'>): Promise<CheckpointSummary> =>
  addCheckpoint(
    call,
    {
      checkpoint_id: input.checkpoint_id,
      execution_id: input.execution_id,
      parent_id: parentOf(input),
      snapshot: input.snapshot,
      metadata: input.metadata ?? {},
      name: input.name ?? null,
      description: input.description ?? null,
      labels: input.labels && (toImmutable(input.labels) as JsonObject),
      timestamp: input.timestamp,
    },
    input,
    'cairn.checkpoint.created',
  );

const readCheckpoint = (call: Call, checkpoint_id: string): Promise<Checkpoint> =>
  call.driver.snapshot(call.tenant, (query) => readWhole(query, checkpoint_id));

async function readWhole(query: Query, checkpoint_id: string): Promise<Checkpoint> {
  const { row, state } = await openState(query, checkpoint_id);
  return showCheckpoint(row, state);
}

export async function get(call: Call, input: In<'checkpoints.get'>): Promise<Checkpoint> {
  const { diff, ...read } = await readCheckpoint(call, input.checkpoint_id);
  if (input.diff === false) return read;
  // An imported document keeps its own diff.
  if (diff !== undefined) return { ...read, diff };
  if (!input.diff || !read.parent) return read;
  const { checkpoint_id } = read.parent;
  const before = await readCheckpoint(call, checkpoint_id).catch((error: unknown) => {
    if (error instanceof CairnError && error.code === 'CHECKPOINT_NOT_FOUND') return undefined;
    throw error;
  });
  // An imported checkpoint may have come without its parent.
  if (!before) return read;
  const { changes, summary } = await compare(before, read);
  return { ...read, diff: { from_checkpoint_id: checkpoint_id, changes, summary } };
}

async function compare(from: Checkpoint, to: Checkpoint) {
  const maybe_yield = cooperativeYield();
  await maybe_yield();
  const changes = diffStates(from.snapshot as unknown as Json, to.snapshot as unknown as Json);
  await maybe_yield();
  return { changes, ...describeChanges(from.snapshot, to.snapshot, changes) };
}

export async function diff(call: Call, input: In<'checkpoints.diff'>): Promise<Out<'checkpoints.diff'>> {
  const from = await readCheckpoint(call, input.checkpoint_id);
  const to = await readCheckpoint(call, input.to);
  return { from_checkpoint_id: from.id, to_checkpoint_id: to.id, ...(await compare(from, to)) };
}

export const latest = (call: Call, { execution_id }: In<'checkpoints.latest'>): Promise<Checkpoint> =>
  call.driver.snapshot(call.tenant, async (query) => {
    const row = await findHead(query, execution_id);
    if (row) return showCheckpoint(row, await readState(query, row));
    await openExecution(query, execution_id);
    throw new CairnError('CHECKPOINT_NOT_FOUND', `execution ${execution_id} has no checkpoint yet`);
  });

/** Locks the execution of a checkpoint, then checks again: the checkpoint may have been pruned before the lock. */
async function openLocked(work: Work, checkpoint_id: string, found?: CheckpointRow): Promise<ExecutionRow> {
  const { tx } = work;
  const { execution_id } = found ?? (await openCheckpoint(tx, checkpoint_id));
  const execution = await openExecutionLocked(work, execution_id);
  await openCheckpoint(tx, checkpoint_id);
  return execution;
}

/** Makes a checkpoint the current one; later checkpoints stay. */
export async function restore(call: Call, input: In<'checkpoints.restore'>): Promise<Checkpoint> {
  const { checkpoint_id } = input;
  await change<null>(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = await openLocked(work, checkpoint_id);
      const { execution_id } = row;
      if (row.head_id === checkpoint_id && row.status === 'running') return null;
      const running = { status: 'running', finished_at: null, updated_at: now } as const;
      await updateExecution(tx, execution_id, { ...row, ...running, head_id: checkpoint_id });
      const facts = { checkpoint_id, execution_id, ...presentMembers({ from: row.head_id }) };
      appendEvent(work, 'cairn.execution.restored', { type: 'execution', id: execution_id }, facts, row.trajectory_id);
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
  return readCheckpoint(call, checkpoint_id);
}

/** Stores the same state again, as the first checkpoint of a branch. */
export async function branch(call: Call, input: In<'checkpoints.branch'>): Promise<CheckpointSummary> {
  const query = call.driver.at(call.tenant);
  const kept = await storedReplay(call, input);
  if (kept !== undefined) return showSummary(await openCheckpoint(query, kept as string));
  const row = await openCheckpoint(query, input.checkpoint_id);
  const state = await retainedState(call, input.checkpoint_id);
  const { step_number, tokens_used, duration_ms, total_steps_estimate } = row;
  return addCheckpoint(
    call,
    {
      checkpoint_id: input.branch_checkpoint_id,
      execution_id: row.execution_id,
      parent_id: input.checkpoint_id,
      branch: { is_branch: true, reason: input.reason },
      resumes: true,
      snapshot: snapshotOf(state),
      carries: true,
      metadata: { step_number, tokens_used, duration_ms, ...presentMembers({ total_steps_estimate }) },
      name: input.name ?? null,
      description: null,
      labels: row.labels === null ? undefined : JSON.parse(row.labels),
    },
    input,
    'cairn.checkpoint.branched',
  );
}

/** A write to an index in use is ignored, except below zero: there the last write wins. */
export function write(call: Call, input: In<'checkpoints.write'>): Promise<Out<'checkpoints.write'>> {
  const { checkpoint_id } = input;
  const rows = input.writes.map(writeRow);
  return change<Out<'checkpoints.write'>>(call, {
    input,
    bytes: rows.reduce((sum, { value }) => sum + value.length, 0),
    work: async (work) => {
      const { tx } = work;
      const { execution_id, trajectory_id } = await executionOfWrites(work, input);
      const of = { checkpoint_id, execution_id };
      const taken = await takenPlaces(tx, of);
      const places = new Set(taken.map(({ task_id, place }) => JSON.stringify([task_id, place])));
      const fresh: WriteRow[] = [];
      for (const row of rows) {
        const place = JSON.stringify([row.task_id, row.place]);
        if (!places.has(place)) fresh.push(row);
        else if (row.place < 0) await replaceWrite(tx, of, row);
        places.add(place);
      }
      await insertWrites(tx, of, taken.at(-1)?.ordinal ?? 0, fresh);
      const facts = { execution_id, stored: fresh.length };
      appendEvent(work, 'cairn.checkpoint.written', { type: 'checkpoint', id: checkpoint_id }, facts, trajectory_id);
      return { checkpoint_id, stored: fresh.length };
    },
    remember: ({ stored }) => stored,
    again: async (_query, stored) => ({ checkpoint_id, stored: stored as number }),
  });
}

/** The execution of the checkpoint; the input names it if the checkpoint does not exist yet. */
async function executionOfWrites(work: Work, input: In<'checkpoints.write'>): Promise<ExecutionRow> {
  const { tx } = work;
  const { checkpoint_id, execution_id } = input;
  const row = await findCheckpoint(tx, checkpoint_id);
  if (row && execution_id !== undefined && row.execution_id !== execution_id)
    throw new CairnError('UNKNOWN_ENTITY', `execution ${execution_id} has no checkpoint ${checkpoint_id}`);
  if (row || execution_id === undefined) return openLocked(work, checkpoint_id, row);
  const execution = await openExecutionLocked(work, execution_id);
  if (await findUsed(tx, checkpoint_id)) throw notFound(tx, 'checkpoint', checkpoint_id);
  return execution;
}

export async function writes(call: Call, input: In<'checkpoints.writes'>): Promise<Out<'checkpoints.writes'>> {
  const query = call.driver.at(call.tenant);
  const rows = await findWrites(query, input.checkpoint_id);
  if (!rows) throw notFound(query, 'checkpoint', input.checkpoint_id);
  return { writes: rows.map(showWrite) };
}
