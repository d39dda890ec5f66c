/** Dispatching tasks: finds or creates the agent, packs its context, and offers the agent_turn to workers. */
import type { Tx } from '../../driver/index.js';
import { appendEvent, type Call, putLease, type Work } from '../../engine/index.js';
import { turnBoxHolder } from '../../engine/sql.js';
import { makeBox, mayUse } from '../../facts/index.js';
import { addReader, type BoxRow, findBox } from '../../facts/sql.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { DEFAULT_MAX_ATTEMPTS, type DispatchAnswer, MAX_DEPTH_OF_DELEGATION } from '../agent-turns/model.js';
import { insertAgentTurn, lastTurnOf, type NewAgentTurn } from '../agent-turns/store.js';
import { insertDelegation } from '../delegations/store.js';
import type { Handover, HandoverChoice } from '../handovers/model.js';
import { recipeOf } from '../handovers/service.js';
import { createChildTrajectory } from '../tasks/trajectories.js';
import { type Source, type Target, targetOf } from './dispatch-targets.js';
import type { Refusal, Task } from './model.js';
import { type PackingPlan, planPacking } from './rules.js';
import { asAgent, type PreparedPacking, packBox, preparePacking, visibleBoxes } from './service.js';

/** A task with its recipe. Its profile and boxes are chosen in the transaction. */
export interface PreparedTask {
  readonly task: Task;
  readonly recipe: Handover;
}

/** Arguments that the call itself sets. */
const RESERVED = ['instruction', 'input_box_ids', 'profile_name'];

export async function prepareTasks(
  call: Call,
  tasks: readonly Task[],
  handover: HandoverChoice | undefined,
): Promise<PreparedTask[]> {
  const recipe = await recipeOf(call.driver.at(call.tenant), handover);
  for (const [i, { arguments: given = {} }] of tasks.entries()) {
    const taken = RESERVED.filter((name) => Object.hasOwn(given, name));
    if (taken.length === 0) continue;
    const where = tasks.length === 1 ? 'arguments' : `tasks[${i}].arguments`;
    throw invalid(`${where} must not have ${taken.join(', ')}: the call sets it`);
  }
  return tasks.map((task) => ({ task, recipe }));
}

export const isRefusal = <T extends object>(one: T | Refusal): one is Refusal => 'error_code' in one;

const TOO_DEEP = {
  status: 'rejected',
  error_code: 'DELEGATION_TOO_DEEP',
  message: `delegations nest at most ${MAX_DEPTH_OF_DELEGATION} deep: do the task yourself, or give it back`,
} as const;

export function refuseTooDeep({ depth }: Source): void {
  if (depth > MAX_DEPTH_OF_DELEGATION) throw new CairnError(TOO_DEEP.error_code, TOO_DEEP.message);
}

/** A task checked in the transaction, before anything is written. */
export interface ReadyTask {
  readonly target: Target;
  readonly packing: PreparedPacking;
  readonly boxes: readonly BoxRow[];
}

/** Checks a task. Writes nothing. */
export async function readyTask(
  work: Work,
  { task, recipe }: PreparedTask,
  source: Source,
  author: string,
): Promise<ReadyTask | Refusal> {
  if (source.depth > MAX_DEPTH_OF_DELEGATION) return TOO_DEEP;
  const target = await targetOf(work, task, source);
  if (isRefusal(target)) return target;
  const history = task.target_strategy === 'clone' ? await clonedHistory(work, task, source) : undefined;
  const named = [task.context_box_id, ...(task.input_box_ids ?? []), history];
  const box_ids = [...new Set(named.filter((id) => id !== undefined))];
  const given: JsonObject = {
    ...task.arguments,
    instruction: task.instruction,
    ...(target.profile === null ? {} : { profile_name: target.profile.name }),
    ...(box_ids.length === 0 ? {} : { input_box_ids: box_ids }),
  };
  const plan = planPacking(recipe, given);
  refuseLost(plan, box_ids);
  const boxes = await visibleBoxes({ ...work, call: asAgent(work.call, source.agent_id) }, plan.box_ids);
  return { target, packing: preparePacking(work.call, plan, { author, source_agent_id: source.agent_id }), boxes };
}

