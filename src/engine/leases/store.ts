/** leases: one row per subject. A lease is over at `expires_at`, noticed or not: every reader compares the time. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';

export const leaseKinds = [
  /** Presence of an agent, its holder. */
  'agent',
  /** A worker's hold on an agent_turn; token is its turn_epoch. */
  'agent_turn',
  /** The time when an agent_turn, batch, delegation or handoff is overdue. */
  'deadline',
  'batch',
  'delegation',
  'handoff',
  /** The deadline of a pause. */
  'pause',
  /** Upkeep of the search index. */
  'index',
  /** A job, running or due to start. */
  'job',
  /** A lock, held or waited for; the subject is the lock_id. */
  'lock',
  /** A delivered message; the subject is `<mailbox> <seq>`. */
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

/** Inserts or replaces a lease; the caller has locked the row of the subject. */
export function putLease(tx: Tx, lease: Lease): Promise<void> {
  return tx.send(
    sql`INSERT INTO leases (tenant_id, kind, subject_id, holder, token, expires_at)
        VALUES (${TENANT}, ${lease.kind}, ${lease.subject_id}, ${lease.holder}, ${lease.token}, ${lease.expires_at})
        ON CONFLICT (tenant_id, kind, subject_id) DO UPDATE SET holder = excluded.holder, token = excluded.token,
          expires_at = excluded.expires_at`,
  );
}

/** Extends a lease, if it has the same token and is not over. */
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

/** The current lease, if it has the same token and is still over: it may have been renewed. */
export async function stillExpired(tx: Tx, lease: Lease, now: number): Promise<Lease | undefined> {
  const current = await findLease(tx, lease.kind, lease.subject_id);
  return current && current.token === lease.token && current.expires_at <= now ? current : undefined;
}

/** Expired leases, the oldest first, after a given one. */
export function dueLeases(
  query: Query,
  now: number,
  limit: number,
  after?: Pick<Lease, 'expires_at' | 'kind' | 'subject_id'>,
): Promise<Lease[]> {
  const afterLast = after
    ? sql` AND (expires_at, kind, subject_id) > (${after.expires_at}, ${after.kind}, ${after.subject_id})`
    : sql``;
  return query.all<Lease>(
    sql`SELECT kind, subject_id, holder, token, expires_at FROM leases
        WHERE tenant_id = ${TENANT} AND expires_at <= ${now}${afterLast} ORDER BY expires_at, kind, subject_id
        LIMIT ${limit}`,
  );
}

/** When the next lease of a tenant expires. */
export async function nextDue(query: Query): Promise<number | undefined> {
  const row = await query.get<{ expires_at: number }>(
    sql`SELECT expires_at FROM leases WHERE tenant_id = ${TENANT} ORDER BY expires_at LIMIT 1`,
  );
  return row?.expires_at;
}
