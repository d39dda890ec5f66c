/** What happens when a lease expires, by its kind: filled in by the modules that hold such leases. */
import type { Work } from '../calls/work.js';
import { SlotRegistry } from '../registry.js';
import { type Lease, type LeaseKind, leaseKinds } from './store.js';

/** Runs in a transaction. Locks the subject first, then decides by what it finds: somebody may have renewed the lease. */
export type Expiry = (work: Work, lease: Lease) => Promise<void>;

export const expiries = new SlotRegistry<LeaseKind, Expiry>('lease expiry', leaseKinds);
