/** What follows when a worker falls silent, or a deadline passes: the epoch moves, so that who was late stays out. */
import { endLease, type Lease, stillOver, type Work } from '../../engine/index.js';
import { announce } from '../packing/dispatch.js';
import { endTurns, lockForEnding, OVERDUE, settleBatch, type TurnEnd } from './ending.js';
import { journalTurn } from './service.js';
import { changeAgentTurn, lockAgentTurn, turnsOfBatch } from './store.js';

const EXHAUSTED: TurnEnd = {
  status: 'timed_out',
  error: { code: 'ATTEMPTS', message: 'its workers fell silent too many times' },
};

/** Ends these. What ended with them is erased by the next sweep. */
async function end(work: Work, ids: readonly string[], how: TurnEnd): Promise<void> {
  const { tx } = work;
  const locked = await lockForEnding(tx, ids, how.status);
  await endTurns(work, locked, new Map(ids.map((id) => [id, how])));
}

/** A worker is silent: another may take the turn over, from a new epoch on. */
export async function expireTurn(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const turn = await lockAgentTurn(tx, lease.subject_id);
  if (!turn || turn.ended_at !== null || turn.turn_epoch !== lease.token) {
    const current = await stillOver(tx, lease, now);
    if (current) await endLease(tx, 'agent_turn', lease.subject_id);
    return;
  }
  if (!(await stillOver(tx, lease, now))) return;
  if (turn.attempts >= turn.max_attempts) return end(work, [turn.agent_turn_id], EXHAUSTED);
  await dispatchAgain(work, lease.subject_id, 'lease_lost');
}

async function dispatchAgain(work: Work, agent_turn_id: string, reason: string): Promise<void> {
  const { tx, now } = work;
  const turn = await lockAgentTurn(tx, agent_turn_id);
  if (!turn || (turn.status !== 'running' && turn.status !== 'suspended')) return;
  const { worker_id, turn_epoch } = turn;
  const change = { status: 'dispatched', turn_epoch: turn_epoch + 1, worker_id: null, dispatched_at: now } as const;
  const again = await changeAgentTurn(tx, turn, change, now);
  await endLease(tx, 'agent_turn', agent_turn_id);
  journalTurn(work, again, 'lost', { reason, worker_id });
  announce(tx, again);
}

export async function expireDeadline(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  await lockForEnding(tx, [lease.subject_id], OVERDUE.status);
  if (!(await stillOver(tx, lease, now))) return;
  await endLease(tx, 'deadline', lease.subject_id);
  await end(work, [lease.subject_id], OVERDUE);
}

export async function expireBatch(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const tasks = await turnsOfBatch(tx, lease.subject_id);
  const ids = tasks.map(({ agent_turn_id }) => agent_turn_id);
  await lockForEnding(tx, ids, OVERDUE.status);
  if (!(await stillOver(tx, lease, now))) return;
  await endLease(tx, 'batch', lease.subject_id);
  const overdue = await settleBatch(work, lease.subject_id, true);
  if (overdue.length > 0)
    await end(
      work,
      overdue.map(([id]) => id),
      OVERDUE,
    );
}
