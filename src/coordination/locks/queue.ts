/**
 * The line of those who hold a resource or wait for it: how places in it are given, granted and ended. All of it in a
 * transaction that has the resource's row locked; whatever makes room grants to the next in the same one.
 */
import type { Query, Tx } from '../../driver/index.js';
import { appendEvent, endLease, putLease, type Work } from '../../engine/index.js';
import type { LockMode } from './model.js';
import { grantable, PLACE_MS, pickUpMs } from './rules.js';
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

/** How many of each state are looked at together. */
const LOOK_AHEAD = 8;

export interface Line {
  readonly resource: Resource;
  readonly holders: readonly LockRow[];
  readonly waiters: readonly LockRow[];
}

export const modesOf = (rows: readonly LockRow[]): LockMode[] => rows.map(({ mode }) => mode);

export const readLine = (query: Query, of: ResourceName): Promise<LockRow[]> => queueOf(query, of, LOOK_AHEAD);

/** A lock with its resource locked, for a change of it. */
export async function openLock(tx: Tx, lock_id: string): Promise<{ resource: Resource; row: LockRow } | undefined> {
  // Sent in this order and answered together: the lock is read as it is once nobody else changes it.
  const [resource, row] = await Promise.all([lockResourceOf(tx, lock_id), findLock(tx, lock_id)]);
  return resource && row ? { resource, row } : undefined;
}

/** Ends what is over and grants whatever can be granted; gives who holds and who waits from then on. */
export async function settle(work: Work, before: Resource, read?: readonly LockRow[]): Promise<Line> {
  const { tx, now } = work;
  let resource = before;
  for (let rows = read; ; rows = undefined) {
    rows ??= await readLine(tx, resource);
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
    // Only when so many went may there be others behind them that were not read.
    if (over.length + count < LOOK_AHEAD) {
      if (resource !== before) await updateResource(tx, resource);
      return { resource, holders, waiters: waiters.slice(count) };
    }
  }
}

/** Gives a waiter the lock, for as long as it takes to learn of it. */
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

/** Whoever waited has taken it up: from now on it is held for the time that was asked for. */
export async function hold(tx: Tx, row: LockRow, now: number): Promise<LockRow> {
  const held: LockRow = { ...row, state: 'held', expires_at: now + row.lease_ms, leased_to: row.holder_agent_id };
  await updateLock(tx, held);
  await lease(tx, held);
  return held;
}

/** Puts it at the end of the line; the caller keeps the resource's new ticket. */
export const atTheEnd = (row: LockRow, ticket: number, asker: string, now: number): LockRow => ({
  ...row,
  state: 'waiting',
  ticket,
  token: null,
  granted_at: null,
  ended_at: null,
  expires_at: now + PLACE_MS,
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

/** Its lease is over. A grant that nobody took up counts as none: it has not been held. */
async function expire(work: Work, row: LockRow): Promise<void> {
  const { tx, now } = work;
  journal(work, 'cairn.lock.expired', row);
  const untaken = row.state === 'granted' ? { token: null, granted_at: null } : {};
  await end(tx, { ...row, ...untaken, state: 'expired', ended_at: row.expires_at ?? now });
}

/** Released by its holder, or no longer waited for. The caller then settles the line. */
export async function giveUp(work: Work, row: LockRow, state: 'released' | 'abandoned'): Promise<LockRow> {
  const { tx, now } = work;
  journal(work, `cairn.lock.${state}`, row);
  return end(tx, { ...row, state, ended_at: now });
}

async function end(tx: Tx, row: LockRow): Promise<LockRow> {
  const ended = { ...row, expires_at: null, leased_to: null };
  await updateLock(tx, ended);
  await endLease(tx, 'lock', row.lock_id);
  // Whoever waits for it has to learn that it no longer does.
  if (row.token === null) tx.wake(wakeKey(row.lock_id));
  return ended;
}

export function journal(work: Work, packet_type: string, row: LockRow): void {
  const { resource_type, resource_id, holder_agent_id, mode, token } = row;
  const facts = { resource_type, resource_id, holder_agent_id, mode, fencing_token: token };
  appendEvent(work, packet_type, { type: 'lock', id: row.lock_id }, facts);
}

export const wakeKey = (lock_id: string): string => `lock:${lock_id}`;

/** The lease of a lock is over: ends it, also where it stands far behind in the line, and grants the next. */
export async function expireLock(work: Work, lock_id: string): Promise<void> {
  const { tx, now } = work;
  const open = await openLock(tx, lock_id);
  if (!open) return endLease(tx, 'lock', lock_id);
  if (isLive(open.row, now)) return;
  if (open.row.ended_at === null) await expire(work, open.row);
  else await endLease(tx, 'lock', lock_id);
  await settle(work, open.resource);
}
