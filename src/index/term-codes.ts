/**
 * Terms as the index has them: each a code of seven letters or digits, made of the term and a key that the tenant has in this
 * store. So what is counted of a term is counted of its tenant alone, the index holds no words, and nobody who does not know
 * the key can choose a word whose code is that of another's.
 */

/** Behind each code stands one of these characters, which says how often the term occurs; the index reads it as a space. */
const FREQUENCIES = '!"#$%&\'()*+,-./';
const CODE_LENGTH = 7;

/** Where each half of a hash begins. */
interface Seed {
  readonly high: number;
  readonly low: number;
}

const LETTERS = '0123456789abcdefghijklmnopqrstuv';
/** Every two of them: a code is put together from pairs, since numbers are slow to write in another base. */
const PAIRS: readonly string[] = Array.from(
  { length: LETTERS.length ** 2 },
  (_, at) => LETTERS[at >> 5]! + LETTERS[at & 31]!,
);

/** 35 bits of a hash of two mixed halves, five to a letter. */
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

/** Both halves by all of the key. */
const seedOf = (index_key: string): Seed => hash(index_key, START);

export const termCode = (index_key: string, term: string): string => codeOf(term, seedOf(index_key));

/** The terms of a text, with how often each occurs, as one string. */
export function encodeTerms(index_key: string, frequencies: ReadonlyMap<string, number>): string {
  const seed = seedOf(index_key);
  let encoded = '';
  for (const [term, count] of frequencies)
    encoded += codeOf(term, seed) + FREQUENCIES[Math.min(count, FREQUENCIES.length) - 1];
  return encoded;
}

/** How often a term occurs, by its code. Codes are as long as what stands between two marks, so none is found across. */
export function frequencyIn(encoded: string, code: string): number {
  const at = encoded.indexOf(code);
  return at < 0 ? 0 : encoded.charCodeAt(at + CODE_LENGTH) - 0x20;
}
