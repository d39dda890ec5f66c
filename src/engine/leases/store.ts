/**
 * leases: whatever is held or awaited for a time. One row a subject; its token rises with every new holder. A lease is
 * over when its time is, whether or not somebody has noticed: whoever looks at one compares expires_at.
 */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';

export const leaseKinds = [
  /** An agent being online: the holder is the agent. */
  'agent',
  /** A worker's hold on an agent_turn; token is its turn_epoch. */
  'agent_turn',
  /** When an agent_turn, batch, delegation or handoff is overdue. */
  'deadline',
  'batch',
  'delegation',
  'handoff',
  /** A job that is done by its holder, or is to be begun. */
  'job',
  /** A lock, held or waited for; the subject is the lock_id. */
  'lock',
  /** A message handed to a reader; the subject is `<mailbox> <seq>`. */
  'message',
] as const;
export type LeaseKind = (typeof leaseKinds)[number];

export interface Lease {
  readonly kind: LeaseKind;
  readonly subject_id: string;
  readonly holder: string | null;
  readonly token: number;
  readonly expires_at: number;
}

/** Puts a lease in the place of whatever there was; the caller holds the row of the subject. */
export function putLease(tx: Tx, lease: Lease): Promise<void> {
  return tx.send(
    sql`INSERT INTO leases (tenant_id, kind, subject_id, holder, token, expires_at)
        VALUES (${TENANT}, ${lease.kind}, ${lease.subject_id}, ${lease.holder}, ${lease.token}, ${lease.expires_at})
        ON CONFLICT (tenant_id, kind, subject_id) DO UPDATE SET holder = excluded.holder, token = excluded.token,
          expires_at = excluded.expires_at`,
  );
}

/** Gives a lease longer, if it is still this one and not over. */
export async function renewLease(
  tx: Tx,
  lease: Pick<Lease, 'kind' | 'subject_id' | 'token' | 'expires_at'>,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE leases SET expires_at = ${lease.expires_at}
        WHERE tenant_id = ${TENANT} AND kind = ${lease.kind} AND subject_id = ${lease.subject_id}
          AND token = ${lease.token} AND expires_at > ${now}`,
  );
  return changed > 0;
}

export function endLease(tx: Tx, kind: LeaseKind, subject_id: string): Promise<void> {
  return tx.send(sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = ${kind} AND subject_id = ${subject_id}`);
}

export function findLease(query: Query, kind: LeaseKind, subject_id: string): Promise<Lease | undefined> {
  return query.get<Lease>(
    sql`SELECT kind, subject_id, holder, token, expires_at FROM leases
        WHERE tenant_id = ${TENANT} AND kind = ${kind} AND subject_id = ${subject_id}`,
  );
}

/** The lease as it stands in this transaction, if it is still the same and over: somebody may have renewed it. */
export async function stillOver(tx: Tx, lease: Lease, now: number): Promise<Lease | undefined> {
  const current = await findLease(tx, lease.kind, lease.subject_id);
  return current && current.token === lease.token && current.expires_at <= now ? current : undefined;
}

/** What is over, the oldest first; behind one of them. */
export function dueLeases(
  query: Query,
  now: number,
  limit: number,
  after?: Pick<Lease, 'expires_at' | 'kind' | 'subject_id'>,
): Promise<Lease[]> {
  const behind = after
    ? sql` AND (expires_at, kind, subject_id) > (${after.expires_at}, ${after.kind}, ${after.subject_id})`
    : sql``;
  return query.all<Lease>(
    sql`SELECT kind, subject_id, holder, token, expires_at FROM leases
        WHERE tenant_id = ${TENANT} AND expires_at <= ${now}${behind} ORDER BY expires_at, kind, subject_id
        LIMIT ${limit}`,
  );
}

/** When the next lease of a tenant is over. */
export async function nextDue(query: Query): Promise<number | undefined> {
  const row = await query.get<{ expires_at: number }>(
    sql`SELECT expires_at FROM leases WHERE tenant_id = ${TENANT} ORDER BY expires_at LIMIT 1`,
  );
  return row?.expires_at;
}
