/** What follows when a delegation is overdue: it has failed, and its agent_turn with it. */
import { endLease, type Lease, stillOver, type Work } from '../../engine/index.js';
import { endTurns, OVERDUE } from '../agent-turns/ending.js';
import { endDelegation } from './moves.js';
import { lockWithTurn } from './parties.js';
import { delegationHasEnded } from './rules.js';

const UNANSWERED = 'it was not accepted by the time it was expected';

/** What ended with it is erased by the next sweep. */
export async function expireDelegation(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const locked = await lockWithTurn(tx, lease.subject_id, OVERDUE.status);
  if (!(await stillOver(tx, lease, now))) return;
  if (!locked || delegationHasEnded(locked.row.status)) {
    await endLease(tx, 'delegation', lease.subject_id);
    return;
  }
  const { row, turns } = locked;
  if (row.agent_turn_id === null) {
    await endDelegation(work, row, { status: 'Failed', reason: UNANSWERED });
  } else await endTurns(work, turns, new Map([[row.agent_turn_id, OVERDUE]]));
}
