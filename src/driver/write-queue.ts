/** The bound on writes that wait in memory: counts them and their bytes, and refuses more. */
import { CairnError } from '../kernel/index.js';
import type { Tx, WriteOptions } from './driver.js';
import type { Write } from './group.js';

/** Maximum number of waiting writes. */
const QUEUE_LIMIT = 10_000;
/** Maximum sum of the bytes of waiting writes. */
export const QUEUE_BYTES = 256 * 1024 * 1024;

export class WaitingWrites {
  readonly #max: number;
  #count = 0;
  #bytes = 0;

  constructor(max_bytes = QUEUE_BYTES) {
    this.#max = max_bytes;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a write until it is settled, and passes it to `put`; or refuses it. */
  take<T>(
    tenant: string,
    work: (tx: Tx) => Promise<T>,
    { entity, bytes = 0, joint }: WriteOptions,
    put: (write: Write) => void,
  ): Promise<T> {
    const refusal = this.#refusal(bytes);
    if (refusal) return Promise.reject(refusal);
    this.#count++;
    this.#bytes += bytes;
    const written = new Promise<unknown>((resolve, reject) => put({ tenant, work, entity, joint, resolve, reject }));
    return written.finally(() => {
      this.#count--;
      this.#bytes -= bytes;
    }) as Promise<T>;
  }

  #refusal(bytes: number): CairnError | undefined {
    if (this.#count >= QUEUE_LIMIT) return overloaded(`${QUEUE_LIMIT} writes`);
    // A write above the whole limit is accepted if nothing else waits: it is in memory already.
    const full = bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#max;
    return full ? overloaded(`writes of ${this.#bytes} bytes`) : undefined;
  }
}

const overloaded = (what: string): CairnError =>
  new CairnError('OVERLOADED', `${what} are already waiting, this one was refused: try again later`);

export const driverClosed = (): CairnError => new CairnError('SHUTTING_DOWN', 'the store is closed');
