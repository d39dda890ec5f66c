/**
 * Handles expired leases in the background, so that a lock passes to the next waiter, another worker takes over an
 * agent_turn and overdue work ends even if nobody asks. Readers notice an expired lease themselves.
 */
import type { Driver } from '../../driver/index.js';
import type { Call, Runtime, Work } from '../calls/call.js';
import { SlotRegistry } from '../registry.js';
import { listTenants } from '../writes/tenants.js';
import { dueLeases, type Lease, type LeaseKind, leaseKinds, nextDue } from './store.js';

/**
 * What to do when a lease expires, by its kind; filled by the modules that hold such leases. Each runs in a transaction,
 * locks the subject first, and checks the lease again, since it may have been renewed.
 */
export const expiries = new SlotRegistry<LeaseKind, (work: Work, lease: Lease) => Promise<void>>(
  'lease expiry',
  leaseKinds,
);

const TICK_MS = 500;
/** How often all tenants are checked, since another process may have died with leases. */
const ROUND_MS = 5000;
const BATCH = 64;

export class Timekeeper {
  readonly #runtime: Runtime;
  readonly #timer: NodeJS.Timeout;
  readonly #next = new Map<string, number>();
  #lastRound = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  #stopped = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  #tick(): void {
    if (this.#stopped) return;
    this.#working ??= this.#work()
      .catch(() => undefined)
      .finally(() => (this.#working = undefined));
  }

  async #work(): Promise<void> {
    const { driver } = this.#runtime;
    const everyone = performance.now() - this.#lastRound >= ROUND_MS;
    // A write may have added a lease that expires before the next known one.
    for (const tenant of this.#runtime.written.take()) await this.#note(driver, tenant);
    const tenants = everyone
      ? (await listTenants(driver.at(''))).map(({ tenant_id }) => tenant_id)
      : [...this.#next].filter(([, due]) => due <= driver.now()).map(([tenant]) => tenant);
    if (everyone) this.#lastRound = performance.now();
    for (const tenant of tenants) {
      if (this.#stopped) return;
      // The next round retries after a failure, such as an unreachable database.
      await expireDue(systemCall(this.#runtime, tenant), () => this.#stopped).catch(() => undefined);
      await this.#note(driver, tenant);
    }
  }

  async #note(driver: Driver, tenant: string): Promise<void> {
    const due = await nextDue(driver.at(tenant));
    if (due === undefined) this.#next.delete(tenant);
    else this.#next.set(tenant, due);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#working;
  }
}

/** A call by Cairn itself in a tenant. */
export const systemCall = (runtime: Runtime, tenant: string): Call => ({
  ...runtime,
  // Neither the rights nor the guard of the call that it derives from apply.
  acting: undefined,
  for_agent: undefined,
  turn: undefined,
  tenant,
  caller: { tenant_id: tenant, agent_id: null, role: 'admin', key_id: null },
  operation: 'system',
  options: {},
});

/** Handles expired leases of the tenant, and returns the milliseconds until the next one expires. */
export async function expireDueLeases(call: Call): Promise<number | undefined> {
  const { driver, tenant } = call;
  for (let attempt = 0; ; attempt++) {
    const due = await nextDue(driver.at(tenant));
    if (due === undefined) return undefined;
    const left = due - driver.now();
    // Once only: a failure, such as a full disk, must not cause a busy loop.
    if (left > 0 || attempt > 0) return Math.max(left, RETRY_MS);
    await expireDue(systemCall(call, tenant));
  }
}
const RETRY_MS = 100;

/** Handles all expired leases of a tenant once, so that one that fails does not block the others; returns their count. */
export async function expireDue(call: Call, isStopped: () => boolean = () => false): Promise<number> {
  const { driver, tenant } = call;
  const now = driver.now();
  let total = 0;
  for (let last: Lease | undefined; ; ) {
    const due = await dueLeases(driver.at(tenant), now, BATCH, last);
    // Concurrent writes share commits. The next round retries failures.
    const outcomes = await Promise.allSettled(
      due.map((lease) =>
        driver.write(tenant, (tx) => expiries.get(lease.kind)({ call, tx, now: driver.now() }, lease)),
      ),
    );
    total += outcomes.filter(({ status }) => status === 'fulfilled').length;
    last = due.at(-1);
    if (due.length < BATCH || isStopped()) return total;
  }
}
