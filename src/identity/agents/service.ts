/** Use cases of agents, except registration. */
import type { Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, change, checkNamedAgent, endLease, listPage, type Work } from '../../engine/index.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { recordLockedHeartbeat } from '../presence/heartbeats.js';
import { agentEvent, holdOnline, releaseAll } from '../presence/offline.js';
import type { Agent } from './model.js';
import { agentReferences, agentWork } from './references.js';
import { accessText, ownRights, RIGHTS, textOf } from './registration.js';
import { type AgentRow, countAgents, isOffline, listAgents, lockAgent, updateAgent } from './store.js';
import { openAgentLocked, readAgent, registered, showAgent } from './views.js';

export { register } from './registration.js';

export const get = (call: Call, input: In<'agents.get'>): Promise<Agent> =>
  readAgent(call, call.driver.at(call.tenant), input.agent_id);

export async function list(call: Call, input: In<'agents.list'>): Promise<Out<'agents.list'>> {
  const { driver, tenant } = call;
  const { agent_type, status } = input;
  const filter = { agent_type, status };
  const now = driver.now();
  const { rows, ...page } = await listPage<AgentRow, string>(call, {
    input,
    filters: { agent_type: agent_type ?? null, status: status ?? null },
    key: 'string',
    keyOf: ({ agent_id }) => agent_id,
    read: (request) => listAgents(driver.at(tenant), filter, request, now),
    bytesOf: ({ metadata, capabilities }) => (metadata?.length ?? 0) + capabilities.length,
    count: countAgents(filter, now),
  });
  return { agents: rows.map((row) => showAgent(call, row, now)), ...page };
}

function checkRights(call: Call, fields: Partial<In<'agents.update'>>): void {
  const { agent_id, role } = call.caller;
  const named = RIGHTS.filter((name) => fields[name] !== undefined);
  if (named.length === 0 || (agent_id === null && role === 'admin')) return;
  if (agent_id !== null) throw ownRights(agent_id, named);
  throw new CairnError('FORBIDDEN', `changing ${named.join(', ')} needs the role admin, this key has ${role}`, {
    rule: 'key_role',
    fields: named,
  });
}

