/**
 * Makes segments: of measured documents, of smaller segments, and without purged documents. Pure. In steps, since a large
 * segment takes longer than the event loop may be held.
 */
import { runSteps, type Steps } from '../../kernel/index.js';
import type { Measured } from '../searchable.js';
import type { Terms } from '../term-codes.js';
import {
  type BlockStart,
  BlockWriter,
  eachPosting,
  entriesOf,
  type Postings,
  startOf,
  withoutOrdinals,
} from './blocks.js';
import { type Header, headerOf, isPurged, liveDocs, purge, type SegmentDocs } from './header.js';

export interface MeasuredDoc extends Measured {
  readonly doc_no: number;
}

/** A segment in memory. */
export interface Segment {
  readonly header: Header;
  readonly blocks: readonly Uint8Array[];
}

/** A posting list that grows. */
interface GrowingList extends Postings {
  readonly ordinals: number[];
  readonly frequencies: number[];
}

const MAX_LENGTH = 0xffff;
/** Above all codes of terms. */
const NO_CODE = 2 ** 40 - 1;

/** Documents, or posting lists, in one step. */
const STEP = 64;

/** Of documents with ascending numbers. */
export function* segmentSteps(docs: readonly MeasuredDoc[]): Steps<Segment> {
  const lists = new Map<number, GrowingList>();
  for (const [ordinal, { terms }] of docs.entries()) {
    if (ordinal % STEP === 0) yield;
    for (let i = 0; i < terms.codes.length; i++) {
      const list = listOf(lists, terms.codes[i]!);
      list.ordinals.push(ordinal);
      list.frequencies.push(terms.frequencies[i]!);
    }
  }
  return yield* written(lists, {
    doc_nos: Float64Array.from(docs, ({ doc_no }) => doc_no),
    lengths: Uint16Array.from(docs, ({ length }) => Math.min(length, MAX_LENGTH)),
    flags: Uint8Array.from(docs, ({ flags }) => flags),
  });
}

/** At once, of few documents. */
export const segmentOf = (docs: readonly MeasuredDoc[]): Segment => runSteps(segmentSteps(docs));

function listOf(lists: Map<number, GrowingList>, code: number): GrowingList {
  let list = lists.get(code);
  if (!list) lists.set(code, (list = { ordinals: [], frequencies: [] }));
  return list;
}

function* written(lists: ReadonlyMap<number, Postings>, docs: SegmentDocs): Steps<Segment> {
  const writer = new BlockWriter();
  for (const [i, code] of Float64Array.from(lists.keys()).sort().entries()) {
    if (i % STEP === 0) yield;
    writer.add(code, lists.get(code)!);
  }
  writer.finish();
  return { header: headerOf(docs, writer.starts), blocks: writer.blocks };
}

/** One segment of several, in the order of their documents, without purged ones. */
export function* mergeSteps(segments: readonly Segment[]): Steps<Segment> {
  const lists = new Map<number, GrowingList>();
  const doc_nos: number[] = [];
  const lengths: number[] = [];
  const flags: number[] = [];
  for (const { header, blocks } of segments) {
    const places = new Float64Array(header.doc_nos.length);
    for (let i = 0; i < places.length; i++) {
      if (isPurged(header, i)) continue;
      places[i] = doc_nos.length;
      doc_nos.push(header.doc_nos[i]!);
      lengths.push(header.lengths[i]!);
      flags.push(header.flags[i]!);
    }
    for (const block of blocks) {
      yield;
      for (const entry of entriesOf(block)) {
        let list: GrowingList | undefined;
        eachPosting(block, entry, (ordinal, frequency) => {
          // A segment that goes as a whole keeps the postings of purged documents until it is deleted.
          if (isPurged(header, ordinal)) return;
          list ??= listOf(lists, entry.code);
          list.ordinals.push(places[ordinal]!);
          list.frequencies.push(frequency);
        });
      }
    }
  }
  return yield* written(lists, {
    doc_nos: Float64Array.from(doc_nos),
    lengths: Uint16Array.from(lengths),
    flags: Uint8Array.from(flags),
  });
}

export interface Purged {
  readonly header: Header;
  /** The changed blocks, by number. */
  readonly blocks: readonly { readonly block: number; readonly data: Uint8Array }[];
  /** Documents that remain. */
  readonly docs: number;
}

/** A segment without these documents. Their ordinals stay, so that the other postings do. */
export function* purgeSteps({ header, blocks }: Segment, doc_nos: ReadonlySet<number>): Steps<Purged> {
  const gone = new Set<number>();
  for (const [ordinal, doc_no] of header.doc_nos.entries()) if (doc_nos.has(doc_no)) gone.add(ordinal);
  const after: Header = { ...header, lengths: header.lengths.slice(), flags: header.flags.slice() };
  for (const ordinal of gone) purge(after, ordinal);
  const changed: { block: number; data: Uint8Array }[] = [];
  const left: Uint8Array[] = [];
  for (const [block, data] of blocks.entries()) {
    yield;
    const rest = withoutOrdinals(data, (ordinal) => gone.has(ordinal));
    if (rest) changed.push({ block, data: rest });
    left.push(rest ?? data);
  }
  // Of all blocks: a purge that was interrupted has changed some.
  return { header: { ...after, ...startsOf(left) }, blocks: changed, docs: liveDocs(after) };
}

/** The header of a segment without any documents, by which no posting is found. */
export function emptied({ doc_nos, codes }: Header): Header {
  const docs = { doc_nos, lengths: new Uint16Array(doc_nos.length), flags: new Uint8Array(doc_nos.length) };
  for (let ordinal = 0; ordinal < doc_nos.length; ordinal++) purge(docs, ordinal);
  return { ...docs, ...noStarts(codes.length) };
}

const noStarts = (blocks: number): Pick<Header, 'codes' | 'ordinals' | 'counts'> => ({
  codes: new Float64Array(blocks).fill(NO_CODE),
  ordinals: new Float64Array(blocks),
  counts: new Float64Array(blocks),
});

/** An empty block begins where the next one does: it keeps its place in the order, but no code of an erased term. */
export function startsOf(blocks: readonly Uint8Array[]): Pick<Header, 'codes' | 'ordinals' | 'counts'> {
  const { codes, ordinals, counts } = noStarts(blocks.length);
  let next: BlockStart = { code: NO_CODE, ordinal: 0, count: 0 };
  for (let block = blocks.length - 1; block >= 0; block--) {
    next = startOf(blocks[block]!) ?? { ...next, count: 0 };
    codes[block] = next.code;
    ordinals[block] = next.ordinal;
    counts[block] = next.count;
  }
  return { codes, ordinals, counts };
}

/** The terms of each document of a segment, by ordinal: what it was made of. */
export function* termSteps({ header, blocks }: Segment): Steps<Terms[]> {
  const lists = Array.from(header.doc_nos, () => ({ codes: [] as number[], frequencies: [] as number[] }));
  for (const block of blocks) {
    yield;
    for (const entry of entriesOf(block))
      eachPosting(block, entry, (ordinal, frequency) => {
        lists[ordinal]!.codes.push(entry.code);
        lists[ordinal]!.frequencies.push(frequency);
      });
  }
  return lists.map(({ codes, frequencies }) => ({
    codes: Float64Array.from(codes),
    frequencies: Uint8Array.from(frequencies),
  }));
}
