/** What happens when a lease is over, by its kind. Each runs in a transaction, and looks again: somebody may have renewed it. */
import type { Tx } from '../driver/driver.js';
import type { Lease, LeaseKind } from '../store/leases.js';
import { expireAgent } from './agent-offline.js';
import { expireBatch, expireDeadline, expireTurn } from './agent-turn-expiry.js';
import { expireDelegation } from './delegation-expiry.js';
import { expireHandoff } from './handoff-expiry.js';
import { jobDue } from './jobs.js';
import { expireLock } from './lock-line.js';
import { deliveryOver } from './message-expiry.js';
import type { Call } from './runtime.js';

/** Locks the subject first, then decides by what it finds there. */
export type Expiry = (call: Call, tx: Tx, lease: Lease, now: number) => Promise<void>;

export const expiries: Readonly<Record<LeaseKind, Expiry>> = {
  agent: expireAgent,
  agent_turn: expireTurn,
  deadline: expireDeadline,
  batch: expireBatch,
  delegation: expireDelegation,
  handoff: expireHandoff,
  job: jobDue,
  lock: (call, tx, lease, now) => expireLock(call, tx, lease.subject_id, now),
  message: deliveryOver,
};
