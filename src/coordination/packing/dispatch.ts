/** Dispatching: finds the agents that are to do tasks, packs a context for each, and puts their agent_turns out for workers. */
import type { Tx } from '../../driver/index.js';
import { appendEvent, type Call, putLease, type Work } from '../../engine/index.js';
import { turnBoxHolder } from '../../engine/sql.js';
import { makeBox, mayUse } from '../../facts/index.js';
import { addReader, type BoxRow, findBox } from '../../facts/sql.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { DEFAULT_MAX_ATTEMPTS, type DispatchAnswer, MAX_DEPTH_OF_DELEGATION } from '../agent-turns/model.js';
import { type AgentTurnRow, insertAgentTurns, lastTurnOf } from '../agent-turns/store.js';
import { insertDelegation } from '../delegations/store.js';
import { type Handover, type HandoverChoice, INSTRUCTION_HANDOVER } from '../handovers/model.js';
import { recipeOf } from '../handovers/service.js';
import { makeChildTrajectory } from '../tasks/child-trajectories.js';
import { type Source, type Target, targetOf } from './dispatch-targets.js';
import { type PackingPlan, planPacking } from './rules.js';
import { asAgent, type PreparedPacking, packBox, preparePacking, visibleBoxes } from './service.js';
import type { Refusal, Task } from './task.js';

/** A task planned before any transaction; which profile and boxes it gets is decided in it. */
export interface PreparedTask {
  readonly task: Task;
  readonly recipe: Handover;
}

/** Names that the primitives give themselves. */
const RESERVED = ['instruction', 'input_box_ids', 'profile_name'];

export async function prepareTasks(
  call: Call,
  tasks: readonly Task[],
  handover: HandoverChoice = INSTRUCTION_HANDOVER,
): Promise<PreparedTask[]> {
  const recipe = await recipeOf(call.driver.at(call.tenant), handover);
  for (const [i, { arguments: given = {} }] of tasks.entries()) {
    const taken = RESERVED.filter((name) => Object.hasOwn(given, name));
    if (taken.length > 0) {
      const where = tasks.length === 1 ? 'arguments' : `tasks[${i}].arguments`;
      throw invalid(`${where} must not have ${taken.join(', ')}: it is given by the call`);
    }
  }
  return tasks.map((task) => ({ task, recipe }));
}

export const isRefusal = <T extends object>(one: T | Refusal): one is Refusal => 'error_code' in one;

export const TOO_DEEP: Refusal & { readonly error_code: 'DELEGATION_TOO_DEEP' } = {
  status: 'rejected',
  error_code: 'DELEGATION_TOO_DEEP',
  message: `delegation is at most ${MAX_DEPTH_OF_DELEGATION} deep: do it yourself, or give back what you have`,
};

/** What is to be dispatched, checked in the transaction, with nothing written yet. */
export interface ReadyTask {
  readonly target: Target;
  readonly packing: PreparedPacking;
  readonly boxes: readonly BoxRow[];
}

/** Checks a task against what is there. Writes nothing. */
export async function readyTask(
  work: Work,
  { task, recipe }: PreparedTask,
  source: Source,
  author: string,
): Promise<ReadyTask | Refusal> {
  const { call } = work;
  if (source.depth > MAX_DEPTH_OF_DELEGATION) return TOO_DEEP;
  const target = await targetOf(work, task, source);
  if (isRefusal(target)) return target;
  const history = task.target_strategy === 'clone' ? await clonedHistory(work, task, source) : undefined;
  const output = history === undefined ? [] : [history];
  const first = task.context_box_id === undefined ? [] : [task.context_box_id];
  const box_ids = [...new Set([...first, ...(task.input_box_ids ?? []), ...output])];
  const given: JsonObject = {
    ...task.arguments,
    instruction: task.instruction,
    ...(target.profile === null ? {} : { profile_name: target.profile.name }),
    ...(box_ids.length === 0 ? {} : { input_box_ids: box_ids }),
  };
  const plan = planPacking(recipe, given);
  refuseLost(plan, box_ids);
  const boxes = await visibleBoxes({ ...work, call: asAgent(call, source.agent_id) }, plan.box_ids);
  return { target, packing: preparePacking(call, plan, { author, source_agent_id: source.agent_id }), boxes };
}

