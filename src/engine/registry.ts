/** Registries: functions that a lower module calls and higher modules provide while they load. */

export class Registry<T> {
  readonly #entries: T[] = [];

  add(...entries: readonly T[]): void {
    this.#entries.push(...entries);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#entries[Symbol.iterator]();
  }
}

/** One entry per declared slot, iterated in slot order: its owner declares a lock order once, for example. */
export class SlotRegistry<S extends string, T> {
  readonly #what: string;
  readonly #entries: Map<S, T | undefined>;

  constructor(what: string, slots: readonly S[]) {
    this.#what = what;
    this.#entries = new Map(slots.map((slot) => [slot, undefined]));
  }

  fill(slot: S, entry: T): void {
    if (!this.#entries.has(slot)) throw new Error(`${this.#what}: there is no slot ${slot}`);
    if (this.#entries.get(slot) !== undefined) throw new Error(`${this.#what}: ${slot} is already filled`);
    this.#entries.set(slot, entry);
  }

  get(slot: S): T {
    const entry = this.#entries.get(slot);
    if (entry === undefined) throw new Error(`${this.#what}: nothing fills ${slot}; load its module first`);
    return entry;
  }

  *[Symbol.iterator](): Iterator<readonly [S, T]> {
    for (const slot of this.#entries.keys()) yield [slot, this.get(slot)];
  }
}
