/** Expiry of agent_turn leases, deadlines and batches. The epoch rises, so that a late worker stays fenced off. */
import { endLease, type Lease, stillExpired, type Work } from '../../engine/index.js';
import { announce } from '../packing/dispatch.js';
import { endTurns, lockForEnding, OVERDUE, settleBatch, type TurnEnd } from './ending.js';
import { journalTurn } from './service.js';
import { type AgentTurnView, changeAgentTurn, lockAgentTurn, turnsOfBatch } from './store.js';

const EXHAUSTED: TurnEnd = {
  status: 'timed_out',
  error: { code: 'ATTEMPTS', message: 'its lease expired too many times' },
};

/** Content that ends with these is erased by the next sweep. */
async function end(work: Work, ids: readonly string[], how: TurnEnd): Promise<void> {
  const locked = await lockForEnding(work.tx, ids, how.status);
  await endTurns(work, locked, new Map(ids.map((id) => [id, how])));
}

/** The worker is silent: another may claim the agent_turn, in a new epoch. */
export async function expireTurn(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const turn = await lockAgentTurn(tx, lease.subject_id);
  if (!(await stillExpired(tx, lease, now))) return;
  if (!turn || turn.ended_at !== null || turn.turn_epoch !== lease.token) {
    return endLease(tx, 'agent_turn', lease.subject_id);
  }
  if (turn.attempts >= turn.max_attempts) return end(work, [turn.agent_turn_id], EXHAUSTED);
  await dispatchAgain(work, turn);
}

async function dispatchAgain(work: Work, turn: AgentTurnView): Promise<void> {
  const { tx, now } = work;
  const { status, worker_id, turn_epoch } = turn;
  if (status !== 'running' && status !== 'suspended') return;
  const change = { status: 'dispatched', turn_epoch: turn_epoch + 1, worker_id: null, dispatched_at: now } as const;
  const again = await changeAgentTurn(tx, turn, change, now);
  await endLease(tx, 'agent_turn', turn.agent_turn_id);
  journalTurn(work, again, 'lost', { reason: 'lease_lost', worker_id });
  announce(tx, again);
}

export async function expireDeadline(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  await lockForEnding(tx, [lease.subject_id], OVERDUE.status);
  if (!(await stillExpired(tx, lease, now))) return;
  await endLease(tx, 'deadline', lease.subject_id);
  await end(work, [lease.subject_id], OVERDUE);
}

export async function expireBatch(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const tasks = await turnsOfBatch(tx, lease.subject_id);
  const ids = tasks.map(({ agent_turn_id }) => agent_turn_id);
  await lockForEnding(tx, ids, OVERDUE.status);
  if (!(await stillExpired(tx, lease, now))) return;
  await endLease(tx, 'batch', lease.subject_id);
  const overdue = (await settleBatch(work, lease.subject_id, true)).map(([id]) => id);
  if (overdue.length > 0) await end(work, overdue, OVERDUE);
}
