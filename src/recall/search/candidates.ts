/** The first stage of a search: candidate documents, by how many and how rare terms of the question they have. */
import { type Range, TermBits } from '../../index/sql.js';
import { cooperativeYield } from '../../kernel/index.js';
import type { SearchedIndex } from './searched-index.js';

/** Document frequencies are counted up to here: a more common term weighs next to nothing. */
const MAX_COUNTED = 100_000;
/** Postings read per window, the rarest terms first; of each term the newest. */
const MAX_POSTINGS = 60_000;
const MAX_POSTINGS_OF_TERM = 30_000;
/** Maximum windows, read while the filters reject too many documents. */
const MAX_WINDOWS = 6;
/** Postings of each term in the first read: most terms have no more. */
const FIRST_POSTINGS = 2000;
const LARGEST_BATCH = 5000;
/** Terms that fit into the bits of a number: the rarest of a long question. */
const MAX_BITS = 30;

/** The last document of a batch: the window it was found in, the bits of its terms, and its number. */
export interface BatchEnd {
  readonly window: number;
  readonly bits: number;
  readonly doc_no: number;
}

/** The statistics of a ranking. Later pages reuse them, so that concurrent writes do not reorder it. */
export interface CandidateStatistics {
  /** Document frequency of each term. */
  readonly df: readonly number[];
  /** Indexes of the terms whose postings are read, rarest first. */
  readonly read: readonly number[];
}

interface CandidateSet extends CandidateStatistics {
  /** Whether all postings were read, up to the last batch. */
  readonly isComplete: () => boolean;
  /**
   * The next documents that share the most and rarest terms with the question: about `enough`, or, if the end of this
   * batch is known from an earlier page, up to it, so that none moves into the batch for one that is gone. Undefined at
   * the end.
   */
  readonly next: (enough: number, ended?: BatchEnd) => Promise<Batch | undefined>;
  /** Whether more batches may follow. */
  readonly hasMore: () => boolean;
}

interface Batch {
  readonly doc_nos: number[];
  readonly end: BatchEnd | undefined;
}

export async function findCandidates(
  index: SearchedIndex,
  codes: readonly number[],
  range: Range,
  earlier: CandidateStatistics | undefined,
): Promise<CandidateSet> {
  const { nextWindow, isOver, endAt, countUpTo, ...known } = await orderedWindows(index, codes, range, earlier);
  let order: Float64Array = new Float64Array(0);
  let at = 0;
  let size = 0;
  const advance = async (): Promise<boolean> => {
    while (at >= order.length) {
      const window = await nextWindow();
      if (!window) return false;
      order = window;
      at = 0;
    }
    return true;
  };
  const next = async (enough: number, ended?: BatchEnd): Promise<Batch | undefined> => {
    if (!(await advance())) return undefined;
    const doc_nos: number[] = [];
    const isFull = () => (ended ? at >= countUpTo(order, ended) : doc_nos.length >= enough);
    while (!isFull() && (await advance())) {
      size = Math.min(Math.max(enough, 2 * size), LARGEST_BATCH);
      const to = Math.min(at + size, ended ? countUpTo(order, ended) : order.length);
      for (const doc_no of await index.matchingAmong([...order.subarray(at, to)])) doc_nos.push(doc_no);
      at = to;
    }
    return { doc_nos, end: ended ?? (at > 0 ? endAt(order[at - 1]!) : undefined) };
  };
  return { ...known, next, hasMore: () => at < order.length || !isOver() };
}

interface OrderedWindows extends Omit<CandidateSet, 'next' | 'hasMore'> {
  readonly isOver: () => boolean;
  /**
   * Documents by the summed worth of their terms, equals newest first. Documents of later windows are older, or have
   * only more common terms. Undefined at the end.
   */
  readonly nextWindow: () => Promise<Float64Array | undefined>;
  /** For a document of the last window. */
  readonly endAt: (doc_no: number) => BatchEnd;
  /** How many of the last window come before an end. */
  readonly countUpTo: (order: Float64Array, end: BatchEnd) => number;
}

