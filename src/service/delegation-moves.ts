/** How a delegation moves together with its agent_turn: in one transaction, each move told once. */

import { canonical } from '../domain/canonical.js';
import type { Tx } from '../driver/driver.js';
import type { DelegationResult, DelegationStatus } from '../model/delegation.js';
import type { Json, JsonObject } from '../model/json.js';
import { changeDelegation, type DelegationRow, lockDelegation } from '../store/delegations.js';
import { endLease } from '../store/leases.js';
import type { Call } from './runtime.js';
import { event } from './write.js';

const NAMES: Partial<Record<DelegationStatus, string>> = {
  Accepted: 'accepted',
  Rejected: 'rejected',
  InProgress: 'started',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};

/** Tells of a move, in the delegator's trajectory, and whoever waits for its end. */
export function journalDelegation(
  call: Call,
  tx: Tx,
  row: DelegationRow,
  now: number,
  facts: JsonObject = {},
): void {
  const { delegation_id, from_agent_id, to_agent_id, status, agent_turn_id, trajectory_id } = row;
  const said = { from_agent_id, to_agent_id, status, agent_turn_id, ...facts };
  const name = `cairn.delegation.${NAMES[status] ?? 'created'}`;
  tx.journal(event(call, now, name, 'delegation', delegation_id, said, trajectory_id));
  tx.wake(`delegation:${delegation_id}`);
}

/** Work on it has begun: only an accepted one moves. */
export async function startDelegation(call: Call, tx: Tx, row: DelegationRow, now: number): Promise<void> {
  const locked = await lockDelegation(tx, call.tenant, row.delegation_id);
  if (locked?.status !== 'Accepted') return;
  journalDelegation(
    call,
    tx,
    await changeDelegation(tx, call.tenant, locked, { status: 'InProgress' }, now),
    now,
  );
}

export interface DelegationEnd {
  readonly status: 'Completed' | 'Failed' | 'Cancelled' | 'Rejected';
  readonly result?: DelegationResult;
  readonly reason?: string | null;
}

const ENDED: readonly DelegationStatus[] = ['Rejected', 'Completed', 'Failed', 'Cancelled'];
export const delegationHasEnded = (status: DelegationStatus): boolean => ENDED.includes(status);

/** Ends a delegation that is locked, unless it has ended. */
export async function endDelegation(
  call: Call,
  tx: Tx,
  row: DelegationRow,
  end: DelegationEnd,
  now: number,
): Promise<DelegationRow> {
  if (delegationHasEnded(row.status)) return row;
  const result = end.result === undefined ? null : canonical(end.result as Json);
  const change = { status: end.status, result, reason: end.reason ?? null, ended_at: now };
  const ended = await changeDelegation(tx, call.tenant, row, change, now);
  await endLease(tx, call.tenant, 'delegation', row.delegation_id);
  journalDelegation(call, tx, ended, now, end.result === undefined ? {} : { result: end.result.status });
  return ended;
}
