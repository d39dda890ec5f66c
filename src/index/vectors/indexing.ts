/** Keeps an index of the vectors of tenants that have many, where the database can; made in the background. */
import type { Driver, IndexedVectors, VectorIndexes, VectorSpace, VectorTable } from '../../driver/index.js';
import { RuntimePart } from '../../engine/index.js';

/** What the indexes are over. */
export const VECTOR_TABLE: VectorTable = { name: 'vector_docs', bits: 'bits' };
/** Fewer are compared one by one in less time than an index takes. */
export const INDEXED_FROM = 20_000;
/** How often it is looked what the database has: it may be installed or taken away, and an index made by another or dropped. */
const LOOK_MS = 10_000;
/** While another process makes one, or there are as many as may be. */
const OTHERS_MS = 30_000;
/** After one that could not be made: it is not tried again, and does not keep others from being made. */
const FAILED_MS = 600_000;
const MAX_FAILED = 1000;

export interface VectorOperators {
  /** Where they are; quoted. */
  readonly schema: string;
  /** Of so many documents, an index is worth asking. */
  readonly from: number;
}

const nameOf = ({ tenant, model, dimensions }: VectorSpace): string => JSON.stringify([tenant, model, dimensions]);

export class VectorIndexing {
  readonly #indexes: VectorIndexes | undefined;
  readonly #from: number;
  #seen: IndexedVectors | undefined;
  #looking: Promise<void> = Promise.resolve();
  #looked = Number.NEGATIVE_INFINITY;
  #notBefore = Number.NEGATIVE_INFINITY;
  readonly #failed = new Map<string, number>();
  #making: Promise<void> | undefined;
  #stopped = false;
  #failures = 0;

  constructor({ vectors }: Driver, from: number) {
    this.#indexes = vectors;
    this.#from = from;
  }

  /** What the nearest are found by, if the database has it. */
  get operators(): VectorOperators | undefined {
    return this.#seen && { schema: this.#seen.schema, from: this.#from };
  }

  /** Every so often. Who asks in the meantime waits for the same look. */
  look(): Promise<void> {
    if (this.#indexes && !this.#stopped && performance.now() >= this.#looked + LOOK_MS) {
      this.#looked = Number.POSITIVE_INFINITY;
      this.#looking = this.#lookNow(this.#indexes);
    }
    return this.#looking;
  }

  async #lookNow(indexes: VectorIndexes): Promise<void> {
    try {
      this.#seen = await indexes.look(VECTOR_TABLE);
    } catch {
      // Whatever it was, the next look tells.
    }
    this.#looked = performance.now();
  }

  /** They seem to be gone: until they are seen again, all are compared. */
  forget(): void {
    this.#seen = undefined;
  }

  /** Sees to it that there is an index, if there are that many; does not wait for it. */
  keep(space: VectorSpace, docs: number): void {
    const seen = this.#seen;
    if (!this.#indexes || !seen || docs < this.#from || seen.has(space)) return;
    const name = nameOf(space);
    const notBefore = Math.max(this.#notBefore, this.#failed.get(name) ?? Number.NEGATIVE_INFINITY);
    if (this.#making || this.#stopped || performance.now() < notBefore) return;
    this.#making = this.#indexes
      .index(VECTOR_TABLE, seen.schema, space)
      .then(
        (isThere) => {
          if (isThere) this.#looked = Number.NEGATIVE_INFINITY;
          else this.#notBefore = performance.now() + OTHERS_MS;
        },
        () => {
          if (this.#stopped) return;
          this.#failures++;
          if (this.#failed.size >= MAX_FAILED) this.#failed.clear();
          this.#failed.set(name, performance.now() + FAILED_MS);
        },
      )
      .finally(() => (this.#making = undefined));
  }

  figures(): Readonly<Record<string, number>> {
    return this.#indexes ? { vector_indexes: this.#seen?.count ?? 0, vector_index_failures: this.#failures } : {};
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#indexes?.close();
    await this.#making;
    await this.#looking;
  }
}

export const vectorIndexing = new RuntimePart<VectorIndexing>('an index of vectors');