async function orderedWindows(
  index: SearchedIndex,
  codes: readonly number[],
  range: Range,
  earlier: CandidateStatistics | undefined,
): Promise<OrderedWindows> {
  const isWhole = range.from === 0;
  // Concurrent: over a network sequential reads would add up their latencies.
  const first = await Promise.all(codes.map((code) => index.terms.postings(code, range, FIRST_POSTINGS)));
  const df = await Promise.all(
    codes.map((code, at) => {
      const { length } = first[at]!;
      return earlier?.df[at] ?? (length < FIRST_POSTINGS && isWhole ? length : index.terms.count(code, MAX_COUNTED));
    }),
  );
  const rarestFirst = codes.map((_, at) => at).filter((at) => first[at]!.length > 0);
  rarestFirst.sort((a, b) => df[a]! - df[b]! || a - b);
  const read = earlier?.read ?? rarestFirst.slice(0, MAX_BITS);
  const isCut = rarestFirst.some((at) => !read.includes(at));
  const worths = read.map((at) => 1 / Math.log2(2 + df[at]!));
  // The terms of each document as bits in order of rarity, per window.
  const windows: TermBits[] = [];
  const bitsOf = (doc_no: number) => windows.reduce((bits, window) => bits || window.get(doc_no), 0);
  const lists = read.map((at) => postingList(index, codes[at]!, range, first[at]!));
  const readCodes = read.map((at) => codes[at]!);
  const postings = read.reduce((sum, at) => sum + df[at]!, 0);
  const isLong = lists.some(({ isShort }) => !isShort);
  const own = isLong ? await index.ownWithTerms(readCodes, range, postings) : undefined;
  const isRead = () => own !== undefined || lists.every((list) => list.isOver());
  const isComplete = () => !isCut && isRead();
  const isOver = () => windows.length >= MAX_WINDOWS || (windows.length > 0 && isRead());
  const nextWindow = async () => {
    if (isOver()) return undefined;
    const found = own ? TermBits.of(own) : await readWindow(lists, windows);
    windows.push(found);
    return found.byWorth((bits) => worthOf(bits, worths));
  };
  const endAt = (doc_no: number): BatchEnd => ({ window: windows.length, bits: bitsOf(doc_no), doc_no });
  const countUpTo = (order: Float64Array, end: BatchEnd): number => {
    if (end.window !== windows.length) return end.window > windows.length ? Number.POSITIVE_INFINITY : 0;
    return countWhile(order, (doc_no) => isUpTo(endAt(doc_no), end, worths));
  };
  return { df, read, isComplete, isOver, nextWindow, endAt, countUpTo };
}

/** Binary search for the length of the prefix for which `holds` is true. */
function countWhile(order: Float64Array, holds: (doc_no: number) => boolean): number {
  let [from, to] = [0, order.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(order[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** In the order of `byWorth`. */
function isUpTo(one: BatchEnd, end: BatchEnd, worths: readonly number[]): boolean {
  if (one.bits === end.bits) return one.doc_no >= end.doc_no;
  return (worthOf(end.bits, worths) - worthOf(one.bits, worths) || one.bits - end.bits) < 0;
}

const worthOf = (bits: number, worths: readonly number[]): number =>
  worths.reduce((sum, one, bit) => ((bits >> bit) & 1 ? sum + one : sum), 0);

interface PostingList {
  /** Whether the first read returned all postings. */
  readonly isShort: boolean;
  readonly isOver: () => boolean;
  readonly next: (room: number) => Promise<readonly number[]>;
}

/** The postings of one term, newest first, in consecutive reads. */
function postingList(index: SearchedIndex, code: number, range: Range, first: readonly number[]): PostingList {
  const isShort = first.length < FIRST_POSTINGS;
  let { to } = range;
  let isOver = false;
  const next = async (room: number): Promise<readonly number[]> => {
    if (isOver) return [];
    if (isShort) {
      isOver = true;
      return first;
    }
    const limit = Math.max(FIRST_POSTINGS, Math.min(room, MAX_POSTINGS_OF_TERM));
    const list = await index.terms.postings(code, { from: range.from, to }, limit);
    isOver = list.length < limit;
    to = (list.at(-1) ?? range.from) - 1;
    return list;
  };
  return { isShort, isOver: () => isOver, next };
}

/** The documents that no earlier window had, with their bits; rarer terms are read first. */
async function readWindow(lists: readonly PostingList[], earlier: readonly TermBits[]): Promise<TermBits> {
  let found = TermBits.NONE;
  const maybeYield = cooperativeYield();
  let room = MAX_POSTINGS;
  for (const [bit, list] of lists.entries()) {
    if (room <= 0) break;
    await maybeYield();
    const doc_nos = await list.next(room);
    found = found.and(doc_nos, bit);
    room -= doc_nos.length;
  }
  for (const window of earlier) {
    await maybeYield();
    found = found.without(window);
  }
  await maybeYield();
  return found;
}
