/** Use cases of delegations: offer, read, list. Accepting is in delegation-accepting.ts, the other moves in delegation-steps.ts. */
import { atLength } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { actsAs, type Call, change, listPage, noticeDue, putLease, type Work } from '../../engine/index.js';
import { checkMayDelegate, findAgent, waitForEnd } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { findTrajectory, openTrajectoryLocked, type TrajectoryRow } from '../../memory/index.js';
import { MAX_DEPTH_OF_DELEGATION } from '../agent-turns/model.js';
import { INSTRUCTION_HANDOVER } from '../handovers/model.js';
import { recipeOf } from '../handovers/service.js';
import { TOO_DEEP } from '../packing/dispatch.js';
import { type Source, sourceOf } from '../packing/dispatch-targets.js';
import { asAgent, preparePacking, visibleBoxes } from '../packing/service.js';
import { type Delegation, STUCK_AFTER_MS } from './model.js';
import { journalDelegation } from './moves.js';
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

/** A delegation checked and hashed, before any transaction. */
interface PreparedDelegation {
  readonly input: In<'delegations.create'>;
  readonly from_agent_id: string;
  readonly offer: Offer;
  readonly box_ids: readonly string[];
  readonly sent_hash: string | null;
}

/** Everything that the context will be packed of is tried now: what cannot be packed is not offered. */
async function prepareCreate(call: Call, input: In<'delegations.create'>): Promise<PreparedDelegation> {
  const from_agent_id = actsAs(call, input.from_agent_id, 'from_agent_id') ?? input.from_agent_id;
  if (from_agent_id === undefined) throw invalid('from_agent_id is needed: this key is not that of an agent');
  if (from_agent_id === input.to_agent_id) throw invalid(`agent ${from_agent_id} cannot delegate to itself`);
  const query = call.driver.at(call.tenant);
  const recipe = await recipeOf(query, input.handover ?? INSTRUCTION_HANDOVER);
  const offer: Offer = {
    recipe,
    input_box_ids: [...new Set(input.input_box_ids)],
    task_description: input.task_description,
    context: input.context ?? null,
  };
  const plan = planOffer(offer, null);
  preparePacking(call, plan, { author: 'delegation', source_agent_id: from_agent_id });
  return {
    input,
    from_agent_id,
    offer,
    box_ids: plan.box_ids,
    // Only an id that the client chose can come again.
    sent_hash: input.delegation_id === undefined ? null : sha256(canonical(input as unknown as Json)),
  };
}

/** The delegation that has this id already, if it came of the same request by the same agent. */
async function sameDelegation(
  { call, tx }: Work,
  row: DelegationRow,
  { from_agent_id, sent_hash }: PreparedDelegation,
): Promise<Delegation> {
  const trajectory = row.trajectory_id && (await findTrajectory(tx, row.trajectory_id));
  if (trajectory && trajectory.deleted_at !== null) {
    throw new CairnError(
      'ENTITY_GONE',
      `delegation ${row.delegation_id} went with its trajectory: an id is never used twice`,
    );
  }
  if (row.sent_hash !== sent_hash || row.from_agent_id !== from_agent_id) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `delegation ${row.delegation_id} exists and was made otherwise: use a new delegation_id`,
    );
  }
  return readDelegation(call, tx, row.delegation_id);
}

/** An agent delegates parts of its own. Of what is nobody's yet, the tenant may in the name of one. */
function refuseForeign(call: Call, { trajectory_id, agent_id }: TrajectoryRow, from_agent_id: string): void {
  if (agent_id === from_agent_id || (agent_id === null && call.caller.agent_id === null)) return;
  throw new CairnError(
    'FORBIDDEN',
    `trajectory ${trajectory_id} is ${agent_id === null ? 'of no agent' : `of agent ${agent_id}`}: ${from_agent_id} cannot delegate a part of it`,
    { rule: 'delegation_party', agent_id },
  );
}

