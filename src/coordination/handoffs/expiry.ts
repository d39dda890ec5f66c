/** How an offer of a trajectory ends that nobody answers in time. */
import { type Call, endLease, type Lease, type Work } from '../../engine/index.js';
import { expired, findHandoff, type HandoffRow, lockHandoff, moveHandoff } from './store.js';
import { tellHandoff } from './telling.js';

const isOverdue = ({ status, expires_at }: HandoffRow, now: number): boolean =>
  status === 'Initiated' && expires_at <= now;

/** What follows when the time of an offer is over: nothing, if it was answered before. */
export async function expireHandoff(
  work: Work,
  { kind, subject_id }: Pick<Lease, 'kind' | 'subject_id'>,
): Promise<void> {
  const { call, tx, now } = work;
  const row = await lockHandoff(tx, subject_id);
  if (row && isOverdue(row, now)) {
    const after = await moveHandoff(tx, row, expired(row));
    // It is nobody's doing, whoever noticed it.
    const nobody = { ...call.caller, agent_id: null, key_id: null };
    await tellHandoff({ ...work, call: { ...call, caller: nobody } }, 'expired', after);
  }
  await endLease(tx, kind, subject_id);
}

/** Notes that an offer has expired, if it has, so that what is refused for that is also told. */
export async function noteOverdue(call: Call, handoff_id: string): Promise<void> {
  const { driver, tenant } = call;
  const row = await findHandoff(driver.at(tenant), handoff_id);
  if (!row || !isOverdue(row, driver.now())) return;
  const lease = { kind: 'handoff', subject_id: handoff_id } as const;
  await driver.write(tenant, (tx) => expireHandoff({ call, tx, now: driver.now() }, lease));
}
