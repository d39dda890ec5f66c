/** Similarity of sentences, and how central each is (LexRank). */
import type { CooperativeYield } from '../../kernel/index.js';

const ROUNDS = 15;
const DAMPING = 0.85;
/** Lower similarities are chance. */
const MIN_LINK = 0.1;

export interface SentenceGraph {
  /** The similarity of one sentence to each, from 0 to 1; 0 to itself. */
  similarities(at: number): Float64Array;
  /** The centrality of each, the highest 1: sentences count by the sentences like them, as pages do by links. */
  centralities(maybe_yield: CooperativeYield): Promise<Float64Array>;
}

/** Sentences are sets of weighted stems. Similarity is the cosine, computed through posting lists of stems. */
export function sentenceGraph(
  sentences: readonly ReadonlySet<string>[],
  weights: ReadonlyMap<string, number>,
): SentenceGraph {
  const squareOf = (stem: string): number => (weights.get(stem) ?? 0) ** 2;
  const lengths = sentences.map((stems) => Math.sqrt([...stems].reduce((sum, stem) => sum + squareOf(stem), 0)));
  const postings = new Map<string, number[]>();
  for (const [at, stems] of sentences.entries())
    for (const stem of stems) {
      const posting = postings.get(stem);
      if (posting) posting.push(at);
      else postings.set(stem, [at]);
    }

  function similarities(at: number): Float64Array {
    const row = new Float64Array(sentences.length);
    for (const stem of sentences[at]!) {
      const square = squareOf(stem);
      for (const other of postings.get(stem)!) row[other]! += square;
    }
    for (let other = 0; other < row.length; other++) {
      const both = lengths[at]! * lengths[other]!;
      row[other] = both === 0 ? 0 : row[other]! / both;
    }
    row[at] = 0;
    return row;
  }

  async function centralities(maybe_yield: CooperativeYield): Promise<Float64Array> {
    const rows: Links[] = [];
    for (let at = 0; at < sentences.length; at++) {
      await maybe_yield();
      rows.push(linksOf(similarities(at)));
    }
    let ranks = new Float64Array(rows.length).fill(1);
    for (let round = 0; round < ROUNDS; round++) {
      const next = new Float64Array(rows.length).fill(1 - DAMPING);
      for (const [at, { others, shares }] of rows.entries()) {
        if (at % 64 === 0) await maybe_yield();
        for (let i = 0; i < others.length; i++) next[others[i]!]! += DAMPING * ranks[at]! * shares[i]!;
      }
      ranks = next;
    }
    const most = ranks.reduce((a, b) => Math.max(a, b), 0);
    return most === 0 ? ranks : ranks.map((rank) => rank / most);
  }

  return { similarities, centralities };
}

interface Links {
  readonly others: Int32Array;
  readonly shares: Float64Array;
}

function linksOf(similarities: Float64Array): Links {
  const others: number[] = [];
  let sum = 0;
  similarities.forEach((similarity, other) => {
    if (similarity < MIN_LINK) return;
    others.push(other);
    sum += similarity;
  });
  return { others: Int32Array.from(others), shares: Float64Array.from(others, (other) => similarities[other]! / sum) };
}
