/** Use cases of trajectories: create, read, list and update. Finishing and deleting are in ending.ts. */
import { listToText, longQuery, type Query } from '../../driver/index.js';
import { type In, type Out, reads } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  equalsAnswer,
  listPage,
  type PageInput,
  subjectsOf,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { ownerOf } from '../../facts/index.js';
import { checkUses, containerReachOf } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, present } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { idReused, idTaken } from '../entities/errors.js';
import { trajectories as operations, type TrajectoryInput, type TrajectoryPatch } from './contract.js';
import { finish } from './ending.js';
import { refuseFormerOwner, wasHandedOff } from './former-owners.js';
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

export const openTrajectory = async (call: Call, query: Query, trajectory_id: string): Promise<TrajectoryRow> =>
  present(call, 'trajectory', trajectory_id, await findTrajectory(query, trajectory_id));

/** A trajectory, validated and hashed before the transaction. */
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
    // Only an id that the client chose can be sent again.
    sent_hash: input.trajectory_id === undefined ? null : sha256(canonical(input as unknown as Json)),
    bytes: metadata.length + (input.description?.length ?? 0),
  };
}

/** The existing trajectory of an id, if it came from the same request by the same agent, also after a handoff. */
async function sameTrajectory(
  { call, tx }: Work,
  row: TrajectoryRow,
  { input, sent_hash, agent_id }: PreparedTrajectory,
): Promise<Trajectory> {
  const { trajectory_id } = row;
  if (row.deleted_at !== null) throw idReused(`trajectory ${trajectory_id}`);
  const isOwn = row.agent_id === agent_id || (await wasHandedOff(tx, trajectory_id, agent_id));
  const shown = toTrajectory(call.tenant, row);
  const isSame = row.sent_hash === sent_hash || equalsAnswer(operations.create.input, shown, input);
  if (!isSame || !isOwn) throw idTaken(`trajectory ${trajectory_id}`, 'use a new trajectory_id');
  await refuseUnreadable(call, trajectory_id);
  return shown;
}

/** After a handoff, the agent that created a trajectory may no longer read it. */
const refuseUnreadable = (call: Call, trajectory_id: string): Promise<void> =>
  checkUses(call, [reads('Trajectory', 'trajectory_id')], { trajectory_id });

/** Replays the answer of a change, if the caller can still read the trajectory. */
export async function readAgain(call: Call, query: Query, trajectory_id: string): Promise<Trajectory> {
  await refuseUnreadable(call, trajectory_id);
  return read(call, query, trajectory_id);
}

