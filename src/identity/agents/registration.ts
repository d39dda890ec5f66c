/** Registration of agents: by themselves, by the tenant, with a key, or when a process opens a store as one. */
import type { Tx } from '../../driver/index.js';
import { accessTo, type GrantedAccess, type In, type MemoryAccess } from '../../engine/contract.js';
import { type Call, change, checkNamedAgent, extentOf, isUnrestricted, type Work } from '../../engine/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { recordHeartbeat } from '../presence/heartbeats.js';
import { agentEvent, holdOnline } from '../presence/offline.js';
import { type Agent, DEFAULT_OFFLINE_AFTER_MS } from './model.js';
import { agentReferences } from './references.js';
import { AGENT_ORIGINS, type AgentRow, completeAgent, insertAgent, lockAgent, updateAgent } from './store.js';
import { readAgent, showAgent } from './views.js';

type Input = In<'agents.register'>;

export const textOf = (value: unknown): string => canonical(value as Json);

/** Rights as stored: null if unrestricted. */
export const accessText = (access: MemoryAccess): string | null => (isUnrestricted(access) ? null : textOf(access));

/** The type of an agent that was given none. */
const DEFAULT_TYPE = 'agent';

/** Set by an admin, never by the agent itself. */
export const RIGHTS = ['agent_type', 'memory_access', 'can_delegate_to'] as const;
type Right = (typeof RIGHTS)[number];

