/** The erasures of this process that are under way. */

export class Erasures {
  readonly #running = new Set<Promise<void>>();
  readonly #once = new Map<string, Promise<void>>();
  stopping = false;

  /** Runs beside what goes on. What fails is stored as unfinished, and found again by the next sweep. */
  start(work: () => Promise<void>): void {
    if (this.stopping) return;
    const running = work()
      .catch(() => undefined)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Whoever asks for the same while it is under way waits for that. */
  once(name: string, work: () => Promise<void>): Promise<void> {
    const known = this.#once.get(name);
    if (known) return known;
    const running = work().finally(() => this.#once.delete(name));
    this.#once.set(name, running);
    return running;
  }

  /** Ends them after their batch. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([...this.#running, ...this.#once.values()]);
  }
}
