/** locks and lock_resources: who holds a resource, who waits for it and in which order, and its last token. */
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
import { toIso } from '../../kernel/index.js';
import type { Lock, LockMode } from './model.js';

/** A granted one is held already, but whoever waited has not taken it up yet. */
export type LockState = Lock['state'] | 'granted';

export interface LockRow {
  readonly lock_id: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly holder_agent_id: string;
  readonly mode: LockMode;
  readonly state: LockState;
  readonly ticket: number;
  readonly token: number | null;
  readonly lease_ms: number;
  readonly asked_at: number;
  readonly granted_at: number | null;
  readonly ended_at: number | null;
  /** Of its lease; null once it has ended. */
  readonly expires_at: number | null;
  /** Whose lease it is: the call that waits, then the agent that holds it. */
  readonly leased_to: string | null;
}

export interface ResourceName {
  readonly resource_type: string;
  readonly resource_id: string;
}

export interface Resource extends ResourceName {
  /** Of the last grant. */
  readonly token: number;
  /** Of the last who asked. */
  readonly ticket: number;
}

export const isOpen = (row: LockRow): boolean => row.ended_at === null;

/** Whether it counts at a moment: held or waited for, and its lease is not over. */
export const isLive = (row: LockRow, now: number): boolean =>
  isOpen(row) && row.expires_at !== null && row.expires_at > now;

export const holds = ({ state }: LockRow): boolean => state === 'held' || state === 'granted';

/** What it is at a moment: one whose lease is over has expired, whether or not that was noted. */
export function toLock(row: LockRow, now: number): Lock {
  const live = isLive(row, now);
  const ended_at = live ? null : (row.ended_at ?? row.expires_at ?? now);
  return {
    lock_id: row.lock_id,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    holder_agent_id: row.holder_agent_id,
    mode: row.mode,
    state: live || !isOpen(row) ? (row.state === 'granted' ? 'held' : row.state) : 'expired',
    fencing_token: row.token,
    lease_ms: row.lease_ms,
    asked_at: toIso(row.asked_at),
    acquired_at: row.granted_at === null ? null : toIso(row.granted_at),
    expires_at: live && holds(row) ? toIso(row.expires_at!) : null,
    ended_at: ended_at === null ? null : toIso(ended_at),
  };
}

/** The lease s of a lock l. PostgreSQL, which has no statistics of either, would rather read all leases for each lock. */
const ITS_LEASE: Sql = byDialect({
  sqlite: sql`LEFT JOIN leases s ON s.tenant_id = l.tenant_id AND s.kind = 'lock' AND s.subject_id = l.lock_id`,
  postgres: sql`LEFT JOIN LATERAL (SELECT x.expires_at, x.holder FROM leases x
    WHERE x.tenant_id = l.tenant_id AND x.kind = 'lock' AND x.subject_id = l.lock_id OFFSET 0) s ON TRUE`,
});

const WITH_LEASE: Sql = sql`SELECT l.*, s.expires_at, s.holder AS leased_to FROM locks l ${ITS_LEASE}`;

export function findLock(query: Query, lock_id: string): Promise<LockRow | undefined> {
  return query.get<LockRow>(sql`${WITH_LEASE} WHERE l.tenant_id = ${TENANT} AND l.lock_id = ${lock_id}`);
}

/** Nobody is granted the resource, nor asks for it, until the commit. Whatever changes a lock does this first. */
export function lockResource(tx: Tx, { resource_type, resource_id }: ResourceName): Promise<Resource | undefined> {
  return tx.get<Resource>(
    sql`SELECT resource_type, resource_id, token, ticket FROM lock_resources
        WHERE tenant_id = ${TENANT} AND resource_type = ${resource_type} AND resource_id = ${resource_id} FOR UPDATE`,
  );
}

/** The same for the resource of a lock, which never changes. */
export function lockResourceOf(tx: Tx, lock_id: string): Promise<Resource | undefined> {
  return tx.get<Resource>(
    sql`SELECT resource_type, resource_id, token, ticket FROM lock_resources
        WHERE tenant_id = ${TENANT} AND (resource_type, resource_id) =
          (SELECT l.resource_type, l.resource_id FROM locks l WHERE l.tenant_id = ${TENANT} AND l.lock_id = ${lock_id})
        FOR UPDATE`,
  );
}

/** Not put over one that is there: two who ask for it first would give the same token. */
export function insertResource(tx: Tx, resource: Resource): Promise<void> {
  return tx.send(
    sql`INSERT INTO lock_resources (tenant_id, resource_type, resource_id, token, ticket)
        VALUES (${TENANT}, ${resource.resource_type}, ${resource.resource_id}, ${resource.token}, ${resource.ticket})`,
  );
}

export function updateResource(tx: Tx, resource: Resource): Promise<void> {
  return tx.send(
    sql`UPDATE lock_resources SET token = ${resource.token}, ticket = ${resource.ticket}
        WHERE tenant_id = ${TENANT} AND resource_type = ${resource.resource_type} AND resource_id = ${resource.resource_id}`,
  );
}

