/**
 * The header of a segment: its documents with what they are ranked by, and where its blocks begin. The ordinal of a
 * document is its place in the segment. A purge changes the header in place, without changing its size.
 */
import { lowerBound } from '../term-codes.js';
import type { BlockStart } from './blocks.js';
import { ByteReader, ByteWriter } from './bytes.js';

/** The flags of a document that was purged: its ordinal stays. */
const PURGED = 255;

export interface SegmentDocs {
  /** Ascending. */
  readonly doc_nos: Float64Array;
  /** Number of terms. */
  readonly lengths: Uint16Array;
  readonly flags: Uint8Array;
}

export interface Header extends SegmentDocs {
  /** Of the first entry of each block. */
  readonly codes: Float64Array;
  readonly ordinals: Float64Array;
  readonly counts: Float64Array;
}

export const isPurged = ({ flags }: SegmentDocs, ordinal: number): boolean => flags[ordinal] === PURGED;

export function purge({ flags, lengths }: SegmentDocs, ordinal: number): void {
  flags[ordinal] = PURGED;
  lengths[ordinal] = 0;
}

export const liveDocs = ({ flags }: SegmentDocs): number =>
  flags.reduce((sum, one) => sum + (one === PURGED ? 0 : 1), 0);

export function headerOf(docs: SegmentDocs, starts: readonly BlockStart[]): Header {
  return {
    ...docs,
    codes: Float64Array.from(starts, ({ code }) => code),
    ordinals: Float64Array.from(starts, ({ ordinal }) => ordinal),
    counts: Float64Array.from(starts, ({ count }) => count),
  };
}

export function encodeHeader({ doc_nos, lengths, flags, codes, ordinals, counts }: Header): Uint8Array {
  const bytes = new ByteWriter(8 * doc_nos.length + 13 * codes.length + 16);
  bytes.varint(doc_nos.length);
  let before = 0;
  for (let i = 0; i < doc_nos.length; i++) {
    bytes.varint(doc_nos[i]! - before);
    bytes.byte(lengths[i]! >> 8);
    bytes.byte(lengths[i]! & 255);
    bytes.byte(flags[i]!);
    before = doc_nos[i]!;
  }
  bytes.varint(codes.length);
  for (let i = 0; i < codes.length; i++) {
    bytes.code(codes[i]!);
    bytes.uint32(ordinals[i]!);
    bytes.uint32(counts[i]!);
  }
  return bytes.written.slice();
}

export function decodeHeader(encoded: Uint8Array): Header {
  const bytes = new ByteReader(encoded);
  const docs = bytes.varint();
  const doc_nos = new Float64Array(docs);
  const lengths = new Uint16Array(docs);
  const flags = new Uint8Array(docs);
  let doc_no = 0;
  for (let i = 0; i < docs; i++) {
    doc_nos[i] = doc_no += bytes.varint();
    lengths[i] = (bytes.byte() << 8) | bytes.byte();
    flags[i] = bytes.byte();
  }
  const blocks = bytes.varint();
  const header = { doc_nos, lengths, flags, codes: new Float64Array(blocks) };
  const ordinals = new Float64Array(blocks);
  const counts = new Float64Array(blocks);
  for (let i = 0; i < blocks; i++) {
    header.codes[i] = bytes.code();
    ordinals[i] = bytes.uint32();
    counts[i] = bytes.uint32();
  }
  return { ...header, ordinals, counts };
}

/** The blocks that may have postings of a term: the last that begins before it, and those that begin with it. */
export function blocksWith({ codes }: Pick<Header, 'codes'>, code: number): { first: number; end: number } {
  const at = lowerBound(codes, code);
  let end = at;
  while (end < codes.length && codes[end] === code) end++;
  return { first: Math.max(at - 1, 0), end };
}
