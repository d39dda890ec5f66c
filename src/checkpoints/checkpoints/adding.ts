/** Stores a checkpoint: what differs from the state that it came from, in one transaction with its row and event. */
import type { Query, Tx } from '../../driver/index.js';
import { type Call, change, event, keptAnswer, stepsOf, type Work } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, givingWay, inSteps, invalid } from '../../kernel/index.js';
import { refuseFormerOwner } from '../../memory/index.js';
import type { ExecutionStatus } from '../executions/model.js';
import {
  agentOf,
  goneExecution,
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
import { addedThoughts, endParts, insertParts, rowsOf } from '../states/store.js';
import type { ThoughtMeasures } from '../states/thought-docs.js';
import { measureThoughts } from '../states/thought-measures.js';
import type { CheckpointSummary, Snapshot } from './model.js';
import { bytesOf, type Draft, ownerOf, rowFor } from './rows.js';
import { openCheckpoint, readState, retainedState, showSummary } from './states.js';
import {
  type CheckpointRow,
  descendsFrom,
  findCheckpoint,
  findPlace,
  findUsed,
  followCheckpoint,
  hasChild,
  insertCheckpoints,
  insertLines,
} from './store.js';

/** Thrown when the state that was compared with is not the one that the checkpoint comes to follow. */
class Moved extends Error {}

const ATTEMPTS = 8;
/** So often the comparison is made before the transaction, which then finds whether it still holds. */
const OPTIMISTIC = 3;

interface SentDraft extends Draft {
  readonly snapshot: unknown;
  /** The snapshot is a document, or a stored state: it may have members that Cairn does not know. */
  readonly carries?: boolean;
}

/** `input` is what the request is known by if it comes again. */
export async function addCheckpoint(
  call: Call,
  sent: SentDraft,
  input: object,
  event_type: string,
): Promise<CheckpointSummary> {
  // Before anything is waited for: the caller may go on to change what was sent.
  const taken = await takeSnapshot(call, sent);
  const { snapshot: _, carries: __, ...draft } = sent;
  const snapshot = (): Snapshot => snapshotOf(taken.next.state);
  const isKnown = call.options.idempotency_key !== undefined;
  const request = isKnown && 'snapshot' in input ? { ...input, snapshot: snapshot() } : input;
  const kept = await keptAnswer(call, request);
  if (kept !== undefined) return readSummary(call.driver.at(call.tenant), kept);
  for (let attempt = 1; ; attempt++) {
    // Mostly it is new: only what the transaction found in its way is looked at here.
    const existing = attempt === 1 ? undefined : await sameCheckpoint(call, draft, snapshot());
    if (existing) return unchanged(call, request, existing);
    let parent_id = draft.parent_id === undefined ? await headOf(call, draft.execution_id) : draft.parent_id;
    let next =
      attempt === 1 && taken.base_id === parent_id
        ? taken.next
        : await inSteps(nextSteps(await stateBefore(call, draft.execution_id, parent_id), snapshot()), givingWay());
    if (!sent.carries && next.unknown.size > 0)
      refuseUnknown(next, await stateBefore(call, draft.execution_id, parent_id));
    const measures = await measureThoughts(call, addedThoughts(next));
    let row: CheckpointRow | undefined;
    try {
      const answer = await change<CheckpointSummary>(call, {
        input: request,
        entity: draft.execution_id,
        bytes: bytesOf(next),
        work: async (work) => {
          if (attempt > OPTIMISTIC && draft.parent_id === undefined)
            ({ parent_id, next } = await behindLock(work, draft.execution_id, snapshot()));
          row = await store(work, draft, parent_id, next, measures, event_type);
          return showSummary(row);
        },
        remember: ({ id }) => id,
        again: (query, kept) => readSummary(query, kept),
      });
      // Given again for a repeated request, nothing was stored now.
      if (row && row.checkpoint_id === answer.id) retain(call, row, parent_id, next.state);
      return answer;
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      if (attempt === ATTEMPTS) {
        throw new CairnError(
          'CONCURRENT_MODIFICATION',
          `others kept adding checkpoints to execution ${draft.execution_id}: try again`,
        );
      }
    }
  }
}

/** A member that Cairn does not know is most likely misspelt, unless the state that it goes on from has it. */
function refuseUnknown({ unknown }: NextState, before: State): void {
  const known = unknownIn(before);
  const errors = [...unknown].filter(([member]) => !known.has(member)).map(([, told]) => told);
  if (errors.length > 0) throw invalid(errors[0]!, { errors: errors.slice(0, 20) });
}

/** A state that was sent, compared with the one that it most likely follows; from null, with none. */
interface Taken {
  readonly base_id: string | null;
  readonly next: NextState;
}

async function takeSnapshot(call: Call, { execution_id, parent_id, snapshot }: SentDraft): Promise<Taken> {
  const { tenant } = call;
  const states = retainedStates.of(call);
  const likely = parent_id === undefined ? states.lastOf(tenant, execution_id) : parent_id;
  const base_id = likely ?? null;
  const state = base_id === null ? undefined : states.get(tenant, base_id);
  const next = await stepsOf(call, nextSteps(state ?? emptyState, snapshot));
  return { base_id: state ? base_id : null, next };
}

/** Where the execution stands while it is locked: others wait then, so that this is not the first thing to try. */
async function behindLock(
  work: Work,
  execution_id: string,
  snapshot: Snapshot,
): Promise<{ parent_id: string | null; next: NextState }> {
  const { tx } = work;
  const { head_id } = await openExecutionLocked(work, execution_id);
  if (head_id === null) return { parent_id: null, next: nextState(emptyState, snapshot) };
  const state = await readState(tx, await openCheckpoint(tx, head_id), true);
  return { parent_id: head_id, next: nextState(state, snapshot) };
}

const readSummary = async (query: Query, kept: Json): Promise<CheckpointSummary> =>
  showSummary(await openCheckpoint(query, kept as string));

/** Nothing was to be done, which is remembered all the same. */
async function unchanged(call: Call, input: unknown, existing: CheckpointSummary): Promise<CheckpointSummary> {
  if (call.options.idempotency_key === undefined) return existing;
  return change(call, {
    input,
    work: async () => existing,
    remember: ({ id }) => id,
    again: (query, kept) => readSummary(query, kept),
  });
}

/** Where the execution stands. */
const headOf = async (call: Call, execution_id: string): Promise<string | null> =>
  (await openExecution(call.driver.at(call.tenant), execution_id)).head_id;

/** The next checkpoint will most likely follow this one, and none the one before. */
function retain(call: Call, row: CheckpointRow, parent_id: string | null, state: State): void {
  if (parent_id !== null && row.is_branch === 0) retainedStates.of(call).forget(call.tenant, parent_id);
  retainedStates.of(call).set(call.tenant, row, state);
  retainedStates.of(call).setLast(call.tenant, row.execution_id, row.checkpoint_id);
}

/** The state that a checkpoint comes to follow. */
async function stateBefore(call: Call, execution_id: string, parent_id: string | null): Promise<State> {
  if (parent_id === null) return emptyState;
  return retainedState(call, parent_id).catch(async (error) => {
    if (!(error instanceof CairnError) || error.code !== 'CHECKPOINT_NOT_FOUND') throw error;
    await openExecution(call.driver.at(call.tenant), execution_id);
    throw noParent(parent_id, execution_id);
  });
}

const noParent = (parent_id: string, execution_id: string): CairnError =>
  new CairnError(
    'UNKNOWN_ENTITY',
    `parent_checkpoint_id names ${parent_id}, which is no checkpoint of execution ${execution_id}`,
  );

export const circle = (checkpoint_id: string): CairnError =>
  invalid(`checkpoint ${checkpoint_id} would descend from itself: its parent does`);

function refuseFinished(execution_id: string, status: ExecutionStatus): void {
  if (!isFinished(status)) return;
  throw new CairnError(
    'STATE_CONFLICT',
    `execution ${execution_id} is ${status}: take it up again with status running, or restore a checkpoint of it`,
    { execution_id, status },
  );
}

async function store(
  work: Work,
  draft: Draft,
  parent_id: string | null,
  next: NextState,
  measures: ThoughtMeasures,
  event_type: string,
): Promise<CheckpointRow> {
  const { call, tx, now } = work;
  const { tenant } = call;
  const { execution_id } = draft;
  const execution = await lockedFor(work, draft);
  if (draft.parent_id === undefined && execution.head_id !== parent_id) throw new Moved();
  if (draft.checkpoint_id !== undefined) await refuseUsed(tx, draft.checkpoint_id);
  const parent = parent_id === null ? undefined : await findPlace(tx, execution_id, parent_id);
  if (parent_id !== null && !parent) throw noParent(parent_id, execution_id);
  // A file that came before may have named this one as its parent.
  if (draft.imported && parent && (await descendsFrom(tx, { ...parent, execution_id }, draft.checkpoint_id!)))
    throw circle(draft.checkpoint_id!);
  const revision = execution.revision + 1;
  const follows = parent !== undefined && parent.followed === 0;
  const line = follows ? parent.line : revision;
  Object.assign(next.stamp, { line, revision });
  // Not by the line: of one whose children were pruned, the next is no branch.
  const branch = draft.branch ?? {
    is_branch: !follows && parent !== undefined && (await hasChild(tx, execution_id, parent.checkpoint_id)),
    reason: null,
  };
  const at = { line, revision, agent_id: execution.agent_id };
  const row = rowFor({ ...draft, branch }, parent, at, next, now);
  if (follows) await followCheckpoint(tx, parent.checkpoint_id);
  else {
    const base = { base_line: parent?.line ?? null, base_revision: parent?.revision ?? null };
    await insertLines(tx, execution_id, [{ line, ...base }]);
  }
  await insertCheckpoints(tx, [row]);
  const has_base = follows ? parent.base_line !== null : parent !== undefined;
  const owner = ownerOf(row, has_base, next.state);
  await endParts(tx, execution_id, next, next.stamp);
  await insertParts(tx, execution, rowsOf(tenant, owner, next, next.stamp), measures);
  const stays = draft.imported && execution.head_id !== null && execution.head_id !== parent_id;
  const head_id = stays ? execution.head_id : row.checkpoint_id;
  await advanceExecution(tx, execution_id, { revision, head_id, updated_at: now });
  if (!draft.imported && execution.status !== 'running') await resumeExecution(tx, execution_id);
  tx.journal(eventOf(call, row, bytesOf(next), event_type, execution.trajectory_id, now));
  return row;
}

function eventOf(
  call: Call,
  row: CheckpointRow,
  bytes: number,
  type: string,
  trajectory_id: string | null,
  now: number,
) {
  const { checkpoint_id, execution_id, step_number, checkpoint_reason, parent_id } = row;
  const facts = { bytes, checkpoint_reason, execution_id, step_number };
  const lineage = parent_id === null ? facts : { ...facts, parent: parent_id };
  return event({ call, now }, type, { type: 'checkpoint', id: checkpoint_id }, lineage, trajectory_id);
}

/** The execution that it is added to, locked. */
async function lockedFor(work: Work, draft: Draft): Promise<ExecutionRow> {
  const { call, tx, now } = work;
  const { execution_id, agent_id, imported, resumes } = draft;
  if (!imported) {
    const row = await openExecutionLocked(work, execution_id);
    if (!resumes) refuseFinished(execution_id, row.status);
    return row;
  }
  const row = await lockExecution(tx, execution_id);
  if (row && row.deleted_at !== null) throw goneExecution(execution_id);
  if (row && agent_id !== undefined && row.agent_id !== agent_id) {
    throw invalid(
      `the checkpoint is of agent ${agent_id}, and execution ${execution_id} of another: an execution has one`,
    );
  }
  await refuseFormerOwner(call, tx, row?.trajectory_id ?? null);
  if (row) return row;
  const made = newExecution({ execution_id, agent_id: agentOf(call, agent_id), status: 'paused' }, now);
  await insertExecution(tx, made);
  return made;
}

async function refuseUsed(tx: Tx, checkpoint_id: string): Promise<void> {
  const used = await findUsed(tx, checkpoint_id);
  if (!used) return;
  // It may be the same one, which is found out outside of the transaction.
  if (!used.gone) throw new Moved();
  throw new CairnError('ENTITY_GONE', `checkpoint ${checkpoint_id} existed and is gone: an id is never used twice`);
}

/** The checkpoint that has this id already, if it is the same; another is a conflict. */
async function sameCheckpoint(call: Call, draft: Draft, snapshot: Snapshot): Promise<CheckpointSummary | undefined> {
  if (draft.checkpoint_id === undefined) return undefined;
  const query = call.driver.at(call.tenant);
  const row = await findCheckpoint(query, draft.checkpoint_id);
  if (!row) return undefined;
  const next = nextState(await readState(query, row, true), snapshot);
  const { added, ended } = next;
  const { line, revision, agent_id } = row;
  const sent = rowFor(draft, undefined, { line, revision, agent_id }, next, row.timestamp);
  const compared = [
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
  const parent_id = draft.absent_parent_id ?? draft.parent_id;
  const differs =
    added.length + ended.length > 0 ||
    compared.some((field) => sent[field] !== row[field]) ||
    (draft.branch !== undefined && (sent.is_branch !== row.is_branch || sent.branch_reason !== row.branch_reason)) ||
    (parent_id !== undefined && parent_id !== row.parent_id) ||
    !sameCarried(sent.carried, row.carried);
  if (!differs) return showSummary(row);
  throw new CairnError('ENTITY_ALREADY_EXISTS', `checkpoint ${row.checkpoint_id} exists and is another: use a new id`);
}
