/** The segments of a tenant as a search reads them; headers and blocks are cached by the revision of their segment. */
import type { Query } from '../../driver/index.js';
import { lowerBound } from '../term-codes.js';
import { type Entry, eachPosting, entryOf } from './blocks.js';
import { blocksWith, decodeHeader, type Header, isPurged } from './header.js';
import { listSegments, type Range, readBlocks, readHeaders, type SegmentRow } from './store.js';

interface OpenSegment extends Omit<SegmentRow, 'blocks'> {
  readonly header: Header;
  /** Cached blocks, by number. */
  readonly blocks: Map<number, Uint8Array>;
}

/** The segments of one tenant and revision. */
interface OpenIndex {
  readonly revision: number;
  readonly segments: readonly OpenSegment[];
}

/** Cached blocks and documents of headers, of all tenants: about 24 and 16 MB. */
const MAX_BLOCKS = 6000;
const MAX_DOCS = 2_000_000;

const opened = new Map<string, OpenIndex>();
let cachedBlocks = 0;

function clearBlocks(): void {
  for (const { segments } of opened.values()) for (const { blocks } of segments) blocks.clear();
  cachedBlocks = 0;
}

const docsOf = ({ segments }: OpenIndex): number =>
  segments.reduce((sum, { header }) => sum + header.doc_nos.length, 0);

/** Keeps the index opened last. */
function evictHeaders(): void {
  let docs = [...opened.values()].reduce((sum, index) => sum + docsOf(index), 0);
  for (const [name, index] of opened) {
    if (docs <= MAX_DOCS || opened.size === 1) return;
    opened.delete(name);
    docs -= docsOf(index);
    for (const { blocks } of index.segments) cachedBlocks -= blocks.size;
  }
}

async function openIndex(query: Query, store: string, revision: number): Promise<OpenIndex> {
  const name = `${store} ${query.tenant}`;
  const known = opened.get(name);
  // Deleted and set again: the least recently used is first.
  opened.delete(name);
  if (known?.revision === revision) {
    opened.set(name, known);
    return known;
  }
  const rows = (await listSegments(query)).map((row) => ({ ...row, segment: Number(row.segment) }));
  const same = new Map(known?.segments.map((one) => [one.segment, one]));
  const isSame = (row: SegmentRow) => same.get(row.segment)?.revision === row.revision;
  const missing = rows.filter((row) => !isSame(row)).map(({ segment }) => segment);
  const headers = missing.length === 0 ? new Map<number, Uint8Array>() : await readHeaders(query, missing);
  const segments = rows.map((row): OpenSegment => {
    if (isSame(row)) return same.get(row.segment)!;
    return { ...row, header: decodeHeader(headers.get(row.segment)!), blocks: new Map() };
  });
  for (const one of known?.segments ?? []) if (!segments.includes(one)) cachedBlocks -= one.blocks.size;
  const index = { revision, segments };
  opened.set(name, index);
  evictHeaders();
  return index;
}

/** What a folded document is ranked by, besides its row. */
export interface FoldedMeasures {
  readonly length: number;
  readonly flags: number;
}

/** The folded documents of a tenant at one moment, without hidden ones. */
export class FoldedIndex {
  readonly #query: Query;
  readonly #segments: readonly OpenSegment[];
  readonly #dead: ReadonlySet<number>;

  private constructor(query: Query, { segments }: OpenIndex, dead: ReadonlySet<number>) {
    this.#query = query;
    this.#segments = segments;
    this.#dead = dead;
  }

  static async open(query: Query, store: string, revision: number, dead: ReadonlySet<number>): Promise<FoldedIndex> {
    return new FoldedIndex(query, await openIndex(query, store, revision), dead);
  }

  get docs(): number {
    return this.#segments.reduce((sum, { docs }) => sum + docs, 0) - this.#dead.size;
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0;
  }

  /** The document frequency of a term, exact up to a limit. */
  async count(code: number, limit: number): Promise<number> {
    let count = 0;
    const places = this.#segments.flatMap((segment) => firstPlaces(segment, code));
    for (const block of await this.#read(places)) count += entryOf(block, code)?.count ?? 0;
    for (const { header } of this.#segments) {
      const { first, end } = blocksWith(header, code);
      for (let at = first; at < end; at++) if (header.codes[at] === code) count += header.counts[at]!;
    }
    if (this.#dead.size === 0 || count === 0 || count > limit + this.#dead.size) return count;
    return (await this.postings(code, EVERYTHING, limit)).length;
  }

  /** The newest documents with a term, newest first. */
  async postings(code: number, { from, to }: Range, limit: number): Promise<number[]> {
    const found: number[] = [];
    for (const segment of [...this.#segments].reverse()) {
      if (segment.first_doc > to) continue;
      if (segment.last_doc < from || found.length >= limit) break;
      await this.#postingsIn(segment, code, { from, to }, limit, found);
    }
    return found;
  }

  async #postingsIn(segment: OpenSegment, code: number, { from, to }: Range, limit: number, found: number[]) {
    const { header } = segment;
    const { first, end } = blocksWith(header, code);
    // From the last block on: they hold the newest documents. A few at a time, since the list may be long.
    for (let before = end; before > first && found.length < limit; ) {
      const at = Math.max(first, before - BLOCKS_PER_READ);
      const blocks = await this.#read(placesOf(segment, at, before));
      for (let i = blocks.length - 1; i >= 0 && found.length < limit; i--) {
        const some: number[] = [];
        this.#eachDoc(header, blocks[i]!, code, (doc_no) => {
          if (doc_no >= from && doc_no <= to) some.push(doc_no);
        });
        for (let j = some.length - 1; j >= 0 && found.length < limit; j--) found.push(some[j]!);
      }
      before = at;
    }
  }

