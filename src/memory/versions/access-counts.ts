/** Counts reads of artifacts and notes in memory, and adds them to memory_access in intervals: a read writes nothing. */
import { type Driver, sql, TENANT, type Tx } from '../../driver/index.js';
import { RuntimePart } from '../../engine/index.js';

/** Number of counted entities that triggers a flush. */
const FLUSH_SIZE = 1000;

interface Counted {
  count: number;
  accessed_at: number;
}

/** Adds to the counters, in the order of the ids, so that servers cannot deadlock. */
async function addAccesses(tx: Tx, counts: ReadonlyMap<string, Counted>): Promise<void> {
  const ordered = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [memory_id, { count, accessed_at }] of ordered) {
    await tx.send(
      sql`INSERT INTO memory_access (tenant_id, memory_id, access_count, accessed_at)
          VALUES (${TENANT}, ${memory_id}, ${count}, ${accessed_at})
          ON CONFLICT (tenant_id, memory_id) DO UPDATE SET
            access_count = memory_access.access_count + excluded.access_count,
            accessed_at = CASE WHEN memory_access.accessed_at > excluded.accessed_at
              THEN memory_access.accessed_at ELSE excluded.accessed_at END`,
    );
  }
}

export class AccessCounts {
  readonly #driver: Driver;
  readonly #timer: NodeJS.Timeout | undefined;
  /** By tenant, then by entity. */
  readonly #pending = new Map<string, Map<string, Counted>>();
  #size = 0;
  #flushing: Promise<void> | undefined;

  constructor(driver: Driver, every_ms: number) {
    this.#driver = driver;
    if (every_ms > 0) this.#timer = setInterval(() => void this.flush(), every_ms).unref();
  }

  touch(tenant: string, memory_ids: readonly string[]): void {
    const accessed_at = this.#driver.now();
    for (const id of memory_ids) this.#add(tenant, id, accessed_at);
    if (this.#size >= FLUSH_SIZE) void this.flush();
  }

  /** The count of an entity that is not written yet. */
  pending(tenant: string, memory_id: string): Readonly<Counted> | undefined {
    return this.#pending.get(tenant)?.get(memory_id);
  }

  /** Writes pending counts, one flush at a time. They stay pending until they are stored. */
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
    for (const [tenant, counts] of this.#pending) {
      const taken = new Map([...counts].map(([memory_id, counted]) => [memory_id, { ...counted }]));
      try {
        await this.#driver.write(tenant, (tx) => addAccesses(tx, taken));
      } catch {
        // Retried by the next flush.
        continue;
      }
      for (const [memory_id, { count }] of taken) this.#subtract(tenant, memory_id, count);
    }
  }

  #subtract(tenant: string, memory_id: string, count: number): void {
    const counts = this.#pending.get(tenant)!;
    const counted = counts.get(memory_id)!;
    counted.count -= count;
    if (counted.count > 0) return;
    counts.delete(memory_id);
    this.#size--;
    if (counts.size === 0) this.#pending.delete(tenant);
  }

  #add(tenant: string, memory_id: string, accessed_at: number): void {
    const counts = this.#pending.get(tenant) ?? new Map<string, Counted>();
    this.#pending.set(tenant, counts);
    const known = counts.get(memory_id);
    if (!known) this.#size++;
    counts.set(memory_id, { count: (known?.count ?? 0) + 1, accessed_at });
  }
}

export const accessCounts = new RuntimePart<AccessCounts>('access counts');
