/**
 * Marks of erased texts: a rolling hash and a keyed hash of some parts, by which they can be found in a file. A mark says
 * nothing about the text without the key of the store, as the keyed hashes of erased content do.
 */
import { createHmac } from 'node:crypto';

/** Bytes of a marked part. */
export const PART_BYTES = 24;
const PARTS_PER_TEXT = 16;
const BASE = 16_777_619;
/** BASE to the power of PART_BYTES - 1, as 32 bits. */
const LEADING = Array.from({ length: PART_BYTES - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);

export const firstHash = (bytes: Uint8Array, at: number): number => {
  let hash = 0;
  for (let i = at; i < at + PART_BYTES; i++) hash = (Math.imul(hash, BASE) + bytes[i]!) | 0;
  return hash;
};

/** The hash of the part one byte further. */
export const nextHash = (hash: number, leaving: number, entering: number): number =>
  (Math.imul((hash - Math.imul(leaving, LEADING)) | 0, BASE) + entering) | 0;

const keyed = (key: string, part: Uint8Array): string =>
  createHmac('sha256', key).update(part).digest('hex').slice(0, 32);

export const markOf = (key: string, part: Uint8Array): string =>
  `${(firstHash(part, 0) >>> 0).toString(16).padStart(8, '0')}${keyed(key, part)}`;

/** The marks of evenly spaced parts of a text; none of a text that is shorter than a part. */
export function marksIn(key: string, text: string | null): string[] {
  const bytes = Buffer.from(text ?? '');
  const last = bytes.length - PART_BYTES;
  if (last < 0) return [];
  const parts = Math.min(PARTS_PER_TEXT, Math.floor(bytes.length / PART_BYTES));
  const marks = new Set<string>();
  for (let i = 0; i < parts; i++) {
    const at = parts === 1 ? 0 : Math.floor((last * i) / (parts - 1));
    marks.add(markOf(key, bytes.subarray(at, at + PART_BYTES)));
  }
  return [...marks];
}

/** By the rolling hash of a part, the marks with it. */
export function marksByHash(marks: readonly string[]): Map<number, Set<string>> {
  const byHash = new Map<number, Set<string>>();
  for (const mark of marks) {
    const hash = Number.parseInt(mark.slice(0, 8), 16) | 0;
    const known = byHash.get(hash);
    if (known) known.add(mark);
    else byHash.set(hash, new Set([mark]));
  }
  return byHash;
}
