/** What follows when a worker falls silent, or a deadline passes: the epoch moves, so that who was late stays out. */
import type { Tx } from '../../driver/driver.js';
import type { Call } from '../../engine/calls/call.js';
import { endLease, type Lease, stillOver } from '../../engine/leases/store.js';
import { announce } from '../packing/dispatch.js';
import { endTurns, lockForEnding, OVERDUE, settleBatch, type TurnEnd } from './ending.js';
import { journalTurn } from './service.js';
import { changeAgentTurn, lockAgentTurn, turnsOfBatch } from './store.js';

const EXHAUSTED: TurnEnd = {
  status: 'timed_out',
  error: { code: 'ATTEMPTS', message: 'its workers fell silent too many times' },
};

/** Ends these. What ended with them is erased by the next sweep. */
async function end(call: Call, tx: Tx, ids: readonly string[], how: TurnEnd, now: number): Promise<void> {
  const locked = await lockForEnding(tx, ids, how.status);
  await endTurns(call, tx, locked, new Map(ids.map((id) => [id, how])), now);
}

/** A worker is silent: another may take the turn over, from a new epoch on. */
export async function expireTurn(call: Call, tx: Tx, lease: Lease, now: number): Promise<void> {
  const turn = await lockAgentTurn(tx, lease.subject_id);
  if (!turn || turn.ended_at !== null || turn.turn_epoch !== lease.token) {
    const current = await stillOver(tx, lease, now);
    if (current) await endLease(tx, 'agent_turn', lease.subject_id);
    return;
  }
  if (!(await stillOver(tx, lease, now))) return;
  if (turn.attempts >= turn.max_attempts) return end(call, tx, [turn.agent_turn_id], EXHAUSTED, now);
  await dispatchAgain(call, tx, lease.subject_id, 'lease_lost', now);
}

async function dispatchAgain(
  call: Call,
  tx: Tx,
  agent_turn_id: string,
  reason: string,
  now: number,
): Promise<void> {
  const turn = await lockAgentTurn(tx, agent_turn_id);
  if (!turn || (turn.status !== 'running' && turn.status !== 'suspended')) return;
  const { worker_id, turn_epoch } = turn;
  const change = {
    status: 'dispatched',
    turn_epoch: turn_epoch + 1,
    worker_id: null,
    dispatched_at: now,
  } as const;
  const again = await changeAgentTurn(tx, turn, change, now);
  await endLease(tx, 'agent_turn', agent_turn_id);
  journalTurn(call, tx, again, 'lost', now, { reason, worker_id });
  announce(tx, again);
}

export async function expireDeadline(call: Call, tx: Tx, lease: Lease, now: number): Promise<void> {
  await lockForEnding(tx, [lease.subject_id], OVERDUE.status);
  if (!(await stillOver(tx, lease, now))) return;
  await endLease(tx, 'deadline', lease.subject_id);
  await end(call, tx, [lease.subject_id], OVERDUE, now);
}

export async function expireBatch(call: Call, tx: Tx, lease: Lease, now: number): Promise<void> {
  const tasks = await turnsOfBatch(tx, lease.subject_id);
  const ids = tasks.map(({ agent_turn_id }) => agent_turn_id);
  await lockForEnding(tx, ids, OVERDUE.status);
  if (!(await stillOver(tx, lease, now))) return;
  await endLease(tx, 'batch', lease.subject_id);
  const overdue = await settleBatch(call, tx, lease.subject_id, true, now);
  if (overdue.length > 0)
    await end(
      call,
      tx,
      overdue.map(([id]) => id),
      OVERDUE,
      now,
    );
}
