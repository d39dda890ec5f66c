/** So many at a time; the others wait for their turn, in order. */
export class Lane {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #under_way = 0;

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#under_way >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#under_way++;
    try {
      return await work();
    } finally {
      // The place goes to the next, or is free.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#under_way--;
    }
  }
}