/** Refuses a recipe that leaves out the instruction or given boxes. */
export function refuseLost(plan: PackingPlan, box_ids: readonly string[]): void {
  if (!plan.cards.some(({ arg_key }) => arg_key === 'instruction')) {
    throw invalid('the handover does not pack the argument instruction: add it to pack_arguments');
  }
  const lost = box_ids.filter((id) => !plan.box_ids.includes(id));
  if (lost.length === 0) return;
  throw invalid(`the handover does not inherit input_box_ids and would leave out these boxes: ${lost.join(', ')}`);
}

/** The output box of the source: of its agent_turn, or of the last one it had. */
async function historyOf(tx: Tx, { turn, agent_id }: Source): Promise<string | undefined> {
  const last = turn ?? (agent_id === null ? undefined : await lastTurnOf(tx, agent_id));
  return last?.output_box_id;
}

/** The output box of the cloned agent, if it has one that the delegator may read. */
async function clonedHistory({ call, tx }: Work, { target_ref }: Task, source: Source): Promise<string | undefined> {
  if (target_ref === undefined || target_ref === source.agent_id) return historyOf(tx, source);
  const last = await lastTurnOf(tx, target_ref);
  const box = last && (await findBox(tx, last.output_box_id));
  if (!box || box.ended_at !== null) return undefined;
  return (await mayUse(asAgent(call, source.agent_id), tx, box, 'read')) ? box.box_id : undefined;
}

/** The output box of the source, which the caller asked to include. */
export async function outputOf(tx: Tx, source: Source): Promise<string> {
  const box_id = await historyOf(tx, source);
  if (box_id !== undefined) return box_id;
  const who = source.agent_id === null ? 'a caller without an agent' : `agent ${source.agent_id}`;
  throw invalid(`${who} has no output box yet: there is no history to include`);
}

interface DispatchOptions {
  readonly channel_id: string | null;
  readonly trajectory_id: string | null;
  readonly batch?: { readonly batch_id: string; readonly task_index: number };
  readonly deadline_at?: number;
  readonly forked_from?: string;
  /** An existing, accepted delegation. Default: a new one. */
  readonly delegation_id?: string;
  readonly scope_id?: string;
  /** Default: a new id. */
  readonly context_box_id?: string;
  /** Inherited cards that are left out. */
  readonly without?: readonly string[];
  /** The inherited instruction card, where no argument is the instruction. */
  readonly instruction_card_id?: string | null;
}

export type Dispatched = Extract<DispatchAnswer, { status: 'accepted' }>;

const parentOf = (options: DispatchOptions, source: Source): string | null =>
  options.trajectory_id ?? source.turn?.trajectory_id ?? null;

/** Creates the trajectory of a task. Lock order: before any of its boxes. */
export const createTrajectory = (
  work: Work,
  { agent, profile }: Target,
  source: Source,
  options: DispatchOptions,
  instruction: string,
): Promise<string> =>
  createChildTrajectory(work, {
    parent: parentOf(options, source),
    agent_id: agent.agent_id,
    label: `${profile?.name ?? agent.agent_type}: ${instruction}`,
  });