/** Refuses a locked parent that is missing or finished. */
function refuseFinished(parent_id: string, parent: TrajectoryRow | undefined): void {
  if (!parent || parent.deleted_at !== null) {
    throw new CairnError('UNKNOWN_ENTITY', `parent_trajectory_id: there is no trajectory ${parent_id}`, {
      missing_ids: [parent_id],
    });
  }
  if (isFinished(parent)) {
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${parent_id} is ${parent.status}: a finished trajectory cannot have Active children`,
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
  let parent: TrajectoryRow | undefined;
  if (parent_trajectory_id !== null) {
    parent = await lockTrajectory(tx, parent_trajectory_id);
    refuseFinished(parent_trajectory_id, parent);
    await refuseFormerOwner(call, tx, parent_trajectory_id, agent_id);
  }
  const row: TrajectoryRow = {
    trajectory_id,
    parent_trajectory_id,
    agent_id,
    name: input.name,
    description: input.description ?? null,
    subject_ids: listToText(subjectsOf(call, input.subject_ids, parent?.subject_ids ?? null)),
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

const journal = (work: Work, what: string, trajectory_id: string, facts: JsonObject): void =>
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

async function read(call: Call, query: Query, trajectory_id: string): Promise<Trajectory> {
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
    // A long read: filters without an index scan all trajectories.
    read: (request) => listTrajectories(longQuery(driver, tenant), reached, request),
    bytesOf,
    count: countTrajectories(reached),
  });
  const trajectories = rows.map((row) => toTrajectory(tenant, row));
  return { trajectories: await withReadableOutcomes(call, driver.at(tenant), trajectories), ...rest };
}

export function list(call: Call, input: In<'trajectories.list'>): Promise<Out<'trajectories.list'>> {
  const { status, agent_id, parent_id, top_level, name } = input;
  return page(call, input, { status, agent_id, parent_id, top_level, name, times: timesOf(input) });
}

export async function children(call: Call, input: In<'trajectories.children'>): Promise<Out<'trajectories.children'>> {
  await openTrajectory(call, call.driver.at(call.tenant), input.trajectory_id);
  return page(call, input, { parent_id: input.trajectory_id });
}

/** An update, validated before the transaction. */
export interface PreparedPatch {
  readonly trajectory_id: string;
  readonly patch: TrajectoryPatch;
  /** Canonical JSON. */
  readonly metadata: string | undefined;
  readonly bytes: number;
  /** Its task has ended, which finishes a Suspended trajectory as well. */
  readonly with_task?: boolean;
}

export function preparePatch(trajectory_id: string, patch: TrajectoryPatch): PreparedPatch {
  if (Object.values(patch).every((value) => value === undefined)) {
    throw invalid('nothing to update: give name, description, status, outcome or metadata');
  }
  if (patch.outcome !== undefined && (patch.status === undefined || !isFinal(patch.status))) {
    throw invalid('`outcome` requires the status Completed or Failed');
  }
  const metadata = patch.metadata === undefined ? undefined : canonical(patch.metadata);
  const bytes = (metadata?.length ?? 0) + (patch.description?.length ?? 0) + (patch.outcome?.summary?.length ?? 0);
  return { trajectory_id, patch, metadata, bytes };
}

const sameOutcome = (given: OutcomeInput, recorded: Outcome | null): boolean =>
  recorded !== null &&
  (Object.keys(given) as (keyof OutcomeInput)[]).every(
    (name) => given[name] === undefined || canonical(given[name]) === canonical(recorded[name]),
  );

/** The fields that the patch changes. `shown` is the outcome as the caller sees it. */
function changedFields(row: TrajectoryRow, shown: Outcome | null, { patch, metadata }: PreparedPatch): string[] {
  const next = { name: patch.name, description: patch.description, status: patch.status, metadata };
  const changed: string[] = (Object.keys(next) as (keyof typeof next)[]).filter(
    (name) => next[name] !== undefined && next[name] !== row[name],
  );
  return patch.outcome === undefined || sameOutcome(patch.outcome, shown) ? changed : [...changed, 'outcome'];
}

export interface Changed {
  readonly trajectory: Trajectory;
  /** Holders whose content is to be erased. */
  readonly ended: readonly string[];
}

export async function updateIn(work: Work, prepared: PreparedPatch): Promise<Changed> {
  const { call, tx, now } = work;
  const { tenant } = call;
  const { trajectory_id, patch } = prepared;
  // The parent, which never changes, is locked before the child.
  const { parent_trajectory_id } = await openTrajectory(call, tx, trajectory_id);
  const parent_id = patch.status === 'Active' ? parent_trajectory_id : null;
  const parent = parent_id === null ? undefined : await lockTrajectory(tx, parent_id);
  const row = present(call, 'trajectory', trajectory_id, await lockTrajectory(tx, trajectory_id));
  await refuseFormerOwner(call, tx, trajectory_id);
  const shown = await withReadableOutcome(call, tx, toTrajectory(tenant, row));
  const fields = changedFields(row, shown.outcome, prepared);
  if (fields.length === 0) return { trajectory: shown, ended: [] };
  const status = patch.status ?? row.status;
  if (!prepared.with_task) checkMove(trajectory_id, row.status, status);
  if (isFinished(row)) {
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${trajectory_id} is ${row.status}: a finished trajectory is read-only`,
      { status: row.status },
    );
  }
  if (parent_id !== null && row.status !== 'Active') refuseFinished(parent_id, parent);
  const changed: TrajectoryRow = {
    ...row,
    name: patch.name ?? row.name,
    description: patch.description === undefined ? row.description : patch.description,
    metadata: prepared.metadata ?? row.metadata,
    status,
    updated_at: now,
  };
  if (!isFinal(status)) {
    await updateTrajectory(tx, changed);
    journal(work, 'updated', trajectory_id, { status, fields });
    return { trajectory: toTrajectory(tenant, changed), ended: [] };
  }
  const { outcome, finished_at, ended, closed_scope_ids } = await finish(work, { ...patch, trajectory_id, status });
  const finished = { ...changed, outcome: canonical(outcome), finished_at, updated_at: finished_at };
  await updateTrajectory(tx, finished);
  const facts = { status, fields, outcome: outcome.status, closed_scope_ids: [...closed_scope_ids] };
  journal(work, status.toLowerCase(), trajectory_id, facts);
  return { trajectory: await withReadableOutcome(call, tx, toTrajectory(tenant, finished)), ended };
}
