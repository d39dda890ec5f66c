/**
 * Keeps the index of every tenant in shape, in the background: folds its tail into segments, merges small segments, and
 * purges segments when many of their documents are hidden. One process at a time works on a tenant, by a lease.
 */
import { randomUUID } from 'node:crypto';
import type { Driver } from '../../driver/index.js';
import { endLease, findLease, putLease } from '../../engine/index.js';
import { mergeSegments, purgeHidden, UPKEEP_LEASE } from '../../index/index.js';
import { deadDocs, type Fold, indexState, storeFold } from '../../index/sql.js';

const FOLD_JOB = new URL('./fold-job.js', import.meta.url);
const TICK_MS = 200;
/** A tail of this length is folded; searches read a shorter one. */
const FOLD_AT = 2048;
/** Documents in one fold. */
const MAX_FOLD = 4096;
/** With so many hidden documents, segments are purged of which at least this share is hidden, though nothing was erased. */
const MAX_HIDDEN = 5000;
const HIDDEN_SHARE = 1 / 8;
/** Longer than one step takes. */
const LEASE_MS = 60_000;
const BACKOFF_MS = 5000;

export class IndexUpkeep {
  readonly #driver: Driver;
  readonly #holder = randomUUID();
  readonly #timer: NodeJS.Timeout;
  readonly #unlisten: () => void;
  readonly #written = new Set<string>();
  #working: Promise<void> | undefined;
  #notBefore = 0;
  #stopped = false;
  #folds = 0;
  #merges = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#unlisten = driver.onCommit((tenant) => {
      if (tenant !== undefined) this.#written.add(tenant);
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  #tick(): void {
    if (this.#stopped || this.#written.size === 0 || performance.now() < this.#notBefore) return;
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
  }

  async #work(): Promise<void> {
    const tenants = [...this.#written];
    this.#written.clear();
    try {
      for (const tenant of tenants) if (!this.#stopped && (await this.#isDue(tenant))) await this.#keep(tenant);
    } catch {
      // The tail stays searchable, and writers fold what is beyond its limit.
      for (const tenant of tenants) this.#written.add(tenant);
      this.#notBefore = performance.now() + BACKOFF_MS;
    }
  }

  async #isDue(tenant: string): Promise<boolean> {
    const { last, folded } = await indexState(this.#driver.at(tenant));
    return last - folded >= FOLD_AT;
  }

  async #keep(tenant: string): Promise<void> {
    while (!this.#stopped && (await this.#hold(tenant))) {
      if (await this.#isDue(tenant)) await this.#fold(tenant);
      else if (await mergeSegments(this.#driver, tenant)) this.#merges++;
      else {
        const dead = await deadDocs(this.#driver.at(tenant), 0, MAX_HIDDEN);
        if (dead.length === MAX_HIDDEN) await purgeHidden(this.#driver, tenant, HIDDEN_SHARE);
        break;
      }
    }
    await this.#driver.write(tenant, async (tx) => {
      if ((await findLease(tx, ...UPKEEP_LEASE))?.holder === this.#holder) await endLease(tx, ...UPKEEP_LEASE);
    });
  }

  async #fold(tenant: string): Promise<void> {
    const fold = await this.#driver.away<Fold | undefined>(tenant, FOLD_JOB, { limit: MAX_FOLD });
    if (fold && (await this.#driver.write(tenant, (tx) => storeFold(tx, fold)))) this.#folds++;
  }

  /** Takes or renews the lease of a tenant; false while another process has it. */
  #hold(tenant: string): Promise<boolean> {
    return this.#driver.write(tenant, async (tx) => {
      const now = this.#driver.now();
      const lease = await findLease(tx, ...UPKEEP_LEASE);
      if (lease && lease.holder !== this.#holder && lease.expires_at > now) return false;
      const [kind, subject_id] = UPKEEP_LEASE;
      await putLease(tx, { kind, subject_id, holder: this.#holder, token: 0, expires_at: now + LEASE_MS });
      return true;
    });
  }

  figures(): Readonly<Record<string, number>> {
    return { index_folds: this.#folds, index_merges: this.#merges };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#unlisten();
    await this.#working;
  }
}
