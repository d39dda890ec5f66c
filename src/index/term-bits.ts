/** Documents with a bit per term, newest first. Typed arrays: a search merges tens of thousands without garbage. */

export class TermBits {
  /** Descending. */
  readonly #docs: Float64Array;
  readonly #bits: Uint32Array;

  private constructor(docs: Float64Array, bits: Uint32Array) {
    this.#docs = docs;
    this.#bits = bits;
  }

  static readonly NONE = new TermBits(new Float64Array(0), new Uint32Array(0));

  /** From documents in descending order. */
  static of(having: readonly (readonly [doc_no: number, bits: number])[]): TermBits {
    const docs = Float64Array.from(having, ([doc_no]) => doc_no);
    return new TermBits(
      docs,
      Uint32Array.from(having, ([, bits]) => bits),
    );
  }

  /** The bits of a document; 0 if it is absent. */
  get(doc_no: number): number {
    let [from, to] = [0, this.#docs.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#docs[middle]! > doc_no) from = middle + 1;
      else to = middle;
    }
    return this.#docs[from] === doc_no ? this.#bits[from]! : 0;
  }

  /** Adds documents, in descending order, that have the term of this bit. */
  and(doc_nos: readonly number[], bit: number): TermBits {
    const [docs, bits] = [this.#docs, this.#bits];
    const size = docs.length + doc_nos.length;
    const allDocs = new Float64Array(size);
    const allBits = new Uint32Array(size);
    const term = 1 << bit;
    let [i, j, count] = [0, 0, 0];
    while (i < docs.length || j < doc_nos.length) {
      const mine = i < docs.length ? docs[i]! : -1;
      const other = j < doc_nos.length ? doc_nos[j]! : -1;
      allDocs[count] = Math.max(mine, other);
      allBits[count++] = (mine >= other ? bits[i]! : 0) | (other >= mine ? term : 0);
      if (mine >= other) i++;
      if (other >= mine) j++;
    }
    return new TermBits(allDocs.subarray(0, count), allBits.subarray(0, count));
  }

  /** The documents that `others` does not have. */
  without(others: TermBits): TermBits {
    const left = [...this.#docs.keys()].filter((i) => others.get(this.#docs[i]!) === 0);
    const docs = Float64Array.from(left, (i) => this.#docs[i]!);
    return new TermBits(
      docs,
      Uint32Array.from(left, (i) => this.#bits[i]!),
    );
  }

  /** By descending worth of their bits, of equals the newest first. A counting sort: few combinations of bits occur. */
  byWorth(worthOf: (bits: number) => number): Float64Array {
    const counts = new Map<number, number>();
    for (const bits of this.#bits) counts.set(bits, (counts.get(bits) ?? 0) + 1);
    const kinds = [...counts].map(([bits, count]) => ({ bits, count, worth: worthOf(bits) }));
    kinds.sort((a, b) => b.worth - a.worth || a.bits - b.bits);
    const places = new Map<number, number>();
    let place = 0;
    for (const { bits, count } of kinds) {
      places.set(bits, place);
      place += count;
    }
    const order = new Float64Array(this.#docs.length);
    for (let i = 0; i < order.length; i++) {
      const at = places.get(this.#bits[i]!)!;
      order[at] = this.#docs[i]!;
      places.set(this.#bits[i]!, at + 1);
    }
    return order;
  }
}
