/** A typed emitter. Every listener hears of changes in the order in which they happened, and none can break the run. */
import type { Told } from './events.js';

type Listener<D> = (data: D) => unknown;

export class Emitter<E extends object> {
  readonly #listeners = new Map<keyof E, Set<{ hear: Listener<never> }>>();
  readonly #waiting: { event: keyof E; data: unknown }[] = [];
  readonly #failed: (error: unknown, event: keyof E) => void;
  #telling = false;

  /** `failed` hears of what a listener threw, or of why the promise it gave was rejected. */
  constructor(failed: (error: unknown, event: keyof E) => void) {
    this.#failed = failed;
  }

  /** Calls the listener at each such event, until the function that this gives is called. */
  on<K extends keyof E>(event: K, listener: Listener<E[K]>): () => void {
    const entry = { hear: listener as Listener<never> };
    let entries = this.#listeners.get(event);
    if (!entries) this.#listeners.set(event, (entries = new Set()));
    entries.add(entry);
    return () => {
      entries.delete(entry);
    };
  }

  has(event: keyof E): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  /** Tells the listeners before it returns. What a listener sets off is told after what it is being told. */
  emit(...[event, data]: Told<E>): void {
    if (!this.has(event)) return;
    this.#waiting.push({ event, data });
    if (this.#telling) return;
    this.#telling = true;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.#tell(next);
    } finally {
      this.#telling = false;
    }
  }

  #tell({ event, data }: { event: keyof E; data: unknown }): void {
    const entries = this.#listeners.get(event);
    for (const entry of [...(entries ?? [])]) {
      // Another listener may have ended this one meanwhile.
      if (!entries?.has(entry)) continue;
      try {
        const answer = entry.hear(data as never);
        if (answer instanceof Promise) answer.catch((error) => this.#failed(error, event));
      } catch (error) {
        this.#failed(error, event);
      }
    }
  }
}
