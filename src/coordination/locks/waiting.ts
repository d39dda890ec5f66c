/**
 * Waiting for a lock: heartbeats, picking up a grant, leaving the queue on timeout or when the caller has gone. Several
 * calls may wait for one lock, since a client that lost its connection asks again: the last one owns the place, and
 * only that one gives it up.
 */
import type { Tx } from '../../driver/index.js';
import { type Call, forgetRequest, renewLease, writeGuarded } from '../../engine/index.js';
import { waitFor } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { giveUp, hold, journal, lease, modesOf, openLock, requeued, settle, wakeKey } from './queue.js';
import { grantable, WAITER_HEARTBEAT_MS, WAITER_LEASE_MS } from './rules.js';
import { findLock, holds, isLive, type LockRow, queueOf, updateLock, updateResource } from './store.js';

/** How long the other waiters leave it to the first one to notice an expired holder. */
const YIELD_MS = 250;

interface Waiting {
  readonly row: LockRow;
  /** Identifies this call among those that wait for the same lock. */
  readonly asker: string;
  readonly timeout_ms: number;
  /** Whether the caller knows the lock_id, and so can return to the same place. */
  readonly can_return: boolean;
}

/** Returns the lock once it is held, or undefined on timeout. Throws when the caller has gone. */
export async function waitInQueue(call: Call, waiting: Waiting): Promise<LockRow | undefined> {
  const watch = new Watch(call, waiting);
  let held: LockRow | undefined;
  try {
    held = await waitFor(
      call,
      [wakeKey(waiting.row.lock_id)],
      waiting.timeout_ms,
      () => watch.look(),
      () => watch.next_look,
    );
    call.options.signal?.throwIfAborted();
  } catch (error) {
    // A stopping server keeps the place for a moment, so that the caller can return to it through another.
    const stopping = error instanceof CairnError && error.code === 'SHUTTING_DOWN';
    if (!(stopping && waiting.can_return && !watch.took)) {
      await leave(call, waiting, watch.took ? 'held' : 'granted').catch(() => undefined);
    }
    throw error;
  }
  return held ?? (await leave(call, waiting));
}

class Watch {
  readonly #call: Call;
  readonly #waiting: Waiting;
  #renew_at = performance.now() + WAITER_HEARTBEAT_MS;
  /** In performance.now(): when the place must be renewed, or the lease of a holder ends. */
  next_look = 0;
  /** Whether this call picked up the grant. */
  took = false;

  constructor(call: Call, waiting: Waiting) {
    this.#call = call;
    this.#waiting = waiting;
  }