/** Refuses a recipe that leaves out the instruction, or boxes that are given. */
export function refuseLost(plan: PackingPlan, box_ids: readonly string[]): void {
  if (!plan.cards.some(({ arg_key }) => arg_key === 'instruction')) {
    throw invalid(
      'the handover does not pack the argument instruction, so nobody would see it: add it to pack_arguments',
    );
  }
  const lost = box_ids.filter((id) => !plan.box_ids.includes(id));
  if (lost.length === 0) return;
  throw invalid(`the handover does not inherit input_box_ids, so these boxes would be left out: ${lost.join(', ')}`);
}

/** The box that the source has put out into so far: of its agent_turn, or of the last one it had. */
async function historyOf(tx: Tx, { turn, agent_id }: Source): Promise<string | undefined> {
  const last = turn ?? (agent_id === null ? undefined : await lastTurnOf(tx, agent_id));
  return last?.output_box_id;
}

/**
 * What a clone goes on from: the output of the agent that is cloned, if that has put out anything and the delegator may
 * read it.
 */
async function clonedHistory({ call, tx }: Work, { target_ref }: Task, source: Source): Promise<string | undefined> {
  if (target_ref === undefined || target_ref === source.agent_id) return historyOf(tx, source);
  const last = await lastTurnOf(tx, target_ref);
  const box = last && (await findBox(tx, last.output_box_id));
  if (!box || box.ended_at !== null) return undefined;
  const readable = await mayUse(asAgent(call, source.agent_id), tx, box, 'read');
  return readable ? box.box_id : undefined;
}

/** The same where it was asked for. */
export async function outputOf(tx: Tx, source: Source): Promise<string> {
  const box_id = await historyOf(tx, source);
  if (box_id !== undefined) return box_id;
  throw invalid(
    `${source.agent_id === null ? 'a caller that is no agent' : `agent ${source.agent_id}`} has no output box yet: there is no history to give`,
  );
}

export interface DispatchOptions {
  readonly channel_id: string | null;
  readonly trajectory_id: string | null;
  readonly batch?: { readonly batch_id: string; readonly task_index: number };
  readonly deadline_at?: number;
  readonly forked_from?: string;
  /** Of a delegation that is there already, and was accepted. */
  readonly delegation_id?: string;
  readonly scope_id?: string;
  /** Made when absent. */
  readonly context_box_id?: string;
  /** Of cards that are inherited, which not. */
  readonly without?: readonly string[];
  /** Which of them is the instruction, where no argument is. */
  readonly instruction_card_id?: string | null;
}

export type Dispatched = Extract<DispatchAnswer, { status: 'accepted' }>;

/** The child trajectory and the ids of what is made: before any box, since trajectories are locked before boxes. */
export interface Placed {
  readonly ready: ReadyTask;
  readonly trajectory_id: string;
}

export async function placeTask(
  work: Work,
  ready: ReadyTask,
  source: Source,
  options: DispatchOptions,
  instruction: string,
): Promise<Placed> {
  const { agent, profile } = ready.target;
  const parent = options.trajectory_id ?? source.turn?.trajectory_id ?? null;
  const label = `${profile?.name ?? agent.agent_type}: ${instruction}`;
  const trajectory_id = await makeChildTrajectory(work, { parent, agent_id: agent.agent_id, label });
  return { ready, trajectory_id };
}

