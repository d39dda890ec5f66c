/** Accepting a delegation: creates child trajectory, scope, context and agent_turn in one transaction. */
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change, expireDueLeases, type Work } from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import { findProfile, makeBox } from '../../facts/index.js';
import { lockAgent } from '../../identity/index.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { DEFAULT_THRESHOLD_PERCENT, DEFAULT_TOKEN_BUDGET } from '../../memory/contract.js';
import { addScope, findTrajectory, metadataText } from '../../memory/index.js';
import { type AgentTurnRow, lockAgentTurn } from '../agent-turns/store.js';
import type { Handover } from '../handovers/model.js';
import { createTrajectory, dispatch } from '../packing/dispatch.js';
import { busyWith, registeredAgent, type Source, type Target } from '../packing/dispatch-targets.js';
import { asAgent, preparePacking, visibleBoxes } from '../packing/service.js';
import type { Delegation } from './model.js';
import { announceDelegation } from './moves.js';
import { checkScope, type Offer, planOffer } from './packing.js';
import { checkParty, openDelegation, readDelegation, refuseOverdue } from './parties.js';
import { checkDelegationMove } from './rules.js';
import { changeDelegation, type DelegationRow, lockDelegation } from './store.js';

export async function accept(call: Call, input: In<'delegations.accept'>): Promise<Delegation> {
  await expireDueLeases(call);
  return change(call, {
    input,
    work: (work) => acceptIn(work, input),
    remember: () => input.delegation_id,
    again: (query, kept) => readDelegation(call, query, kept as string),
  });
}

async function acceptIn(work: Work, input: In<'delegations.accept'>): Promise<Delegation> {
  const { call, tx, now } = work;
  const { delegation_id } = input;
  const known = await openDelegation(call, tx, delegation_id);
  checkParty(call, known, input.agent_id, 'to_agent_id');
  await lockAgent(tx, known.to_agent_id);
  const { parent_agent_turn_id: parent_id } = known;
  // Locked, so that it cannot end without ending the agent_turn created here.
  const parent = parent_id === null ? undefined : await lockAgentTurn(tx, parent_id);
  const row = (await lockDelegation(tx, delegation_id))!;
  if (row.status !== 'Accepted') {
    checkDelegationMove(delegation_id, row.status, 'Accepted');
    await refuseOverdue(tx, row, now);
    await createTask(work, row, await targetOf(work, row.to_agent_id), parent?.ended_at === null ? parent : undefined);
  }
  return readDelegation(call, tx, delegation_id);
}

/** The agent with its profile, if it has one, and a new output box. */
async function targetOf(work: Work, agent_id: string): Promise<Target> {
  const agent = await registeredAgent(work.tx, agent_id);
  const busy = await busyWith(work, agent_id);
  if (busy) throw new CairnError('AGENT_BUSY', busy.message);
  const profile = agent.profile_name === null ? undefined : await findProfile(work.tx, agent.profile_name);
  return { agent, is_new: false, profile: profile ?? null, output_box_id: null };
}

function offerOf(row: DelegationRow): Offer {
  const kept = JSON.parse(row.handover!) as { recipe: Handover; input_box_ids: string[] };
  const context = row.context === null ? null : (JSON.parse(row.context) as JsonObject);
  return { ...kept, task_description: row.task_description!, context };
}

async function createTask(work: Work, row: DelegationRow, target: Target, turn?: AgentTurnRow): Promise<void> {
  const { call, tx, now } = work;
  const { delegation_id, channel_id, trajectory_id, scope_id } = row;
  const from_agent_id = row.from_agent_id!;
  const plan = planOffer(offerOf(row), target.profile?.name ?? null);
  const packing = preparePacking(call, plan, { author: 'delegation', source_agent_id: from_agent_id });
  const source: Source = { agent_id: from_agent_id, turn, depth: row.depth };
  const [child_scope_id, context_box_id] = [newId(), newId()];
  const options = { channel_id, trajectory_id, delegation_id, scope_id: child_scope_id, context_box_id };
  const child_trajectory_id = await createTrajectory(work, target, source, options, row.task_description!);
  const given = scope_id === null ? [] : [await checkScope(work, scope_id, trajectory_id!, from_agent_id)];
  // Checked again: the delegator may have lost access to the boxes since it offered the task.
  const boxes = [...given, ...(await visibleBoxes({ ...work, call: asAgent(call, from_agent_id) }, plan.box_ids))];
  const created = { child_trajectory_id, child_scope_id };
  await createScope(work, row, { ...created, context_box_id });
  const task = { target, packing, boxes, trajectory_id: child_trajectory_id };
  const { agent_turn_id } = await dispatch(work, task, source, options);
  const change = { ...created, agent_turn_id, status: 'Accepted', accepted_at: now } as const;
  const accepted = await changeDelegation(tx, row, change, now);
  await announceDelegation(work, accepted, { ...created, agent_turn_id, context_box_id });
}

interface ScopeIds {
  readonly child_scope_id: string;
  readonly context_box_id: string;
  readonly child_trajectory_id: string;
}

/** The receiver's scope starts empty: the packed context holds what the receiver needs to know. */
async function createScope(
  work: Work,
  { delegation_id, to_agent_id: agent_id }: DelegationRow,
  { child_scope_id: scope_id, context_box_id, child_trajectory_id: trajectory_id }: ScopeIds,
): Promise<void> {
  const box_id = newId();
  const held_by = scopeHolder(scope_id);
  await makeBox(work.tx, { box_id, agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, work.now);
  const subject_ids = (await findTrajectory(work.tx, trajectory_id))?.subject_ids ?? null;
  const scope = {
    scope_id,
    trajectory_id,
    parent_scope_id: null,
    agent_id,
    name: 'delegation',
    purpose: null,
    token_budget: DEFAULT_TOKEN_BUDGET,
    tokens_used: 0,
    threshold: DEFAULT_THRESHOLD_PERCENT,
    enforce: 0,
    subject_ids,
    retain: null,
    metadata: metadataText({ delegation_id, context_box_id }),
    restored_from: null,
    sent_hash: null,
  };
  await addScope(work, scope, box_id);
  appendEvent(work, 'cairn.scope.created', { type: 'scope', id: scope_id }, { box_id }, trajectory_id);
}
