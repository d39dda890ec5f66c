/** Fails overdue delegations, together with their agent_turns. */
import { endLease, type Lease, stillExpired, type Work } from '../../engine/index.js';
import { endTurns, OVERDUE } from '../agent-turns/ending.js';
import { endDelegation } from './moves.js';
import { lockWithTurn } from './parties.js';
import { delegationHasEnded } from './rules.js';

const UNANSWERED = 'it was not accepted by its expected completion';

/** Content that ends with the delegation is erased by the next sweep. */
export async function expireDelegation(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const locked = await lockWithTurn(tx, lease.subject_id, OVERDUE.status);
  if (!(await stillExpired(tx, lease, now))) return;
  if (!locked || delegationHasEnded(locked.row.status)) return endLease(tx, 'delegation', lease.subject_id);
  const { row, turns } = locked;
  if (row.agent_turn_id === null) await endDelegation(work, row, { status: 'Failed', reason: UNANSWERED });
  else await endTurns(work, turns, new Map([[row.agent_turn_id, OVERDUE]]));
}
