/** Use cases of agents: register, read, change, heartbeat, unregister. */
import type { z } from 'zod';
import type { agents as operations } from '../contract/agents.js';
import { canonical, sha256 } from '../domain/canonical.js';
import type { Query, Tx } from '../driver/driver.js';
import { type Agent, DEFAULT_OFFLINE_AFTER_MS } from '../model/agent.js';
import { CairnError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import type { Json } from '../model/json.js';
import {
  type AgentRow,
  countAgents,
  findAgent,
  insertAgent,
  isOffline,
  listAgents,
  lockAgent,
  toAgent,
  unfinishedTurn,
  updateAgent,
} from '../store/agents.js';
import { endLease } from '../store/leases.js';
import { findTrajectory } from '../store/trajectories.js';
import { actsAs } from './actor.js';
import { holdOnline, releaseAll } from './agent-offline.js';
import { noteSeen, seen } from './agent-presence.js';
import { listPage } from './pages.js';
import type { Call } from './runtime.js';
import { change, event } from './write.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;
type Out<V extends keyof typeof operations> = z.output<(typeof operations)[V]['output']>;

const textOf = (value: unknown): string => canonical(value as Json);
const textOrNull = (value: unknown): string | null => (value == null ? null : textOf(value));

function present(call: Call, agent_id: string, row: AgentRow | undefined): AgentRow {
  if (row && row.unregistered_at === null) return row;
  const was = row ? 'was unregistered' : 'is not registered';
  throw new CairnError('AGENT_NOT_FOUND', `agent ${agent_id} ${was} in tenant ${call.tenant}`);
}

/** An agent that is registered. */
export const openAgent = async (call: Call, query: Query, agent_id: string): Promise<AgentRow> =>
  present(call, agent_id, await findAgent(query, call.tenant, agent_id));

/** The same, and nobody changes it until the commit. */
export const openAgentLocked = async (call: Call, tx: Tx, agent_id: string): Promise<AgentRow> =>
  present(call, agent_id, await lockAgent(tx, call.tenant, agent_id));

const show = (call: Call, row: AgentRow): Agent => toAgent(row, call.driver.now());

const read = async (call: Call, query: Query, agent_id: string): Promise<Agent> =>
  show(call, await openAgent(call, query, agent_id));

/** The agent that has this id already, if it was registered by the same request. */
function sameAgent({ agent_id, unregistered_at, sent_hash }: AgentRow, sent: string): void {
  if (unregistered_at !== null) {
    throw new CairnError(
      'ENTITY_GONE',
      `agent ${agent_id} was unregistered, and an id is never used twice: register another; one that goes away for a while need not be unregistered, it is offline until it is heard of again`,
    );
  }
  if (sent_hash !== sent) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `agent ${agent_id} is registered otherwise: use a new agent_id, or PATCH`,
    );
  }
}

