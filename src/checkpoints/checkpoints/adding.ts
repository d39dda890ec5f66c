/** Stores a checkpoint: its differences from its parent's state, in one transaction with its row and event. */

import type { Query, Tx } from '../../driver/index.js';
import { listToText } from '../../driver/index.js';
import {
  appendEvent,
  type Call,
  change,
  runCallSteps,
  storedReplay,
  subjectsOf,
  type Work,
} from '../../engine/index.js';
import { refuseForeignWrite } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, cooperativeYield, invalid, runWithYields } from '../../kernel/index.js';
import { refuseFormerOwner } from '../../memory/index.js';
import { executionHooks } from '../executions/hooks.js';
import {
  agentOf,
  executionGone,
  isFinished,
  newExecution,
  openExecution,
  openExecutionLocked,
} from '../executions/service.js';
import {
  advanceExecution,
  type ExecutionRow,
  insertExecution,
  lockExecution,
  resumeExecution,
} from '../executions/store.js';
import { sameCarried } from '../states/carried-members.js';
import { retainedStates } from '../states/retained-states.js';
import {
  emptyState,
  type NextState,
  nextState,
  nextSteps,
  type State,
  snapshotOf,
  unknownIn,
} from '../states/snapshot-state.js';
import { endParts, insertParts, rowsOf } from '../states/store.js';
import { type CheckpointSummary, presentMembers, type Snapshot } from './model.js';
import { bytesOf, type Draft, ownerOf, rowFor } from './rows.js';
import { openCheckpoint, openState, readState, retainedState, showSummary } from './states.js';
import {
  type CheckpointPlace,
  type CheckpointRow,
  descendsFrom,
  findCheckpoint,
  findSurroundings,
  hasChild,
  insertCheckpoints,
  insertLines,
  leaveLine,
} from './store.js';

/** Thrown by the transaction if the parent, or a checkpoint with the same id, is not the one compared before. */
class Stale extends Error {}

const ATTEMPTS = 8;
/** Attempts that compare before the transaction; later ones compare behind the lock. */
const OPTIMISTIC = 3;

interface SentDraft extends Draft {
  readonly snapshot: unknown;
  /** The snapshot is a document or a stored state: it may have unknown members. */
  readonly carries?: boolean;
}

/** A sent state, compared with that of its parent. */
interface Compared {
  readonly parent_id: string | null;
  readonly next: NextState;
}

/** `input` identifies the request for its idempotency key. */
export async function addCheckpoint(
  call: Call,
  sent: SentDraft,
  input: object,
  event_type: string,
): Promise<CheckpointSummary> {
  // First, since the caller may change the snapshot after the first await.
  const taken = await takeSnapshot(call, sent);
  const { snapshot: _, carries: __, ...draft } = sent;
  const { execution_id } = draft;
  const snapshot = (): Snapshot => snapshotOf(taken.next.state);
  const isKeyed = call.options.idempotency_key !== undefined;
  const request = isKeyed && 'snapshot' in input ? { ...input, snapshot: snapshot() } : input;
  const query = call.driver.at(call.tenant);
  const kept = await storedReplay(call, request);
  if (kept !== undefined) return readSummary(query, kept);
  for (let attempt = 1; ; attempt++) {
    // Mostly the id is new: only after a conflict is it looked up here.
    const existing = attempt === 1 ? undefined : await sameCheckpoint(call, draft, snapshot());
    if (existing) return unchanged(call, request, existing);
    const { parent_id = (await openExecution(query, execution_id)).head_id } = draft;
    const before = () => stateBefore(call, execution_id, parent_id);
    let compared: Compared =
      attempt === 1 && taken.parent_id === parent_id
        ? taken
        : { parent_id, next: await runWithYields(nextSteps(await before(), snapshot()), cooperativeYield()) };
    if (!sent.carries && compared.next.unknown.size > 0) refuseUnknown(compared.next, await before());
    let row: CheckpointRow | undefined;
    try {
      const answer = await change<CheckpointSummary>(call, {
        input: request,
        entity: execution_id,
        bytes: bytesOf(compared.next),
        work: async (work) => {
          if (attempt > OPTIMISTIC && draft.parent_id === undefined)
            compared = await compareLocked(work, execution_id, snapshot());
          row = await store(work, draft, compared, event_type);
          return showSummary(row);
        },
        ...byId,
      });
      // A replayed request stored nothing now.
      if (row && row.checkpoint_id === answer.id) retain(call, row, compared);
      return answer;
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      if (attempt === ATTEMPTS)
        throw new CairnError(
          'CONCURRENT_MODIFICATION',
          `other calls kept adding checkpoints to execution ${execution_id}: try again`,
        );
    }
  }
}

