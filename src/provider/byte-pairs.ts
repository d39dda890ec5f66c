/** Byte-pair merging of a long piece of text: by a heap, in n log n, where looking for the lowest rank again takes n². */

export type RankOfBytes = (bytes: Uint8Array) => number | undefined;

/** No token: the pair cannot be merged. */
const NONE = -1;
/** Ranks are below 2^18 and starts below 2^32, so both fit into one exact number that sorts by rank, then by place. */
const STARTS = 2 ** 32;
const RANKS = 2 ** 18;

/** How many tokens a piece becomes: always the pair of the lowest rank is merged, the leftmost first. */
export function longPieceTokens(piece: Uint8Array, rankOf: RankOfBytes): number {
  const n = piece.length;
  // A part is known by its start. `next` and `before` link the parts that are left, `token` is the rank of each.
  const next = Int32Array.from({ length: n }, (_, i) => i + 1);
  const before = Int32Array.from({ length: n + 1 }, (_, i) => i - 1);
  const token = Int32Array.from(piece, (byte) => rankOf(Uint8Array.of(byte))!);
  // Of the part and its successor, as it stands now: an entry of the heap that says otherwise is out of date.
  const pair = new Int32Array(n).fill(NONE);
  const known = new Map<number, number>();
  const heap = new Heap(n);

  const consider = (start: number): void => {
    const second = next[start]!;
    pair[start] = NONE;
    if (second >= n) return;
    // Two tokens say which bytes they are, so what they merge into is looked up once.
    const both = token[start]! * RANKS + token[second]!;
    let rank = known.get(both);
    if (rank === undefined) known.set(both, (rank = rankOf(piece.subarray(start, next[second])) ?? NONE));
    pair[start] = rank;
    if (rank !== NONE) heap.push(rank * STARTS + start);
  };

  for (let start = 0; start < n - 1; start++) consider(start);
  let parts = n;
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
    const start = entry % STARTS;
    const rank = Math.floor(entry / STARTS);
    if (pair[start] !== rank) continue;
    const merged = next[start]!;
    const after = next[merged]!;
    next[start] = after;
    before[after] = start;
    pair[merged] = NONE;
    token[start] = rank;
    parts -= 1;
    consider(start);
    if (start > 0) consider(before[start]!);
  }
  return parts;
}

/** The smallest number first. */
class Heap {
  private readonly items: Float64Array;
  private size = 0;

  /** Of n parts there are n - 1 pairs at first, and each of n - 1 merges adds two at most. */
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
