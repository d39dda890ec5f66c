/** A typed emitter. Listeners get events in the order in which they happened; a listener that fails breaks nothing. */
import type { EventArgs } from './events.js';

type Listener<D> = (data: D) => unknown;

export class Emitter<E extends object> {
  readonly #listeners = new Map<keyof E, Set<{ listener: Listener<never> }>>();
  readonly #waiting: { event: keyof E; data: unknown }[] = [];
  readonly #failed: (error: unknown, event: keyof E) => void;
  #emitting = false;

  /** `failed` gets the error of a listener that throws or rejects. */
  constructor(failed: (error: unknown, event: keyof E) => void) {
    this.#failed = failed;
  }

  /** Returns a function that removes the listener. */
  on<K extends keyof E>(event: K, listener: Listener<E[K]>): () => void {
    // An object per call: a listener that is added twice is called twice.
    const entry = { listener: listener as Listener<never> };
    let entries = this.#listeners.get(event);
    if (!entries) this.#listeners.set(event, (entries = new Set()));
    entries.add(entry);
    return () => void entries.delete(entry);
  }

  has(event: keyof E): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  /** Calls the listeners before it returns. An event that a listener causes is emitted after the current one. */
  emit(...[event, data]: EventArgs<E>): void {
    if (!this.has(event)) return;
    this.#waiting.push({ event, data });
    if (this.#emitting) return;
    this.#emitting = true;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.#call(next);
    } finally {
      this.#emitting = false;
    }
  }

  #call({ event, data }: { event: keyof E; data: unknown }): void {
    const entries = this.#listeners.get(event) ?? new Set();
    for (const entry of [...entries]) {
      // Another listener may have removed this one.
      if (!entries.has(entry)) continue;
      try {
        const answer = entry.listener(data as never);
        if (answer instanceof Promise) answer.catch((error) => this.#failed(error, event));
      } catch (error) {
        this.#failed(error, event);
      }
    }
  }
}
