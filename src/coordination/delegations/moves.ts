/** How a delegation moves together with its agent_turn: in one transaction, each move told once. */
import { appendEvent, endLease, type Work } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { DelegationResult, DelegationStatus } from './model.js';
import { tellParties } from './news.js';
import { delegationHasEnded } from './rules.js';
import { changeDelegation, type DelegationRow, lockDelegation } from './store.js';

const NAMES: Readonly<Record<DelegationStatus, string>> = {
  Pending: 'created',
  Accepted: 'accepted',
  Rejected: 'rejected',
  InProgress: 'started',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};

/** Tells of a move: in the delegator's trajectory, the agents that it concerns, and whoever waits for its end. */
export async function journalDelegation(work: Work, row: DelegationRow, facts: JsonObject = {}): Promise<void> {
  const { tx } = work;
  const { delegation_id, from_agent_id, to_agent_id, status, agent_turn_id, trajectory_id } = row;
  const said = { from_agent_id, to_agent_id, status, agent_turn_id, ...facts };
  const name = `cairn.delegation.${NAMES[status]}`;
  appendEvent(work, name, { type: 'delegation', id: delegation_id }, said, trajectory_id);
  tx.wake(`delegation:${delegation_id}`);
  await tellParties(work, row);
}

/** Work on it has begun: only an accepted one moves. */
export async function startDelegation(work: Work, delegation_id: string): Promise<void> {
  const { tx, now } = work;
  const locked = await lockDelegation(tx, delegation_id);
  if (locked?.status !== 'Accepted') return;
  const started = await changeDelegation(tx, locked, { status: 'InProgress' }, now);
  await journalDelegation(work, started);
}

export interface DelegationEnd {
  readonly status: 'Completed' | 'Failed' | 'Cancelled' | 'Rejected';
  readonly result?: DelegationResult;
  readonly reason?: string | null;
}

/** Ends a delegation that is locked, unless it has ended. */
export async function endDelegation(work: Work, row: DelegationRow, end: DelegationEnd): Promise<void> {
  const { tx, now } = work;
  if (delegationHasEnded(row.status)) return;
  const result = end.result === undefined ? null : canonical(end.result as Json);
  const change = { status: end.status, result, reason: end.reason ?? null, ended_at: now };
  const ended = await changeDelegation(tx, row, change, now);
  await endLease(tx, 'delegation', row.delegation_id);
  const { artifacts = [] } = end.result ?? {};
  await journalDelegation(work, ended, {
    ...(end.result === undefined ? {} : { result: end.result.status }),
    ...(artifacts.length === 0 ? {} : { artifact_ids: artifacts.slice(0, MAX_NAMED) }),
  });
}
/** How many artifacts an event names. */
const MAX_NAMED = 100;
