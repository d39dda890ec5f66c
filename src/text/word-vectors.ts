/** Vectors of English words, by which words of like meaning are near each other. `scripts/word-vectors.mjs` writes the file. */
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

/** The build puts it here: one level up from this module, and from the bundle. */
const FILE = new URL('../word-vectors.bin', import.meta.url);

/**
 * The file: the header, a hash table of ids (plus one) by word, the end of each word, the words, the ids of nearest words,
 * and the vectors as int8. Ids are ranks by frequency.
 */
const HEADER = 4;
const SLOTS = 2 ** 17;
const LARGEST = 127;
/** Pads the list of nearest words. */
const NONE = 0xffff;

function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

interface Vectors {
  /** By frequency; lower-case letters a to z. */
  readonly words: readonly string[];
  readonly rows: readonly Float64Array[];
  /** The ids of the nearest words of the first words. */
  readonly nearest: readonly (readonly number[])[];
  readonly per_word: number;
}

/** The content of the file. */
export function wordVectorsFile({ words, rows, nearest, per_word }: Vectors): Uint8Array {
  const dimensions = rows[0]!.length;
  const numbers = new Uint32Array(HEADER + SLOTS + words.length);
  numbers.set([words.length, dimensions, nearest.length, per_word]);
  let end = 0;
  for (const [id, word] of words.entries()) {
    let slot = hashOf(word) & (SLOTS - 1);
    while (numbers[HEADER + slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    numbers[HEADER + slot] = id + 1;
    numbers[HEADER + SLOTS + id] = end += word.length;
  }
  // An even length keeps what follows aligned.
  const letters = Buffer.alloc(end + (end % 2), words.join(''), 'latin1');
  const near = new Uint16Array(nearest.length * per_word).fill(NONE);
  for (const [id, list] of nearest.entries()) near.set(list.slice(0, per_word), id * per_word);
  const vectors = new Int8Array(words.length * dimensions);
  for (const [id, row] of rows.entries()) {
    const scale = LARGEST / Math.max(...row.map(Math.abs));
    vectors.set(
      row.map((one) => Math.round(one * scale)),
      id * dimensions,
    );
  }
  return Buffer.concat([
    littleEndian(Buffer.from(numbers.buffer), 4),
    letters,
    littleEndian(Buffer.from(near.buffer), 2),
    Buffer.from(vectors.buffer),
  ]);
}

export class WordVectors {
  readonly dimensions: number;
  readonly #words: number;
  readonly #slots: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #letters: Buffer;
  readonly #listed: number;
  readonly #per_word: number;
  readonly #nearest: Uint16Array;
  readonly #vectors: Int8Array;
  /** The factor that makes each vector a unit vector; 0 until it is used. */
  readonly #factors: Float32Array;

  constructor(file: Buffer) {
    const at = (start: number, bytes: number) => file.subarray(start, start + bytes);
    const numbers = (start: number, count: number) => {
      const bytes = littleEndian(Buffer.from(at(start, 4 * count)), 4);
      return new Uint32Array(bytes.buffer, bytes.byteOffset, count);
    };
    const [words, dimensions, listed, per_word] = numbers(0, HEADER) as unknown as [number, number, number, number];
    this.#words = words;
    this.dimensions = dimensions;
    this.#listed = listed;
    this.#per_word = per_word;
    this.#slots = numbers(4 * HEADER, SLOTS);
    this.#ends = numbers(4 * (HEADER + SLOTS), words);
    let start = 4 * (HEADER + SLOTS + words);
    const letters = this.#ends[words - 1]!;
    this.#letters = at(start, letters);
    start += letters + (letters % 2);
    const near = littleEndian(Buffer.from(at(start, 2 * listed * per_word)), 2);
    this.#nearest = new Uint16Array(near.buffer, near.byteOffset, listed * per_word);
    start += 2 * listed * per_word;
    this.#vectors = new Int8Array(file.buffer, file.byteOffset + start, words * dimensions);
    this.#factors = new Float32Array(words);
  }

  /** The rank of a lower-case word by frequency; undefined if it has no vector. */
  idOf(word: string): number | undefined {
    for (let slot = hashOf(word) & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) return undefined;
      if (this.#is(id, word)) return id;
    }
  }

  #is(id: number, word: string): boolean {
    const start = id === 0 ? 0 : this.#ends[id - 1]!;
    if (this.#ends[id]! - start !== word.length) return false;
    for (let i = 0; i < word.length; i++) if (this.#letters[start + i] !== word.charCodeAt(i)) return false;
    return true;
  }

  wordOf(id: number): string {
    return this.#letters.toString('latin1', id === 0 ? 0 : this.#ends[id - 1]!, this.#ends[id]!);
  }

  /** The cosine of the angle between two vectors. */
  similarity(a: number, b: number): number {
    return this.#product(a, b) * this.#factor(a) * this.#factor(b);
  }

  /** The similarity of a word to each of some, 0 to one without a vector: faster than one by one. */
  similarities(ids: readonly (number | undefined)[], other: number): number[] {
    const factor = this.#factor(other);
    const found: number[] = [];
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at];
      found.push(id === undefined ? 0 : this.#product(id, other) * this.#factor(id) * factor);
    }
    return found;
  }

  /** Adds the unit vector of a word, times its weight. */
  addTo(sum: Float32Array, id: number, weight: number): void {
    const factor = weight * this.#factor(id);
    const start = id * this.dimensions;
    for (let k = 0; k < sum.length; k++) sum[k]! += factor * this.#vectors[start + k]!;
  }

  #factor(id: number): number {
    if (this.#factors[id] === 0) this.#factors[id] = 1 / Math.sqrt(this.#product(id, id));
    return this.#factors[id]!;
  }

  /** In integers, several times as fast as on decoded vectors. */
  #product(a: number, b: number): number {
    const vectors = this.#vectors;
    const end = (a + 1) * this.dimensions;
    let sum = 0;
    for (let i = a * this.dimensions, j = b * this.dimensions; i < end; i++, j++)
      sum = (sum + Math.imul(vectors[i]!, vectors[j]!)) | 0;
    return sum;
  }

  /** Words of like meaning, nearest first; none for a rare word. */
  nearestWords(id: number): string[] {
    if (id >= this.#listed) return [];
    const ids = this.#nearest.subarray(id * this.#per_word, (id + 1) * this.#per_word);
    return [...ids].filter((other) => other < this.#words && other !== NONE).map((other) => this.wordOf(other));
  }
}

let loaded: WordVectors | undefined;

/** Read at first use, in a few milliseconds, once per thread; used where it was read, so that it takes little more memory. */
export const wordVectors = (): WordVectors => (loaded ??= new WordVectors(readFileSync(FILE)));

export function dot(a: Float32Array, b: Float32Array): number {
  // Four sums: each addition to one sum waits for the one before.
  const whole = a.length & ~3;
  let [one, two, three, four] = [0, 0, 0, 0];
  for (let k = 0; k < whole; k += 4) {
    one += a[k]! * b[k]!;
    two += a[k + 1]! * b[k + 1]!;
    three += a[k + 2]! * b[k + 2]!;
    four += a[k + 3]! * b[k + 3]!;
  }
  for (let k = whole; k < a.length; k++) one += a[k]! * b[k]!;
  return one + two + three + four;
}

export function normalize(vector: Float32Array): void {
  const norm = Math.sqrt(dot(vector, vector));
  if (norm > 0) for (let k = 0; k < vector.length; k++) vector[k]! /= norm;
}

function littleEndian(bytes: Buffer, size: 2 | 4): Buffer {
  if (endianness() === 'LE') return bytes;
  return size === 4 ? bytes.swap32() : bytes.swap16();
}
