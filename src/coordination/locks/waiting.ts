/**
 * Waiting in line for a lock: keeps the place alive, notices a grant, and leaves the line when the time is over or the
 * caller went away. Several calls may wait for one lock, since whoever lost its connection asks again: the one that asked
 * last has the place, and only that one gives it up.
 */
import type { Tx } from '../../driver/index.js';
import { type Call, forgetRequest, renewLease, writeGuarded } from '../../engine/index.js';
import { waitFor } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { atTheEnd, giveUp, hold, journal, lease, modesOf, openLock, settle, wakeKey } from './queue.js';
import { grantable, KEEP_PLACE_EVERY_MS, PLACE_MS } from './rules.js';
import { findLock, holds, isLive, type LockRow, queueOf, updateLock, updateResource } from './store.js';

/** How long the others leave it to the first in line to notice that a holder's time is over. */
const YIELD_MS = 250;

export interface Waiting {
  readonly row: LockRow;
  /** This call, among those that wait for the same lock. */
  readonly asker: string;
  readonly timeout_ms: number;
  /** Whether the caller knows the lock_id, and so can ask for the same place again. */
  readonly can_return: boolean;
}

/** Gives the lock as soon as it is held, or undefined when the time is over. Throws when the caller went away. */
export async function waitInLine(call: Call, waiting: Waiting): Promise<LockRow | undefined> {
  const { lock_id } = waiting.row;
  const watch = new Watch(call, waiting);
  let held: LockRow | undefined;
  try {
    held = await waitFor(
      call,
      [wakeKey(lock_id)],
      waiting.timeout_ms,
      () => watch.look(),
      () => watch.next_look,
    );
    call.options.signal?.throwIfAborted();
  } catch (error) {
    // A server that stops leaves the place for a moment, so that the caller finds it again on another.
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
  #renew_at = performance.now() + KEEP_PLACE_EVERY_MS;
  /** A moment of performance.now(): when the place must be renewed, or a holder's time is over. */
  next_look = 0;
  /** Whether it was this call that took the grant up. */
  took = false;

  constructor(call: Call, waiting: Waiting) {
    this.#call = call;
    this.#waiting = waiting;
  }

  async look(): Promise<LockRow | undefined> {
    const { driver, tenant } = this.#call;
    const row = await findLock(driver.at(tenant), this.#waiting.row.lock_id);
    this.next_look = this.#renew_at;
    if (row?.state === 'held' && isLive(row, driver.now())) return row;
    if (row?.state === 'granted') return this.#take();
    if (row?.state === 'expired' && row.token === null) return this.#return();
    if (row?.state !== 'waiting') throw ended(this.#waiting.row.lock_id);
    if (performance.now() >= this.#renew_at && !(await this.#renew())) return this.#return();
    await this.#lookAhead(row);
    return undefined;
  }

  async #take(): Promise<LockRow | undefined> {
    const { driver } = this.#call;
    const taken = await writeGuarded(this.#call, async (tx) => {
      const open = await openLock(tx, this.#waiting.row.lock_id);
      const now = driver.now();
      if (!open || !isLive(open.row, now)) return undefined;
      if (open.row.state === 'held') return { row: open.row, mine: false };
      return open.row.state === 'granted' ? { row: await hold(tx, open.row, now), mine: true } : undefined;
    });
    this.took = taken?.mine ?? false;
    // It came too late: the grant has gone to another, and the next look finds how things stand.
    if (!taken) this.next_look = 0;
    return taken?.row;
  }

  async #renew(): Promise<boolean> {
    const { driver, tenant } = this.#call;
    this.#renew_at = this.next_look = performance.now() + KEEP_PLACE_EVERY_MS;
    const now = driver.now();
    const kept = { kind: 'lock', subject_id: this.#waiting.row.lock_id, token: 0 } as const;
    return driver.write(tenant, (tx) => renewLease(tx, { ...kept, expires_at: now + PLACE_MS }, now));
  }

  /** This process was not heard of for too long, as when the database was away: it asks again, behind the others. */
  async #return(): Promise<undefined> {
    const { driver } = this.#call;
    const call = this.#call;
    this.#renew_at = performance.now() + KEEP_PLACE_EVERY_MS;
    this.next_look = 0;
    await writeGuarded(call, async (tx) => {
      const open = await openLock(tx, this.#waiting.row.lock_id);
      const now = driver.now();
      if (!open || isLive(open.row, now)) return;
      const { state, token } = open.row;
      if (state !== 'waiting' && !(state === 'expired' && token === null)) return;
      const resource = { ...open.resource, ticket: open.resource.ticket + 1 };
      const row = atTheEnd(open.row, resource.ticket, this.#waiting.asker, now);
      await updateResource(tx, resource);
      await updateLock(tx, row);
      await lease(tx, row);
      journal({ call, tx, now }, 'cairn.lock.waiting', row);
      await settle({ call, tx, now }, resource);
    });
  }

  /**
   * Looks again when the time of a holder, or of the first in line, is over, and settles what nobody has noticed. The
   * first in line does so at once; the others a moment later, if it is still so: then the first is dead.
   */
  async #lookAhead(row: LockRow): Promise<void> {
    const { driver, tenant } = this.#call;
    const now = driver.now();
    const ahead = await queueOf(driver.at(tenant), row, 1);
    const isFirst = ahead.some(({ lock_id }) => lock_id === row.lock_id);
    const others = ahead.filter(({ lock_id }) => lock_id !== row.lock_id);
    const until = Math.min(...others.map(({ expires_at }) => expires_at ?? 0)) + (isFirst ? 0 : YIELD_MS);
    const isFree = isFirst && grantable(modesOf(others), [row.mode]) > 0;
    if (isFree || until <= now) return this.#settle();
    this.next_look = Math.min(this.next_look, performance.now() + until - now);
  }

  async #settle(): Promise<void> {
    const { driver, tenant } = this.#call;
    this.next_look = 0;
    await driver.write(tenant, async (tx) => {
      const open = await openLock(tx, this.#waiting.row.lock_id);
      if (open) await settle({ call: this.#call, tx, now: driver.now() }, open.resource);
    });
  }
}

/**
 * Leaves the line. A grant that came meanwhile counts: it is given when the time was over, and goes to the next when the
 * caller is gone, which `gone` says, with the state in which the lock is this call's to give up.
 */
export function leave(
  call: Call,
  { row: { lock_id }, asker }: Pick<Waiting, 'row' | 'asker'>,
  gone?: 'granted' | 'held',
): Promise<LockRow | undefined> {
  const { driver, tenant } = call;
  const work = async (tx: Tx): Promise<LockRow | undefined> => {
    const open = await openLock(tx, lock_id);
    const now = driver.now();
    if (!open || !isLive(open.row, now)) return undefined;
    const { row, resource } = open;
    const mine = row.leased_to === asker;
    if (holds(row) && gone === undefined) return row.state === 'held' ? row : hold(tx, row, now);
    if (row.state === 'waiting' ? !mine : !(row.state === gone && (mine || gone === 'held'))) return undefined;
    await giveUp({ call, tx, now }, row, holds(row) ? 'released' : 'abandoned');
    await settle({ call, tx, now }, resource);
    // It was refused, and what was refused is not remembered.
    const key = call.options.idempotency_key;
    if (key !== undefined) await forgetRequest(tx, key);
    return undefined;
  };
  // Whoever is late may still give up what it waited for, but not have it.
  return gone === undefined ? writeGuarded(call, work) : driver.write(tenant, work);
}

const ended = (lock_id: string): CairnError =>
  new CairnError('LOCK_EXPIRED', `lock ${lock_id} was given up while it was waited for: ask with a new lock_id`, {
    lock_id,
  });
