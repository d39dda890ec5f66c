/** Listeners of commits and wakes, and the keys that a commit wakes, by tenant. */
import type { WakeListener } from './driver.js';

/** How often commits of other processes are looked for while anyone listens. */
const POLL_MS = 100;

export class Listeners<Args extends readonly unknown[]> {
  readonly #listeners = new Set<(...args: Args) => void>();
  readonly #poll: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `poll` is called regularly while anyone listens. */
  constructor(poll?: () => void) {
    this.#poll = poll;
  }

  get size(): number {
    return this.#listeners.size;
  }

  listen(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    if (this.#poll) this.#timer ??= setInterval(this.#poll, POLL_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  tell(...args: Args): void {
    for (const listener of [...this.#listeners]) listener(...args);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export type WakeListeners = Listeners<Parameters<WakeListener>>;

export type Keys = Map<string, Set<string>>;

export function collectKeys(into: Keys, tenant: string, keys: ReadonlySet<string>): void {
  if (keys.size === 0) return;
  const known = into.get(tenant);
  if (!known) into.set(tenant, new Set(keys));
  else for (const key of keys) known.add(key);
}

export function tellKeys(listeners: WakeListeners, keys: Keys): void {
  if (listeners.size === 0) return;
  for (const [tenant, list] of keys) for (const key of list) listeners.tell(tenant, key);
}
