/** Wakes waiters for a key after a write that named it, here or on another server. */
import type { Driver } from '../../driver/index.js';
import { CairnError } from '../../kernel/index.js';

const MAX_WAITERS = 10_000;
/** The maximum delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Waiter {
  /**
   * Resolves after a wake since it last resolved or joined, on timeout, on abort, or when the store closes. One wait at a
   * time.
   */
  wait(timeout_ms: number, signal?: AbortSignal): Promise<void>;
  leave(): void;
}

interface Entry {
  readonly tenant: string;
  /** Woken since the last wait, so that a wake between a read and a wait is not missed. */
  woken: boolean;
  resume: () => void;
}

export class Wakes {
  readonly #driver: Driver;
  readonly #entries = new Set<Entry>();
  /** By tenant and key. */
  readonly #byKey = new Map<string, Set<Entry>>();
  #stopListening: (() => void) | undefined;
  #closed = false;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  get waiters(): number {
    return this.#entries.size;
  }

  /** True once the store is closing: waits end. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
    for (const entry of this.#entries) entry.resume();
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Listens to the database only while someone waits. */
  join(tenant: string, keys: readonly string[]): Waiter {
    if (this.#entries.size >= MAX_WAITERS)
      throw new CairnError('OVERLOADED', `${MAX_WAITERS} calls are already waiting: try again later`);
    const entry: Entry = { tenant, woken: false, resume: () => undefined };
    const names = keys.map((key) => nameOf(tenant, key));
    this.#entries.add(entry);
    for (const name of names) {
      const entries = this.#byKey.get(name);
      if (entries) entries.add(entry);
      else this.#byKey.set(name, new Set([entry]));
    }
    if (!this.#closed) this.#stopListening ??= this.#driver.onWake((tenant, key) => this.#heard(tenant, key));
    return {
      wait: (timeout_ms, signal) => this.#wait(entry, timeout_ms, signal),
      leave: () => this.#leave(entry, names),
    };
  }

  #leave(entry: Entry, names: readonly string[]): void {
    this.#entries.delete(entry);
    entry.resume();
    for (const name of names) {
      const entries = this.#byKey.get(name);
      entries?.delete(entry);
      if (entries?.size === 0) this.#byKey.delete(name);
    }
    if (this.#entries.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #heard(tenant: string | undefined, key: string | undefined): void {
    if (tenant !== undefined && key !== undefined) {
      for (const entry of this.#byKey.get(nameOf(tenant, key)) ?? []) wake(entry);
      return;
    }
    for (const entry of this.#entries) if (tenant === undefined || entry.tenant === tenant) wake(entry);
  }

  async #wait(entry: Entry, timeout_ms: number, signal: AbortSignal | undefined): Promise<void> {
    const over = entry.woken || this.#closed || signal?.aborted || !this.#entries.has(entry);
    if (!over) await untilResumed(timeout_ms, signal, (resume) => (entry.resume = resume));
    entry.resume = () => undefined;
    entry.woken = false;
  }
}

/** Unique, since no tenant has a space in its name. */
const nameOf = (tenant: string, key: string): string => `${tenant} ${key}`;

function wake(entry: Entry): void {
  entry.woken = true;
  entry.resume();
}

/** Resolves when the function given to `start` is called, on timeout, or on abort. */
export function untilResumed(
  timeout_ms: number,
  signal: AbortSignal | undefined,
  start: (resume: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(0, timeout_ms), MAX_TIMER_MS));
    signal?.addEventListener('abort', done, { once: true });
    start(done);
  });
}
