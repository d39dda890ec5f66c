/**
 * Notices leases that are over, in the background: so that the next in line has a lock, another worker takes an
 * agent_turn over and what is overdue ends, also when nobody asks. Whoever asks before notices by itself.
 */
import type { Driver } from '../../driver/index.js';
import type { Call, Runtime } from '../calls/call.js';
import { listTenants } from '../writes/tenants.js';
import { expiries } from './expiries.js';
import { dueLeases, type Lease, nextDue } from './store.js';

const TICK_MS = 500;
/** How often tenants are looked at in which this process has written nothing: another that died may have left leases. */
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
    // Where something was written there may be a lease that ends before the next one known.
    const written = this.#runtime.written.take();
    for (const tenant of written) await this.#note(driver, tenant);
    const tenants = everyone
      ? (await listTenants(driver.at(''))).map(({ tenant_id }) => tenant_id)
      : [...this.#next].filter(([, due]) => due <= driver.now()).map(([tenant]) => tenant);
    if (everyone) this.#lastRound = performance.now();
    for (const tenant of tenants) {
      if (this.#stopped) return;
      // Whatever fails, a database that is away say, is found again in the next round.
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

/** Cairn itself, acting in a tenant. */
export const systemCall = (runtime: Runtime, tenant: string): Call => ({
  ...runtime,
  // Whoever's call it comes from: neither the rights nor the guard of that one count.
  acting: undefined,
  for_agent: undefined,
  turn: undefined,
  tenant,
  caller: { tenant_id: tenant, agent_id: null, role: 'admin', key_id: null },
  operation: 'system',
  options: {},
});

/** Ends what is over of the caller's tenant, and says in how many milliseconds the next lease will be. */
export async function noticeDue(call: Call): Promise<number | undefined> {
  const { driver, tenant } = call;
  for (let attempt = 0; ; attempt++) {
    const due = await nextDue(driver.at(tenant));
    if (due === undefined) return undefined;
    const left = due - driver.now();
    // What cannot be ended, such as by a database that is full, must not be tried again and again.
    if (left > 0 || attempt > 0) return Math.max(left, RETRY_MS);
    await expireDue(systemCall(call, tenant));
  }
}
const RETRY_MS = 100;

/**
 * Ends the leases of a tenant that are over, each looked at once, so that one that stays as it is keeps none of the
 * others; says how many.
 */
export async function expireDue(call: Call, isStopped: () => boolean = () => false): Promise<number> {
  const { driver, tenant } = call;
  const now = driver.now();
  let total = 0;
  for (let last: Lease | undefined; ; ) {
    const due = await dueLeases(driver.at(tenant), now, BATCH, last);
    // Together they share commits. Those that fail are left to the next round.
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
