/** Registering agents: by themselves or by the tenant, with their key, and for a process that opens a store as one. */
import type { z } from 'zod';
import type { Tx } from '../../driver/index.js';
import { accessTo, type GrantedAccess, type MemoryAccess } from '../../engine/contract.js';
import { actsAs, appendEvent, type Call, change, extentOf, isUnrestricted, type Work } from '../../engine/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { seen } from '../presence/heartbeats.js';
import { holdOnline } from '../presence/offline.js';
import type { agents as operations } from './contract.js';
import { type Agent, DEFAULT_OFFLINE_AFTER_MS } from './model.js';
import { agentReferences } from './references.js';
import { type AgentRow, completeAgent, insertAgent, lockAgent, MADE, updateAgent } from './store.js';
import { readAgent, showAgent } from './views.js';

type Input = z.output<(typeof operations)['register']['input']>;

export const textOf = (value: unknown): string => canonical(value as Json);

/** Rights as they are stored: null where nothing is restricted. */
export const accessText = (access: MemoryAccess): string | null => (isUnrestricted(access) ? null : textOf(access));

/** The type of an agent that nobody has given one. */
const UNNAMED_TYPE = 'agent';

/** What an agent may do and see is said by an admin, not by the agent itself. */
export const RIGHTS = ['agent_type', 'memory_access', 'can_delegate_to'] as const;
type Right = (typeof RIGHTS)[number];