/** An unknown member is most likely a typing error, unless the parent's state has it too. */
function refuseUnknown({ unknown }: NextState, before: State): void {
  const known = unknownIn(before);
  const errors = [...unknown].filter(([member]) => !known.has(member)).map(([, error]) => error);
  if (errors.length > 0) throw invalid(errors[0]!, { errors: errors.slice(0, 20) });
}

/** Compares with the most likely parent, if its state is retained; else with an empty state. */
async function takeSnapshot(call: Call, { execution_id, parent_id, snapshot }: SentDraft): Promise<Compared> {
  const states = retainedStates.of(call);
  const likely = parent_id === undefined ? states.lastOf(call.tenant, execution_id) : parent_id;
  const state = likely ? states.get(call.tenant, likely) : undefined;
  const next = await runCallSteps(call, nextSteps(state ?? emptyState, snapshot));
  return { parent_id: state ? likely! : null, next };
}

/** Compares with the current state behind the lock. Other writers wait meanwhile, so this is a fallback. */
async function compareLocked(work: Work, execution_id: string, snapshot: Snapshot): Promise<Compared> {
  const { tx } = work;
  const { head_id } = await openExecutionLocked(work, execution_id);
  const state = head_id === null ? emptyState : (await openState(tx, head_id, true)).state;
  return { parent_id: head_id, next: nextState(state, snapshot) };
}

const readSummary = async (query: Query, kept: Json): Promise<CheckpointSummary> =>
  showSummary(await openCheckpoint(query, kept as string));

/** How an answer is recorded under its idempotency key. */
const byId = { remember: ({ id }: CheckpointSummary) => id, again: readSummary };

/** The checkpoint exists already; the answer is still recorded under the idempotency key. */
async function unchanged(call: Call, input: unknown, existing: CheckpointSummary): Promise<CheckpointSummary> {
  if (call.options.idempotency_key === undefined) return existing;
  return change(call, { input, work: async () => existing, ...byId });
}

/** Retains the state for the next checkpoint, and drops that of the parent, unless this is a branch. */
function retain(call: Call, row: CheckpointRow, { parent_id, next }: Compared): void {
  const states = retainedStates.of(call);
  if (parent_id !== null && row.is_branch === 0) states.forget(call.tenant, parent_id);
  states.set(call.tenant, row, next.state);
  states.setLast(call.tenant, row.execution_id, row.checkpoint_id);
}

async function stateBefore(call: Call, execution_id: string, parent_id: string | null): Promise<State> {
  if (parent_id === null) return emptyState;
  return retainedState(call, parent_id).catch(async (error) => {
    if (!(error instanceof CairnError) || error.code !== 'CHECKPOINT_NOT_FOUND') throw error;
    await openExecution(call.driver.at(call.tenant), execution_id);
    throw unknownParent(parent_id, execution_id);
  });
}

const unknownParent = (parent_id: string, execution_id: string): CairnError =>
  new CairnError('UNKNOWN_ENTITY', `parent_checkpoint_id: execution ${execution_id} has no checkpoint ${parent_id}`);

export const cycleError = (checkpoint_id: string): CairnError =>
  invalid(`checkpoint ${checkpoint_id} would descend from itself: its parent does`);

/** Whether a paused execution waits for an answer, for example. */
async function isWaiting(tx: Tx, { status, execution_id }: ExecutionRow): Promise<boolean> {
  if (status !== 'paused') return false;
  for (const [, hooks] of executionHooks) if (await hooks.waits(tx, execution_id)) return true;
  return false;
}

