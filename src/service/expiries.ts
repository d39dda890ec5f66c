/** What happens when a lease is over, by its kind. Each runs in a transaction, and looks again: somebody may have renewed it. */
import type { Tx } from '../driver/driver.js';
import { endLease, findLease, type Lease, type LeaseKind } from '../store/leases.js';
import { deliveryOver } from './message-expiry.js';
import type { Call } from './runtime.js';

/** Locks the subject first, then decides by what it finds there. */
export type Expiry = (call: Call, tx: Tx, lease: Lease, now: number) => Promise<void>;

/** Nothing follows from its end but that it is over. */
const justEnds: Expiry = (call, tx, lease) => endLease(tx, call.tenant, lease.kind, lease.subject_id);

export const expiries: Readonly<Record<LeaseKind, Expiry>> = {
  agent: justEnds,
  agent_turn: justEnds,
  deadline: justEnds,
  batch: justEnds,
  delegation: justEnds,
  handoff: justEnds,
  lock: justEnds,
  message: deliveryOver,
  job: justEnds,
};

/** The lease as it stands in this transaction, if it is still the same and over. */
export async function stillOver(call: Call, tx: Tx, lease: Lease, now: number): Promise<Lease | undefined> {
  const current = await findLease(tx, call.tenant, lease.kind, lease.subject_id);
  return current && current.token === lease.token && current.expires_at <= now ? current : undefined;
}
