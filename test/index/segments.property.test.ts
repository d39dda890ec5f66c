/** Segments of the index against plain models: bytes, blocks, making, merging and purging. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  BLOCK_BYTES,
  BlockWriter,
  eachPosting,
  entriesOf,
  entryOf,
  startOf,
  withoutOrdinals,
} from '#cairn/index/segments/blocks.js';
import { ByteReader, ByteWriter } from '#cairn/index/segments/bytes.js';
import { blocksWith, decodeHeader, encodeHeader, isPurged, liveDocs } from '#cairn/index/segments/header.js';
import type { Segment } from '#cairn/index/segments/making.js';
import { type MeasuredDoc, mergeSteps, purgeSteps, segmentOf, termSteps } from '#cairn/index/segments/making.js';
import { runSteps } from '#cairn/kernel/index.js';

const MAX_CODE = 2 ** 35 - 1;
const code = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.maxSafeNat().map((n) => n % MAX_CODE),
  fc.constant(MAX_CODE),
);

/** The frequency of each term. */
type Model = ReadonlyMap<number, ReadonlyMap<number, number>>;

interface Shape {
  readonly docs: number;
  /** Terms that every document has. */
  readonly common: readonly number[];
  /** Terms of one document, by its number in the list. */
  readonly rare: readonly (readonly [doc: number, code: number, frequency: number])[];
  readonly gap: number;
  readonly first: number;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  docs: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 40 }) },
    { weight: 1, arbitrary: fc.constant(6000) },
  ),
  common: fc.uniqueArray(code, { maxLength: 3 }),
  rare: fc.array(fc.tuple(fc.nat(), code, fc.integer({ min: 1, max: 15 })), { maxLength: 400 }),
  gap: fc.integer({ min: 1, max: 300 }),
  first: fc.integer({ min: 1, max: 2 ** 40 }),
});

function docsOf({ docs, common, rare, gap, first }: Shape): MeasuredDoc[] {
  const terms = Array.from({ length: docs }, (_, i) => new Map(common.map((one) => [one, 1 + (i % 3)])));
  for (const [at, one, frequency] of rare) terms[at % docs]!.set(one, frequency);
  return terms.map((map, i) => {
    const codes = [...map.keys()].sort((a, b) => a - b);
    const frequencies = Uint8Array.from(codes, (one) => map.get(one)!);
    const doc_no = first + i * gap;
    return {
      doc_no,
      length: (i * 977) % 70_000,
      flags: i % 8,
      terms: { codes: Float64Array.from(codes), frequencies },
    };
  });
}

const modelOf = (docs: readonly MeasuredDoc[]): Model =>
  new Map(
    docs.map(({ doc_no, terms }) => [doc_no, new Map([...terms.codes].map((one, i) => [one, terms.frequencies[i]!]))]),
  );

const modelIn = (segment: Segment): Model => {
  const terms = runSteps(termSteps(segment));
  const live = [...segment.header.doc_nos].flatMap((doc_no, i) =>
    isPurged(segment.header, i) ? [] : [[doc_no, terms[i]!] as const],
  );
  return new Map(
    live.map(([doc_no, { codes, frequencies }]) => [
      doc_no,
      new Map([...codes].map((one, i) => [one, frequencies[i]!] as const)),
    ]),
  );
};

/** The documents that a search finds in the blocks that the header names for a term. */
function postingsOf({ header, blocks }: Segment, one: number): number[] {
  const { first, end } = blocksWith(header, one);
  const found: number[] = [];
  for (let block = first; block < end; block++) {
    const entry = entryOf(blocks[block]!, one);
    if (entry) eachPosting(blocks[block]!, entry, (ordinal) => found.push(header.doc_nos[ordinal]!));
  }
  return found;
}

/** As the header counts it, but for the block that begins before the term. */
function countOf({ header, blocks }: Segment, one: number): number {
  const { first, end } = blocksWith(header, one);
  let count = 0;
  for (let block = first; block < end; block++)
    count += header.codes[block] === one ? header.counts[block]! : (entryOf(blocks[block]!, one)?.count ?? 0);
  return count;
}

