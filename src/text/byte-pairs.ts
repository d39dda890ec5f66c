/** Byte-pair merging: the number of tokens of a piece of text. */
import type { CooperativeYield } from '../kernel/index.js';
import { NO_TOKEN as NONE, type Vocabulary } from './vocabulary.js';

/** Short pieces are merged by a scan for each merge: quadratic, but faster than a heap up to this many bytes. */
export const SHORT_BYTES = 768;
/** The start of each part of a short piece, and the rank of its pair with the next one. */
const starts = new Int32Array(SHORT_BYTES + 1);
const pairs = new Int32Array(SHORT_BYTES + 1);

/** The number of tokens of the first `length` bytes, at most `SHORT_BYTES`: merges the leftmost pair of the lowest rank. */
export function shortPieceTokens(piece: Uint8Array, length: number, vocabulary: Vocabulary): number {
  let parts = length;
  for (let i = 0; i <= length; i++) {
    starts[i] = i;
    pairs[i] = i + 2 <= length ? vocabulary.rankOf(piece, i, i + 2) : NONE;
  }
  const pairOf = (i: number) => (i + 2 <= parts ? vocabulary.rankOf(piece, starts[i]!, starts[i + 2]!) : NONE);
  for (;;) {
    let lowest = NONE;
    let at = 0;
    for (let i = 0; i < parts - 1; i++) {
      const rank = pairs[i]!;
      if (rank !== NONE && (lowest === NONE || rank < lowest)) {
        lowest = rank;
        at = i;
      }
    }
    if (lowest === NONE) return parts;
    starts.copyWithin(at + 1, at + 2, parts + 1);
    pairs.copyWithin(at, at + 1, parts);
    parts -= 1;
    pairs[at] = pairOf(at);
    if (at > 0) pairs[at - 1] = pairOf(at - 1);
  }
}

/** Ranks are below 2^18 and starts below 2^32: both fit into one exact number that sorts by rank, then by start. */
const STARTS = 2 ** 32;
const RANKS = 2 ** 18;

/** Steps between two yields: well under a millisecond. */
const STEPS_PER_YIELD = 1024;

/** The same for a long piece, with a heap in O(n log n). */
export async function longPieceTokens(
  piece: Uint8Array,
  vocabulary: Vocabulary,
  maybeYield: CooperativeYield,
): Promise<number> {
  const merging = new Merging(piece, vocabulary);
  while (merging.step(STEPS_PER_YIELD)) {
    const wait = maybeYield();
    if (wait) await wait;
  }
  return merging.parts;
}

/** The parts of a piece during the merge, identified by their starts. */
class Merging {
  parts: number;
  private readonly piece: Uint8Array;
  private readonly vocabulary: Vocabulary;
  private readonly next: Int32Array;
  private readonly before: Int32Array;
  /** The rank of each part. */
  private readonly token: Int32Array;
  /** The current rank of the pair of a part and its successor; a heap entry that differs is outdated. */
  private readonly pair: Int32Array;
  private readonly known = new Map<number, number>();
  private readonly heap: Heap;
  private placed = 0;
  private considered = 0;

  constructor(piece: Uint8Array, vocabulary: Vocabulary) {
    const n = piece.length;
    this.piece = piece;
    this.vocabulary = vocabulary;
    this.parts = n;
    this.next = new Int32Array(n);
    this.before = new Int32Array(n + 1);
    this.token = new Int32Array(n);
    this.pair = new Int32Array(n).fill(NONE);
    this.heap = new Heap(n);
  }

  /** Runs some steps; false at the end. */
  step(steps: number): boolean {
    const n = this.piece.length;
    for (let i = 0; i < steps; i++) {
      if (this.placed < n) this.place(this.placed++);
      else if (this.considered < n - 1) this.consider(this.considered++);
      else if (!this.mergeLowest()) return false;
    }
    return true;
  }

  private place(start: number): void {
    this.next[start] = start + 1;
    this.before[start + 1] = start;
    this.token[start] = this.vocabulary.rankOf(this.piece, start, start + 1);
  }

  private consider(start: number): void {
    const { piece, next, token, pair, known } = this;
    const second = next[start]!;
    pair[start] = NONE;
    if (second >= piece.length) return;
    // Two tokens determine their bytes, so each combination is looked up once.
    const both = token[start]! * RANKS + token[second]!;
    let rank = known.get(both);
    if (rank === undefined) known.set(both, (rank = this.vocabulary.rankOf(piece, start, next[second]!)));
    pair[start] = rank;
    if (rank !== NONE) this.heap.push(rank * STARTS + start);
  }

  /** False if no pair is left. */
  private mergeLowest(): boolean {
    const { next, before, pair } = this;
    const entry = this.heap.pop();
    if (entry === undefined) return false;
    const start = entry % STARTS;
    const rank = Math.floor(entry / STARTS);
    if (pair[start] !== rank) return true;
    const merged = next[start]!;
    const after = next[merged]!;
    next[start] = after;
    before[after] = start;
    pair[merged] = NONE;
    this.token[start] = rank;
    this.parts -= 1;
    this.consider(start);
    if (start > 0) this.consider(before[start]!);
    return true;
  }
}

/** A binary min-heap. */
class Heap {
  private readonly items: Float64Array;
  private size = 0;

  /** Of n parts there are n - 1 initial pairs, and each of n - 1 merges adds at most two. */
  constructor(parts: number) {
    this.items = new Float64Array(3 * parts);
  }

  push(item: number): void {
    const { items } = this;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent]! <= item) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  pop(): number | undefined {
    if (this.size === 0) return undefined;
    const { items } = this;
    const first = items[0]!;
    const item = items[--this.size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && items[child + 1]! < items[child]!) child += 1;
      if (items[child]! >= item) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
    return first;
  }
}
