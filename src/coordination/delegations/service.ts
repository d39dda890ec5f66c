/** Use cases of delegations: create, get, list. `accept` is in accepting.ts, the other moves in steps.ts. */
import { longQuery } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, change, expireDueLeases, listPage, putLease, type Work } from '../../engine/index.js';
import { checkMayDelegate } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { findTrajectory, openTrajectoryLocked, type TrajectoryRow } from '../../memory/index.js';
import { requiredAgent } from '../acting-agent.js';
import { recipeOf } from '../handovers/service.js';
import { refuseTooDeep } from '../packing/dispatch.js';
import { receiverOf, type Source, sourceOf } from '../packing/dispatch-targets.js';
import { asAgent, preparePacking, visibleBoxes } from '../packing/service.js';
import { readAfterEnd } from '../waiting-reads.js';
import { type Delegation, STUCK_AFTER_MS } from './model.js';
import { announceDelegation } from './moves.js';
import { checkScope, type Offer, planOffer } from './packing.js';
import { readDelegation } from './parties.js';
import { delegationHasEnded } from './rules.js';
import {
  countDelegations,
  type DelegationFilter,
  type DelegationRow,
  type DelegationView,
  findDelegation,
  insertDelegation,
  listDelegations,
  toDelegation,
} from './store.js';

/** A delegation checked and hashed before the transaction. */
interface PreparedDelegation {
  readonly input: In<'delegations.create'>;
  readonly from_agent_id: string;
  readonly offer: Offer;
  readonly box_ids: readonly string[];
  readonly sent_hash: string | null;
}

/** Plans and prepares the packing already now: a context that cannot be packed is not offered. */
async function prepareCreate(call: Call, input: In<'delegations.create'>): Promise<PreparedDelegation> {
  const from_agent_id = requiredAgent(call, input.from_agent_id, 'from_agent_id');
  if (from_agent_id === input.to_agent_id) throw invalid(`agent ${from_agent_id} cannot delegate to itself`);
  const offer: Offer = {
    recipe: await recipeOf(call.driver.at(call.tenant), input.handover),
    input_box_ids: [...new Set(input.input_box_ids)],
    task_description: input.task_description,
    context: input.context ?? null,
  };
  const plan = planOffer(offer, null);
  preparePacking(call, plan, { author: 'delegation', source_agent_id: from_agent_id });
  // Only an id chosen by the client can be sent again.
  const sent_hash = input.delegation_id === undefined ? null : sha256(canonical(input as unknown as Json));
  return { input, from_agent_id, offer, box_ids: plan.box_ids, sent_hash };
}

/** Answers a repeated create: the existing delegation, if the same agent sent the same request. */
async function sameDelegation(
  { call, tx }: Work,
  { delegation_id, trajectory_id, ...row }: DelegationRow,
  { from_agent_id, sent_hash }: PreparedDelegation,
): Promise<Delegation> {
  const trajectory = trajectory_id && (await findTrajectory(tx, trajectory_id));
  if (trajectory && trajectory.deleted_at !== null) {
    const message = `delegation ${delegation_id} was deleted with its trajectory; ids are never reused`;
    throw new CairnError('ENTITY_GONE', message);
  }
  if (row.sent_hash === sent_hash && row.from_agent_id === from_agent_id) {
    return readDelegation(call, tx, delegation_id);
  }
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `delegation ${delegation_id} already exists with different content: use a new delegation_id`,
  );
}

/** An agent delegates parts of its own trajectories. A key without an agent may also delegate parts of unowned ones. */
function refuseForeign(call: Call, { trajectory_id, agent_id }: TrajectoryRow, from_agent_id: string): void {
  if (agent_id === from_agent_id || (agent_id === null && call.caller.agent_id === null)) return;
  const owner = agent_id === null ? 'no agent' : `agent ${agent_id}`;
  throw new CairnError(
    'FORBIDDEN',
    `trajectory ${trajectory_id} belongs to ${owner}: ${from_agent_id} cannot delegate a part of it`,
    { rule: 'delegation_party', agent_id },
  );
}

