/** Wakes those who wait for a key, when a write told it, here or on another server. */
import type { Driver } from '../../driver/index.js';
import { CairnError } from '../../kernel/index.js';

const MAX_WAITERS = 10_000;
/** A timer takes no more. */
const LONGEST_MS = 2 ** 31 - 1;

export interface Waiter {
  /**
   * Resolves when one of the keys was told, or some may have been missed, since it last resolved (at first, since
   * joining); when the time is over, the signal is given, or the store closes. One wait at a time.
   */
  wait(timeout_ms: number, signal?: AbortSignal): Promise<void>;
  leave(): void;
}

interface Place {
  readonly tenant: string;
  /** Heard since the last wait, so that a wake between a look and a wait is not missed. */
  told: boolean;
  resume: () => void;
}

export class Wakes {
  readonly #driver: Driver;
  readonly #places = new Set<Place>();
  /** By tenant and key. */
  readonly #byKey = new Map<string, Set<Place>>();
  #stopListening: (() => void) | undefined;
  #closed = false;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  get waiters(): number {
    return this.#places.size;
  }

  /** True once the store is closing: nobody waits any longer. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
    for (const place of this.#places) place.resume();
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** The database is listened to only while someone waits. */
  join(tenant: string, keys: readonly string[]): Waiter {
    if (this.#places.size >= MAX_WAITERS) {
      throw new CairnError('OVERLOADED', `${MAX_WAITERS} calls wait already: try again later`);
    }
    const place: Place = { tenant, told: false, resume: () => undefined };
    const names = keys.map((key) => nameOf(tenant, key));
    this.#places.add(place);
    for (const name of names) {
      const places = this.#byKey.get(name);
      if (places) places.add(place);
      else this.#byKey.set(name, new Set([place]));
    }
    if (!this.#closed) this.#stopListening ??= this.#driver.onWake((tenant, key) => this.#heard(tenant, key));
    return {
      wait: (timeout_ms, signal) => this.#wait(place, timeout_ms, signal),
      leave: () => this.#leave(place, names),
    };
  }

  #leave(place: Place, names: readonly string[]): void {
    this.#places.delete(place);
    place.resume();
    for (const name of names) {
      const places = this.#byKey.get(name);
      places?.delete(place);
      if (places?.size === 0) this.#byKey.delete(name);
    }
    if (this.#places.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #heard(tenant: string | undefined, key: string | undefined): void {
    if (tenant !== undefined && key !== undefined) {
      for (const place of this.#byKey.get(nameOf(tenant, key)) ?? []) tell(place);
      return;
    }
    for (const place of this.#places) if (tenant === undefined || place.tenant === tenant) tell(place);
  }

  async #wait(place: Place, timeout_ms: number, signal: AbortSignal | undefined): Promise<void> {
    const over = place.told || this.#closed || signal?.aborted || !this.#places.has(place);
    if (!over) await resumed(place, timeout_ms, signal);
    place.told = false;
  }
}

/** No tenant has a blank in its name. */
const nameOf = (tenant: string, key: string): string => `${tenant} ${key}`;

function tell(place: Place): void {
  place.told = true;
  place.resume();
}

function resumed(place: Place, timeout_ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      place.resume = () => undefined;
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(0, timeout_ms), LONGEST_MS));
    signal?.addEventListener('abort', done, { once: true });
    place.resume = done;
  });
}
