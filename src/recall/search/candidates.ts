/** The first stage of a search: which documents may be meant, by how many rare terms of the question they have. */
import { type Range, TermBits } from '../../index/sql.js';
import { givingWay } from '../../kernel/index.js';
import type { SearchedIndex } from './searched-index.js';

/** Of a term that more have, no more are counted: it weighs next to nothing. */
const MAX_COUNTED = 100_000;
/** So many entries of the index are read at once, the rarest terms first; of one term, the newest. */
const MAX_POSTINGS = 60_000;
const MAX_POSTINGS_OF_TERM = 30_000;
/** And so often, while the filters let too little of it through. */
const MAX_WINDOWS = 6;
/** Of most terms there are no more. */
const FEW = 2000;
const LARGEST_BATCH = 5000;
/** A question may have more terms than a number has bits: the rarest count. */
const MAX_BITS = 30;

/** Behind which document some end: in which window it was met, which of the terms it had, and its number. */
export interface End {
  readonly window: number;
  readonly bits: number;
  readonly doc_no: number;
}

/** What the ranking goes by, and what it ranks. */
export interface Found {
  /** In how many documents of the tenant each term is. */
  readonly df: readonly number[];
  /** By which terms they are found, as places in the question, the rarest first. */
  readonly read: readonly number[];
  /** Whether the index was read to its end, as far as the last documents that were asked for. */
  readonly isComplete: () => boolean;
  /** Which terms of the question a document may have, by their places in it; undefined where it may have any. */
  readonly mayHave: (doc_no: number) => readonly number[] | undefined;
  /**
   * The next documents that share the most, and the rarest, terms with the question: not many more than `enough`, or, where
   * it is known where they ended before, up to there, so that none takes the place of one that is gone. Undefined behind
   * the last.
   */
  readonly next: (enough: number, ended?: End) => Promise<Next | undefined>;
  /** Whether there may be more behind those that were given. */
  readonly mayGoOn: () => boolean;
}

interface Next {
  readonly doc_nos: number[];
  readonly end: End | undefined;
}

/** What the page before went by, so that it stands where it stood whatever was written or deleted since. */
export type Before = Pick<Found, 'df' | 'read'>;

export async function findCandidates(
  index: SearchedIndex,
  codes: readonly string[],
  range: Range,
  before: Before | undefined,
): Promise<Found> {
  const { more, isOver, endAt, upTo, ...known } = await inOrder(index, codes, range, before);
  let order: Float64Array = new Float64Array(0);
  let at = 0;
  let size = 0;
  const goesOn = async (): Promise<boolean> => {
    while (at >= order.length) {
      const window = await more();
      if (!window) return false;
      order = window;
      at = 0;
    }
    return true;
  };
  const next = async (enough: number, ended?: End): Promise<Next | undefined> => {
    if (!(await goesOn())) return undefined;
    const doc_nos: number[] = [];
    const isFull = () => (ended ? at >= upTo(order, ended) : doc_nos.length >= enough);
    while (!isFull() && (await goesOn())) {
      size = Math.min(Math.max(enough, 2 * size), LARGEST_BATCH);
      const to = Math.min(at + size, ended ? upTo(order, ended) : order.length);
      for (const doc_no of await index.wantedAmong([...order.subarray(at, to)])) doc_nos.push(doc_no);
      at = to;
    }
    return { doc_nos, end: ended ?? (at > 0 ? endAt(order[at - 1]!) : undefined) };
  };
  return { ...known, next, mayGoOn: () => at < order.length || !isOver() };
}

interface Ordered extends Omit<Found, 'next' | 'mayGoOn'> {
  readonly isOver: () => boolean;
  /**
   * Documents in the order of what their terms are worth together, and of equals the newest first. What comes behind them
   * is older, or has more common terms alone. Undefined where nothing more is read.
   */
  readonly more: () => Promise<Float64Array | undefined>;
  /** For a document of the last window. */
  readonly endAt: (doc_no: number) => End;
  /** How many of the last window come before an end. */
  readonly upTo: (order: Float64Array, end: End) => number;
}

