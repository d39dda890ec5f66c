/** The source and the target of a task: the delegating agent, and the agent that is found or created for it. */
import type { Query, Tx } from '../../driver/index.js';
import type { MemoryAccess } from '../../engine/contract.js';
import { appendEvent, commonAccess, type Work } from '../../engine/index.js';
import { findProfile, openProfile, type ProfileRow, profileContent } from '../../facts/index.js';
import { DEFAULT_OFFLINE_AFTER_MS } from '../../identity/contract.js';
import {
  AGENT_ORIGINS,
  type AgentRow,
  checkMayDelegate,
  commonDelegates,
  findAgent,
  insertAgent,
  lockAgent,
} from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound } from '../../kernel/index.js';
import { agentOf } from '../acting-agent.js';
import { checkTurnHeld } from '../agent-turns/holding.js';
import { isPartyTo } from '../agent-turns/rules.js';
import { type AgentTurnRow, activeTurnOf, lastTurnOf, lockAgentTurn } from '../agent-turns/store.js';
import type { Refusal, Task } from './model.js';

/** The delegator. */
export interface Source {
  readonly agent_id: string | null;
  /** The agent_turn in which it delegates, locked: it cannot end before the commit. */
  readonly turn: AgentTurnRow | undefined;
  /** The depth of the delegated task. */
  readonly depth: number;
}

/** The agent that the call acts as or names, with the agent_turn of the guard, else its active one. */
export async function sourceOf({ call, tx, now }: Work, named: string | undefined): Promise<Source> {
  const agent_id = agentOf(call, named, 'source_agent_id') ?? null;
  const active = agent_id === null ? undefined : await activeTurnOf(tx, agent_id);
  const id = call.turn?.agent_turn_id ?? active?.agent_turn_id;
  const turn = id === undefined ? undefined : await lockAgentTurn(tx, id);
  if (turn && call.turn) checkTurnHeld(turn, call.turn.turn_epoch, now);
  const open = turn?.ended_at === null ? turn : undefined;
  return { agent_id, turn: open, depth: open ? open.depth + 1 : 0 };
}

export interface Target {
  readonly agent: AgentRow;
  /** Registered when the task is dispatched. */
  readonly is_new: boolean;
  readonly profile: ProfileRow | null;
  /** Its last output box, if it worked for the same delegator. */
  readonly output_box_id: string | null;
}

export function targetOf(work: Work, { target_strategy, target_ref }: Task, source: Source): Promise<Target | Refusal> {
  switch (target_strategy) {
    case 'new':
      return newTarget(work, needed(target_ref, 'new takes the name of a profile'), source);
    case 'reuse':
      return reusedTarget(work, needed(target_ref, 'reuse takes the id of an agent'), source);
    case 'clone': {
      const cloned = target_ref ?? source.agent_id ?? undefined;
      return clonedTarget(work, needed(cloned, 'there is no delegating agent to clone'), source);
    }
  }
}

function needed(target_ref: string | undefined, why: string): string {
  if (target_ref !== undefined) return target_ref;
  throw invalid(`target_ref is required: ${why}`);
}

async function newTarget(work: Work, profile_name: string, source: Source): Promise<Target> {
  const profile = await openProfile(work.tx, profile_name);
  const content = profileContent(profile) as {
    agent_type?: string;
    capabilities?: string[];
    memory_access?: MemoryAccess;
    can_delegate_to?: string[];
  };
  const agent = await newAgent(work, source, {
    agent_type: content.agent_type ?? profile.name,
    typed: 1,
    capabilities: JSON.stringify(content.capabilities ?? [profile.name]),
    memory_access: content.memory_access === undefined ? null : JSON.stringify(content.memory_access),
    can_delegate_to: content.can_delegate_to === undefined ? null : JSON.stringify(content.can_delegate_to),
    profile_name: profile.name,
  });
  await checkMayDelegate(work.tx, source.agent_id, agent);
  return { agent, is_new: true, profile, output_box_id: null };
}

/** Locks a registered agent. */
export async function registeredAgent(tx: Tx, agent_id: string): Promise<AgentRow> {
  const agent = await lockAgent(tx, agent_id);
  if (agent?.unregistered_at === null) return agent;
  throw notFound(tx, 'agent', agent_id, ': register it, or see agents.list');
}

/** The registered agent that `to_agent_id` names. */
export async function receiverOf(query: Query, to_agent_id: string): Promise<AgentRow> {
  const agent = await findAgent(query, to_agent_id);
  if (agent?.unregistered_at === null) return agent;
  const fault = agent ? 'was unregistered' : 'is not registered';
  throw new CairnError('UNKNOWN_ENTITY', `to_agent_id names ${to_agent_id}, which ${fault}: see agents.list`, {
    missing_ids: [to_agent_id],
  });
}

