/** Counts reads of artifacts and notes in memory, and adds them to the store now and then: a read writes nothing. */
import type { Driver } from '../../driver/index.js';
import { RuntimePart } from '../../engine/index.js';
import { addAccesses } from './access-counts-store.js';

/** So many entities that wait to be counted are written at once. */
const FULL = 1000;

interface Counted {
  count: number;
  accessed_at: number;
}

export class AccessCounts {
  readonly #driver: Driver;
  readonly #timer: NodeJS.Timeout | undefined;
  /** By tenant, then by entity. */
  readonly #waiting = new Map<string, Map<string, Counted>>();
  #size = 0;
  #flushing: Promise<void> | undefined;

  constructor(driver: Driver, every_ms: number) {
    this.#driver = driver;
    if (every_ms > 0) this.#timer = setInterval(() => void this.flush(), every_ms).unref();
  }

  touch(tenant: string, memory_ids: readonly string[]): void {
    const accessed_at = this.#driver.now();
    for (const id of memory_ids) this.#add(tenant, id, accessed_at);
    if (this.#size >= FULL) void this.flush();
  }

  /** What this process has counted of an entity and not written yet. */
  pending(tenant: string, memory_id: string): Readonly<Counted> | undefined {
    return this.#waiting.get(tenant)?.get(memory_id);
  }

  /** Writes what waits, one flush at a time. What it writes is shown as waiting until it is stored. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }

  async #write(): Promise<void> {
    for (const [tenant, counts] of this.#waiting) {
      const taken = [...counts].map(([memory_id, counted]) => ({ memory_id, ...counted }));
      try {
        await this.#driver.write(tenant, (tx) => addAccesses(tx, taken));
      } catch {
        // A count is no fact: it waits for the next time.
        continue;
      }
      for (const { memory_id, count } of taken) this.#subtract(tenant, memory_id, count);
    }
  }

  #subtract(tenant: string, memory_id: string, count: number): void {
    const counts = this.#waiting.get(tenant)!;
    const counted = counts.get(memory_id)!;
    counted.count -= count;
    if (counted.count > 0) return;
    counts.delete(memory_id);
    this.#size--;
    if (counts.size === 0) this.#waiting.delete(tenant);
  }

  #add(tenant: string, memory_id: string, accessed_at: number): void {
    let counts = this.#waiting.get(tenant);
    if (!counts) this.#waiting.set(tenant, (counts = new Map()));
    const known = counts.get(memory_id);
    if (known) {
      known.count++;
      known.accessed_at = accessed_at;
      return;
    }
    counts.set(memory_id, { count: 1, accessed_at });
    this.#size++;
  }
}

export const accessCounts = new RuntimePart<AccessCounts>('access counts');
