/** The states of a handoff and the moves between them. To the same state is always allowed and changes nothing. */
import { CairnError } from '../../kernel/index.js';
import type { HandoffStatus } from './model.js';

const MOVES: Readonly<Record<HandoffStatus, readonly HandoffStatus[]>> = {
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

/** An offer whose time is over has expired, whether or not somebody has noted it. */
export const handoffStatusAt = ({ status, expires_at }: Offer, now: number): HandoffStatus =>
  status === 'Initiated' && expires_at <= now ? 'Expired' : status;

/** Whether there is anything to do to get to a state. Refuses a move that is not among those of the one it is in. */
export function movesHandoff(offer: Offer, to: HandoffStatus, now: number): boolean {
  const from = handoffStatusAt(offer, now);
  if (from === to) return false;
  if (MOVES[from].includes(to)) return true;
  const onward = MOVES[from].length === 0 ? 'it is over' : `from there it goes to ${MOVES[from].join(' or ')}`;
  throw new CairnError('STATE_CONFLICT', `handoff ${offer.handoff_id} is ${from} and cannot become ${to}: ${onward}`, {
    handoff_id: offer.handoff_id,
    status: from,
  });
}
