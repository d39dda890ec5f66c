/** Wakes those who follow a tenant's stream when there is more to read, here or on another server. */
import type { Driver } from '../../driver/index.js';
import { headOf } from '../writes/tenants.js';

interface Followed {
  readonly waiters: Set<() => void>;
  followers: number;
  /** Rises with every commit that is heard of, so that one between a read and a wait is not missed. */
  changes: number;
  head: number;
  asking: boolean;
}

export interface Follower {
  /** How many changes were heard of; taken before reading, given to wait. */
  changes(): number;
  /** Resolves when there were more changes than that, the time is over, or the signal is given. */
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

  /** The database is watched only while there is a follower. */
  join(tenant: string): Follower {
    const followed = this.#tenants.get(tenant) ?? {
      waiters: new Set(),
      followers: 0,
      changes: 0,
      head: 0,
      asking: false,
    };
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
      // The database is away: the followers learn it from their own next read.
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

function waitFor(
  followed: Followed,
  changes: number,
  timeout_ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (followed.changes !== changes || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      followed.waiters.delete(done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, timeout_ms));
    signal?.addEventListener('abort', done, { once: true });
    followed.waiters.add(done);
  });
}