export const ownRights = (agent_id: string, fields: readonly (Right | 'profile_name')[]): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not set its own ${fields.join(', ')}: an admin sets them with keys.create or agents.update`,
    { rule: 'own_rights', fields },
  );

/** An agent that registers itself may repeat the rights of its key, but not claim others. */
function refuseOwnRights(call: Call, input: Input, existing: AgentRow | undefined): void {
  const { agent_id } = call.caller;
  if (agent_id === null) return;
  const asked: Readonly<Record<Right, string | null | undefined>> = {
    agent_type: input.agent_type,
    memory_access: input.memory_access && accessText(input.memory_access),
    can_delegate_to: input.can_delegate_to && textOf(input.can_delegate_to),
  };
  const given: Readonly<Record<Right, string | null>> = {
    agent_type: existing?.agent_type ?? DEFAULT_TYPE,
    memory_access: existing ? existing.memory_access : textOf(accessTo('own')),
    can_delegate_to: existing?.can_delegate_to ?? textOf(['*']),
  };
  const fields = RIGHTS.filter((name) => {
    if (asked[name] === undefined || asked[name] === given[name]) return false;
    // The agent may choose its type if nobody has set it.
    return name !== 'agent_type' || given.agent_type !== DEFAULT_TYPE;
  });
  if (fields.length > 0) throw ownRights(agent_id, fields);
}

/** The rights that an admin gave with a key are changed by an admin only, as by agents.update. */
function refuseGivenRights(call: Call, input: Input, existing: AgentRow | undefined): void {
  const { agent_id, role } = call.caller;
  if (agent_id !== null || role === 'admin' || !existing) return;
  const { agent_type, memory_access, can_delegate_to } = input;
  const fields = [
    ...(existing.typed === 1 && agent_type !== existing.agent_type ? ['agent_type'] : []),
    ...(memory_access && accessText(memory_access) !== existing.memory_access ? ['memory_access'] : []),
    ...(can_delegate_to && textOf(can_delegate_to) !== (existing.can_delegate_to ?? textOf(['*']))
      ? ['can_delegate_to']
      : []),
  ];
  if (fields.length === 0) return;
  const message = `agent ${existing.agent_id} has a key with other rights: changing ${fields.join(', ')} needs the role admin, this key has ${role}`;
  throw new CairnError('FORBIDDEN', message, { rule: 'key_role', fields });
}

/** A profile reveals its content: an agent with restricted rights may name only one that it created or may read. */
async function refuseForeignProfile(tx: Tx, { agent_id, memory_access }: AgentRow, { profile_name }: Input) {
  if (profile_name == null || memory_access === null) return;
  const profile = await agentReferences.get('profile')(tx, profile_name);
  const readsAll = extentOf(JSON.parse(memory_access) as MemoryAccess, 'Card', 'read') === 'all';
  if (profile && (profile.agent_id === agent_id || readsAll)) return;
  throw ownRights(agent_id, ['profile_name']);
}

/** Accepts an existing agent only if the same request registered it. */
function sameAgent({ agent_id, unregistered_at, sent_hash }: AgentRow, sent: string): void {
  if (unregistered_at !== null) throw agentGone(agent_id);
  if (sent_hash === sent) return;
  const message = `agent ${agent_id} already exists with different content: use a new agent_id, or agents.update`;
  throw new CairnError('ENTITY_ALREADY_EXISTS', message);
}

const agentGone = (agent_id: string): CairnError =>
  new CairnError(
    'ENTITY_GONE',
    `agent ${agent_id} was unregistered; ids are never reused: use another agent_id. An agent that pauses need not be unregistered: it is offline until its next call`,
  );

/** The row after a registration. */
function rowOf(input: Input, before: AgentRow, sent_hash: string, now: number): AgentRow {
  return {
    ...before,
    agent_type: input.agent_type,
    capabilities: textOf([...new Set(input.capabilities)]),
    memory_access: input.memory_access === undefined ? before.memory_access : accessText(input.memory_access),
    can_delegate_to: input.can_delegate_to === undefined ? before.can_delegate_to : textOf(input.can_delegate_to),
    status: 'idle',
    profile_name: input.profile_name ?? null,
    made: AGENT_ORIGINS.registered,
    offline_after_ms: input.offline_after_ms ?? DEFAULT_OFFLINE_AFTER_MS,
    last_seen_at: now,
    metadata: textOf(input.metadata ?? {}),
    sent_hash,
    updated_at: now,
  };
}

const blank = (agent_id: string, memory_access: string | null, now: number): AgentRow => ({
  agent_id,
  agent_type: DEFAULT_TYPE,
  typed: 0,
  capabilities: '[]',
  memory_access,
  can_delegate_to: null,
  status: 'idle',
  current_trajectory_id: null,
  profile_name: null,
  parent_agent_id: null,
  made: AGENT_ORIGINS.with_key,
  offline_after_ms: DEFAULT_OFFLINE_AFTER_MS,
  last_seen_at: now,
  metadata: '{}',
  sent_hash: null,
  registered_at: now,
  updated_at: now,
  unregistered_at: null,
});

/** Registers an agent in a transaction. */
export async function registerIn(work: Work, input: Input): Promise<Agent> {
  const { call, tx, now } = work;
  const own = checkNamedAgent(call, input.agent_id, 'agent_id');
  const sent_hash = sha256(textOf({ ...input, agent_id: null }));
  const agent_id = input.agent_id ?? own ?? newId();
  const existing = await lockAgent(tx, agent_id);
  if (existing && (existing.made !== AGENT_ORIGINS.with_key || existing.unregistered_at !== null)) {
    sameAgent(existing, sent_hash);
    await recordHeartbeat(work, agent_id);
    return readAgent(call, tx, agent_id);
  }
  refuseOwnRights(call, input, existing);
  refuseGivenRights(call, input, existing);
  // Without a record, an agent that registers itself gets the default rights of a key; by the tenant, all rights.
  const before = existing ?? blank(agent_id, own === null ? null : textOf(accessTo('own')), now);
  if (own !== null) await refuseForeignProfile(tx, before, input);
  // A type chosen by the agent itself grants nothing, unless the agent is unrestricted anyway.
  const typed = own === null || before.memory_access === null ? 1 : before.typed;
  const row = { ...rowOf(input, before, sent_hash, now), typed };
  await (existing ? completeAgent(tx, row) : insertAgent(tx, row));
  await holdOnline(tx, row);
  agentEvent(work, 'registered', agent_id, { agent_type: row.agent_type });
  return showAgent(call, row);
}

export async function register(call: Call, input: Input): Promise<Agent> {
  checkNamedAgent(call, input.agent_id, 'agent_id');
  return change(call, {
    input,
    work: (work) => registerIn(work, input),
    remember: ({ agent_id }) => agent_id,
    again: (query, kept) => readAgent(call, query, kept as string),
  });
}

/** Rights given with a key. */
interface GivenRights {
  readonly access?: GrantedAccess | undefined;
  readonly agent_type?: string | undefined;
  readonly can_delegate_to?: readonly string[] | undefined;
}

function grantedText(access: GrantedAccess): string | null {
  if (access === 'none') return accessText({ read: [], write: [] });
  return accessText(typeof access === 'string' ? accessTo(access) : access);
}

/** Creates or updates the record of an agent with these rights: without a record its key could do nothing. */
export async function ensureAgentRecord(
  work: Work,
  agent_id: string,
  given: GivenRights,
  default_access: 'own' | 'all',
) {
  const { tx, now } = work;
  const existing = await lockAgent(tx, agent_id);
  if (existing && existing.unregistered_at !== null) throw agentGone(agent_id);
  if (existing && existing.memory_access === null && given.access === undefined && default_access !== 'all')
    throw invalid(
      `agent ${agent_id} is unrestricted: give \`access\`, as "all" or narrower, to confirm the rights of its key`,
    );
  const before = existing ?? blank(agent_id, grantedText(default_access), now);
  const after: AgentRow = {
    ...before,
    agent_type: given.agent_type ?? before.agent_type,
    typed: given.agent_type === undefined ? before.typed : 1,
    memory_access: given.access === undefined ? before.memory_access : grantedText(given.access),
    can_delegate_to: given.can_delegate_to === undefined ? before.can_delegate_to : textOf(given.can_delegate_to),
  };
  if (!existing) {
    await insertAgent(tx, after);
    agentEvent(work, 'registered', agent_id, { agent_type: after.agent_type });
    return;
  }
  const given_type = after.typed !== before.typed;
  const fields = RIGHTS.filter((name) => after[name] !== before[name] || (name === 'agent_type' && given_type));
  if (fields.length === 0) return;
  await updateAgent(tx, { ...after, updated_at: now });
  agentEvent(work, 'updated', agent_id, { fields: [...fields], status: after.status });
}