export async function register(call: Call, input: In<'register'>): Promise<Agent> {
  const { tenant } = call;
  const own = actsAs(call, input.agent_id, 'agent_id');
  const sent_hash = sha256(textOf({ ...input, agent_id: null }));
  return change(call, {
    input,
    work: async (tx, now) => {
      const agent_id = input.agent_id ?? own ?? newId();
      const existing = await lockAgent(tx, tenant, agent_id);
      if (existing) {
        sameAgent(existing, sent_hash);
        await seen(call, tx, agent_id, now);
        return read(call, tx, agent_id);
      }
      const row: AgentRow = {
        agent_id,
        agent_type: input.agent_type,
        capabilities: textOf([...new Set(input.capabilities)]),
        memory_access: textOrNull(input.memory_access),
        can_delegate_to: textOrNull(input.can_delegate_to),
        status: 'idle',
        current_trajectory_id: null,
        profile_name: input.profile_name ?? null,
        parent_agent_id: null,
        made: 0,
        offline_after_ms: input.offline_after_ms ?? DEFAULT_OFFLINE_AFTER_MS,
        last_seen_at: now,
        metadata: textOf(input.metadata ?? {}),
        sent_hash,
        registered_at: now,
        updated_at: now,
        unregistered_at: null,
      };
      await insertAgent(tx, tenant, row);
      await holdOnline(call, tx, row);
      tx.journal(
        event(call, now, 'cairn.agent.registered', 'agent', agent_id, { agent_type: row.agent_type }),
      );
      return show(call, row);
    },
    remember: ({ agent_id }) => agent_id,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export const get = (call: Call, input: In<'get'>): Promise<Agent> =>
  read(call, call.driver.at(call.tenant), input.agent_id);

export async function list(call: Call, input: In<'list'>): Promise<Out<'list'>> {
  const { driver, tenant } = call;
  const { agent_type, status } = input;
  const filter = { agent_type, status };
  const now = driver.now();
  const { rows, ...page } = await listPage<AgentRow, string>(call, {
    input,
    filters: { agent_type: agent_type ?? null, status: status ?? null },
    key: 'string',
    keyOf: ({ agent_id }) => agent_id,
    read: (request) => listAgents(driver.at(tenant), tenant, filter, request, now),
    bytesOf: ({ metadata, capabilities }) => (metadata?.length ?? 0) + capabilities.length,
    count: countAgents(tenant, filter, now),
  });
  return { agents: rows.map((row) => toAgent(row, now)), ...page };
}

/** What an agent may do and see is said by whoever administers the tenant, not by itself. */
const RIGHTS = ['agent_type', 'memory_access', 'can_delegate_to'] as const;

function checkRights(call: Call, fields: Partial<In<'update'>>): void {
  const { agent_id, role } = call.caller;
  const named = RIGHTS.filter((name) => fields[name] !== undefined);
  if (named.length === 0 || (agent_id === null && role === 'admin')) return;
  const what = named.join(', ');
  throw agent_id === null
    ? new CairnError('FORBIDDEN', `changing ${what} needs the role admin, this key has ${role}`, {
        rule: 'key_role',
        fields: named,
      })
    : new CairnError(
        'FORBIDDEN',
        `agent ${agent_id} may not change its own ${what}: this takes a key without an agent`,
        { rule: 'own_rights', fields: named },
      );
}

/** A trajectory that an agent works in, which must be there. */
async function checkTrajectory(
  call: Call,
  tx: Tx,
  row: AgentRow,
  trajectory_id: string | null | undefined,
): Promise<void> {
  if (trajectory_id == null || trajectory_id === row.current_trajectory_id) return;
  const trajectory = await findTrajectory(tx, call.tenant, trajectory_id);
  if (!trajectory || trajectory.deleted_at !== null) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `current_trajectory_id names a trajectory that does not exist or is gone: ${trajectory_id}`,
      { missing_ids: [trajectory_id] },
    );
  }
  // Rules for own_trajectory hold for where the agent works: it must not widen them by going somewhere else.
  const restricted = call.caller.agent_id !== null && row.memory_access !== null;
  if (!restricted || trajectory.agent_id === row.agent_id) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${row.agent_id} has a memory_access, and trajectory ${trajectory_id} is not its own: a key without an agent may send it there`,
    { rule: 'own_rights', fields: ['current_trajectory_id'] },
  );
}

export async function update(call: Call, input: In<'update'>): Promise<Agent> {
  const { agent_id, ...fields } = input;
  const named = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (named.length === 0)
    throw new CairnError('INVALID_INPUT', 'agents.update: give at least one field to change');
  actsAs(call, agent_id, 'agent_id');
  checkRights(call, fields);
  return change(call, {
    input,
    work: async (tx, now) => {
      const row = await openAgentLocked(call, tx, agent_id);
      await checkTrajectory(call, tx, row, fields.current_trajectory_id);
      const after: AgentRow = {
        ...row,
        agent_type: fields.agent_type ?? row.agent_type,
        capabilities: fields.capabilities ? textOf([...new Set(fields.capabilities)]) : row.capabilities,
        memory_access:
          fields.memory_access === undefined ? row.memory_access : textOrNull(fields.memory_access),
        can_delegate_to:
          fields.can_delegate_to === undefined ? row.can_delegate_to : textOrNull(fields.can_delegate_to),
        current_trajectory_id:
          fields.current_trajectory_id === undefined
            ? row.current_trajectory_id
            : fields.current_trajectory_id,
        offline_after_ms: fields.offline_after_ms ?? row.offline_after_ms,
        metadata: fields.metadata === undefined ? row.metadata : textOf(fields.metadata),
        updated_at: now,
      };
      const changed =
        (Object.keys(after) as (keyof AgentRow)[]).some(
          (key) => key !== 'updated_at' && after[key] !== row[key],
        ) ||
        (fields.status !== undefined && fields.status !== row.status);
      // By its own key it is there; and whoever says what an agent does says that it is there.
      const alive = call.caller.agent_id !== null || fields.status !== undefined;
      if (!alive && !changed) return show(call, row);
      const { status: _, ...changes } = after;
      const stored = alive
        ? await noteSeen(call, tx, row, now, {
            ...changes,
            updated_at: changed ? now : row.updated_at,
            ...(fields.status === undefined ? {} : { status: fields.status }),
          })
        : await patched(call, tx, after);
      if (changed) {
        const facts = { fields: named.map(([name]) => name), status: stored.status };
        tx.journal(event(call, now, 'cairn.agent.updated', 'agent', agent_id, facts));
      }
      return show(call, stored);
    },
    remember: () => agent_id,
    again: (query, kept) => read(call, query, kept as string),
  });
}

/** A change that is no sign of life: how long the agent may be silent may be another now. */
async function patched(call: Call, tx: Tx, row: AgentRow): Promise<AgentRow> {
  await updateAgent(tx, call.tenant, row);
  if (row.status !== 'offline') await holdOnline(call, tx, row);
  return row;
}

export async function heartbeat(call: Call, input: In<'heartbeat'>): Promise<Agent> {
  const { agent_id, status, current_trajectory_id } = input;
  actsAs(call, agent_id, 'agent_id');
  return change(call, {
    input,
    work: async (tx, now) => {
      const row = await openAgentLocked(call, tx, agent_id);
      await checkTrajectory(call, tx, row, current_trajectory_id);
      const changes = {
        ...(status === undefined ? {} : { status }),
        ...(current_trajectory_id === undefined ? {} : { current_trajectory_id }),
      };
      return show(call, await noteSeen(call, tx, row, now, changes));
    },
    remember: () => agent_id,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export async function unregister(call: Call, input: In<'unregister'>): Promise<void> {
  const { agent_id } = input;
  const { tenant } = call;
  actsAs(call, agent_id, 'agent_id');
  await change<null>(call, {
    input,
    work: async (tx, now) => {
      const row = await lockAgent(tx, tenant, agent_id);
      // Unregistered before: nothing is left to do.
      if (row && row.unregistered_at !== null) return null;
      const known = present(call, agent_id, row);
      await refuseAtWork(call, tx, known, now);
      await releaseAll(call, tx, agent_id, now);
      await updateAgent(tx, tenant, { ...known, status: 'offline', unregistered_at: now, updated_at: now });
      await endLease(tx, tenant, 'agent', agent_id);
      tx.journal(event(call, now, 'cairn.agent.unregistered', 'agent', agent_id, {}));
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

async function refuseAtWork(call: Call, tx: Tx, row: AgentRow, now: number): Promise<void> {
  const { agent_id, status } = row;
  if (!isOffline(row, now) && status !== 'idle') {
    throw new CairnError(
      'STATE_CONFLICT',
      `agent ${agent_id} is ${status}: it can be unregistered once it is idle or offline`,
      { status },
    );
  }
  const agent_turn_id = await unfinishedTurn(tx, call.tenant, agent_id);
  if (agent_turn_id === undefined) return;
  throw new CairnError(
    'STATE_CONFLICT',
    `agent ${agent_id} has an agent_turn under way: end ${agent_turn_id} first`,
    { agent_turn_id },
  );
}
