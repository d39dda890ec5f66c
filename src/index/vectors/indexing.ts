/** Builds vector indexes in the background for tenants with many vectors, where the database supports them. */
import type { Driver, IndexedVectors, VectorIndexes, VectorSpace, VectorTable } from '../../driver/index.js';
import { RuntimePart } from '../../engine/index.js';

export const VECTOR_TABLE: VectorTable = { name: 'vector_docs', bits: 'bits' };
/** Document count above which a tenant gets a vector index: below it, comparing all is faster. */
export const INDEXED_FROM = 20_000;
/** Poll interval: the extension may be installed or removed, an index built by another process or dropped. */
const LOOK_MS = 10_000;
/** Wait while another process builds an index, or the maximum number exists. */
const OTHERS_MS = 30_000;
/** Wait before a failed index is tried again; does not delay others. */
const FAILED_MS = 600_000;
const MAX_FAILED = 1000;

export interface VectorOperators {
  /** The schema of the operators, quoted. */
  readonly schema: string;
  /** Document count from which an index is used. */
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

  /** The vector operators, if the database has them. */
  get operators(): VectorOperators | undefined {
    return this.#seen && { schema: this.#seen.schema, from: this.#from };
  }

  /** Polls the database once per interval; concurrent callers share the poll. */
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
      // The next poll tells.
    }
    this.#looked = performance.now();
  }

  /** The operators seem to be removed: compare all vectors until the next poll finds them. */
  forget(): void {
    this.#seen = undefined;
  }

  /** Starts to build the index of a tenant with enough documents; does not wait for it. */
  keep(space: VectorSpace, docs: number): void {
    const seen = this.#seen;
    if (!this.#indexes || !seen || docs < this.#from || seen.has(space)) return;
    const name = nameOf(space);
    const notBefore = Math.max(this.#notBefore, this.#failed.get(name) ?? Number.NEGATIVE_INFINITY);
    if (this.#making || this.#stopped || performance.now() < notBefore) return;
    this.#making = this.#indexes
      .index(VECTOR_TABLE, seen.schema, space)
      .then(
        (exists) => {
          if (exists) this.#looked = Number.NEGATIVE_INFINITY;
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
