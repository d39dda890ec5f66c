/** Expires handoffs that nobody answers in time. */
import { type Call, endLease, type Lease, type Work } from '../../engine/index.js';
import { moveHandoff } from './moves.js';
import { isOverdue } from './rules.js';
import { expired, findHandoff, lockHandoff } from './store.js';

/** Ends an overdue offer; one that was answered before only loses its lease. */
export async function expireHandoff(work: Work, { subject_id }: Pick<Lease, 'subject_id'>): Promise<void> {
  const { call, tx, now } = work;
  const row = await lockHandoff(tx, subject_id);
  if (!row || !isOverdue(row, now)) return endLease(tx, 'handoff', subject_id);
  // The event names no actor: any caller can be the first to notice the expiry.
  const nobody = { ...call.caller, agent_id: null, key_id: null };
  await moveHandoff({ ...work, call: { ...call, caller: nobody } }, 'expired', row, expired(row));
}

/** Records the expiry of an overdue offer in its own transaction: the refusal that follows would roll it back. */
export async function expireIfOverdue(call: Call, handoff_id: string): Promise<void> {
  const { driver, tenant } = call;
  const row = await findHandoff(driver.at(tenant), handoff_id);
  if (!row || !isOverdue(row, driver.now())) return;
  await driver.write(tenant, (tx) => expireHandoff({ call, tx, now: driver.now() }, { subject_id: handoff_id }));
}
