/** The states of a handoff and its transitions. A transition to the current state changes nothing. */
import { CairnError } from '../../kernel/index.js';
import type { HandoffStatus } from './model.js';

const TRANSITIONS: Readonly<Record<HandoffStatus, readonly HandoffStatus[]>> = {
  Initiated: ['Accepted', 'Rejected', 'Expired'],
  Accepted: ['Completed'],
  Rejected: [],
  Expired: [],
  Completed: [],
};

interface Offer {
  readonly handoff_id: string;
  readonly status: HandoffStatus;
  readonly expires_at: number;
}

/** An offer past its time has expired, recorded or not. */
export const isOverdue = ({ status, expires_at }: Offer, now: number): boolean =>
  status === 'Initiated' && expires_at <= now;

/** False if the handoff is in the target state already; refuses a transition that its state does not allow. */
export function movesHandoff(offer: Offer, to: HandoffStatus, now: number): boolean {
  const status = isOverdue(offer, now) ? 'Expired' : offer.status;
  if (status === to) return false;
  const next = TRANSITIONS[status];
  if (next.includes(to)) return true;
  const rule = next.length === 0 ? 'it has ended' : `allowed: ${next.join(', ')}`;
  throw new CairnError('STATE_CONFLICT', `handoff ${offer.handoff_id} is ${status} and cannot become ${to}: ${rule}`, {
    handoff_id: offer.handoff_id,
    status,
  });
}
