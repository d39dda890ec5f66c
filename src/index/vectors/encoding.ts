/** Encodes unit vectors as text, and as sign bits for a first selection. */

/** The unit vector; undefined for a zero vector. */
export function normalised(vector: ArrayLike<number>): Float32Array | undefined {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  const length = Math.sqrt(squares);
  if (!(length > 0) || !Number.isFinite(length)) return undefined;
  return Float32Array.from(vector, (member) => member / length);
}

/** Cosine similarity of unit vectors. */
export function similarity(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Base64 of little-endian floats: the drivers carry texts and numbers. */
export function vectorToText(vector: Float32Array): string {
  const bytes = Buffer.alloc(4 * vector.length);
  for (let i = 0; i < vector.length; i++) bytes.writeFloatLE(vector[i]!, 4 * i);
  return bytes.toString('base64');
}

export function vectorFromText(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  const vector = new Float32Array(bytes.length / 4);
  for (let i = 0; i < vector.length; i++) vector[i] = bytes.readFloatLE(4 * i);
  return vector;
}

/** One bit per member, set if it is positive; the first is the lowest bit of the first word. */
export function signBits(vector: Float32Array): Uint32Array {
  const words = new Uint32Array(Math.ceil(vector.length / 32));
  vector.forEach((member, i) => {
    if (member > 0) words[i >> 5]! |= 1 << (i & 31);
  });
  return words;
}

/** Base64, for SQLite. */
export function bitsToText(words: Uint32Array): string {
  const bytes = Buffer.alloc(4 * words.length);
  for (let i = 0; i < words.length; i++) bytes.writeUInt32LE(words[i]!, 4 * i);
  return bytes.toString('base64');
}

export function bitsFromText(text: string, into: Uint32Array, at: number): void {
  const bytes = Buffer.from(text, 'base64');
  for (let i = 0; 4 * i + 3 < bytes.length; i++) into[at + i] = bytes.readUInt32LE(4 * i);
}

/** Zeros and ones, which PostgreSQL reads as a bit string. */
export const bitsAsDigits = (vector: Float32Array): string =>
  Array.from(vector, (member) => (member > 0 ? '1' : '0')).join('');

/** Hamming distance of `words` words from these offsets on. */
export function distance(a: Uint32Array, from_a: number, b: Uint32Array, from_b: number, words: number): number {
  let sum = 0;
  for (let i = 0; i < words; i++) {
    let x = a[from_a + i]! ^ b[from_b + i]!;
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    x = (x + (x >>> 4)) & 0x0f0f0f0f;
    sum += Math.imul(x, 0x01010101) >>> 24;
  }
  return sum;
}
