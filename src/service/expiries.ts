/** What happens when a lease is over, by its kind. Each runs in a transaction, and looks again: somebody may have renewed it. */
import type { Tx } from '../driver/driver.js';
import { endLease, type Lease, type LeaseKind, stillOver } from '../store/leases.js';
import { expireAgent } from './agent-offline.js';
import { expireBatch, expireDeadline, expireTurn } from './agent-turn-expiry.js';
import { expireHandoff } from './handoff-expiry.js';
import { expireLock } from './lock-line.js';
import { deliveryOver } from './message-expiry.js';
import type { Call } from './runtime.js';

/** Locks the subject first, then decides by what it finds there. */
export type Expiry = (call: Call, tx: Tx, lease: Lease, now: number) => Promise<void>;

/** Nothing follows from its end but that it is over. */
const justEnds: Expiry = async (call, tx, lease, now) => {
  if (await stillOver(tx, call.tenant, lease, now))
    await endLease(tx, call.tenant, lease.kind, lease.subject_id);
};

export const expiries: Readonly<Record<LeaseKind, Expiry>> = {
  agent: expireAgent,
  agent_turn: expireTurn,
  deadline: expireDeadline,
  batch: expireBatch,
  delegation: justEnds,
  handoff: expireHandoff,
  lock: (call, tx, lease, now) => expireLock(call, tx, lease.subject_id, now),
  message: deliveryOver,
};
