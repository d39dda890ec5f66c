/** The states of a delegation and its transitions. A transition to the current state changes nothing. */
import { CairnError } from '../../kernel/index.js';
import type { DelegationStatus } from './model.js';

/** Pending becomes Failed only when it is overdue. */
const TRANSITIONS: Readonly<Record<DelegationStatus, readonly DelegationStatus[]>> = {
  Pending: ['Accepted', 'Rejected', 'Cancelled', 'Failed'],
  Accepted: ['InProgress', 'Completed', 'Failed', 'Cancelled'],
  InProgress: ['Completed', 'Failed', 'Cancelled'],
  Rejected: [],
  Completed: [],
  Failed: [],
  Cancelled: [],
};

export const delegationHasEnded = (status: DelegationStatus): boolean => TRANSITIONS[status].length === 0;

export function checkDelegationMove(delegation_id: string, from: DelegationStatus, to: DelegationStatus): void {
  if (!TRANSITIONS[from].includes(to)) throw stateConflict(delegation_id, from, `cannot become ${to}`);
}

export function stateConflict(delegation_id: string, status: DelegationStatus, why: string): CairnError {
  const rule = delegationHasEnded(status) ? 'it has ended' : `allowed: ${TRANSITIONS[status].join(', ')}`;
  return new CairnError('STATE_CONFLICT', `delegation ${delegation_id} is ${status} and ${why}: ${rule}`, { status });
}
