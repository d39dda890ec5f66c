/** locks and lock_resources: the holders and waiters of a resource, in order, and its last fencing token. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { equalTo, type ListFilter, type Stored, withIsoTimes } from '../rows.js';
import type { Lock } from './model.js';

/** Granted: held, but the waiter has not picked it up yet. */
type LockState = Lock['state'] | 'granted';

/** The answer as it is stored; `expires_at` is that of its lease. */
export interface LockRow extends Omit<Stored<Lock>, 'state' | 'fencing_token' | 'acquired_at'> {
  readonly state: LockState;
  readonly ticket: number;
  readonly token: number | null;
  readonly granted_at: number | null;
  /** The holder of the lease: the waiting call, then the agent. */
  readonly leased_to: string | null;
}

export type ResourceName = Pick<Lock, 'resource_type' | 'resource_id'>;

export interface Resource extends ResourceName {
  /** The token of the last grant. */
  readonly token: number;
  /** The ticket of the last request. */
  readonly ticket: number;
}

/** Whether a lock is held or waited for, with a lease that is not over. */
export const isLive = ({ ended_at, expires_at }: LockRow, now: number): boolean =>
  ended_at === null && expires_at !== null && expires_at > now;

export const holds = ({ state }: LockRow): boolean => state === 'held' || state === 'granted';

/** The lock at a moment: one whose lease is over is expired even before that is recorded. */
export function toLock(row: LockRow, now: number): Lock {
  const live = isLive(row, now);
  const ended_at = live ? null : (row.ended_at ?? row.expires_at ?? now);
  const state = row.state === 'granted' ? 'held' : row.state;
  return withIsoTimes({
    lock_id: row.lock_id,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    holder_agent_id: row.holder_agent_id,
    mode: row.mode,
    state: live || row.ended_at !== null ? state : 'expired',
    fencing_token: row.token,
    lease_ms: row.lease_ms,
    asked_at: row.asked_at,
    acquired_at: row.granted_at,
    expires_at: live && holds(row) ? row.expires_at : null,
    ended_at,
  });
}

/** Joins the lease s of a lock l. LATERAL: without statistics PostgreSQL would read all leases for each lock. */
const ITS_LEASE: Sql = byDialect({
  sqlite: sql`LEFT JOIN leases s ON s.tenant_id = l.tenant_id AND s.kind = 'lock' AND s.subject_id = l.lock_id`,
  postgres: sql`LEFT JOIN LATERAL (SELECT x.expires_at, x.holder FROM leases x
    WHERE x.tenant_id = l.tenant_id AND x.kind = 'lock' AND x.subject_id = l.lock_id OFFSET 0) s ON TRUE`,
});

const WITH_LEASE: Sql = sql`SELECT l.*, s.expires_at, s.holder AS leased_to FROM locks l ${ITS_LEASE}`;

export const findLock = (query: Query, lock_id: string): Promise<LockRow | undefined> =>
  query.get<LockRow>(sql`${WITH_LEASE} WHERE l.tenant_id = ${TENANT} AND l.lock_id = ${lock_id}`);

/** Locks the row of a resource. Every change of its queue does this first. */
export const lockResource = (tx: Tx, { resource_type, resource_id }: ResourceName): Promise<Resource | undefined> =>
  tx.get<Resource>(
    sql`SELECT resource_type, resource_id, token, ticket FROM lock_resources
        WHERE tenant_id = ${TENANT} AND resource_type = ${resource_type} AND resource_id = ${resource_id} FOR UPDATE`,
  );

/** The same by lock_id: the resource of a lock never changes. */
export const lockResourceOf = (tx: Tx, lock_id: string): Promise<Resource | undefined> =>
  tx.get<Resource>(
    sql`SELECT resource_type, resource_id, token, ticket FROM lock_resources
        WHERE tenant_id = ${TENANT} AND (resource_type, resource_id) =
          (SELECT l.resource_type, l.resource_id FROM locks l WHERE l.tenant_id = ${TENANT} AND l.lock_id = ${lock_id})
        FOR UPDATE`,
  );

/** Fails if the row exists: an upsert would give two concurrent first requests the same token. */
export const insertResource = (tx: Tx, resource: Resource): Promise<void> =>
  tx.send(
    sql`INSERT INTO lock_resources (tenant_id, resource_type, resource_id, token, ticket)
        VALUES (${TENANT}, ${resource.resource_type}, ${resource.resource_id}, ${resource.token}, ${resource.ticket})`,
  );

export const updateResource = (tx: Tx, resource: Resource): Promise<void> =>
  tx.send(
    sql`UPDATE lock_resources SET token = ${resource.token}, ticket = ${resource.ticket}
        WHERE tenant_id = ${TENANT} AND resource_type = ${resource.resource_type} AND resource_id = ${resource.resource_id}`,
  );