const codesOf = (model: Model): number[] => [...new Set([...model.values()].flatMap((terms) => [...terms.keys()]))];

function expectSound(segment: Segment): void {
  const { header, blocks } = segment;
  for (const block of blocks) expect(block).toHaveLength(BLOCK_BYTES);
  for (let i = 1; i < header.codes.length; i++) {
    const isBefore = header.codes[i - 1]! < header.codes[i]!;
    const goesOn = header.codes[i - 1] === header.codes[i] && header.ordinals[i - 1]! <= header.ordinals[i]!;
    expect(isBefore || goesOn, `block ${i} begins after block ${i - 1}`).toBe(true);
  }
  expect(decodeHeader(encodeHeader(header))).toEqual(header);
}

function expectSame(segment: Segment, docs: readonly MeasuredDoc[], absent: readonly number[] = []): void {
  expectSound(segment);
  const model = modelOf(docs);
  expect(modelIn(segment)).toEqual(model);
  expect(liveDocs(segment.header)).toBe(docs.length);
  for (const one of codesOf(model).slice(0, 50)) {
    const having = docs.filter(({ doc_no }) => model.get(doc_no)!.has(one)).map(({ doc_no }) => doc_no);
    expect(postingsOf(segment, one)).toEqual(having);
    expect(countOf(segment, one)).toBe(having.length);
  }
  for (const one of absent) expect(postingsOf(segment, one)).toEqual([]);
}

const afterPurge = (segment: Segment, doc_nos: ReadonlySet<number>): Segment => {
  const { header, blocks: changed } = runSteps(purgeSteps(segment, doc_nos));
  const blocks = [...segment.blocks];
  for (const { block, data } of changed) blocks[block] = data;
  return { header, blocks };
};