  #eachDoc(header: Header, data: Uint8Array, code: number, found: (doc_no: number) => void): void {
    const entry = entryOf(data, code);
    if (!entry) return;
    const dead = this.#dead;
    eachPosting(data, entry, (ordinal) => {
      const doc_no = header.doc_nos[ordinal]!;
      if (dead.size === 0 || !dead.has(doc_no)) found(doc_no);
    });
  }

  /** How often a term occurs in each of these documents, which are in ascending order. */
  async frequencies(doc_nos: readonly number[], code: number): Promise<Uint8Array> {
    const frequencies = new Uint8Array(doc_nos.length);
    const wanted = this.#segments.flatMap((segment) => {
      const docs = ordinalsOf(segment, doc_nos);
      return neededBlocks(segment.header, code, docs).map((block) => ({ place: { segment, block }, docs }));
    });
    const blocks = await this.#read(wanted.map(({ place }) => place));
    for (const [i, data] of blocks.entries()) {
      const entry = entryOf(data, code);
      if (entry) joinPostings(data, entry, wanted[i]!.docs, frequencies);
    }
    return frequencies;
  }

  /** Undefined for a document that is not in a segment. */
  measures(doc_no: number): FoldedMeasures | undefined {
    const segment = this.#segmentOf(doc_no);
    if (!segment) return undefined;
    const { header } = segment;
    const at = lowerBound(header.doc_nos, doc_no);
    if (header.doc_nos[at] !== doc_no || isPurged(header, at)) return undefined;
    return { length: header.lengths[at]!, flags: header.flags[at]! };
  }

  #segmentOf(doc_no: number): OpenSegment | undefined {
    return this.#segments.find(({ first_doc, last_doc }) => doc_no >= first_doc && doc_no <= last_doc);
  }

  /** The blocks at these places, in their order. */
  async #read(places: readonly Place[]): Promise<Uint8Array[]> {
    const found = places.map(({ segment, block }) => segment.blocks.get(block));
    const missing = places.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) return found as Uint8Array[];
    if (cachedBlocks + missing.length > MAX_BLOCKS) clearBlocks();
    const bySegment = new Map(missing.map(({ segment }) => [segment.segment, segment.blocks]));
    const rows = await readBlocks(
      this.#query,
      missing.map(({ segment, block }) => ({ segment: segment.segment, block })),
    );
    const read = new Map<string, Uint8Array>();
    for (const { segment, block, data } of rows) {
      read.set(`${segment} ${block}`, data);
      const blocks = bySegment.get(Number(segment))!;
      if (!blocks.has(Number(block))) cachedBlocks++;
      blocks.set(Number(block), data);
    }
    return found.map((data, i) => data ?? read.get(`${places[i]!.segment.segment} ${places[i]!.block}`)!);
  }
}

interface Place {
  readonly segment: OpenSegment;
  readonly block: number;
}

const EVERYTHING: Range = { from: 0, to: Number.MAX_SAFE_INTEGER };
const BLOCKS_PER_READ = 64;

const placesOf = (segment: OpenSegment, from: number, to: number): Place[] =>
  Array.from({ length: to - from }, (_, i) => ({ segment, block: from + i }));

/** The block that has to be read to count the postings of a term; the header counts the others. */
function firstPlaces(segment: OpenSegment, code: number): Place[] {
  const { first, end } = blocksWith(segment.header, code);
  return first < end && segment.header.codes[first] !== code ? placesOf(segment, first, first + 1) : [];
}

interface WantedDoc {
  readonly ordinal: number;
  /** Its place in the list of documents. */
  readonly at: number;
}

function ordinalsOf({ header, first_doc, last_doc }: OpenSegment, doc_nos: readonly number[]): WantedDoc[] {
  const wanted: WantedDoc[] = [];
  for (const [at, doc_no] of doc_nos.entries()) {
    if (doc_no < first_doc || doc_no > last_doc) continue;
    const ordinal = lowerBound(header.doc_nos, doc_no);
    if (header.doc_nos[ordinal] === doc_no) wanted.push({ ordinal, at });
  }
  return wanted;
}

/** The blocks whose postings of a term may include these ordinals. */
function neededBlocks(header: Header, code: number, places: readonly WantedDoc[]): number[] {
  const { first, end } = blocksWith(header, code);
  const needed: number[] = [];
  for (let block = first; block < end; block++) {
    const next = block + 1 < end ? header.ordinals[block + 1]! : Number.POSITIVE_INFINITY;
    const from = header.codes[block] === code ? header.ordinals[block]! : 0;
    if (places.some(({ ordinal }) => ordinal >= from && ordinal < next)) needed.push(block);
  }
  return needed;
}

function joinPostings(data: Uint8Array, entry: Entry, places: readonly WantedDoc[], frequencies: Uint8Array): void {
  let next = 0;
  eachPosting(data, entry, (ordinal, frequency) => {
    while (next < places.length && places[next]!.ordinal < ordinal) next++;
    if (next < places.length && places[next]!.ordinal === ordinal) frequencies[places[next]!.at] = frequency;
  });
}
