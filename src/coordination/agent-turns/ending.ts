/**
 * How agent_turns end: exactly once, each with its delegation, its batch and its trajectory in one transaction. Ending
 * one may end others: what it has delegated when it is stopped, its siblings when their batch does not wait for them.
 */
import type { Tx } from '../../driver/index.js';
import { appendEvent, endLease, type Work } from '../../engine/index.js';
import { type AgentRow, isBetweenTasks, lockAgent, updateAgent } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { DelegationResult } from '../delegations/model.js';
import { type DelegationEnd, endDelegation } from '../delegations/moves.js';
import { lockDelegation } from '../delegations/store.js';
import { finishTasks } from '../tasks/trajectories.js';
import { endBatch, findBatch, lockBatch } from './batches-store.js';
import type { AgentTurnStatus, TurnError } from './model.js';
import { batchStatus, hasEnded } from './rules.js';
import { journalTurn } from './service.js';
import { type AgentTurnView, activeBelow, changeAgentTurn, lockAgentTurns, turnsOfBatch } from './store.js';

export type Final = Extract<AgentTurnStatus, 'completed' | 'failed' | 'stopped' | 'timed_out'>;

export interface TurnEnd {
  readonly status: Final;
  readonly error?: TurnError;
  readonly deliverable_card_id?: string;
  readonly result_status?: 'success' | 'partial';
  readonly summary?: string | undefined;
  /** What the delegation is told; made of the rest unless given. */
  readonly result?: DelegationResult;
}

/** Whether what an agent_turn has delegated is stopped when it ends so. */
const takesBelow = (status: Final): boolean => status === 'stopped' || status === 'timed_out';

/** The tasks that are stopped when one of these fails, or is stopped: those of batches that do not wait then. */
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

/** What may end with these when they end so. What is completed takes nothing with it, whatever it has delegated. */
async function closureOf(tx: Tx, ids: readonly string[], status: Final): Promise<string[]> {
  if (status === 'completed') return [...new Set(ids)].sort();
  const own = new Set(ids);
  const siblings = await siblingsOf(tx, await lockAgentTurns(tx, ids, false));
  const stopped = takesBelow(status) ? [...ids, ...siblings] : siblings.filter((id) => !own.has(id));
  const below = stopped.length === 0 ? [] : await activeBelow(tx, stopped);
  return [...new Set([...ids, ...siblings, ...below])].sort();
}

/**
 * Locks all that may end when these end so, their agents first. Again, if something was delegated before the lock was
 * had.
 */
export async function lockForEnding(
  tx: Tx,
  ids: readonly string[],
  status: Final,
): Promise<Map<string, AgentTurnView>> {
  let wanted = await closureOf(tx, ids, status);
  for (;;) {
    const before = await lockAgentTurns(tx, wanted, false);
    const agents = [...new Set(before.map(({ agent_id }) => agent_id))].sort();
    for (const agent_id of agents) await lockAgent(tx, agent_id);
    await lockAgentTurns(tx, wanted, true);
    const known = new Set(wanted);
    wanted = await closureOf(tx, ids, status);
    if (wanted.every((id) => known.has(id))) break;
  }
  const locked = await lockAgentTurns(tx, wanted, false);
  return new Map(locked.map((turn) => [turn.agent_turn_id, turn]));
}

/**
 * Ends some of those that are locked, and what ends with them. Gives holders whose content is to be erased. Trajectories
 * that are deleted in the same transaction need not finish.
 */
export async function endTurns(
  work: Work,
  locked: ReadonlyMap<string, AgentTurnView>,
  ends: ReadonlyMap<string, TurnEnd>,
  deleted: readonly string[] = [],
): Promise<string[]> {
  const { tx } = work;
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
    // What is stopped with its parent was found with all that is below it.
    if (takesBelow(end.status) && end !== STOPPED_WITH_PARENT) {
      for (const below of await activeBelow(tx, [id])) todo.push([below, STOPPED_WITH_PARENT]);
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
  error: { code: 'PARENT_ENDED', message: 'what delegated it has ended' },
};

const STOPPED_BY_SIBLING: TurnEnd = {
  status: 'stopped',
  error: { code: 'BATCH_FAILED', message: 'another task of its batch failed, and the batch fails fast' },
};

export const OVERDUE: TurnEnd = {
  status: 'timed_out',
  error: { code: 'DEADLINE', message: 'it was not done by its deadline' },
};

async function endOne(work: Work, turn: AgentTurnView, end: TurnEnd): Promise<AgentTurnView> {
  const { tx, now } = work;
  const { agent_turn_id, agent_id, delegation_id } = turn;
  const after = await changeAgentTurn(
    tx,
    turn,
    {
      status: end.status,
      // Whoever still works on it is late from now on, whatever it does.
      turn_epoch: turn.turn_epoch + (end.status === 'completed' || end.status === 'failed' ? 0 : 1),
      deliverable_card_id: end.deliverable_card_id ?? null,
      result_status: end.result_status ?? null,
      summary: end.summary ?? null,
      error: end.error === undefined ? null : canonical(end.error as Json),
      ended_at: now,
    },
    now,
  );
  await endLease(tx, 'agent_turn', agent_turn_id);
  await endLease(tx, 'deadline', agent_turn_id);
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

function delegationEnd(end: TurnEnd): DelegationEnd {
  if (end.result !== undefined) {
    const status = end.result.status === 'Failure' ? 'Failed' : 'Completed';
    return { status, result: end.result, reason: end.error?.message ?? null };
  }
  if (end.status === 'completed') {
    const status = end.result_status === 'partial' ? 'Partial' : 'Success';
    return { status: 'Completed', result: { status, output: end.summary ?? null } };
  }
  if (end.status === 'stopped') return { status: 'Cancelled', reason: end.error?.message ?? null };
  return {
    status: 'Failed',
    result: { status: 'Failure', error: end.error?.message ?? null },
    reason: end.error?.message ?? null,
  };
}

/** The agent is idle again, unless it says otherwise of itself or has gone on to something else. */
async function freeAgent(tx: Tx, agent_id: string, trajectory_id: string, now: number): Promise<void> {
  const agent = await lockAgent(tx, agent_id);
  if (!agent || agent.unregistered_at !== null || agent.current_trajectory_id !== trajectory_id) return;
  const status = agent.status === 'busy' ? 'idle' : agent.status;
  const free: AgentRow = { ...agent, status, current_trajectory_id: null, updated_at: now };
  await updateAgent(tx, free);
  if (isBetweenTasks(free)) await endLease(tx, 'agent', agent_id);
}

/** Ends a batch if it is time, and says which of its tasks are stopped by that. */
export async function settleBatch(work: Work, batch_id: string, overdue: boolean): Promise<[string, TurnEnd][]> {
  const { tx, now } = work;
  const batch = await lockBatch(tx, batch_id);
  if (!batch || batch.ended_at !== null) return [];
  const tasks = await turnsOfBatch(tx, batch_id);
  const status = batchStatus(tasks, batch.fail_fast === 1, overdue);
  if (status === 'running') return [];
  await endBatch(tx, batch_id, status, now);
  await endLease(tx, 'batch', batch_id);
  const facts = { status, task_count: batch.task_count };
  appendEvent(work, 'cairn.batch.ended', { type: 'batch', id: batch_id }, facts);
  tx.wake(`batch:${batch_id}`);
  const open = tasks.filter(({ ended_at }) => ended_at === null);
  return open.map(({ agent_turn_id }) => [agent_turn_id, overdue ? OVERDUE : STOPPED_BY_SIBLING]);
}
