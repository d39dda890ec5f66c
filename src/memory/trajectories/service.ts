/** Use cases of trajectories: start, read, list, and how one is changed. How they end is in ending.ts. */
import { atLength, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { reads } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  isAnswerOf,
  listPage,
  type PageInput,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { ownerOf } from '../../facts/index.js';
import { checkUses, containerReachOf } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { trajectories as operations, type TrajectoryInput, type TrajectoryPatch } from './contract.js';
import { finish } from './ending.js';
import { refuseFormerOwner } from './former-owners.js';
import { wasHandedOver } from './former-owners-store.js';
import type { Outcome, OutcomeInput, Trajectory } from './model.js';
import { withReadableOutcome, withReadableOutcomes } from './outcomes.js';
import { checkMove, isFinal } from './rules.js';
import {
  countTrajectories,
  findTrajectory,
  insertTrajectory,
  isFinished,
  listTrajectories,
  lockTrajectory,
  type TrajectoryFilter,
  type TrajectoryRow,
  toTrajectory,
  updateTrajectory,
} from './store.js';

export const noTrajectory = (call: Call, trajectory_id: string): CairnError =>
  new CairnError('TRAJECTORY_NOT_FOUND', `there is no trajectory ${trajectory_id} in tenant ${call.tenant}`);

/** A row that was looked for, if it was there and not deleted. */
export function present(call: Call, trajectory_id: string, row: TrajectoryRow | undefined): TrajectoryRow {
  if (!row || row.deleted_at !== null) throw noTrajectory(call, trajectory_id);
  return row;
}

export async function openTrajectory(call: Call, query: Query, trajectory_id: string): Promise<TrajectoryRow> {
  return present(call, trajectory_id, await findTrajectory(query, trajectory_id));
}

/** A trajectory checked and hashed, before any transaction. */
export interface PreparedTrajectory {
  readonly input: TrajectoryInput;
  readonly agent_id: string | null;
  /** Canonical JSON. */
  readonly metadata: string;
  readonly sent_hash: string | null;
  readonly bytes: number;
}

export function prepareCreate(call: Call, input: TrajectoryInput): PreparedTrajectory {
  const metadata = canonical(input.metadata ?? {});
  return {
    input,
    agent_id: ownerOf(call, input.agent_id ?? undefined),
    metadata,
    // Only an id that the client chose can come again.
    sent_hash: input.trajectory_id === undefined ? null : sha256(canonical(input as unknown as Json)),
    bytes: metadata.length + (input.description?.length ?? 0),
  };
}

/** The trajectory that has this id already, if it came of the same request by the same agent, which may have given it away. */
async function sameTrajectory(
  { call, tx }: Work,
  row: TrajectoryRow,
  { input, sent_hash, agent_id }: PreparedTrajectory,
): Promise<Trajectory> {
  if (row.deleted_at !== null) {
    throw new CairnError(
      'ENTITY_GONE',
      `trajectory ${row.trajectory_id} existed and is gone: an id is never used twice`,
    );
  }
  const madeByIt = row.agent_id === agent_id || (await wasHandedOver(tx, row.trajectory_id, agent_id));
  const shown = toTrajectory(call.tenant, row);
  const isSame = row.sent_hash === sent_hash || isAnswerOf(operations.create.input, shown, input);
  if (!isSame || !madeByIt) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `trajectory ${row.trajectory_id} exists and was made otherwise: use a new trajectory_id`,
    );
  }
  await refuseUnreadable(call, row.trajectory_id);
  return shown;
}

/** One that was handed over may have been made by who asks again, and is no longer for it to read. */
const refuseUnreadable = (call: Call, trajectory_id: string): Promise<void> =>
  checkUses(call, [reads('Trajectory', 'trajectory_id')], { trajectory_id });

/** The answer of a change again, for who can still read it. */
export async function readAgain(call: Call, query: Query, trajectory_id: string): Promise<Trajectory> {
  await refuseUnreadable(call, trajectory_id);
  return read(call, query, trajectory_id);
}

