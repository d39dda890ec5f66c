/** Running erasures of this process, and their batches. */
export class Erasures {
  readonly #running = new Set<Promise<void>>();
  readonly #once = new Map<string, Promise<void>>();
  stopping = false;

  /** Runs in the background. A failed erasure stays stored as unfinished, and the next sweep continues it. */
  start(work: () => Promise<void>): void {
    if (this.stopping) return;
    const running = work()
      .catch(() => undefined)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** A second call with the same name joins the running one. */
  once(name: string, work: () => Promise<void>): Promise<void> {
    const known = this.#once.get(name);
    if (known) return known;
    const running = work().finally(() => this.#once.delete(name));
    this.#once.set(name, running);
    return running;
  }

  /** Stops all after their current batch. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([...this.#running, ...this.#once.values()]);
  }
}

/** A batch takes about `ms`, since other writers of the tenant wait for it. */
const BATCH = { first: 20, least: 5, most: 500, ms: 8 };

/** The size of the next batch. It grows in steps, since a slow batch may follow a quick one. */
export function nextBatch(size: number, took_ms: number): number {
  const fitting = Math.round((size * BATCH.ms) / Math.max(took_ms, 0.1));
  return Math.max(BATCH.least, Math.min(fitting, size * 2, BATCH.most));
}

/** Runs batches until one is not full. False if the store is closing. */
export async function inBatches(
  { erasures }: { readonly erasures: Erasures },
  run: (limit: number) => Promise<number>,
): Promise<boolean> {
  for (let limit = BATCH.first; !erasures.stopping; ) {
    const started = performance.now();
    if ((await run(limit)) < limit) return true;
    limit = nextBatch(limit, performance.now() - started);
  }
  return false;
}
