/** Ends leases of unacknowledged deliveries, on expiry or when their agent goes offline: they are delivered again. */
import type { Lease, Work } from '../../engine/index.js';
import { endDelivery, mailboxOf, releaseDeliveries } from './deliveries.js';

/** The wake key of readers of a mailbox. */
export const mailboxKey = (mailbox: string): string => `mailbox:${mailbox}`;

export async function expireDelivery({ tx, now }: Work, lease: Lease): Promise<void> {
  if (await endDelivery(tx, lease, now)) tx.wake(mailboxKey(mailboxOf(lease.subject_id)));
}

/** Releases the deliveries of an agent that went offline. */
export async function releaseDeliveriesOf({ tx }: Work, agent_id: string): Promise<void> {
  for (const mailbox of await releaseDeliveries(tx, agent_id)) tx.wake(mailboxKey(mailbox));
}