/** Checks a new current trajectory. */
async function checkTrajectory({ call, tx }: Work, row: AgentRow, trajectory_id: string | null | undefined) {
  if (trajectory_id == null || trajectory_id === row.current_trajectory_id) return;
  const trajectory = await agentReferences.get('trajectory')(tx, trajectory_id);
  if (!trajectory)
    throw new CairnError('UNKNOWN_ENTITY', `current_trajectory_id: trajectory ${trajectory_id} does not exist`, {
      missing_ids: [trajectory_id],
    });
  // own_trajectory includes the current one: an agent must not widen its rights by moving to another.
  const restricted = call.caller.agent_id !== null && row.memory_access !== null;
  if (!restricted || trajectory.agent_id === row.agent_id) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${row.agent_id} has a memory_access, and trajectory ${trajectory_id} is not its own: use a key without an agent`,
    { rule: 'own_rights', fields: ['current_trajectory_id'] },
  );
}

type Fields = Omit<In<'agents.update'>, 'agent_id'>;

const namedIn = (fields: Fields): string[] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** The row with the given fields. */
const changedRow = (row: AgentRow, fields: Fields, now: number): AgentRow => ({
  ...row,
  agent_type: fields.agent_type ?? row.agent_type,
  typed: fields.agent_type === undefined ? row.typed : 1,
  capabilities: fields.capabilities ? textOf([...new Set(fields.capabilities)]) : row.capabilities,
  memory_access: fields.memory_access === undefined ? row.memory_access : accessText(fields.memory_access),
  can_delegate_to: fields.can_delegate_to === undefined ? row.can_delegate_to : textOf(fields.can_delegate_to),
  current_trajectory_id:
    fields.current_trajectory_id === undefined ? row.current_trajectory_id : fields.current_trajectory_id,
  offline_after_ms: fields.offline_after_ms ?? row.offline_after_ms,
  metadata: fields.metadata === undefined ? row.metadata : textOf(fields.metadata),
  updated_at: now,
});

/** Changes an agent in a transaction. */
export async function updateIn(work: Work, { agent_id, ...fields }: In<'agents.update'>): Promise<Agent> {
  const { call, tx, now } = work;
  checkRights(call, fields);
  const row = await openAgentLocked(work, agent_id);
  await checkTrajectory(work, row, fields.current_trajectory_id);
  const after = changedRow(row, fields, now);
  const changed =
    (Object.keys(after) as (keyof AgentRow)[]).some((key) => key !== 'updated_at' && after[key] !== row[key]) ||
    (fields.status !== undefined && fields.status !== row.status);
  // Its own call is a heartbeat, and so is a report of its status.
  const alive = call.caller.agent_id !== null || fields.status !== undefined;
  if (!alive && !changed) return showAgent(call, row);
  const { status: _, ...changes } = after;
  const stored = alive
    ? await recordLockedHeartbeat(work, row, {
        ...changes,
        updated_at: changed ? now : row.updated_at,
        ...(fields.status === undefined ? {} : { status: fields.status }),
      })
    : await patched(tx, after);
  if (changed) agentEvent(work, 'updated', agent_id, { fields: namedIn(fields), status: stored.status });
  return showAgent(call, stored);
}

export async function update(call: Call, input: In<'agents.update'>): Promise<Agent> {
  const { agent_id, ...fields } = input;
  if (namedIn(fields).length === 0) throw invalid('agents.update: give at least one field to change');
  checkNamedAgent(call, agent_id, 'agent_id');
  checkRights(call, fields);
  return change(call, {
    input,
    work: (work) => updateIn(work, input),
    remember: () => agent_id,
    again: (query, kept) => readAgent(call, query, kept as string),
  });
}

/** A change without a heartbeat; offline_after_ms may differ now. */
async function patched(tx: Tx, row: AgentRow): Promise<AgentRow> {
  await updateAgent(tx, row);
  if (row.status !== 'offline') await holdOnline(tx, row);
  return row;
}

export async function heartbeat(call: Call, input: In<'agents.heartbeat'>): Promise<Agent> {
  const { agent_id, status, current_trajectory_id } = input;
  checkNamedAgent(call, agent_id, 'agent_id');
  return change(call, {
    input,
    work: async (work) => {
      const row = await openAgentLocked(work, agent_id);
      await checkTrajectory(work, row, current_trajectory_id);
      const changes = {
        ...(status === undefined ? {} : { status }),
        ...(current_trajectory_id === undefined ? {} : { current_trajectory_id }),
      };
      return showAgent(call, await recordLockedHeartbeat(work, row, changes));
    },
    remember: () => agent_id,
    again: (query, kept) => readAgent(call, query, kept as string),
  });
}

/** Unregisters an agent in a transaction. */
export async function unregisterIn(work: Work, agent_id: string): Promise<null> {
  const { call, tx, now } = work;
  const row = await lockAgent(tx, agent_id);
  if (row && row.unregistered_at !== null) return null;
  const known = registered(call, agent_id, row);
  await refuseAtWork(tx, known, now);
  await releaseAll(work, agent_id);
  await updateAgent(tx, { ...known, status: 'offline', unregistered_at: now, updated_at: now });
  await endLease(tx, 'agent', agent_id);
  agentEvent(work, 'unregistered', agent_id);
  return null;
}

export async function unregister(call: Call, input: In<'agents.unregister'>): Promise<void> {
  const { agent_id } = input;
  checkNamedAgent(call, agent_id, 'agent_id');
  await change<null>(call, {
    input,
    work: (work) => unregisterIn(work, agent_id),
    remember: () => null,
    again: async () => null,
  });
}

async function refuseAtWork(tx: Tx, row: AgentRow, now: number): Promise<void> {
  const { agent_id, status } = row;
  if (!isOffline(row, now) && status !== 'idle')
    throw new CairnError('STATE_CONFLICT', `agent ${agent_id} is ${status}: unregister it once it is idle or offline`, {
      status,
    });
  const agent_turn_id = await agentWork.get('agent_turn')(tx, agent_id);
  if (agent_turn_id === undefined) return;
  throw new CairnError('STATE_CONFLICT', `agent ${agent_id} has an active agent_turn: end ${agent_turn_id} first`, {
    agent_turn_id,
  });
}
