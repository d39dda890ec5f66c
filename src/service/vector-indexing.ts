/** Keeps an index of the vectors of tenants that have many, where the database can; made in the background. */
import type { Driver, VectorIndexes, VectorSpace } from '../driver/driver.js';
import type { VectorOperators } from '../store/vector-search.js';

/** Fewer are compared one by one in less time than an index takes. */
export const INDEXED_FROM = 20_000;
/** How often it is looked whether the database has what it takes: that may be installed, or taken away. */
const LOOK_MS = 10_000;
/** While another process makes one, or there are as many as may be; and after one that could not be made. */
const OTHERS_MS = 30_000;
const FAILED_MS = 600_000;

export class VectorIndexing {
  readonly #indexes: VectorIndexes | undefined;
  readonly #from: number;
  readonly #there = new Set<string>();
  #operators: string | undefined;
  #looked = Number.NEGATIVE_INFINITY;
  #notBefore = Number.NEGATIVE_INFINITY;
  #making: Promise<void> | undefined;
  #stopped = false;
  #failures = 0;

  constructor({ vectors }: Driver, from: number) {
    this.#indexes = vectors;
    this.#from = from;
  }

  /** What the nearest are found by, if the database has it. */
  get operators(): VectorOperators | undefined {
    return this.#operators === undefined ? undefined : { schema: this.#operators, from: this.#from };
  }

  async look(): Promise<void> {
    if (!this.#indexes || performance.now() < this.#looked + LOOK_MS) return;
    this.#looked = performance.now();
    const before = this.#operators;
    this.#operators = await this.#indexes.operators();
    // With the one that was taken away its indexes went.
    if (this.#operators !== before) this.#there.clear();
  }

  /** They seem to be gone: until they are seen again, all are compared. */
  forget(): void {
    this.#operators = undefined;
    this.#there.clear();
  }

  /** Sees to it that there is an index, if there are that many; does not wait for it. */
  keep(space: VectorSpace, docs: number): void {
    const name = JSON.stringify([space.tenant, space.model, space.dimensions]);
    if (!this.#indexes || this.#operators === undefined || docs < this.#from || this.#there.has(name)) return;
    if (this.#making || this.#stopped || performance.now() < this.#notBefore) return;
    this.#making = this.#indexes
      .index(this.#operators, space)
      .then(
        (isThere) => {
          if (isThere) this.#there.add(name);
          else this.#notBefore = performance.now() + OTHERS_MS;
        },
        () => {
          if (this.#stopped) return;
          this.#failures++;
          this.#notBefore = performance.now() + FAILED_MS;
        },
      )
      .finally(() => (this.#making = undefined));
  }

  figures(): Readonly<Record<string, number>> {
    return this.#indexes ? { vector_indexes: this.#there.size, vector_index_failures: this.#failures } : {};
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#indexes?.close();
    await this.#making;
  }
}
