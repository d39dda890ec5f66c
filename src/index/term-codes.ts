/**
 * Term codes: numbers of 35 bits, hashed from the term with a key per tenant and store. Frequencies thus count one tenant
 * only, the index holds no words, and without the key nobody can choose a word with the code of another.
 */

/** Higher frequencies of a term do not count. */
const MAX_FREQUENCY = 15;

/** The start values of both halves of a hash. */
interface Seed {
  readonly high: number;
  readonly low: number;
}

/** 30 bits of one half of the hash, and 5 of the other. */
function codeOf(term: string, seed: Seed): number {
  const { high, low } = hash(term, seed);
  return (high & 0x3fffffff) * 32 + (low & 31);
}

function hash(text: string, seed: Seed): Seed {
  let { high, low } = seed;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return { high, low };
}

const START: Seed = { high: 0xdeadbeef, low: 0x41c6ce57 };

const seedOf = (index_key: string): Seed => hash(index_key, START);

export const termCode = (index_key: string, term: string): number => codeOf(term, seedOf(index_key));

/** The terms of a text, in the order of their codes, with their frequencies. */
export interface Terms {
  readonly codes: Float64Array;
  readonly frequencies: Uint8Array;
}

export function codedTerms(index_key: string, frequencies: ReadonlyMap<string, number>): Terms {
  const seed = seedOf(index_key);
  const coded = new Map<number, number>();
  for (const [term, count] of frequencies) {
    const code = codeOf(term, seed);
    coded.set(code, Math.min(MAX_FREQUENCY, (coded.get(code) ?? 0) + count));
  }
  const codes = Float64Array.from(coded.keys()).sort();
  return { codes, frequencies: Uint8Array.from(codes, (code) => coded.get(code)!) };
}

/** The first place whose value is not below the given one. */
export function lowerBound(sorted: ArrayLike<number>, value: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** How often a text has a term. */
export function frequencyOf({ codes, frequencies }: Terms, code: number): number {
  const at = lowerBound(codes, code);
  return codes[at] === code ? frequencies[at]! : 0;
}
