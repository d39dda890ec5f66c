/** A list of frozen elements with a frozen view, which is copied once per change and not per read. */
import { MAX_ENTRIES } from '../checkpoints/contract.js';
import { invalid } from '../kernel/index.js';
import { type Frozen, sealed } from './frozen.js';

export class FrozenList<T> {
  readonly #items: Frozen<T>[];
  #view: readonly Frozen<T>[] | undefined;

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

  /** A frozen copy; the same object until something changes. */
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

  /** Returns the removed elements. */
  remove(start: number, count: number): readonly Frozen<T>[] {
    this.#view = undefined;
    return sealed(this.#items.splice(start, count)) as unknown as readonly Frozen<T>[];
  }

  /** A checkpoint with more entries would be refused when it is written. */
  checkRoom(what: string): void {
    if (this.#items.length >= MAX_ENTRIES)
      throw invalid(`${what}: there are already ${MAX_ENTRIES} entries, the maximum of a checkpoint: remove some`);
  }
}