/** Makes everything that a task needs, and puts its agent_turn out. */
export async function dispatch(
  work: Work,
  { ready, trajectory_id }: Placed,
  source: Source,
  options: DispatchOptions,
): Promise<Dispatched> {
  const { tx, now } = work;
  const { target, packing, boxes } = ready;
  const { agent_id } = target.agent;
  const context_box_id = options.context_box_id ?? newId();
  const agent_turn_id = newId();
  const packed = await packBox(work, {
    prepared: packing,
    boxes,
    box_id: context_box_id,
    owner: agent_id,
    held_by: turnBoxHolder(context_box_id),
    without: options.without ?? [],
    task: { agent_turn_id, trajectory_id, scope_id: options.scope_id ?? null },
  });
  const output_box_id = await outputBoxFor(tx, target, now);
  if (source.agent_id !== null && source.agent_id !== agent_id) {
    for (const box_id of [context_box_id, output_box_id]) await addReader(tx, box_id, source.agent_id, now);
  }
  const at = packing.plan.cards.findIndex(({ arg_key }) => arg_key === 'instruction');
  const row: AgentTurnRow = {
    ...NEW_TURN,
    agent_turn_id,
    agent_id,
    source_agent_id: source.agent_id,
    parent_agent_turn_id: source.turn?.agent_turn_id ?? null,
    depth: source.depth,
    profile_name: target.profile?.name ?? null,
    profile_box_id: target.profile?.box_id ?? null,
    profile_card_id: target.profile?.card_id ?? null,
    trajectory_id,
    scope_id: options.scope_id ?? null,
    delegation_id: options.delegation_id ?? newId(),
    batch_id: options.batch?.batch_id ?? null,
    task_index: options.batch?.task_index ?? null,
    channel_id: options.channel_id,
    context_box_id,
    output_box_id,
    instruction_card_id: packed.argument_card_ids[at] ?? options.instruction_card_id ?? null,
    forked_from: options.forked_from ?? null,
    dispatched_at: now,
    created_at: now,
    updated_at: now,
  };
  await insertAgentTurns(tx, [row]);
  if (options.delegation_id === undefined)
    await recordDelegation(tx, row, options.trajectory_id ?? source.turn?.trajectory_id ?? null, now);
  if (options.deadline_at !== undefined) {
    const subject_id = row.agent_turn_id;
    await putLease(tx, { kind: 'deadline', subject_id, holder: null, token: 0, expires_at: options.deadline_at });
  }
  journalDispatch(work, row, packed.length);
  announce(tx, row);
  return {
    status: 'accepted',
    agent_id,
    agent_turn_id: row.agent_turn_id,
    turn_epoch: row.turn_epoch,
    context_box_id,
    output_box_id,
    trajectory_id,
    delegation_id: row.delegation_id!,
    channel_id: row.channel_id,
  };
}

const NEW_TURN = {
  status: 'dispatched',
  turn_epoch: 1,
  attempts: 0,
  max_attempts: DEFAULT_MAX_ATTEMPTS,
  worker_id: null,
  record_box_id: null,
  replaced_box_ids: null,
  deliverable_card_id: null,
  result_status: null,
  summary: null,
  error: null,
  claimed_at: null,
  ended_at: null,
} as const;

/** Whoever waits for work of this profile, or of this agent, looks again. */
export function announce(tx: Tx, { profile_name, agent_id }: AgentTurnRow): void {
  if (profile_name !== null) tx.wake(`profile:${profile_name}`);
  tx.wake(`agent:${agent_id}`);
  tx.wake('agent_turns');
}

function journalDispatch(work: Work, row: AgentTurnRow, cards: number): void {
  const { agent_id, source_agent_id, delegation_id, batch_id, channel_id, context_box_id, output_box_id } = row;
  const facts = {
    agent_id,
    source_agent_id,
    delegation_id,
    context_box_id,
    output_box_id,
    cards,
    turn_epoch: row.turn_epoch,
    ...(batch_id === null ? {} : { batch_id }),
    ...(channel_id === null ? {} : { channel_id }),
    ...(row.forked_from === null ? {} : { forked_from: row.forked_from }),
  };
  const name = row.forked_from === null ? 'dispatched' : 'forked';
  appendEvent(
    work,
    `cairn.agent_turn.${name}`,
    { type: 'agent_turn', id: row.agent_turn_id },
    facts,
    row.trajectory_id,
  );
}

/** A delegation that is dispatched at once is accepted from the start. */
function recordDelegation(tx: Tx, row: AgentTurnRow, trajectory_id: string | null, now: number): Promise<void> {
  return insertDelegation(tx, {
    delegation_id: row.delegation_id!,
    from_agent_id: row.source_agent_id,
    to_agent_id: row.agent_id,
    trajectory_id,
    scope_id: null,
    child_trajectory_id: row.trajectory_id,
    child_scope_id: null,
    agent_turn_id: row.agent_turn_id,
    parent_agent_turn_id: row.parent_agent_turn_id,
    depth: row.depth,
    status: 'Accepted',
    task_description: null,
    context: null,
    handover: null,
    expected_completion: null,
    result: null,
    reason: null,
    channel_id: row.channel_id,
    sent_hash: null,
    created_at: now,
    updated_at: now,
    accepted_at: now,
    ended_at: null,
  });
}

/** An agent that is used again goes on in its output box, as long as that is there. */
async function outputBoxFor(tx: Tx, target: Target, now: number): Promise<string> {
  if (target.output_box_id !== null) {
    const box = await findBox(tx, target.output_box_id);
    if (box && box.ended_at === null && box.sealed_at === null) return box.box_id;
  }
  const box_id = newId();
  const { agent_id } = target.agent;
  const held_by = turnBoxHolder(box_id);
  await makeBox(tx, { box_id, agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
  return box_id;
}
