/** Wakes on SQLite: by the commits of this process, and by a look whether another process has written. */
import type { WakeListener } from '../driver.js';
import { type Keys, WakeListeners } from '../wakes.js';

/** How often another process's commits are looked for while someone listens. */
const WATCH_MS = 100;

export class SqliteWakes {
  readonly #version: () => number;
  readonly #listeners = new WakeListeners();
  #watch: NodeJS.Timeout | undefined;
  #seen = 0;
  #closed = false;

  /** `version` is that of the file as the writing connection sees it, which its own commits leave as it is. */
  constructor(version: () => number) {
    this.#version = version;
  }

  listen(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    if (!this.#watch && !this.#closed) {
      this.#othersWrote();
      this.#watch = setInterval(() => {
        if (this.#othersWrote()) this.#listeners.tell(undefined, undefined);
      }, WATCH_MS).unref();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  readonly wake = (keys: Keys): void => this.#listeners.tellKeys(keys);

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #othersWrote(): boolean {
    try {
      const version = this.#version();
      const changed = version !== this.#seen;
      this.#seen = version;
      return changed;
    } catch {
      // Another process recovers the file, or it cannot be read: whoever waits learns it from its own look.
      return true;
    }
  }
}
