/** Keys that a commit wakes, gathered by tenant, and those who listen for them. */
import type { WakeListener } from './driver.js';

export type Keys = Map<string, Set<string>>;

export function collectKeys(into: Keys, tenant: string, keys: ReadonlySet<string>): void {
  if (keys.size === 0) return;
  const known = into.get(tenant);
  if (!known) into.set(tenant, new Set(keys));
  else for (const key of keys) known.add(key);
}

export class WakeListeners {
  readonly #listeners = new Set<WakeListener>();

  get size(): number {
    return this.#listeners.size;
  }

  add(listener: WakeListener): void {
    this.#listeners.add(listener);
  }

  delete(listener: WakeListener): void {
    this.#listeners.delete(listener);
  }

  tell(tenant: string | undefined, key: string | undefined): void {
    for (const listener of [...this.#listeners]) listener(tenant, key);
  }

  tellKeys(keys: Keys): void {
    if (this.#listeners.size === 0) return;
    for (const [tenant, list] of keys) for (const key of list) this.tell(tenant, key);
  }
}