export const insertLock = (tx: Tx, row: LockRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO locks (tenant_id, lock_id, resource_type, resource_id, holder_agent_id, mode, state, ticket, token,
          lease_ms, asked_at, granted_at)
        VALUES (${TENANT}, ${row.lock_id}, ${row.resource_type}, ${row.resource_id}, ${row.holder_agent_id}, ${row.mode},
          ${row.state}, ${row.ticket}, ${row.token}, ${row.lease_ms}, ${row.asked_at}, ${row.granted_at})`,
  );

export const updateLock = (tx: Tx, row: LockRow): Promise<void> =>
  tx.send(
    sql`UPDATE locks SET state = ${row.state}, ticket = ${row.ticket}, token = ${row.token},
          granted_at = ${row.granted_at}, ended_at = ${row.ended_at}
        WHERE tenant_id = ${TENANT} AND lock_id = ${row.lock_id}`,
  );

const inState = (resource: ResourceName, state: LockState, limit: number): Sql =>
  sql`SELECT * FROM (${WITH_LEASE} WHERE l.tenant_id = ${TENANT} AND l.resource_type = ${resource.resource_type}
        AND l.resource_id = ${resource.resource_id} AND l.state = ${state} AND l.ended_at IS NULL
      ORDER BY l.ticket LIMIT ${limit}) q`;

/** Holders and waiters of a resource by ticket, at most `limit` of each state. */
export function queueOf(query: Query, resource: ResourceName, limit: number): Promise<LockRow[]> {
  const states: LockState[] = ['held', 'granted', 'waiting'];
  return query.all<LockRow>(
    join(
      states.map((state) => inState(resource, state, limit)),
      ' UNION ALL ',
    ),
  );
}

/** Locks that an agent holds or waits for, in the lock order of resources. */
export const openLocksOf = (query: Query, agent_id: string): Promise<LockRow[]> =>
  query.all<LockRow>(
    sql`${WITH_LEASE} WHERE l.tenant_id = ${TENANT} AND l.holder_agent_id = ${agent_id} AND l.ended_at IS NULL
        ORDER BY l.resource_type, l.resource_id, l.ticket`,
  );

/** Whether an agent is in the queue of the resource of a lock. */
export async function isInQueue(query: Query, lock_id: string, agent_id: string): Promise<boolean> {
  const row = await query.get(
    sql`SELECT l.lock_id FROM locks l
        WHERE l.tenant_id = ${TENANT} AND l.lock_id = ${lock_id} AND ${inQueueWith(agent_id)}`,
  );
  return row !== undefined;
}

/** The condition that an agent is in the queue of the resource of lock l. */
const inQueueWith = (agent_id: string): Sql =>
  sql`EXISTS (SELECT 1 FROM locks mine WHERE mine.tenant_id = ${TENANT} AND mine.holder_agent_id = ${agent_id}
    AND mine.ended_at IS NULL AND mine.resource_type = l.resource_type AND mine.resource_id = l.resource_id)`;

type LockFilter = ListFilter<'locks.list'>;

function matching({ resource_type, resource_id, holder_agent_id, party }: LockFilter, now: number): Sql {
  const equal = {
    'l.resource_type': resource_type,
    'l.resource_id': resource_id,
    'l.holder_agent_id': holder_agent_id,
  };
  const live = sql`l.tenant_id = ${TENANT} AND l.ended_at IS NULL AND s.expires_at > ${now}`;
  const own = party === undefined ? [] : [inQueueWith(party)];
  return join([live, ...equalTo(equal), ...own], ' AND ');
}

export const listLocks = (query: Query, filter: LockFilter, page: KeysetPage, now: number): Promise<LockRow[]> =>
  query.all<LockRow>(sql`${WITH_LEASE} WHERE ${matching(filter, now)}${keyset(sql`l.lock_id`, page)}`);

export const countLocks = (filter: LockFilter, now: number): Sql =>
  sql`SELECT COUNT(*) AS total FROM locks l ${ITS_LEASE} WHERE ${matching(filter, now)}`;

export const KEEP_ENDED_LOCKS_MS = 24 * 3_600_000;

/** Deletes ended locks. Their resources stay, with their tokens. */
export const deleteEndedLocks = (tx: Tx, before: number, limit: number): Promise<number> =>
  tx.run(
    sql`DELETE FROM locks WHERE tenant_id = ${TENANT} AND lock_id IN (
          SELECT lock_id FROM locks WHERE tenant_id = ${TENANT} AND ended_at <= ${before} LIMIT ${limit})`,
  );