export const ownRights = (agent_id: string, fields: readonly (Right | 'profile_name')[]): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not set its own ${fields.join(', ')}: an admin gives them with keys.create or agents.update`,
    { rule: 'own_rights', fields },
  );

/** An agent that registers itself has the rights that came with its key: it may say them again, and no others. */
function refuseOwnRights(call: Call, input: Input, existing: AgentRow | undefined): void {
  const { agent_id } = call.caller;
  if (agent_id === null) return;
  const asked: Readonly<Record<Right, string | null | undefined>> = {
    agent_type: input.agent_type,
    memory_access: input.memory_access && accessText(input.memory_access),
    can_delegate_to: input.can_delegate_to && textOf(input.can_delegate_to),
  };
  const given: Readonly<Record<Right, string | null>> = {
    agent_type: existing?.agent_type ?? UNNAMED_TYPE,
    memory_access: existing ? existing.memory_access : textOf(accessTo('own')),
    can_delegate_to: existing?.can_delegate_to ?? textOf(['*']),
  };
  const fields = RIGHTS.filter((name) => {
    if (asked[name] === undefined || asked[name] === given[name]) return false;
    // A type that nobody has given yet is the agent's to say.
    return name !== 'agent_type' || given.agent_type !== UNNAMED_TYPE;
  });
  if (fields.length > 0) throw ownRights(agent_id, fields);
}

/**
 * To be made from a profile is to be shown what that says, now and whenever it is saved anew: an agent with restricted
 * rights names one that it made itself, or that its rights let it read.
 */
async function refuseForeignProfile(
  tx: Tx,
  { agent_id, memory_access }: AgentRow,
  profile_name: string | null | undefined,
): Promise<void> {
  if (profile_name == null || memory_access === null) return;
  const profile = await agentReferences.get('profile')(tx, profile_name);
  const readsAll = extentOf(JSON.parse(memory_access) as MemoryAccess, 'Card', 'read') === 'all';
  if (profile && (profile.agent_id === agent_id || readsAll)) return;
  throw ownRights(agent_id, ['profile_name']);
}

/** The agent that has this id already, if it was registered by the same request. */
function sameAgent({ agent_id, unregistered_at, sent_hash }: AgentRow, sent: string): void {
  if (unregistered_at !== null) throw agentGone(agent_id);
  if (sent_hash !== sent) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `agent ${agent_id} is registered with different content: use a new agent_id, or PATCH`,
    );
  }
}

const agentGone = (agent_id: string): CairnError =>
  new CairnError(
    'ENTITY_GONE',
    `agent ${agent_id} was unregistered, and an id is never used twice: use another agent_id; one that goes away for a while need not be unregistered, it is offline until it is heard of again`,
  );

/** What a registration says, on what the agent has by then. */
function rowOf(input: Input, before: AgentRow, sent_hash: string, now: number): AgentRow {
  return {
    ...before,
    agent_type: input.agent_type,
    capabilities: textOf([...new Set(input.capabilities)]),
    memory_access: input.memory_access === undefined ? before.memory_access : accessText(input.memory_access),
    can_delegate_to: input.can_delegate_to === undefined ? before.can_delegate_to : textOf(input.can_delegate_to),
    status: 'idle',
    profile_name: input.profile_name ?? null,
    made: MADE.registered,
    offline_after_ms: input.offline_after_ms ?? DEFAULT_OFFLINE_AFTER_MS,
    last_seen_at: now,
    metadata: textOf(input.metadata ?? {}),
    sent_hash,
    updated_at: now,
  };
}

const blank = (agent_id: string, memory_access: string | null, now: number): AgentRow => ({
  agent_id,
  agent_type: UNNAMED_TYPE,
  typed: 0,
  capabilities: '[]',
  memory_access,
  can_delegate_to: null,
  status: 'idle',
  current_trajectory_id: null,
  profile_name: null,
  parent_agent_id: null,
  made: MADE.with_key,
  offline_after_ms: DEFAULT_OFFLINE_AFTER_MS,
  last_seen_at: now,
  metadata: '{}',
  sent_hash: null,
  registered_at: now,
  updated_at: now,
  unregistered_at: null,
});

export async function register(call: Call, input: Input): Promise<Agent> {
  const own = actsAs(call, input.agent_id, 'agent_id');
  const sent_hash = sha256(textOf({ ...input, agent_id: null }));
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const agent_id = input.agent_id ?? own ?? newId();
      const existing = await lockAgent(tx, agent_id);
      if (existing && (existing.made !== MADE.with_key || existing.unregistered_at !== null)) {
        sameAgent(existing, sent_hash);
        await seen(work, agent_id);
        return readAgent(call, tx, agent_id);
      }
      refuseOwnRights(call, input, existing);
      // Without a record, an agent that registers itself gets what a key gives by default; the tenant restricts nothing.
      const before = existing ?? blank(agent_id, own === null ? null : textOf(accessTo('own')), now);
      if (own !== null) await refuseForeignProfile(tx, before, input.profile_name);
      // A type that an agent gives itself is a name, unless everything is open to it anyway.
      const typed = own === null || before.memory_access === null ? 1 : before.typed;
      const row = { ...rowOf(input, before, sent_hash, now), typed };
      await (existing ? completeAgent(tx, row) : insertAgent(tx, row));
      await holdOnline(tx, row);
      appendEvent(work, 'cairn.agent.registered', { type: 'agent', id: agent_id }, { agent_type: row.agent_type });
      return showAgent(call, row);
    },
    remember: ({ agent_id }) => agent_id,
    again: (query, kept) => readAgent(call, query, kept as string),
  });
}

/** The rights that an agent is given with its key. */
export interface GivenRights {
  readonly access?: GrantedAccess | undefined;
  readonly agent_type?: string | undefined;
  readonly can_delegate_to?: readonly string[] | undefined;
}

const NOTHING: MemoryAccess = { read: [], write: [] };

function grantedText(access: GrantedAccess): string | null {
  if (typeof access !== 'string') return accessText(access);
  return accessText(access === 'none' ? NOTHING : accessTo(access));
}

/**
 * Sees that an agent has a record, since without one its key opens nothing: makes it with these rights, or gives these
 * rights to the agent that is there.
 */
export async function provideAgent(
  work: Work,
  agent_id: string,
  given: GivenRights,
  default_access: 'own' | 'all',
): Promise<void> {
  const { tx, now } = work;
  const existing = await lockAgent(tx, agent_id);
  if (existing && existing.unregistered_at !== null) throw agentGone(agent_id);
  if (existing && existing.memory_access === null && given.access === undefined && default_access !== 'all')
    throw invalid(
      `agent ${agent_id} is registered without restriction: give access, as "all" or narrower, to say that its key opens that`,
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
    appendEvent(work, 'cairn.agent.registered', { type: 'agent', id: agent_id }, { agent_type: after.agent_type });
    return;
  }
  const given_type = after.typed !== before.typed;
  const fields = RIGHTS.filter((name) => after[name] !== before[name] || (name === 'agent_type' && given_type));
  if (fields.length === 0) return;
  await updateAgent(tx, { ...after, updated_at: now });
  const facts = { fields: [...fields], status: after.status };
  appendEvent(work, 'cairn.agent.updated', { type: 'agent', id: agent_id }, facts);
}
