/** Runs a limited number of tasks at a time; the others wait in order. */
import { CairnError } from '../kernel/index.js';

export class Lane {
  readonly #width: number;
  readonly #patience_ms: number | undefined;
  readonly #waiting = new Set<() => void>();
  #under_way = 0;

  /** A task that waits longer than `patience_ms` is refused: earlier tasks hang, or there are too many. */
  constructor(width: number, patience_ms?: number) {
    this.#width = width;
    this.#patience_ms = patience_ms;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#under_way >= this.#width) await this.#turn();
    else this.#under_way++;
    try {
      return await work();
    } finally {
      // The next task takes over the place, if there is one.
      const [next] = this.#waiting;
      if (next) next();
      else this.#under_way--;
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        clearTimeout(timer);
        this.#waiting.delete(go);
        resolve();
      };
      const refuse = () => {
        this.#waiting.delete(go);
        const others = this.#waiting.size + this.#width;
        reject(new CairnError('OVERLOADED', `${others} other requests are ahead of this one: try again later`));
      };
      const timer = this.#patience_ms === undefined ? undefined : setTimeout(refuse, this.#patience_ms);
      this.#waiting.add(go);
    });
  }
}