/** Checks the parties, the trajectory, the scope and the boxes. Locks the delegator's trajectory, and its scope. */
async function checkOffer(work: Work, prepared: PreparedDelegation): Promise<Source> {
  const { call, tx } = work;
  const { input, from_agent_id } = prepared;
  const source = await sourceOf(work, from_agent_id);
  refuseTooDeep(source);
  await checkMayDelegate(tx, from_agent_id, await receiverOf(tx, input.to_agent_id));
  refuseForeign(call, await openTrajectoryLocked(work, input.trajectory_id), from_agent_id);
  if (input.scope_id !== undefined) await checkScope(work, input.scope_id, input.trajectory_id, from_agent_id);
  await visibleBoxes({ ...work, call: asAgent(call, from_agent_id) }, prepared.box_ids);
  return source;
}

async function createIn(work: Work, prepared: PreparedDelegation): Promise<Delegation> {
  const { call, tx, now } = work;
  const { input, offer } = prepared;
  const existing = input.delegation_id && (await findDelegation(tx, input.delegation_id));
  if (existing) return sameDelegation(work, existing, prepared);
  const expected_completion = input.expected_completion === undefined ? null : toMs(input.expected_completion);
  if (expected_completion !== null && expected_completion <= now) {
    throw invalid(`expected_completion must be in the future, not ${input.expected_completion}`);
  }
  const source = await checkOffer(work, prepared);
  const row = await insertDelegation(tx, {
    delegation_id: input.delegation_id ?? newId(),
    from_agent_id: prepared.from_agent_id,
    to_agent_id: input.to_agent_id,
    trajectory_id: input.trajectory_id,
    scope_id: input.scope_id ?? null,
    parent_agent_turn_id: source.turn?.agent_turn_id ?? null,
    depth: source.depth,
    status: 'Pending',
    task_description: offer.task_description,
    context: offer.context === null ? null : canonical(offer.context),
    handover: canonical({ recipe: offer.recipe, input_box_ids: offer.input_box_ids } as unknown as Json),
    expected_completion,
    channel_id: input.channel_id ?? null,
    sent_hash: prepared.sent_hash,
    created_at: now,
    updated_at: now,
  });
  const lease = { kind: 'delegation', subject_id: row.delegation_id, holder: null, token: 0 } as const;
  await putLease(tx, { ...lease, expires_at: expected_completion ?? now + STUCK_AFTER_MS });
  await announceDelegation(work, row);
  return readDelegation(call, tx, row.delegation_id);
}

export async function create(call: Call, input: In<'delegations.create'>): Promise<Delegation> {
  const prepared = await prepareCreate(call, input);
  return change(call, {
    input,
    bytes: input.task_description.length,
    work: (work) => createIn(work, prepared),
    remember: ({ delegation_id }) => delegation_id,
    again: (query, kept) => readDelegation(call, query, kept as string),
  });
}

export const get = (call: Call, { delegation_id, wait_ms }: In<'delegations.get'>): Promise<Delegation> =>
  readAfterEnd(
    call,
    `delegation:${delegation_id}`,
    wait_ms,
    () => readDelegation(call, call.driver.at(call.tenant), delegation_id),
    ({ status }) => delegationHasEnded(status),
  );

export async function list(call: Call, input: In<'delegations.list'>): Promise<Out<'delegations.list'>> {
  const { driver, tenant, caller } = call;
  await expireDueLeases(call);
  const { limit, cursor, offset, order, ...asked } = input;
  const filter: DelegationFilter = { ...asked, party: caller.agent_id ?? undefined };
  const now = driver.now();
  const { rows, ...page } = await listPage<DelegationView, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filter as Json,
    key: 'string',
    keyOf: ({ delegation_id }) => delegation_id,
    read: (request) => listDelegations(longQuery(driver, tenant), filter, request, now),
    bytesOf,
    count: countDelegations(filter),
  });
  return { delegations: rows.map(toDelegation), ...page };
}

const bytesOf = ({ task_description, instruction, context, result, reason }: DelegationView): number =>
  [task_description, instruction, context, result, reason].reduce((sum, text) => sum + (text?.length ?? 0), 0);
