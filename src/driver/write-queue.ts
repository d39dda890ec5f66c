/** Writes that wait are held in memory: this counts them and their bytes, and refuses more than there is room for. */
import { CairnError } from '../kernel/index.js';
import type { Tx, WriteOptions } from './driver.js';
import type { Write } from './group.js';

/** Waiting writes beyond this are refused, however small they are. */
export const QUEUE_LIMIT = 10_000;
/** And so are those that would bring the sum of their bytes beyond this. */
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

  /** Takes a write, which `put` places into its queue, or refuses it. It counts until it is settled. */
  take<T>(
    tenant: string,
    work: (tx: Tx) => Promise<T>,
    { entity, bytes = 0 }: WriteOptions,
    put: (write: Write) => void,
  ): Promise<T> {
    const refusal = this.#refusal(bytes);
    if (refusal) return Promise.reject(refusal);
    this.#count++;
    this.#bytes += bytes;
    const left = () => {
      this.#count--;
      this.#bytes -= bytes;
    };
    return new Promise<T>((resolve, reject) => {
      put({
        tenant,
        work,
        entity,
        resolve: (value) => {
          left();
          resolve(value as T);
        },
        reject: (error) => {
          left();
          reject(error);
        },
      });
    });
  }

  #refusal(bytes: number): CairnError | undefined {
    if (this.#count >= QUEUE_LIMIT) return overloaded(`${QUEUE_LIMIT} writes`);
    // One that is larger than all the room is taken when nothing else waits: it is in memory already.
    const full = bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#max;
    return full ? overloaded(`writes of ${this.#bytes} bytes`) : undefined;
  }
}

const overloaded = (what: string): CairnError =>
  new CairnError('OVERLOADED', `${what} are waiting already, this one was not taken: try again later`);