/** Creates context, output box, agent_turn and delegation of a task, and wakes workers. */
export async function dispatch(
  work: Work,
  { target, packing, boxes, trajectory_id }: ReadyTask & { readonly trajectory_id: string },
  source: Source,
  options: DispatchOptions,
): Promise<Dispatched> {
  const { tx, now } = work;
  const { agent_id } = target.agent;
  const { context_box_id = newId(), delegation_id = newId(), scope_id = null, channel_id } = options;
  const agent_turn_id = newId();
  const packed = await packBox(work, {
    prepared: packing,
    boxes,
    box_id: context_box_id,
    owner: agent_id,
    held_by: turnBoxHolder(context_box_id),
    without: options.without ?? [],
    task: { agent_turn_id, trajectory_id, scope_id },
  });
  const output_box_id = await outputBoxFor(tx, target, now);
  if (source.agent_id !== null && source.agent_id !== agent_id) {
    for (const box_id of [context_box_id, output_box_id]) await addReader(tx, box_id, source.agent_id, now);
  }
  const at = packing.plan.cards.findIndex(({ arg_key }) => arg_key === 'instruction');
  const row: NewAgentTurn = {
    agent_turn_id,
    agent_id,
    source_agent_id: source.agent_id,
    parent_agent_turn_id: source.turn?.agent_turn_id ?? null,
    depth: source.depth,
    profile_name: target.profile?.name ?? null,
    profile_box_id: target.profile?.box_id ?? null,
    profile_card_id: target.profile?.card_id ?? null,
    trajectory_id,
    scope_id,
    delegation_id,
    batch_id: options.batch?.batch_id ?? null,
    task_index: options.batch?.task_index ?? null,
    channel_id,
    status: 'dispatched',
    turn_epoch: 1,
    attempts: 0,
    max_attempts: DEFAULT_MAX_ATTEMPTS,
    context_box_id,
    output_box_id,
    instruction_card_id: packed.argument_card_ids[at] ?? options.instruction_card_id ?? null,
    forked_from: options.forked_from ?? null,
    dispatched_at: now,
    created_at: now,
    updated_at: now,
  };
  await insertAgentTurn(tx, row);
  if (options.delegation_id === undefined) {
    // Dispatched at once: accepted from the start.
    await insertDelegation(tx, {
      delegation_id,
      from_agent_id: source.agent_id,
      to_agent_id: agent_id,
      trajectory_id: parentOf(options, source),
      child_trajectory_id: trajectory_id,
      agent_turn_id,
      parent_agent_turn_id: row.parent_agent_turn_id,
      depth: row.depth,
      status: 'Accepted',
      channel_id,
      created_at: now,
      updated_at: now,
      accepted_at: now,
    });
  }
  if (options.deadline_at !== undefined) {
    const lease = { kind: 'deadline', subject_id: agent_turn_id, holder: null, token: 0 } as const;
    await putLease(tx, { ...lease, expires_at: options.deadline_at });
  }
  journalDispatch(work, row, packed.length);
  announce(tx, row);
  const { turn_epoch } = row;
  const ids = { agent_id, agent_turn_id, turn_epoch, context_box_id, output_box_id, trajectory_id, delegation_id };
  return { status: 'accepted', ...ids, channel_id };
}

/** Wakes workers that wait for this profile, this agent, or any agent_turn. */
export function announce(tx: Tx, { profile_name, agent_id }: NewAgentTurn): void {
  if (profile_name !== null) tx.wake(`profile:${profile_name}`);
  tx.wake(`agent:${agent_id}`);
  tx.wake('agent_turns');
}

function journalDispatch(work: Work, row: NewAgentTurn, cards: number): void {
  const { agent_id, source_agent_id, delegation_id, context_box_id, output_box_id, turn_epoch } = row;
  const { batch_id, channel_id, forked_from } = row;
  const facts = {
    ...{ agent_id, source_agent_id, delegation_id, context_box_id, output_box_id, cards, turn_epoch },
    ...(batch_id === null ? {} : { batch_id }),
    ...(channel_id === null ? {} : { channel_id }),
    ...(forked_from === null ? {} : { forked_from }),
  };
  const event = `cairn.agent_turn.${forked_from === null ? 'dispatched' : 'forked'}`;
  appendEvent(work, event, { type: 'agent_turn', id: row.agent_turn_id }, facts, row.trajectory_id);
}

/** A reused agent continues in its output box, unless that has ended or is sealed. */
async function outputBoxFor(tx: Tx, { output_box_id, agent }: Target, now: number): Promise<string> {
  const former = output_box_id === null ? undefined : await findBox(tx, output_box_id);
  if (former?.ended_at === null && former.sealed_at === null) return former.box_id;
  const box_id = newId();
  const held_by = turnBoxHolder(box_id);
  await makeBox(tx, { box_id, agent_id: agent.agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
  return box_id;
}