export function insertLock(tx: Tx, row: LockRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO locks (tenant_id, lock_id, resource_type, resource_id, holder_agent_id, mode, state, ticket, token,
          lease_ms, asked_at, granted_at)
        VALUES (${TENANT}, ${row.lock_id}, ${row.resource_type}, ${row.resource_id}, ${row.holder_agent_id}, ${row.mode},
          ${row.state}, ${row.ticket}, ${row.token}, ${row.lease_ms}, ${row.asked_at}, ${row.granted_at})`,
  );
}

export function updateLock(tx: Tx, row: LockRow): Promise<void> {
  return tx.send(
    sql`UPDATE locks SET state = ${row.state}, ticket = ${row.ticket}, token = ${row.token},
          granted_at = ${row.granted_at}, ended_at = ${row.ended_at}
        WHERE tenant_id = ${TENANT} AND lock_id = ${row.lock_id}`,
  );
}

const inState = (resource: ResourceName, state: LockState, limit: number): Sql =>
  sql`SELECT * FROM (${WITH_LEASE} WHERE l.tenant_id = ${TENANT} AND l.resource_type = ${resource.resource_type}
        AND l.resource_id = ${resource.resource_id} AND l.state = ${state} AND l.ended_at IS NULL
      ORDER BY l.ticket LIMIT ${limit}) q`;

/** Who holds it and who waits, each in the order of asking; of each state no more than the limit. */
export function queueOf(query: Query, resource: ResourceName, limit: number): Promise<LockRow[]> {
  const states: LockState[] = ['held', 'granted', 'waiting'];
  return query.all<LockRow>(
    join(
      states.map((state) => inState(resource, state, limit)),
      ' UNION ALL ',
    ),
  );
}

/** What an agent holds or waits for, by resource: the order in which to lock several. */
export function openLocksOf(query: Query, agent_id: string): Promise<LockRow[]> {
  return query.all<LockRow>(
    sql`${WITH_LEASE} WHERE l.tenant_id = ${TENANT} AND l.holder_agent_id = ${agent_id} AND l.ended_at IS NULL
        ORDER BY l.resource_type, l.resource_id, l.ticket`,
  );
}

/** Whether an agent holds or waits for the resource of a lock. */
export async function isInLine(query: Query, lock_id: string, agent_id: string): Promise<boolean> {
  const row = await query.get(
    sql`SELECT l.lock_id FROM locks l
        WHERE l.tenant_id = ${TENANT} AND l.lock_id = ${lock_id} AND ${inLineWith(agent_id)}`,
  );
  return row !== undefined;
}

export interface LockFilter {
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly holder_agent_id?: string | undefined;
  /** Only those of resources that this agent holds or waits for. */
  readonly party?: string | undefined;
}

/** Whether an agent is in the line for the resource of a lock, under the name l. */
const inLineWith = (agent_id: string): Sql =>
  sql`EXISTS (SELECT 1 FROM locks mine WHERE mine.tenant_id = ${TENANT} AND mine.holder_agent_id = ${agent_id}
    AND mine.ended_at IS NULL AND mine.resource_type = l.resource_type AND mine.resource_id = l.resource_id)`;

function matching(filter: LockFilter, now: number): Sql {
  const conditions: Sql[] = [sql`l.tenant_id = ${TENANT}`, sql`l.ended_at IS NULL`, sql`s.expires_at > ${now}`];
  if (filter.resource_type !== undefined) conditions.push(sql`l.resource_type = ${filter.resource_type}`);
  if (filter.resource_id !== undefined) conditions.push(sql`l.resource_id = ${filter.resource_id}`);
  if (filter.holder_agent_id !== undefined) conditions.push(sql`l.holder_agent_id = ${filter.holder_agent_id}`);
  if (filter.party !== undefined) conditions.push(inLineWith(filter.party));
  return join(conditions, ' AND ');
}

export function listLocks(query: Query, filter: LockFilter, page: KeysetPage, now: number): Promise<LockRow[]> {
  return query.all<LockRow>(sql`${WITH_LEASE} WHERE ${matching(filter, now)}${keyset(sql`l.lock_id`, page)}`);
}

export const countLocks = (filter: LockFilter, now: number): Sql =>
  sql`SELECT COUNT(*) AS total FROM locks l ${ITS_LEASE} WHERE ${matching(filter, now)}`;

export const KEEP_ENDED_LOCKS_MS = 24 * 3_600_000;

/** The resource stays, with its token. */
export function forgetLocks(tx: Tx, before: number, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM locks WHERE tenant_id = ${TENANT} AND lock_id IN (
          SELECT lock_id FROM locks WHERE tenant_id = ${TENANT} AND ended_at <= ${before} LIMIT ${limit})`,
  );
}
