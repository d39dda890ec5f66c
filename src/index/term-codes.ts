/**
 * Term codes: seven letters or digits, hashed from the term with a key per tenant and store. Frequencies thus count one
 * tenant only, the index holds no words, and without the key nobody can choose a word with the code of another.
 */

/** The character after each code encodes the frequency; the index reads it as a separator. */
const FREQUENCIES = '!"#$%&\'()*+,-./';
const CODE_LENGTH = 7;

/** The start values of both halves of a hash. */
interface Seed {
  readonly high: number;
  readonly low: number;
}

const LETTERS = '0123456789abcdefghijklmnopqrstuv';
/** All pairs of letters: composing a code from pairs is faster than formatting numbers. */
const PAIRS: readonly string[] = Array.from({ length: 1024 }, (_, at) => LETTERS[at >> 5]! + LETTERS[at & 31]!);

/** 35 bits of the hash, five per letter. */
function codeOf(term: string, seed: Seed): string {
  const { high, low } = hash(term, seed);
  return PAIRS[high & 1023]! + PAIRS[(high >>> 10) & 1023]! + PAIRS[(high >>> 20) & 1023]! + LETTERS[low & 31]!;
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

export const termCode = (index_key: string, term: string): string => codeOf(term, seedOf(index_key));

/** The terms of a text with their frequencies, as one string. */
export function encodeTerms(index_key: string, frequencies: ReadonlyMap<string, number>): string {
  const seed = seedOf(index_key);
  let encoded = '';
  for (const [term, count] of frequencies)
    encoded += codeOf(term, seed) + FREQUENCIES[Math.min(count, FREQUENCIES.length) - 1];
  return encoded;
}

/** The frequency of a term. Codes have a fixed length between separators, so no match crosses one. */
export function frequencyIn(encoded: string, code: string): number {
  const at = encoded.indexOf(code);
  return at < 0 ? 0 : encoded.charCodeAt(at + CODE_LENGTH) - 0x20;
}