/** A parent, which is locked and so cannot finish before the commit: refuses one that has. */
function refuseFinished(parent_id: string, parent: TrajectoryRow | undefined): void {
  if (!parent || parent.deleted_at !== null) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `parent_trajectory_id names a trajectory that does not exist or is gone: ${parent_id}`,
      { missing_ids: [parent_id] },
    );
  }
  if (isFinished(parent)) {
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${parent_id} is ${parent.status}: a finished trajectory gets no part that is under way`,
      { status: parent.status },
    );
  }
}

export async function createIn(work: Work, prepared: PreparedTrajectory): Promise<Trajectory> {
  const { call, tx, now } = work;
  const { input, agent_id, metadata, sent_hash } = prepared;
  const trajectory_id = input.trajectory_id ?? newId();
  if (input.trajectory_id !== undefined) {
    const existing = await findTrajectory(tx, trajectory_id);
    if (existing) return withReadableOutcome(call, tx, await sameTrajectory(work, existing, prepared));
  }
  const parent_trajectory_id = input.parent_trajectory_id ?? null;
  if (parent_trajectory_id !== null) {
    refuseFinished(parent_trajectory_id, await lockTrajectory(tx, parent_trajectory_id));
    await refuseFormerOwner(call, tx, parent_trajectory_id, agent_id);
  }
  const row: TrajectoryRow = {
    trajectory_id,
    parent_trajectory_id,
    agent_id,
    name: input.name,
    description: input.description ?? null,
    status: 'Active',
    metadata,
    outcome: null,
    sent_hash,
    created_at: now,
    updated_at: now,
    finished_at: null,
    deleted_at: null,
  };
  await insertTrajectory(tx, row);
  journal(work, 'created', trajectory_id, { parent_trajectory_id, agent_id });
  return toTrajectory(call.tenant, row);
}

const journal = (
  work: Work,
  what: 'created' | 'updated' | 'completed' | 'failed',
  trajectory_id: string,
  facts: JsonObject,
): void =>
  appendEvent(work, `cairn.trajectory.${what}`, { type: 'trajectory', id: trajectory_id }, facts, trajectory_id);

export async function create(call: Call, input: In<'trajectories.create'>): Promise<Trajectory> {
  const prepared = prepareCreate(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: (work) => createIn(work, prepared),
    remember: ({ trajectory_id }) => trajectory_id,
    again: (query, kept) => readAgain(call, query, kept as string),
  });
}

export async function read(call: Call, query: Query, trajectory_id: string): Promise<Trajectory> {
  const row = await openTrajectory(call, query, trajectory_id);
  return withReadableOutcome(call, query, toTrajectory(call.tenant, row));
}

export const get = (call: Call, input: In<'trajectories.get'>): Promise<Trajectory> =>
  read(call, call.driver.at(call.tenant), input.trajectory_id);

const bytesOf = ({ name, description, metadata, outcome }: TrajectoryRow): number =>
  Buffer.byteLength(`${name}${description ?? ''}${metadata ?? ''}${outcome ?? ''}`);

async function page(call: Call, input: PageInput, filter: TrajectoryFilter): Promise<Out<'trajectories.list'>> {
  const { driver, tenant } = call;
  const reached = { ...filter, reach: containerReachOf(call) };
  const { rows, ...rest } = await listPage<TrajectoryRow, string>(call, {
    input,
    filters: filter as Json,
    key: 'string',
    keyOf: (row) => row.trajectory_id,
    // What no index finds is looked for among all, which may take a while.
    read: (request) => listTrajectories(atLength(driver, tenant), reached, request),
    bytesOf,
    count: countTrajectories(reached),
  });
  const trajectories = rows.map((row) => toTrajectory(tenant, row));
  return { trajectories: await withReadableOutcomes(call, driver.at(tenant), trajectories), ...rest };
}

export function list(call: Call, input: In<'trajectories.list'>): Promise<Out<'trajectories.list'>> {
  const { limit, cursor, offset, order, status, agent_id, parent_id, top_level, name, ...times } = input;
  const filter = { status, agent_id, parent_id, top_level, name, times: timesOf(times) };
  return page(call, { limit, cursor, offset, order }, filter);
}

export async function children(call: Call, input: In<'trajectories.children'>): Promise<Out<'trajectories.children'>> {
  const { trajectory_id, ...asked } = input;
  await openTrajectory(call, call.driver.at(call.tenant), trajectory_id);
  return page(call, asked, { parent_id: trajectory_id });
}

/** A change checked before any transaction. */
export interface PreparedPatch {
  readonly trajectory_id: string;
  readonly patch: TrajectoryPatch;
  /** Canonical JSON. */
  readonly metadata: string | undefined;
  readonly bytes: number;
  /** It finishes because its task has ended: also one that was suspended. */
  readonly with_task?: boolean;
}

export function preparePatch(trajectory_id: string, patch: TrajectoryPatch): PreparedPatch {
  if (Object.values(patch).every((value) => value === undefined)) {
    throw invalid('nothing to change: give name, description, status, outcome or metadata');
  }
  if (patch.outcome !== undefined && (patch.status === undefined || !isFinal(patch.status))) {
    throw invalid('an outcome goes with the status Completed or Failed');
  }
  const metadata = patch.metadata === undefined ? undefined : canonical(patch.metadata);
  const bytes = (metadata?.length ?? 0) + (patch.description?.length ?? 0) + (patch.outcome?.summary?.length ?? 0);
  return { trajectory_id, patch, metadata, bytes };
}

/** Whether what is said of an outcome is what was recorded. */
const sameOutcome = (given: OutcomeInput, recorded: Outcome | null): boolean =>
  recorded !== null &&
  (Object.keys(given) as (keyof OutcomeInput)[]).every(
    (name) => given[name] === undefined || canonical(given[name]) === canonical(recorded[name]),
  );

/** The names of the fields that the patch changes, by the outcome that its caller is shown. */
function changedFields(row: TrajectoryRow, shown: Outcome | null, { patch, metadata }: PreparedPatch): string[] {
  const changed: string[] = [];
  if (patch.name !== undefined && patch.name !== row.name) changed.push('name');
  if (patch.description !== undefined && patch.description !== row.description) changed.push('description');
  if (patch.status !== undefined && patch.status !== row.status) changed.push('status');
  if (metadata !== undefined && metadata !== row.metadata) changed.push('metadata');
  if (patch.outcome !== undefined && !sameOutcome(patch.outcome, shown)) changed.push('outcome');
  return changed;
}

export interface Changed {
  readonly trajectory: Trajectory;
  /** What ended with it, whose content is to be erased. */
  readonly ended: readonly string[];
}

export async function updateIn(work: Work, prepared: PreparedPatch): Promise<Changed> {
  const { call, tx, now } = work;
  const { tenant } = call;
  const { trajectory_id, patch } = prepared;
  // Parents are locked before their children; which one it is never changes.
  const { parent_trajectory_id: parent_id } = await openTrajectory(call, tx, trajectory_id);
  const upward = patch.status === 'Active' ? parent_id : null;
  const parent = upward === null ? undefined : await lockTrajectory(tx, upward);
  const row = present(call, trajectory_id, await lockTrajectory(tx, trajectory_id));
  await refuseFormerOwner(call, tx, trajectory_id);
  const shown = await withReadableOutcome(call, tx, toTrajectory(tenant, row));
  const fields = changedFields(row, shown.outcome, prepared);
  if (fields.length === 0) return { trajectory: shown, ended: [] };
  const status = patch.status ?? row.status;
  if (!prepared.with_task) checkMove(trajectory_id, row.status, status);
  if (isFinished(row)) {
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${trajectory_id} is ${row.status}: what is finished is read only`,
      { status: row.status },
    );
  }
  if (upward !== null && row.status !== 'Active') refuseFinished(upward, parent);
  const changed: TrajectoryRow = {
    ...row,
    name: patch.name ?? row.name,
    description: patch.description === undefined ? row.description : patch.description,
    metadata: prepared.metadata ?? row.metadata,
    status,
    updated_at: now,
  };
  if (!isFinal(status)) {
    await updateTrajectory(tx, trajectory_id, changed);
    journal(work, 'updated', trajectory_id, { status, fields });
    return { trajectory: toTrajectory(tenant, changed), ended: [] };
  }
  const { outcome, finished_at, ended, closed_scope_ids } = await finish(work, {
    trajectory_id,
    status,
    outcome: patch.outcome,
  });
  const finished = { ...changed, outcome: canonical(outcome), finished_at, updated_at: finished_at };
  await updateTrajectory(tx, trajectory_id, finished);
  const facts = { status, fields, outcome: outcome.status, closed_scope_ids: [...closed_scope_ids] };
  journal(work, status === 'Completed' ? 'completed' : 'failed', trajectory_id, facts);
  return { trajectory: await withReadableOutcome(call, tx, toTrajectory(tenant, finished)), ended };
}
