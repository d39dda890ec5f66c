/** What ends deliveries that nobody acknowledged: their time, or that their reader went away. They come again. */
import type { Lease, Work } from '../../engine/index.js';
import { endDelivery, mailboxOf, releaseDeliveries } from './deliveries.js';

/** What those wait for who read from a mailbox. */
export const mailboxKey = (mailbox: string): string => `mailbox:${mailbox}`;

/** The time of a delivery is over: whoever waits for messages may have it. */
export async function deliveryOver({ tx, now }: Work, lease: Lease): Promise<void> {
  if (await endDelivery(tx, lease, now)) tx.wake(mailboxKey(mailboxOf(lease.subject_id)));
}

/** An agent went offline: what its readers had and did not acknowledge is for others at once. */
export async function releaseDeliveriesOf({ tx }: Work, agent_id: string): Promise<void> {
  for (const mailbox of await releaseDeliveries(tx, agent_id)) tx.wake(mailboxKey(mailbox));
}
