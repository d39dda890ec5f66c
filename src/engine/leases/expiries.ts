/** What happens when a lease is over, by its kind. Each runs in a transaction, and looks again: somebody may have renewed it. */
import { expireBatch, expireDeadline, expireTurn } from '../../coordination/agent-turns/expiry.js';
import { expireDelegation } from '../../coordination/delegations/expiry.js';
import { expireHandoff } from '../../coordination/handoffs/expiry.js';
import { expireLock } from '../../coordination/locks/queue.js';
import { deliveryOver } from '../../coordination/messages/expiry.js';
import type { Tx } from '../../driver/driver.js';
import { expireAgent } from '../../identity/presence/offline.js';
import { jobDue } from '../../recall/jobs/service.js';
import type { Call } from '../calls/call.js';
import type { Lease, LeaseKind } from './store.js';

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
