/** Who delegates, and to whom: the agent that a task goes to, found or made. */
import type { Tx } from '../../driver/index.js';
import type { MemoryAccess } from '../../engine/contract.js';
import { actsAs, appendEvent, commonAccess, type Work } from '../../engine/index.js';
import { findProfile, openProfile, type ProfileRow, profileContent } from '../../facts/index.js';
import { DEFAULT_OFFLINE_AFTER_MS } from '../../identity/contract.js';
import {
  type AgentRow,
  checkMayDelegate,
  commonDelegates,
  findAgent,
  insertAgent,
  lockAgent,
  MADE,
} from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { checkTurnHeld } from '../agent-turns/holding.js';
import { isPartyTo } from '../agent-turns/rules.js';
import { type AgentTurnRow, activeTurnOf, lastTurnOf, lockAgentTurn } from '../agent-turns/store.js';
import type { Refusal, Task } from './task.js';

/** Who delegates. */
export interface Source {
  readonly agent_id: string | null;
  /** The agent_turn that it does so in, locked: it cannot end before the commit. */
  readonly turn: AgentTurnRow | undefined;
  /** Of what it delegates. */
  readonly depth: number;
}

/** The agent that the call is made as, or names; its agent_turn is that of the guard, or the one it has under way. */
export async function sourceOf({ call, tx, now }: Work, named: string | undefined): Promise<Source> {
  const agent_id = actsAs(call, named, 'source_agent_id') ?? named ?? null;
  const active = agent_id === null ? undefined : await activeTurnOf(tx, agent_id);
  const id = call.turn?.agent_turn_id ?? active?.agent_turn_id;
  const turn = id === undefined ? undefined : await lockAgentTurn(tx, id);
  if (turn && call.turn) checkTurnHeld(turn, call.turn.turn_epoch, now);
  const open = turn && turn.ended_at === null ? turn : undefined;
  return { agent_id, turn: open, depth: open ? open.depth + 1 : 0 };
}

export interface Target {
  readonly agent: AgentRow;
  /** Not there yet: is made when the task is dispatched. */
  readonly is_new: boolean;
  readonly profile: ProfileRow | null;
  /** Where it has put out into before, for the same delegator. */
  readonly output_box_id: string | null;
}

export function targetOf(work: Work, task: Task, source: Source): Promise<Target | Refusal> {
  const { target_strategy, target_ref } = task;
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
  throw invalid(`target_ref is needed: ${why}`);
}

async function newTarget(work: Work, profile_name: string, source: Source): Promise<Target> {
  const { tx } = work;
  const profile = await openProfile(tx, profile_name);
  const content = profileContent(profile) as {
    agent_type?: string;
    capabilities?: string[];
    memory_access?: MemoryAccess;
    can_delegate_to?: string[];
  };
  const agent = await madeAgent(work, source, {
    agent_type: content.agent_type ?? profile.name,
    typed: 1,
    capabilities: JSON.stringify(content.capabilities ?? [profile.name]),
    memory_access: content.memory_access === undefined ? null : JSON.stringify(content.memory_access),
    can_delegate_to: content.can_delegate_to === undefined ? null : JSON.stringify(content.can_delegate_to),
    profile_name: profile.name,
  });
  await checkMayDelegate(tx, source.agent_id, agent);
  return { agent, is_new: true, profile, output_box_id: null };
}

/** An agent that is registered, locked. */
export async function registeredAgent(tx: Tx, agent_id: string): Promise<AgentRow> {
  const agent = await lockAgent(tx, agent_id);
  if (agent && agent.unregistered_at === null) return agent;
  throw new CairnError('AGENT_NOT_FOUND', `there is no agent ${agent_id}: register it, or see agents.list`);
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
  // What it has put out for another is not for this one to read.
  const output_box_id = last?.source_agent_id === source.agent_id ? last.output_box_id : null;
  return { agent, is_new: false, profile, output_box_id };
}

/** One agent_turn at a time: says to its parties which it is that an agent has under way. */
export async function busyWith({ call, tx }: Work, agent_id: string): Promise<Refusal | undefined> {
  const active = await activeTurnOf(tx, agent_id);
  if (!active) return undefined;
  const message = isPartyTo(active, call.caller.agent_id)
    ? `agent ${agent_id} is busy with agent_turn ${active.agent_turn_id}, which is ${active.status}: wait for its end, or stop it`
    : `agent ${agent_id} is busy with an agent_turn of another: try again later, or use another agent`;
  return { status: 'busy', error_code: 'AGENT_BUSY', message };
}

async function clonedTarget(work: Work, agent_id: string, source: Source): Promise<Target> {
  const { tx } = work;
  const original = await registeredAgent(tx, agent_id);
  // Who may delegate to an agent may delegate to one like it; to go on as oneself is not to delegate to another.
  if (agent_id !== source.agent_id) await checkMayDelegate(tx, source.agent_id, original);
  const profile = await profileOf(tx, original);
  const { agent_type, typed, capabilities, memory_access, can_delegate_to, profile_name } = original;
  const agent = await madeAgent(work, source, {
    agent_type,
    typed,
    capabilities,
    memory_access,
    can_delegate_to,
    profile_name,
  });
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

type Made = Pick<
  AgentRow,
  'agent_type' | 'typed' | 'capabilities' | 'memory_access' | 'can_delegate_to' | 'profile_name'
>;

/** A new agent, with no more rights than who delegates to it has. */
async function madeAgent({ call, tx }: Work, { agent_id }: Source, made: Made): Promise<AgentRow> {
  const maker = agent_id === null ? undefined : await findAgent(tx, agent_id);
  return {
    ...made,
    ...(maker === undefined ? {} : commonRights(made, maker)),
    agent_id: newId(),
    status: 'idle',
    current_trajectory_id: null,
    parent_agent_id: agent_id,
    made: MADE.for_task,
    offline_after_ms: DEFAULT_OFFLINE_AFTER_MS,
    last_seen_at: call.driver.now(),
    metadata: null,
    sent_hash: null,
    registered_at: call.driver.now(),
    updated_at: call.driver.now(),
    unregistered_at: null,
  };
}

type Rights = Pick<AgentRow, 'memory_access' | 'can_delegate_to'>;

function commonRights(one: Rights, other: Rights): Rights {
  const parse = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));
  const text = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  const access = (of: Rights) => parse<MemoryAccess>(of.memory_access);
  const delegates = (of: Rights) => parse<string[]>(of.can_delegate_to);
  return {
    memory_access: text(commonAccess(access(one), access(other))),
    can_delegate_to: text(commonDelegates(delegates(one), delegates(other))),
  };
}

/** Registers the agent of a target that is new. */
export async function registerTarget(work: Work, target: Target): Promise<void> {
  const { tx } = work;
  if (!target.is_new) return;
  const { agent } = target;
  await insertAgent(tx, agent);
  const facts = { agent_type: agent.agent_type, profile_name: agent.profile_name };
  appendEvent(work, 'cairn.agent.registered', { type: 'agent', id: agent.agent_id }, facts);
}