async function store(
  work: Work,
  draft: Draft,
  { parent_id, next }: Compared,
  event_type: string,
): Promise<CheckpointRow> {
  const { tx, now } = work;
  const { execution_id } = draft;
  const execution = await lockExecutionFor(work, draft);
  if (draft.parent_id === undefined && execution.head_id !== parent_id) throw new Stale();
  const { parent, used } = await findSurroundings(tx, execution_id, { checkpoint_id: draft.checkpoint_id, parent_id });
  if (used) refuseUsed(draft.checkpoint_id!, used.gone);
  if (parent_id !== null && !parent) throw unknownParent(parent_id, execution_id);
  // A file imported earlier may have named this checkpoint as its parent.
  if (
    draft.imported &&
    parent &&
    (await descendsFrom(tx, { checkpoint_id: parent_id!, execution_id }, draft.checkpoint_id!))
  )
    throw cycleError(draft.checkpoint_id!);
  const revision = execution.revision + 1;
  const follows = parent !== undefined && isLast(parent, execution);
  const line = follows ? parent.line : revision;
  Object.assign(next.stamp, { line, revision });
  // Not decided by the line: after the children of the parent were pruned, the next checkpoint is no branch.
  const branch = draft.branch ?? {
    is_branch: !follows && parent !== undefined && (await hasChild(tx, execution_id, parent_id!)),
    reason: null,
  };
  const at = { line, revision, agent_id: execution.agent_id };
  const row = rowFor({ ...draft, branch }, parent_id, at, next, now);
  if (!follows) {
    const base = { base_line: parent?.line ?? null, base_revision: parent?.revision ?? null };
    await insertLines(tx, execution_id, [{ line, ...base, last: null }]);
  }
  if (line !== execution.line && execution.revision > 0)
    await leaveLine(tx, execution_id, execution.line, execution.revision);
  await insertCheckpoints(tx, [row]);
  const has_base = follows ? parent.base_line !== null : parent !== undefined;
  await endParts(tx, execution_id, next, next.stamp);
  await insertParts(tx, execution, rowsOf(tx.tenant, ownerOf(row, has_base, next.state), next, next.stamp));
  const stays = draft.imported && execution.head_id !== null && execution.head_id !== parent_id;
  const head_id = stays ? execution.head_id : row.checkpoint_id;
  await advanceExecution(tx, execution_id, { revision, line, head_id, updated_at: now });
  if (!draft.imported && execution.status !== 'running' && !(await isWaiting(tx, execution))) {
    await resumeExecution(tx, execution_id);
  }
  const { checkpoint_id, step_number, checkpoint_reason } = row;
  const facts = { bytes: bytesOf(next), checkpoint_reason, execution_id, step_number };
  const lineage = presentMembers({ parent: row.parent_id });
  const entity = { type: 'checkpoint', id: checkpoint_id } as const;
  appendEvent(work, event_type, entity, { ...facts, ...lineage }, execution.trajectory_id);
  return row;
}

async function lockExecutionFor(work: Work, draft: Draft): Promise<ExecutionRow> {
  const { call, tx, now } = work;
  const { execution_id, agent_id, imported, resumes } = draft;
  if (!imported) {
    const row = await openExecutionLocked(work, execution_id);
    const { status } = row;
    if (resumes || !isFinished(status)) return row;
    throw new CairnError(
      'STATE_CONFLICT',
      `execution ${execution_id} is ${status}: set its status to running, or restore one of its checkpoints`,
      { execution_id, status },
    );
  }
  const row = await lockExecution(tx, execution_id);
  if (row && row.deleted_at !== null) throw executionGone(execution_id);
  if (row && agent_id !== undefined && row.agent_id !== agent_id)
    throw invalid(`\`agent_id\` is ${agent_id}, but execution ${execution_id} belongs to another agent`);
  await refuseFormerOwner(call, tx, row?.trajectory_id ?? null);
  if (row) {
    refuseForeignWrite(call, `execution ${execution_id}`, row.subject_ids);
    return row;
  }
  const created = newExecution(
    {
      execution_id,
      agent_id: agentOf(call, agent_id),
      status: 'paused',
      subject_ids: listToText(subjectsOf(call, [])),
    },
    now,
  );
  await insertExecution(tx, created);
  return created;
}

/** Whether no other checkpoint follows on its line. */
const isLast = ({ line, revision, last }: CheckpointPlace, newest: ExecutionRow): boolean =>
  revision === (line === newest.line ? newest.revision : last);

function refuseUsed(checkpoint_id: string, gone: boolean): never {
  // It may be the same checkpoint, which is compared outside of the transaction.
  if (!gone) throw new Stale();
  throw new CairnError('ENTITY_GONE', `checkpoint ${checkpoint_id} was deleted; ids are never reused`);
}

const COMPARED = [
  'execution_id',
  'name',
  'description',
  'labels',
  'rest',
  'timestamp',
  'step_number',
  'total_steps_estimate',
  'tokens_used',
  'duration_ms',
  'checkpoint_reason',
] as const;

/** The existing checkpoint with this id, if its content is the same; else a conflict. */
async function sameCheckpoint(call: Call, draft: Draft, snapshot: Snapshot): Promise<CheckpointSummary | undefined> {
  if (draft.checkpoint_id === undefined) return undefined;
  const query = call.driver.at(call.tenant);
  const row = await findCheckpoint(query, draft.checkpoint_id);
  if (!row) return undefined;
  const next = nextState(await readState(query, row, true), snapshot);
  const sent = rowFor(draft, null, row, next, row.timestamp);
  const parent_id = draft.absent_parent_id ?? draft.parent_id;
  const differs =
    next.added.length + next.ended.length > 0 ||
    COMPARED.some((field) => sent[field] !== row[field]) ||
    (draft.branch !== undefined && (sent.is_branch !== row.is_branch || sent.branch_reason !== row.branch_reason)) ||
    (parent_id !== undefined && parent_id !== row.parent_id) ||
    !sameCarried(sent.carried, row.carried);
  if (!differs) return showSummary(row);
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `checkpoint ${row.checkpoint_id} already exists with different content: use a new id`,
  );
}
