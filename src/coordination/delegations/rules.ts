/** The states of a delegation and the moves between them. To the same state is no move: it changes nothing. */
import { CairnError } from '../../kernel/index.js';
import type { DelegationStatus } from './model.js';

/** Pending becomes Failed by its time alone. */
const MOVES: Readonly<Record<DelegationStatus, readonly DelegationStatus[]>> = {
  Pending: ['Accepted', 'Rejected', 'Cancelled', 'Failed'],
  Accepted: ['InProgress', 'Completed', 'Failed', 'Cancelled'],
  InProgress: ['Completed', 'Failed', 'Cancelled'],
  Rejected: [],
  Completed: [],
  Failed: [],
  Cancelled: [],
};

export const delegationHasEnded = (status: DelegationStatus): boolean => MOVES[status].length === 0;

export const mayMoveDelegation = (from: DelegationStatus, to: DelegationStatus): boolean => MOVES[from].includes(to);

/** Refuses a move that is not among those of the state. */
export function checkDelegationMove(delegation_id: string, from: DelegationStatus, to: DelegationStatus): void {
  if (mayMoveDelegation(from, to)) return;
  throw stateConflict(delegation_id, from, `cannot become ${to}`);
}

export function stateConflict(delegation_id: string, status: DelegationStatus, why: string): CairnError {
  const onward = delegationHasEnded(status) ? 'it has ended' : `from there it goes to ${MOVES[status].join(', ')}`;
  return new CairnError('STATE_CONFLICT', `delegation ${delegation_id} is ${status} and ${why}: ${onward}`, { status });
}
