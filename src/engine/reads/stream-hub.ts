/** Wakes the followers of a tenant's stream after commits, here or on another server. */
import type { Driver } from '../../driver/index.js';
import { untilResumed } from '../leases/wakes.js';
import { headOf } from '../writes/tenants.js';

interface Followed {
  readonly waiters: Set<() => void>;
  followers: number;
  /** Rises with every noticed commit, so that one between a read and a wait is not missed. */
  changes: number;
  head: number;
  asking: boolean;
}

interface Follower {
  /** Number of noticed changes: taken before a read, given to `wait`. */
  changes(): number;
  /** Resolves when there are more changes than that, on timeout, or on abort. */
  wait(changes: number, timeout_ms: number, signal: AbortSignal | undefined): Promise<void>;
  leave(): void;
}

export class StreamHub {
  readonly #driver: Driver;
  readonly #tenants = new Map<string, Followed>();
  #stopListening: (() => void) | undefined;
  #followers = 0;
  #closed = false;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  get followers(): number {
    return this.#followers;
  }

  /** True once the store is closing: streams end. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
    for (const followed of this.#tenants.values()) wake(followed);
  }

  /** Watches the database only while there is a follower. */
  join(tenant: string): Follower {
    const fresh = { waiters: new Set<() => void>(), followers: 0, changes: 0, head: 0, asking: false };
    const followed = this.#tenants.get(tenant) ?? fresh;
    this.#tenants.set(tenant, followed);
    followed.followers++;
    this.#followers++;
    this.#stopListening ??= this.#driver.onCommit((changed) => this.#heard(changed));
    return {
      changes: () => followed.changes,
      wait: (changes, timeout_ms, signal) => waitFor(followed, changes, timeout_ms, signal),
      leave: () => {
        if (--followed.followers === 0) this.#tenants.delete(tenant);
        if (--this.#followers > 0) return;
        this.#stopListening?.();
        this.#stopListening = undefined;
      },
    };
  }

  #heard(tenant: string | undefined): void {
    if (tenant === undefined) for (const [name, followed] of this.#tenants) void this.#ask(name, followed);
    else wake(this.#tenants.get(tenant));
  }

  /** Another process may have written: one small read per followed tenant tells. */
  async #ask(tenant: string, followed: Followed): Promise<void> {
    if (followed.asking) return;
    followed.asking = true;
    try {
      const head = await headOf(this.#driver.at(tenant));
      if (head !== followed.head) wake(followed);
      followed.head = head;
    } catch {
      // The followers learn of the failure from their own next read.
      wake(followed);
    } finally {
      followed.asking = false;
    }
  }
}

function wake(followed: Followed | undefined): void {
  if (!followed) return;
  followed.changes++;
  for (const resume of [...followed.waiters]) resume();
}

async function waitFor(
  followed: Followed,
  changes: number,
  timeout_ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (followed.changes !== changes || signal?.aborted) return;
  let waiter = () => {};
  await untilResumed(timeout_ms, signal, (resume) => followed.waiters.add((waiter = resume)));
  followed.waiters.delete(waiter);
}
