/** How sentences stand to each other: which are alike, and which are in the middle of all (LexRank). */
import type { GiveWay } from '../../kernel/index.js';

/** Sentences as sets of stems with weights; likeness is the cosine, found through the sentences of each stem. */
export class SentenceGraph {
  private readonly stems: readonly (readonly string[])[];
  private readonly weights: ReadonlyMap<string, number>;
  private readonly lengths: readonly number[];
  private readonly holders = new Map<string, number[]>();

  constructor(sentences: readonly ReadonlySet<string>[], weights: ReadonlyMap<string, number>) {
    this.stems = sentences.map((stems) => [...stems]);
    this.weights = weights;
    this.lengths = this.stems.map((stems) =>
      Math.sqrt(stems.reduce((sum, stem) => sum + (weights.get(stem) ?? 0) ** 2, 0)),
    );
    this.stems.forEach((stems, at) => {
      for (const stem of stems) {
        const holders = this.holders.get(stem);
        if (holders) holders.push(at);
        else this.holders.set(stem, [at]);
      }
    });
  }

  /** The likeness of one sentence to each, from 0 to 1; 0 to itself. */
  likenesses(at: number): Float64Array {
    const row = new Float64Array(this.stems.length);
    for (const stem of this.stems[at]!) {
      const square = (this.weights.get(stem) ?? 0) ** 2;
      for (const other of this.holders.get(stem)!) row[other]! += square;
    }
    const length = this.lengths[at]!;
    for (let other = 0; other < row.length; other++) {
      const both = length * this.lengths[other]!;
      row[other] = both === 0 ? 0 : row[other]! / both;
    }
    row[at] = 0;
    return row;
  }

  /** How central each is, the most central 1: what much alike sentences say counts most, as links do for pages. */
  async centralities(give_way: GiveWay): Promise<Float64Array> {
    const rows: { readonly others: Int32Array; readonly shares: Float64Array }[] = [];
    for (let at = 0; at < this.stems.length; at++) {
      const due = give_way();
      if (due) await due;
      rows.push(linksOf(this.likenesses(at)));
    }
    let ranks = new Float64Array(rows.length).fill(1);
    for (let round = 0; round < ROUNDS; round++) {
      const next = new Float64Array(rows.length).fill(1 - DAMPING);
      for (const [at, { others, shares }] of rows.entries()) {
        const due = at % 64 === 0 ? give_way() : undefined;
        if (due) await due;
        for (let i = 0; i < others.length; i++) next[others[i]!]! += DAMPING * ranks[at]! * shares[i]!;
      }
      ranks = next;
    }
    const most = ranks.reduce((a, b) => Math.max(a, b), 0);
    return most === 0 ? ranks : ranks.map((rank) => rank / most);
  }
}

const ROUNDS = 15;
const DAMPING = 0.85;
/** Less alike than this is chance. */
const LINKED = 0.1;

function linksOf(likenesses: Float64Array): { others: Int32Array; shares: Float64Array } {
  const others: number[] = [];
  let sum = 0;
  for (let other = 0; other < likenesses.length; other++) {
    if (likenesses[other]! < LINKED) continue;
    others.push(other);
    sum += likenesses[other]!;
  }
  return { others: Int32Array.from(others), shares: Float64Array.from(others, (other) => likenesses[other]! / sum) };
}
