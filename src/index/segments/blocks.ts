/**
 * Blocks of postings. A block is a sequence of entries, ordered by code: the code of a term, the number of its postings,
 * their size in bytes, and the postings. A posting is the distance from the ordinal before it, and the frequency of the
 * term if that is above 1. A long list goes on in the next blocks, as entries with the same code.
 *
 * All blocks have the same size, padded with zeros, so that SQLite overwrites a purged block in place: a row that shrinks
 * can move its neighbours within the file, and leave copies of them behind.
 */
import { ByteReader, ByteWriter } from './bytes.js';

/** One block fills a page of SQLite. */
export const BLOCK_BYTES = 3900;
/** Code, count and size of an entry. */
const MAX_ENTRY_HEAD = 12;

/** Postings of one term, with ascending ordinals. */
export interface Postings {
  readonly ordinals: ArrayLike<number>;
  readonly frequencies: ArrayLike<number>;
}

/** The first entry of a block. */
export interface BlockStart {
  readonly code: number;
  readonly ordinal: number;
  readonly count: number;
}

/** Writes the entries of a segment, in the order of their codes. */
export class BlockWriter {
  readonly blocks: Uint8Array[] = [];
  readonly starts: BlockStart[] = [];
  readonly #block = new ByteWriter(BLOCK_BYTES);
  readonly #chunk = new ByteWriter(BLOCK_BYTES);

  add(code: number, postings: Postings): void {
    const { ordinals, frequencies } = postings;
    for (let from = 0; from < ordinals.length; ) {
      this.#chunk.length = 0;
      let before = -1;
      let to = from;
      for (; to < ordinals.length && this.#chunk.length < BLOCK_BYTES - MAX_ENTRY_HEAD - 8; to++) {
        putPosting(this.#chunk, ordinals[to]! - before, frequencies[to]!);
        before = ordinals[to]!;
      }
      this.#place({ code, ordinal: ordinals[from]!, count: to - from });
      from = to;
    }
  }

  #place(start: BlockStart): void {
    if (this.#block.length + this.#chunk.length + MAX_ENTRY_HEAD > BLOCK_BYTES) this.finish();
    if (this.#block.length === 0) this.starts.push(start);
    putEntry(this.#block, start.code, start.count, this.#chunk.written);
  }

  /** Ends the current block. */
  finish(): void {
    if (this.#block.length === 0) return;
    this.blocks.push(padded(this.#block.written));
    this.#block.length = 0;
  }
}

function putPosting(chunk: ByteWriter, distance: number, frequency: number): void {
  chunk.varint(2 * distance + (frequency > 1 ? 1 : 0));
  if (frequency > 1) chunk.byte(frequency);
}

function putEntry(block: ByteWriter, code: number, count: number, postings: Uint8Array): void {
  block.code(code);
  block.varint(count);
  block.varint(postings.length);
  block.append(postings);
}

function padded(bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(bytes);
  return block;
}

export interface Entry {
  readonly code: number;
  readonly count: number;
  /** Where its postings begin. */
  readonly at: number;
}

/** The entries of a block. Padding reads as an entry without postings. */
export function* entriesOf(block: Uint8Array): Generator<Entry> {
  const reader = new ByteReader(block);
  while (reader.at < BLOCK_BYTES - MAX_ENTRY_HEAD) {
    const code = reader.code();
    const count = reader.varint();
    if (count === 0) return;
    const size = reader.varint();
    yield { code, count, at: reader.at };
    reader.at += size;
  }
}

export function entryOf(block: Uint8Array, code: number): Entry | undefined {
  for (const entry of entriesOf(block)) {
    if (entry.code === code) return entry;
    if (entry.code > code) return undefined;
  }
  return undefined;
}

/** Calls back with each posting of an entry, by ascending ordinal. */
export function eachPosting(
  block: Uint8Array,
  { at, count }: Entry,
  found: (ordinal: number, frequency: number) => void,
): void {
  const reader = new ByteReader(block, at);
  let ordinal = -1;
  for (let i = 0; i < count; i++) {
    const value = reader.varint();
    ordinal += Math.floor(value / 2);
    found(ordinal, value % 2 === 1 ? reader.byte() : 1);
  }
}

/** The first entry of a block; undefined if it is empty. */
export function startOf(block: Uint8Array): BlockStart | undefined {
  const [entry] = entriesOf(block);
  if (!entry) return undefined;
  const first = new ByteReader(block, entry.at);
  return { code: entry.code, ordinal: Math.floor(first.varint() / 2) - 1, count: entry.count };
}

/** The block without these postings; undefined if it has none of them. */
export function withoutOrdinals(block: Uint8Array, isGone: (ordinal: number) => boolean): Uint8Array | undefined {
  const rest = new ByteWriter(BLOCK_BYTES);
  const chunk = new ByteWriter(BLOCK_BYTES);
  let isChanged = false;
  for (const entry of entriesOf(block)) {
    chunk.length = 0;
    let [count, before] = [0, -1];
    eachPosting(block, entry, (ordinal, frequency) => {
      if (isGone(ordinal)) return;
      count++;
      putPosting(chunk, ordinal - before, frequency);
      before = ordinal;
    });
    isChanged ||= count < entry.count;
    if (count > 0) putEntry(rest, entry.code, count, chunk.written);
  }
  return isChanged ? padded(rest.written) : undefined;
}