async function reusedTarget(work: Work, agent_id: string, source: Source): Promise<Target | Refusal> {
  const { tx } = work;
  const agent = await registeredAgent(tx, agent_id);
  if (agent_id === source.agent_id) throw invalid(`agent ${agent_id} cannot delegate to itself: use clone`);
  await checkMayDelegate(tx, source.agent_id, agent);
  const profile = await profileOf(tx, agent);
  const busy = await busyWith(work, agent_id);
  if (busy) return busy;
  const last = await lastTurnOf(tx, agent_id);
  // Its output for another delegator stays private.
  const output_box_id = last?.source_agent_id === source.agent_id ? last.output_box_id : null;
  return { agent, is_new: false, profile, output_box_id };
}

/** The refusal of an agent that has an active agent_turn, which only its parties get to know. */
export async function busyWith({ call, tx }: Work, agent_id: string): Promise<Refusal | undefined> {
  const active = await activeTurnOf(tx, agent_id);
  if (!active) return undefined;
  const why = isPartyTo(active, call.caller.agent_id)
    ? `agent_turn ${active.agent_turn_id}, which is ${active.status}: wait for its end, or stop it`
    : 'an agent_turn of another: try again later, or use another agent';
  return { status: 'busy', error_code: 'AGENT_BUSY', message: `agent ${agent_id} is busy with ${why}` };
}

async function clonedTarget(work: Work, agent_id: string, source: Source): Promise<Target> {
  const original = await registeredAgent(work.tx, agent_id);
  // A clone needs the same right as its original; cloning oneself needs none.
  if (agent_id !== source.agent_id) await checkMayDelegate(work.tx, source.agent_id, original);
  const profile = await profileOf(work.tx, original);
  const { agent_type, typed, capabilities, memory_access, can_delegate_to, profile_name } = original;
  const traits = { agent_type, typed, capabilities, memory_access, can_delegate_to, profile_name };
  const agent = await newAgent(work, source, traits);
  return { agent, is_new: true, profile, output_box_id: null };
}

async function profileOf(tx: Tx, { agent_id, profile_name }: AgentRow): Promise<ProfileRow> {
  const profile = profile_name === null ? undefined : await findProfile(tx, profile_name);
  if (profile) {
    profileContent(profile);
    return profile;
  }
  throw invalid(
    profile_name === null
      ? `agent ${agent_id} was registered without a profile: use new with a profile, or offer it a delegation`
      : `the profile "${profile_name}" of agent ${agent_id} is gone: create it again, or use another agent`,
  );
}

type Traits = Pick<
  AgentRow,
  'agent_type' | 'typed' | 'capabilities' | 'memory_access' | 'can_delegate_to' | 'profile_name'
>;

/** A new agent, with at most the rights of its delegator. */
async function newAgent({ call, tx }: Work, { agent_id }: Source, traits: Traits): Promise<AgentRow> {
  const delegator = agent_id === null ? undefined : await findAgent(tx, agent_id);
  const now = call.driver.now();
  return {
    ...traits,
    ...(delegator === undefined ? {} : commonRights(traits, delegator)),
    agent_id: newId(),
    status: 'idle',
    current_trajectory_id: null,
    parent_agent_id: agent_id,
    made: AGENT_ORIGINS.for_task,
    offline_after_ms: DEFAULT_OFFLINE_AFTER_MS,
    last_seen_at: now,
    metadata: null,
    sent_hash: null,
    registered_at: now,
    updated_at: now,
    unregistered_at: null,
  };
}

type Rights = Pick<AgentRow, 'memory_access' | 'can_delegate_to'>;

function commonRights(one: Rights, other: Rights): Rights {
  const parse = <T>(text: string | null) => JSON.parse(text ?? 'null') as T | null;
  const text = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  const access = commonAccess(parse<MemoryAccess>(one.memory_access), parse<MemoryAccess>(other.memory_access));
  const delegates = commonDelegates(parse<string[]>(one.can_delegate_to), parse<string[]>(other.can_delegate_to));
  return { memory_access: text(access), can_delegate_to: text(delegates) };
}

/** Registers the agent of a new target. */
export async function registerTarget(work: Work, { agent, is_new }: Target): Promise<void> {
  if (!is_new) return;
  await insertAgent(work.tx, agent);
  const facts = { agent_type: agent.agent_type, profile_name: agent.profile_name };
  appendEvent(work, 'cairn.agent.registered', { type: 'agent', id: agent.agent_id }, facts);
}