it('INDEX-11 bytes: numbers and codes are read as they were written', () => {
  const written = fc.oneof(
    fc.record({ kind: fc.constant('varint' as const), value: fc.integer({ min: 0, max: 2 ** 42 }) }),
    fc.record({ kind: fc.constant('uint32' as const), value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
    fc.record({ kind: fc.constant('code' as const), value: fc.integer({ min: 0, max: 2 ** 40 - 1 }) }),
    fc.record({ kind: fc.constant('byte' as const), value: fc.integer({ min: 0, max: 255 }) }),
  );
  fc.assert(
    fc.property(fc.array(written), fc.integer({ min: 0, max: 20 }), (values, capacity) => {
      const writer = new ByteWriter(capacity);
      for (const { kind, value } of values) writer[kind](value);
      const reader = new ByteReader(writer.written.slice());
      expect(values.map(({ kind }) => reader[kind]())).toEqual(values.map(({ value }) => value));
      expect(reader.at).toBe(writer.length);
    }),
  );
});

it('INDEX-11 a list that is longer than a block goes on in the next, and the header names where', () => {
  const writer = new BlockWriter();
  const ordinals = Array.from({ length: 20_000 }, (_, i) => i * 5);
  writer.add(7, { ordinals: [3], frequencies: [2] });
  writer.add(8, { ordinals, frequencies: ordinals.map((i) => 1 + (i % 15)) });
  writer.add(9, { ordinals: [4], frequencies: [1] });
  writer.finish();
  expect(writer.blocks.length).toBeGreaterThan(8);
  const found: number[] = [];
  for (const [i, block] of writer.blocks.entries()) {
    expect(startOf(block)).toEqual(writer.starts[i]);
    for (const entry of entriesOf(block))
      if (entry.code === 8)
        eachPosting(block, entry, (ordinal, frequency) => {
          expect(frequency).toBe(1 + (ordinal % 15));
          found.push(ordinal);
        });
  }
  expect(found).toEqual(ordinals);
  expect(writer.starts.filter(({ code }) => code === 8).length).toBeGreaterThan(8);
});

it('INDEX-11 a purged block has the size it had, and other postings stay', () => {
  fc.assert(
    fc.property(shape, fc.integer({ min: 2, max: 9 }), (given, every) => {
      for (const block of segmentOf(docsOf(given)).blocks) {
        const rest = withoutOrdinals(block, (ordinal) => ordinal % every === 0);
        if (!rest) continue;
        expect(rest).toHaveLength(BLOCK_BYTES);
        const listed = (data: Uint8Array, isLeft: (ordinal: number) => boolean) =>
          [...entriesOf(data)].flatMap((entry) => {
            const some: [number, number, number][] = [];
            eachPosting(data, entry, (ordinal, frequency) => {
              if (isLeft(ordinal)) some.push([entry.code, ordinal, frequency]);
            });
            return some;
          });
        expect(listed(rest, () => true)).toEqual(listed(block, (ordinal) => ordinal % every !== 0));
      }
    }),
    { numRuns: 30 },
  );
});

it('INDEX-11 a segment has the terms of its documents', () => {
  fc.assert(
    fc.property(shape, code, (given, absent) => {
      const docs = docsOf(given);
      const codes = codesOf(modelOf(docs));
      expectSame(segmentOf(docs), docs, codes.includes(absent) ? [] : [absent]);
    }),
    { numRuns: 50 },
  );
});

it('INDEX-11 a merge has the documents of its parts but for purged ones; what was purged before too', () => {
  fc.assert(
    fc.property(fc.array(shape, { minLength: 1, maxLength: 4 }), fc.integer({ min: 2, max: 5 }), (parts, every) => {
      let first = 1;
      const lists = parts.map((one) => {
        const docs = docsOf({ ...one, first });
        first = docs.at(-1)!.doc_no + 1;
        return docs;
      });
      const isLeft = ({ doc_no }: MeasuredDoc) => doc_no % every !== 0;
      const gone = new Set(
        lists
          .flat()
          .filter((one) => !isLeft(one))
          .map(({ doc_no }) => doc_no),
      );
      const segment = runSteps(mergeSteps(lists.map((docs) => afterPurge(segmentOf(docs), gone))));
      expectSame(segment, lists.flat().filter(isLeft));
      expect(segment).toEqual(
        segmentOf(
          lists
            .flat()
            .filter(isLeft)
            .map((one) => one),
        ),
      );
    }),
    { numRuns: 25 },
  );
});

it('SEARCH-16 a purge leaves no code of a term that only purged documents had, not even where blocks begin', () => {
  fc.assert(
    fc.property(shape, fc.integer({ min: 1, max: 4 }), (given, keep) => {
      const docs = docsOf(given);
      const isLeft = (_: unknown, i: number) => i % 7 < keep - 1;
      const left = docs.filter(isLeft);
      const gone = new Set(docs.filter((one, i) => !isLeft(one, i)).map(({ doc_no }) => doc_no));
      const before = segmentOf(docs);
      const after = afterPurge(before, gone);
      expect(encodeHeader(after.header)).toHaveLength(encodeHeader(before.header).length);
      const leftCodes = codesOf(modelOf(left));
      const erased = codesOf(modelOf(docs)).filter((one) => !leftCodes.includes(one));
      expectSame(after, left, erased);
      expect(erased.filter((one) => after.header.codes.includes(one))).toEqual([]);
      // A purge that was interrupted had replaced some blocks, but not the header.
      const half = { header: before.header, blocks: before.blocks.map((one, i) => (i % 2 ? one : after.blocks[i]!)) };
      expect(afterPurge(half, gone)).toEqual(after);
      expect(runSteps(mergeSteps([after]))).toEqual(segmentOf(left));
    }),
    { numRuns: 40 },
  );
});

it('INDEX-11 purging twice is purging once', () => {
  fc.assert(
    fc.property(shape, fc.integer({ min: 2, max: 5 }), (given, every) => {
      const segment = segmentOf(docsOf(given));
      const all = [...segment.header.doc_nos];
      const some = afterPurge(segment, new Set(all.filter((_, i) => i % every === 0)));
      const both = new Set(all.filter((_, i) => i % every <= 1));
      expect(afterPurge(some, both)).toEqual(afterPurge(segment, both));
    }),
    { numRuns: 25 },
  );
});