  async look(): Promise<LockRow | undefined> {
    const row = await findLock(this.#call.driver.at(this.#call.tenant), this.#waiting.row.lock_id);
    this.next_look = this.#renew_at;
    if (row?.state === 'held' && isLive(row, this.#call.driver.now())) return row;
    if (row?.state === 'granted') return this.#take();
    if (row?.state === 'expired' && row.token === null) return this.#return();
    if (row?.state !== 'waiting') throw ended(this.#waiting.row.lock_id);
    if (performance.now() >= this.#renew_at && !(await this.#renew())) return this.#return();
    await this.#lookAhead(row);
    return undefined;
  }

  async #take(): Promise<LockRow | undefined> {
    const taken = await writeGuarded(this.#call, async (tx) => {
      const open = await openLock(tx, this.#waiting.row.lock_id);
      const now = this.#call.driver.now();
      if (!open || !isLive(open.row, now)) return undefined;
      if (open.row.state === 'held') return { row: open.row, mine: false };
      return open.row.state === 'granted' ? { row: await hold(tx, open.row, now), mine: true } : undefined;
    });
    this.took = taken?.mine ?? false;
    // Too late: the grant went to another. Look again at once.
    if (!taken) this.next_look = 0;
    return taken?.row;
  }

  async #renew(): Promise<boolean> {
    const { driver, tenant } = this.#call;
    this.#renew_at = this.next_look = performance.now() + WAITER_HEARTBEAT_MS;
    const now = driver.now();
    const kept = { kind: 'lock', subject_id: this.#waiting.row.lock_id, token: 0 } as const;
    return driver.write(tenant, (tx) => renewLease(tx, { ...kept, expires_at: now + WAITER_LEASE_MS }, now));
  }

  /** The place expired, as when the database was unreachable: requeues at the end. */
  async #return(): Promise<undefined> {
    const call = this.#call;
    this.#renew_at = performance.now() + WAITER_HEARTBEAT_MS;
    this.next_look = 0;
    await writeGuarded(call, async (tx) => {
      const open = await openLock(tx, this.#waiting.row.lock_id);
      const now = call.driver.now();
      if (!open || isLive(open.row, now)) return;
      if (open.row.state !== 'waiting' && !(open.row.state === 'expired' && open.row.token === null)) return;
      const resource = { ...open.resource, ticket: open.resource.ticket + 1 };
      const row = requeued(open.row, resource.ticket, this.#waiting.asker, now);
      await updateResource(tx, resource);
      await updateLock(tx, row);
      await lease(tx, row);
      journal({ call, tx, now }, 'cairn.lock.waiting', row);
      await settle({ call, tx, now }, resource);
    });
  }

  /**
   * Schedules the next look for the end of the next lease ahead, and settles the queue if that is over. The first
   * waiter does so at once, the others YIELD_MS later: by then the first waiter must be dead.
   */
  async #lookAhead(row: LockRow): Promise<void> {
    const now = this.#call.driver.now();
    const ahead = await queueOf(this.#call.driver.at(this.#call.tenant), row, 1);
    const isFirst = ahead.some(({ lock_id }) => lock_id === row.lock_id);
    const others = ahead.filter(({ lock_id }) => lock_id !== row.lock_id);
    const until = Math.min(...others.map(({ expires_at }) => expires_at ?? 0)) + (isFirst ? 0 : YIELD_MS);
    const isFree = isFirst && grantable(modesOf(others), [row.mode]) > 0;
    if (isFree || until <= now) return this.#settle();
    this.next_look = Math.min(this.next_look, performance.now() + until - now);
  }

  async #settle(): Promise<void> {
    this.next_look = 0;
    await this.#call.driver.write(this.#call.tenant, async (tx) => {
      const open = await openLock(tx, this.#waiting.row.lock_id);
      if (open) await settle({ call: this.#call, tx, now: this.#call.driver.now() }, open.resource);
    });
  }
}

/**
 * Leaves the queue. A grant that came meanwhile is returned on timeout, and passed on to the next waiter if the caller
 * has gone. `gone` is the state in which the lock is this call's to give up.
 */
export function leave(
  call: Call,
  { row: { lock_id }, asker }: Pick<Waiting, 'row' | 'asker'>,
  gone?: 'granted' | 'held',
): Promise<LockRow | undefined> {
  const work = async (tx: Tx): Promise<LockRow | undefined> => {
    const open = await openLock(tx, lock_id);
    const now = call.driver.now();
    if (!open || !isLive(open.row, now)) return undefined;
    const { row, resource } = open;
    const mine = row.leased_to === asker;
    if (holds(row) && gone === undefined) return row.state === 'held' ? row : hold(tx, row, now);
    if (row.state === 'waiting' ? !mine : !(row.state === gone && (mine || gone === 'held'))) return undefined;
    await giveUp({ call, tx, now }, row);
    await settle({ call, tx, now }, resource);
    // The request is refused, and refusals are not stored under the key.
    const key = call.options.idempotency_key;
    if (key !== undefined) await forgetRequest(tx, key);
    return undefined;
  };
  // A stale caller may give up its place, but not get the lock.
  return gone === undefined ? writeGuarded(call, work) : call.driver.write(call.tenant, work);
}

const ended = (lock_id: string): CairnError =>
  new CairnError('LOCK_EXPIRED', `lock ${lock_id} was given up during the wait: use a new lock_id`, { lock_id });
