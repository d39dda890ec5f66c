/**
 * Ends agent_turns: exactly once, each with its delegation, batch and trajectory in one transaction. Ending one may end
 * others: its descendants when it is stopped or times out, its siblings when their batch fails fast.
 */
import type { Tx } from '../../driver/index.js';
import { appendEvent, endLease, type Work } from '../../engine/index.js';
import { type AgentRow, isBetweenTasks, lockAgent, updateAgent } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { DelegationResult } from '../delegations/model.js';
import { type DelegationEnd, endDelegation } from '../delegations/moves.js';
import { lockDelegation } from '../delegations/store.js';
import { cancelPauses } from '../pauses/moves.js';
import { finishTasks } from '../tasks/trajectories.js';
import type { AgentTurnStatus, TurnError } from './model.js';
import { batchStatus, hasEnded, waitsForAnswer } from './rules.js';
import { journalTurn } from './service.js';
import {
  type AgentTurnView,
  activeBelow,
  changeAgentTurn,
  endBatch,
  findAgentTurns,
  findBatch,
  lockAgentTurns,
  lockBatch,
  turnsOfBatch,
} from './store.js';

export type Final = Extract<AgentTurnStatus, 'completed' | 'failed' | 'stopped' | 'timed_out'>;

export interface TurnEnd {
  readonly status: Final;
  readonly error?: TurnError;
  readonly deliverable_card_id?: string;
  readonly result_status?: 'success' | 'partial';
  readonly summary?: string | undefined;
  /** The result of the delegation; default: derived from the other fields. */
  readonly result?: DelegationResult;
}

/** Whether the descendants of an agent_turn that ends so are stopped. */
const stopsDescendants = (status: Final): boolean => status === 'stopped' || status === 'timed_out';

/** Unfinished agent_turns in the fail-fast batches of these. */
async function siblingsOf(tx: Tx, turns: readonly AgentTurnView[]): Promise<string[]> {
  const batches = new Set(turns.flatMap(({ batch_id }) => batch_id ?? []));
  const open: string[] = [];
  for (const batch_id of batches) {
    const batch = await findBatch(tx, batch_id);
    if (batch?.fail_fast !== 1 || batch.ended_at !== null) continue;
    for (const task of await turnsOfBatch(tx, batch_id)) if (task.ended_at === null) open.push(task.agent_turn_id);
  }
  return open;
}

/** All agent_turns that may end when these end so, by id. A completed one ends no other. */
async function closureOf(tx: Tx, ids: readonly string[], status: Final): Promise<string[]> {
  if (status === 'completed') return [...new Set(ids)].sort();
  const own = new Set(ids);
  const siblings = await siblingsOf(tx, await findAgentTurns(tx, ids));
  const stopped = stopsDescendants(status) ? [...ids, ...siblings] : siblings.filter((id) => !own.has(id));
  const below = stopped.length === 0 ? [] : await activeBelow(tx, stopped);
  return [...new Set([...ids, ...siblings, ...below])].sort();
}

/** Locks all that may end when these end so, agents first. Repeats if more was delegated before it had the locks. */
export async function lockForEnding(
  tx: Tx,
  ids: readonly string[],
  status: Final,
): Promise<Map<string, AgentTurnView>> {
  let wanted = await closureOf(tx, ids, status);
  for (;;) {
    const agents = new Set((await findAgentTurns(tx, wanted)).map(({ agent_id }) => agent_id));
    for (const agent_id of [...agents].sort()) await lockAgent(tx, agent_id);
    await lockAgentTurns(tx, wanted);
    const known = new Set(wanted);
    wanted = await closureOf(tx, ids, status);
    if (wanted.every((id) => known.has(id))) break;
  }
  return new Map((await findAgentTurns(tx, wanted)).map((turn) => [turn.agent_turn_id, turn]));
}

/**
 * Ends locked agent_turns and all that ends with them. Returns the holders whose content must be erased. `deleted`:
 * trajectories deleted in the same transaction, which need not finish.
 */
export async function endTurns(
  work: Work,
  locked: ReadonlyMap<string, AgentTurnView>,
  ends: ReadonlyMap<string, TurnEnd>,
  deleted: readonly string[] = [],
): Promise<string[]> {
  const turns = new Map(locked);
  const todo = [...ends];
  const ended: AgentTurnView[] = [];
  const batches = new Set<string>();
  for (let next = todo.shift(); next; next = todo.shift()) {
    const [id, end] = next;
    const turn = turns.get(id);
    if (!turn || hasEnded(turn.status)) continue;
    const after = await endOne(work, turn, end);
    turns.set(id, after);
    ended.push(after);
    if (after.batch_id !== null) batches.add(after.batch_id);
    // The descendants of one stopped with its parent are queued already.
    if (stopsDescendants(end.status) && end !== STOPPED_WITH_PARENT) {
      for (const below of await activeBelow(work.tx, [id])) todo.push([below, STOPPED_WITH_PARENT]);
    }
    if (todo.length === 0) {
      for (const batch_id of [...batches].sort()) todo.push(...(await settleBatch(work, batch_id, false)));
      batches.clear();
    }
  }
  return finishTasks(work, ended, deleted);
}