async function inOrder(
  index: SearchedIndex,
  codes: readonly string[],
  range: Range,
  before: Before | undefined,
): Promise<Ordered> {
  const isWhole = range.from === 0;
  // All asked at once: over a network each would else wait for the one before.
  const first = await Promise.all(codes.map((code) => index.postings(code, range, FEW)));
  const df = await Promise.all(
    codes.map((code, at) => {
      const { length } = first[at]!;
      return before?.df[at] ?? (length < FEW && isWhole ? length : index.count(code, MAX_COUNTED));
    }),
  );
  const rarestFirst = codes.map((_, at) => at).filter((at) => first[at]!.length > 0);
  rarestFirst.sort((a, b) => df[a]! - df[b]! || a - b);
  const read = before?.read ?? rarestFirst.slice(0, MAX_BITS);
  const isCut = rarestFirst.some((at) => !read.includes(at));
  const worths = read.map((at) => 1 / Math.log2(2 + df[at]!));
  // What each document has, as bits in the order of rarity; one for each window.
  const met: TermBits[] = [];
  const bitsOf = (doc_no: number) => met.reduce((bits, window) => bits || window.get(doc_no), 0);
  const lists = read.map((at) => new PostingList(index, codes[at]!, range, first[at]!));
  const own = lists.some(({ isShort }) => !isShort)
    ? await index.ownHaving(
        read.map((at) => codes[at]!),
        range,
        read.reduce((sum, at) => sum + df[at]!, 0),
      )
    : undefined;
  const isComplete = () => !isCut && (own !== undefined || lists.every(({ isOver }) => isOver));
  const isOver = () =>
    met.length >= MAX_WINDOWS || (met.length > 0 && (own !== undefined || lists.every((list) => list.isOver)));
  const more = async () => {
    if (isOver()) return undefined;
    const found = own ? TermBits.of(own) : await nextWindow(lists, met);
    met.push(found);
    return found.byWorth((bits) => worthOf(bits, worths));
  };
  const endAt = (doc_no: number): End => ({ window: met.length, bits: bitsOf(doc_no), doc_no });
  const upTo = (order: Float64Array, end: End): number => {
    if (end.window !== met.length) return end.window > met.length ? Number.POSITIVE_INFINITY : 0;
    return countWhile(order, (doc_no) => isUpTo(endAt(doc_no), end, worths));
  };
  const placesOf = placesByBits(read);
  const mayHave = (doc_no: number) => {
    const bits = bitsOf(doc_no);
    // What was met in one window may have, by a list that goes on in the next, more than its bits say.
    const isKnown = isComplete() && (bits === 0 || met.length === 1);
    return isKnown ? placesOf(bits) : undefined;
  };
  return { df, read, isComplete, isOver, mayHave, more, endAt, upTo };
}

/** Where in the question the terms are that bits stand for: there are few kinds, and hundreds of each. */
function placesByBits(read: readonly number[]): (bits: number) => readonly number[] {
  const known = new Map<number, readonly number[]>();
  return (bits) => {
    let places = known.get(bits);
    if (!places) known.set(bits, (places = read.filter((_, bit) => (bits >> bit) & 1)));
    return places;
  };
}

/** How many come before the first of which it does not hold: it holds of none behind that. */
function countWhile(order: Float64Array, holds: (doc_no: number) => boolean): number {
  let [from, to] = [0, order.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(order[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** By the order of byWorth. */
function isUpTo(one: End, end: End, worths: readonly number[]): boolean {
  if (one.bits === end.bits) return one.doc_no >= end.doc_no;
  return (worthOf(end.bits, worths) - worthOf(one.bits, worths) || one.bits - end.bits) < 0;
}

const worthOf = (bits: number, worths: readonly number[]): number =>
  worths.reduce((sum, one, bit) => ((bits >> bit) & 1 ? sum + one : sum), 0);

/** The documents of one term, the newest first, from where the last look ended. */
class PostingList {
  readonly #index: SearchedIndex;
  readonly #code: string;
  readonly #from: number;
  #to: number;
  readonly #first: readonly number[];
  /** Whether the first look had all. */
  readonly isShort: boolean;
  isOver = false;

  constructor(index: SearchedIndex, code: string, { from, to }: Range, first: readonly number[]) {
    this.#index = index;
    this.#code = code;
    this.#from = from;
    this.#to = to;
    this.#first = first;
    this.isShort = first.length < FEW;
  }

  async next(room: number): Promise<readonly number[]> {
    if (this.isOver) return [];
    if (this.isShort) {
      this.isOver = true;
      return this.#first;
    }
    const limit = Math.max(FEW, Math.min(room, MAX_POSTINGS_OF_TERM));
    const list = await this.#index.postings(this.#code, { from: this.#from, to: this.#to }, limit);
    this.isOver = list.length < limit;
    this.#to = (list.at(-1) ?? this.#from) - 1;
    return list;
  }
}

/** What was not met before, with its bits; rarer terms have the room first. */
async function nextWindow(lists: readonly PostingList[], before: readonly TermBits[]): Promise<TermBits> {
  let found = TermBits.NONE;
  const giveWay = givingWay();
  let room = MAX_POSTINGS;
  for (const [bit, list] of lists.entries()) {
    if (room <= 0) break;
    await giveWay();
    const doc_nos = await list.next(room);
    found = found.and(doc_nos, bit);
    room -= doc_nos.length;
  }
  for (const window of before) {
    await giveWay();
    found = found.without(window);
  }
  await giveWay();
  return found;
}
