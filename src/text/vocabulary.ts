/** The vocabulary of o200k_base: a hash table in a file, used as it is read. `scripts/vocabulary.mjs` writes it. */
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

/**
 * The file: a 32-bit word per slot, the end of each token by rank, then the bytes of all tokens. A word of a slot holds the
 * rank of its token and further bits of its hash, which tell most other tokens apart without a look at the bytes.
 */
const SLOT_BITS = 18;
const SLOTS = 2 ** SLOT_BITS;
const RANK_BITS = 18;
const RANKS = 2 ** RANK_BITS;
/** No token has the last rank. */
const EMPTY = 2 ** 32 - 1;

/** The pair or piece is no token. */
export const NO_TOKEN = -1;

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

const slotOf = (hash: number): number => hash & (SLOTS - 1);
const tagOf = (hash: number): number => (hash >>> SLOT_BITS) * RANKS;

/** The file of a vocabulary, from its tokens by rank. */
export function vocabularyFile(tokens: readonly Uint8Array[]): Uint8Array {
  const words = new Uint32Array(SLOTS + tokens.length).fill(EMPTY, 0, SLOTS);
  let end = 0;
  for (const [rank, token] of tokens.entries()) {
    const hash = hashOf(token, 0, token.length);
    let slot = slotOf(hash);
    while (words[slot] !== EMPTY) slot = (slot + 1) & (SLOTS - 1);
    words[slot] = tagOf(hash) + rank;
    words[SLOTS + rank] = end += token.length;
  }
  return Buffer.concat([littleEndian(Buffer.from(words.buffer)), ...tokens]);
}

export class Vocabulary {
  readonly #words: Uint32Array;
  readonly #bytes: Uint8Array;

  /** @param count - number of tokens */
  constructor(file: URL, count: number) {
    const content = readFileSync(file);
    const length = 4 * (SLOTS + count);
    this.#words = new Uint32Array(littleEndian(content.subarray(0, length)).buffer, content.byteOffset, length / 4);
    this.#bytes = content.subarray(length);
  }

  /** The rank of the token that has these bytes, or `NO_TOKEN`. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    const words = this.#words;
    const hash = hashOf(bytes, start, end);
    const tag = tagOf(hash);
    for (let slot = slotOf(hash); ; slot = (slot + 1) & (SLOTS - 1)) {
      const word = words[slot]!;
      if (word === EMPTY) return NO_TOKEN;
      const rank = word - tag;
      if (rank >= 0 && rank < RANKS && this.#is(rank, bytes, start, end)) return rank;
    }
  }

  #is(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = rank === 0 ? 0 : this.#words[SLOTS + rank - 1]!;
    if (this.#words[SLOTS + rank]! - from !== end - start) return false;
    for (let i = start; i < end; i++) if (this.#bytes[from + i - start] !== bytes[i]) return false;
    return true;
  }
}

const littleEndian = (words: Buffer): Buffer => (endianness() === 'BE' ? words.swap32() : words);