const STOPPED_WITH_PARENT: TurnEnd = {
  status: 'stopped',
  error: { code: 'PARENT_ENDED', message: 'the agent_turn that delegated it has ended' },
};

const STOPPED_BY_SIBLING: TurnEnd = {
  status: 'stopped',
  error: { code: 'BATCH_FAILED', message: 'another task of its batch failed, and the batch fails fast' },
};

export const OVERDUE: TurnEnd = { status: 'timed_out', error: { code: 'DEADLINE', message: 'its deadline passed' } };

async function endOne(work: Work, turn: AgentTurnView, end: TurnEnd): Promise<AgentTurnView> {
  const { tx, now } = work;
  const { agent_turn_id, agent_id, delegation_id } = turn;
  const change = {
    status: end.status,
    // Fences off a worker that still holds it.
    turn_epoch: turn.turn_epoch + (stopsDescendants(end.status) ? 1 : 0),
    deliverable_card_id: end.deliverable_card_id ?? null,
    result_status: end.result_status ?? null,
    summary: end.summary ?? null,
    error: end.error === undefined ? null : canonical(end.error as Json),
    ended_at: now,
  };
  const after = await changeAgentTurn(tx, turn, change, now);
  await endLease(tx, 'agent_turn', agent_turn_id);
  await endLease(tx, 'deadline', agent_turn_id);
  if (waitsForAnswer(turn)) await cancelPauses(work, { agent_turn_id, execution_id: null });
  await freeAgent(tx, agent_id, turn.trajectory_id, now);
  if (delegation_id !== null) {
    const delegation = await lockDelegation(tx, delegation_id);
    if (delegation) await endDelegation(work, delegation, delegationEnd(end));
  }
  const facts = {
    status: end.status,
    ...(end.deliverable_card_id === undefined ? {} : { deliverable_card_id: end.deliverable_card_id }),
    ...(end.error === undefined ? {} : { error_code: end.error.code }),
  };
  journalTurn(work, after, end.status, facts);
  tx.wake(`agent_turn:${agent_turn_id}`);
  return { ...after, lease_expires_at: null };
}

function delegationEnd({ status, error, result, result_status, summary }: TurnEnd): DelegationEnd {
  const reason = error?.message ?? null;
  if (result !== undefined) return { status: result.status === 'Failure' ? 'Failed' : 'Completed', result, reason };
  if (status === 'completed') {
    const outcome = result_status === 'partial' ? 'Partial' : 'Success';
    return { status: 'Completed', result: { status: outcome, output: summary ?? null } };
  }
  if (status === 'stopped') return { status: 'Cancelled', reason };
  return { status: 'Failed', result: { status: 'Failure', error: reason }, reason };
}

/** Makes a busy agent idle, unless it works on another trajectory by now. */
async function freeAgent(tx: Tx, agent_id: string, trajectory_id: string, now: number): Promise<void> {
  const agent = await lockAgent(tx, agent_id);
  if (!agent || agent.unregistered_at !== null || agent.current_trajectory_id !== trajectory_id) return;
  const status = agent.status === 'busy' ? 'idle' : agent.status;
  const free: AgentRow = { ...agent, status, current_trajectory_id: null, updated_at: now };
  await updateAgent(tx, free);
  if (isBetweenTasks(free)) await endLease(tx, 'agent', agent_id);
}

/** Ends a batch if it is done or overdue; returns its tasks that end with it. */
export async function settleBatch(work: Work, batch_id: string, overdue: boolean): Promise<[string, TurnEnd][]> {
  const { tx, now } = work;
  const batch = await lockBatch(tx, batch_id);
  if (!batch || batch.ended_at !== null) return [];
  const tasks = await turnsOfBatch(tx, batch_id);
  const status = batchStatus(tasks, batch.fail_fast === 1, overdue);
  if (status === 'running') return [];
  await endBatch(tx, batch_id, status, now);
  await endLease(tx, 'batch', batch_id);
  appendEvent(work, 'cairn.batch.ended', { type: 'batch', id: batch_id }, { status, task_count: batch.task_count });
  tx.wake(`batch:${batch_id}`);
  const open = tasks.filter(({ ended_at }) => ended_at === null);
  return open.map(({ agent_turn_id }) => [agent_turn_id, overdue ? OVERDUE : STOPPED_BY_SIBLING]);
}
