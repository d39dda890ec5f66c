/** A list of frozen elements that grows cheaply and can be captured: the capture is copied once per change, not per look. */
import { MAX_ENTRIES } from '../checkpoints/contract.js';
import { type Frozen, refusal, sealed } from './frozen.js';

export class FrozenList<T> {
  readonly #items: Frozen<T>[];
  #view: readonly Frozen<T>[] | undefined;

  /** The elements must be frozen. */
  constructor(items: readonly Frozen<T>[] = []) {
    this.#items = [...items];
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): Frozen<T> | undefined {
    return this.#items[index];
  }

  findIndex(test: (item: Frozen<T>) => boolean): number {
    return this.#items.findIndex(test);
  }

  indexOf(item: Frozen<T>): number {
    return this.#items.indexOf(item);
  }

  /** The list as it is now, frozen; the same object until something changes. */
  view(): readonly Frozen<T>[] {
    return (this.#view ??= sealed([...this.#items]) as unknown as readonly Frozen<T>[]);
  }

  push(item: Frozen<T>): void {
    this.#items.push(item);
    this.#view = undefined;
  }

  set(index: number, item: Frozen<T>): void {
    this.#items[index] = item;
    this.#view = undefined;
  }

  /** Takes elements out, and gives them. */
  remove(start: number, count: number): readonly Frozen<T>[] {
    this.#view = undefined;
    return sealed(this.#items.splice(start, count)) as unknown as readonly Frozen<T>[];
  }

  /** A checkpoint takes so many of each kind; more would be refused when it is written. */
  checkRoom(what: string): void {
    if (this.#items.length >= MAX_ENTRIES)
      throw refusal(`${what}: there are ${MAX_ENTRIES} already, the most that a checkpoint takes: remove some`);
  }
}
