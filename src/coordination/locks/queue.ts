/**
 * The queue of a resource: enqueue, grant, hold, end. Always in a transaction that locks the row of the resource; every
 * change that frees it grants the next request in the same transaction.
 */
import type { Query, Tx } from '../../driver/index.js';
import { appendEvent, endLease, putLease, type Work } from '../../engine/index.js';
import type { LockMode } from './model.js';
import { grantable, pickUpMs, WAITER_LEASE_MS } from './rules.js';
import {
  findLock,
  holds,
  isLive,
  type LockRow,
  lockResourceOf,
  queueOf,
  type Resource,
  type ResourceName,
  updateLock,
  updateResource,
} from './store.js';

/** How many locks of each state are read at a time. */
const LOOK_AHEAD = 8;

export const modesOf = (rows: readonly LockRow[]): LockMode[] => rows.map(({ mode }) => mode);

export const readQueue = (query: Query, of: ResourceName): Promise<LockRow[]> => queueOf(query, of, LOOK_AHEAD);

/** Locks the resource of a lock, and reads the lock. */
export async function openLock(tx: Tx, lock_id: string): Promise<{ resource: Resource; row: LockRow } | undefined> {
  // Pipelined in this order: the lock is read after its resource is locked.
  const [resource, row] = await Promise.all([lockResourceOf(tx, lock_id), findLock(tx, lock_id)]);
  return resource && row ? { resource, row } : undefined;
}

/** Expires overdue locks and grants all that can be granted; returns the new holders and waiters. */
export async function settle(work: Work, before: Resource, read?: readonly LockRow[]) {
  const { tx, now } = work;
  let resource = before;
  for (let rows = read; ; rows = undefined) {
    rows ??= await readQueue(tx, resource);
    const over = rows.filter((row) => !isLive(row, now));
    for (const row of over) await expire(work, row);
    const live = rows.filter((row) => isLive(row, now));
    const holders = live.filter(holds);
    const waiters = live.filter((row) => !holds(row));
    const count = grantable(modesOf(holders), modesOf(waiters));
    for (const waiter of waiters.slice(0, count)) {
      resource = { ...resource, token: resource.token + 1 };
      holders.push(await grant(work, waiter, resource.token));
    }
    // There may be more behind the rows read only if this many ended or were granted.
    if (over.length + count < LOOK_AHEAD) {
      if (resource !== before) await updateResource(tx, resource);
      return { resource, holders, waiters: waiters.slice(count) };
    }
  }
}

/** Grants a waiter the lock, for the time to pick it up. */
async function grant(work: Work, row: LockRow, token: number): Promise<LockRow> {
  const { tx, now } = work;
  const expires_at = now + pickUpMs(row.lease_ms);
  const granted: LockRow = { ...row, state: 'granted', token, granted_at: now, expires_at };
  await updateLock(tx, granted);
  await lease(tx, granted);
  journal(work, 'cairn.lock.acquired', granted);
  tx.wake(wakeKey(row.lock_id));
  return granted;
}

/** The waiter picks up its grant: the requested lease starts now. */
export async function hold(tx: Tx, row: LockRow, now: number): Promise<LockRow> {
  const held: LockRow = { ...row, state: 'held', expires_at: now + row.lease_ms, leased_to: row.holder_agent_id };
  await updateLock(tx, held);
  await lease(tx, held);
  return held;
}

/** The lock at the end of the queue. The caller stores the new ticket of the resource. */
export const requeued = (row: LockRow, ticket: number, asker: string, now: number): LockRow => ({
  ...row,
  state: 'waiting',
  ticket,
  token: null,
  granted_at: null,
  ended_at: null,
  expires_at: now + WAITER_LEASE_MS,
  leased_to: asker,
});

export const lease = (tx: Tx, row: LockRow): Promise<void> =>
  putLease(tx, {
    kind: 'lock',
    subject_id: row.lock_id,
    holder: row.leased_to,
    token: row.token ?? 0,
    expires_at: row.expires_at!,
  });

/** Ends an overdue lock. A grant that was not picked up does not count as held. */
async function expire(work: Work, row: LockRow): Promise<void> {
  journal(work, 'cairn.lock.expired', row);
  const ungranted = row.state === 'granted' ? { token: null, granted_at: null } : {};
  await end(work.tx, { ...row, ...ungranted, state: 'expired', ended_at: row.expires_at ?? work.now });
}

/** Releases a lock, or abandons the wait for it. The caller then settles the queue. */
export async function giveUp(work: Work, row: LockRow): Promise<LockRow> {
  const state = holds(row) ? 'released' : 'abandoned';
  journal(work, `cairn.lock.${state}`, row);
  return end(work.tx, { ...row, state, ended_at: work.now });
}

async function end(tx: Tx, row: LockRow): Promise<LockRow> {
  const ended = { ...row, expires_at: null, leased_to: null };
  await updateLock(tx, ended);
  await endLease(tx, 'lock', row.lock_id);
  // Wakes a call that still waits for it.
  if (row.token === null) tx.wake(wakeKey(row.lock_id));
  return ended;
}

export function journal(work: Work, packet_type: string, row: LockRow): void {
  const { resource_type, resource_id, holder_agent_id, mode, token } = row;
  const facts = { resource_type, resource_id, holder_agent_id, mode, fencing_token: token };
  appendEvent(work, packet_type, { type: 'lock', id: row.lock_id }, facts);
}

export const wakeKey = (lock_id: string): string => `lock:${lock_id}`;

/** Expires a lock at any place in the queue, and grants the next. */
export async function expireLock(work: Work, lock_id: string): Promise<void> {
  const { tx, now } = work;
  const open = await openLock(tx, lock_id);
  if (!open) return endLease(tx, 'lock', lock_id);
  if (isLive(open.row, now)) return;
  if (open.row.ended_at === null) await expire(work, open.row);
  else await endLease(tx, 'lock', lock_id);
  await settle(work, open.resource);
}