/** Whether this may be delegated, by whom and to whom it is. Locks the delegator's trajectory, and its scope. */
async function checkOffer(work: Work, prepared: PreparedDelegation): Promise<Source> {
  const { call, tx } = work;
  const { input, from_agent_id } = prepared;
  const source = await sourceOf(work, from_agent_id);
  if (source.depth > MAX_DEPTH_OF_DELEGATION) throw new CairnError(TOO_DEEP.error_code, TOO_DEEP.message);
  const agent = await findAgent(tx, input.to_agent_id);
  if (!agent || agent.unregistered_at !== null) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `to_agent_id names ${input.to_agent_id}, which is not registered: see agents.list`,
      { missing_ids: [input.to_agent_id] },
    );
  }
  await checkMayDelegate(tx, from_agent_id, agent);
  refuseForeign(call, await openTrajectoryLocked(work, input.trajectory_id), from_agent_id);
  if (input.scope_id !== undefined) await checkScope(work, input.scope_id, input.trajectory_id, from_agent_id);
  await visibleBoxes({ ...work, call: asAgent(call, from_agent_id) }, prepared.box_ids);
  return source;
}

async function createIn(work: Work, prepared: PreparedDelegation): Promise<Delegation> {
  const { call, tx, now } = work;
  const { input, offer } = prepared;
  const delegation_id = input.delegation_id ?? newId();
  if (input.delegation_id !== undefined) {
    const existing = await findDelegation(tx, delegation_id);
    if (existing) return sameDelegation(work, existing, prepared);
  }
  const expected = input.expected_completion === undefined ? null : toMs(input.expected_completion);
  if (expected !== null && expected <= now) {
    throw invalid(`expected_completion must be in the future, ${input.expected_completion} is over`);
  }
  const source = await checkOffer(work, prepared);
  const row: DelegationRow = {
    delegation_id,
    from_agent_id: prepared.from_agent_id,
    to_agent_id: input.to_agent_id,
    trajectory_id: input.trajectory_id,
    scope_id: input.scope_id ?? null,
    child_trajectory_id: null,
    child_scope_id: null,
    agent_turn_id: null,
    parent_agent_turn_id: source.turn?.agent_turn_id ?? null,
    depth: source.depth,
    status: 'Pending',
    task_description: offer.task_description,
    context: offer.context === null ? null : canonical(offer.context),
    handover: canonical({ recipe: offer.recipe, input_box_ids: offer.input_box_ids } as unknown as Json),
    expected_completion: expected,
    result: null,
    reason: null,
    channel_id: input.channel_id ?? null,
    sent_hash: prepared.sent_hash,
    created_at: now,
    updated_at: now,
    accepted_at: null,
    ended_at: null,
  };
  await insertDelegation(tx, row);
  const lease = { kind: 'delegation', subject_id: delegation_id, holder: null, token: 0 } as const;
  await putLease(tx, { ...lease, expires_at: expected ?? now + STUCK_AFTER_MS });
  await journalDelegation(work, row);
  return readDelegation(call, tx, delegation_id);
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

/** What is overdue has failed, whether or not somebody has noticed: so it is noticed first. */
export async function get(call: Call, input: In<'delegations.get'>): Promise<Delegation> {
  const { delegation_id, wait_ms = 0 } = input;
  const query = call.driver.at(call.tenant);
  const look = () => readDelegation(call, query, delegation_id);
  await noticeDue(call);
  const first = await look();
  if (wait_ms === 0 || delegationHasEnded(first.status)) return first;
  const ended = await waitForEnd(call, [`delegation:${delegation_id}`], wait_ms, async () => {
    const seen = await look();
    return delegationHasEnded(seen.status) ? seen : undefined;
  });
  return ended ?? look();
}

export async function list(call: Call, input: In<'delegations.list'>): Promise<Out<'delegations.list'>> {
  const { driver, tenant, caller } = call;
  await noticeDue(call);
  const { limit, cursor, offset, order, ...asked } = input;
  const filter: DelegationFilter = { ...asked, party: caller.agent_id ?? undefined };
  const now = driver.now();
  const { rows, ...page } = await listPage<DelegationView, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filter as Json,
    key: 'string',
    keyOf: ({ delegation_id }) => delegation_id,
    read: (request) => listDelegations(atLength(driver, tenant), filter, request, now),
    bytesOf,
    count: countDelegations(filter),
  });
  return { delegations: rows.map(toDelegation), ...page };
}

const bytesOf = ({ task_description, instruction, context, result, reason }: DelegationView): number =>
  [task_description, instruction, context, result, reason].reduce((sum, text) => sum + (text?.length ?? 0), 0);
