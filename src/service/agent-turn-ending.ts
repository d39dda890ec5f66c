/**
 * How agent_turns end: exactly once, each with its delegation, its batch and its trajectory in one transaction. Ending
 * one may end others: what it has delegated when it is stopped, its siblings when their batch does not wait for them.
 */

import { batchStatus, hasEnded } from '../domain/agent-turn-states.js';
import { canonical } from '../domain/canonical.js';
import type { Tx } from '../driver/driver.js';
import type { AgentTurnStatus, TurnError } from '../model/agent-turn.js';
import type { DelegationResult } from '../model/delegation.js';
import type { Json } from '../model/json.js';
import {
  type AgentTurnView,
  activeBelow,
  changeAgentTurn,
  lockAgentTurns,
  turnsOfBatch,
} from '../store/agent-turns.js';
import { lockAgent, updateAgent } from '../store/agents.js';
import { lockDelegation } from '../store/delegations.js';
import { endLease } from '../store/leases.js';
import { endBatch, lockBatch } from '../store/turn-batches.js';
import { journalTurn } from './agent-turns.js';
import { type DelegationEnd, endDelegation } from './delegation-moves.js';
import type { Call } from './runtime.js';
import { finishTasks } from './task-trajectories.js';
import { event } from './write.js';

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

/** What else may end with these: all of their batches, and what each of those has delegated. */
async function closureOf(call: Call, tx: Tx, ids: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const visit = async (id: string, batch_id: string | null): Promise<void> => {
    found.add(id);
    for (const below of await activeBelow(tx, call.tenant, id)) found.add(below);
    if (batch_id === null) return;
    for (const sibling of await turnsOfBatch(tx, call.tenant, batch_id)) {
      if (found.has(sibling.agent_turn_id) || sibling.ended_at !== null) continue;
      await visit(sibling.agent_turn_id, null);
    }
  };
  for (const turn of await lockAgentTurns(tx, call.tenant, ids, false)) {
    await visit(turn.agent_turn_id, turn.batch_id);
  }
  return [...found].sort();
}

/** Locks all that may end with these, their agents first. Again, if something was delegated before the lock was had. */
export async function lockForEnding(
  call: Call,
  tx: Tx,
  ids: readonly string[],
): Promise<Map<string, AgentTurnView>> {
  for (let known = -1; ; ) {
    const wanted = await closureOf(call, tx, ids);
    const before = await lockAgentTurns(tx, call.tenant, wanted, false);
    const agents = [...new Set(before.map(({ agent_id }) => agent_id))].sort();
    if (wanted.length === known) return new Map(before.map((turn) => [turn.agent_turn_id, turn]));
    known = wanted.length;
    for (const agent_id of agents) await lockAgent(tx, call.tenant, agent_id);
    await lockAgentTurns(tx, call.tenant, wanted, true);
  }
}

/**
 * Ends some of those that are locked, and what ends with them. Gives holders whose content is to be erased. Trajectories
 * that are deleted in the same transaction need not finish.
 */
export async function endTurns(
  call: Call,
  tx: Tx,
  locked: ReadonlyMap<string, AgentTurnView>,
  ends: ReadonlyMap<string, TurnEnd>,
  now: number,
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
    const after = await endOne(call, tx, turn, end, now);
    turns.set(id, after);
    ended.push(after);
    if (after.batch_id !== null) batches.add(after.batch_id);
    if (end.status === 'stopped' || end.status === 'timed_out') {
      for (const below of await activeBelow(tx, call.tenant, id)) todo.push([below, STOPPED_WITH_PARENT]);
    }
    if (todo.length === 0) {
      for (const batch_id of [...batches].sort())
        todo.push(...(await settleBatch(call, tx, batch_id, false, now)));
      batches.clear();
    }
  }
  return finishTasks(call, tx, ended, now, deleted);
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

async function endOne(
  call: Call,
  tx: Tx,
  turn: AgentTurnView,
  end: TurnEnd,
  now: number,
): Promise<AgentTurnView> {
  const { tenant } = call;
  const { agent_turn_id, agent_id, delegation_id } = turn;
  const after = await changeAgentTurn(
    tx,
    tenant,
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
  await endLease(tx, tenant, 'agent_turn', agent_turn_id);
  await endLease(tx, tenant, 'deadline', agent_turn_id);
  await freeAgent(call, tx, agent_id, turn.trajectory_id, now);
  if (delegation_id !== null) {
    const delegation = await lockDelegation(tx, tenant, delegation_id);
    if (delegation) await endDelegation(call, tx, delegation, delegationEnd(end), now);
  }
  const facts = {
    status: end.status,
    ...(end.deliverable_card_id === undefined ? {} : { deliverable_card_id: end.deliverable_card_id }),
    ...(end.error === undefined ? {} : { error_code: end.error.code }),
  };
  journalTurn(call, tx, after, end.status, now, facts);
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
async function freeAgent(
  call: Call,
  tx: Tx,
  agent_id: string,
  trajectory_id: string,
  now: number,
): Promise<void> {
  const agent = await lockAgent(tx, call.tenant, agent_id);
  if (!agent || agent.unregistered_at !== null || agent.current_trajectory_id !== trajectory_id) return;
  const status = agent.status === 'busy' ? 'idle' : agent.status;
  await updateAgent(tx, call.tenant, { ...agent, status, current_trajectory_id: null, updated_at: now });
}

/** Ends a batch if it is time, and says which of its tasks are stopped by that. */
export async function settleBatch(
  call: Call,
  tx: Tx,
  batch_id: string,
  overdue: boolean,
  now: number,
): Promise<[string, TurnEnd][]> {
  const { tenant } = call;
  const batch = await lockBatch(tx, tenant, batch_id);
  if (!batch || batch.ended_at !== null) return [];
  const tasks = await turnsOfBatch(tx, tenant, batch_id);
  const status = batchStatus(tasks, batch.fail_fast === 1, overdue);
  if (status === 'running') return [];
  await endBatch(tx, tenant, batch_id, status, now);
  await endLease(tx, tenant, 'batch', batch_id);
  const facts = { status, task_count: batch.task_count };
  tx.journal(event(call, now, 'cairn.batch.ended', 'batch', batch_id, facts));
  tx.wake(`batch:${batch_id}`);
  const open = tasks.filter(({ ended_at }) => ended_at === null);
  return open.map(({ agent_turn_id }) => [agent_turn_id, overdue ? OVERDUE : STOPPED_BY_SIBLING]);
}
