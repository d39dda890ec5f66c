/** The first stage of a search: which documents may be meant, by how many rare terms of the question they have. */

import { givingWay } from '../domain/giving-way.js';
import type { Query } from '../driver/driver.js';
import { byDialect, type Sql, sql } from '../driver/sql.js';
import { canBeRead, isWanted, seenBy, type Viewer, type Wanted } from './search-conditions.js';
import type { SearchedIndex } from './search-index.js';
import type { Range } from './search-postings.js';

/** Who asks, and for what. */
export interface Asked extends Wanted {
  readonly tenant: string;
  readonly now: number;
  readonly viewer: Viewer | null;
}

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

const readable = ({ tenant, now, viewer }: Asked): Sql =>
  sql`d.tenant_id = ${tenant} AND ${canBeRead(tenant, now)} AND ${seenBy(tenant, viewer)}`;

/** Which of these documents can be read and are wanted. Led by the list: there is no better way into the table. */
export async function wantedAmong(query: Query, asked: Asked, doc_nos: readonly number[]): Promise<number[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(d.doc_no) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.doc_no = i.value AND ${readable(asked)} AND ${isWanted(asked)}`,
      postgres: sql`SELECT json_agg(d.doc_no)::text AS list FROM search_docs d
        WHERE d.doc_no = ANY(${doc_nos}) AND ${readable(asked)} AND ${isWanted(asked)}`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as number[];
}

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
  /** Whether the index was read to its end, as far as the last documents that were asked for. */
  readonly isComplete: () => boolean;
  /** False of what is known to have no term of the question itself. */
  readonly mayMatch: (doc_no: number) => boolean;
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

/** With the counts of the page before, so that it stands where it stood whatever was written or deleted since. */
export async function findCandidates(
  index: SearchedIndex,
  codes: readonly string[],
  range: Range,
  counted: readonly number[] | undefined,
): Promise<Found> {
  const { df, isComplete, mayMatch, more, isOver, endAt, upTo } = await inOrder(index, codes, range, counted);
  let order: readonly number[] = [];
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
      for (const doc_no of await index.wantedAmong(order.slice(at, to))) doc_nos.push(doc_no);
      at = to;
    }
    return { doc_nos, end: ended ?? (at > 0 ? endAt(order[at - 1]!) : undefined) };
  };
  return { df, isComplete, mayMatch, next, mayGoOn: () => at < order.length || !isOver() };
}

interface Ordered extends Omit<Found, 'next' | 'mayGoOn'> {
  readonly isOver: () => boolean;
  /**
   * Documents in the order of what their terms are worth together, and of equals the newest first. What comes behind them
   * is older, or has more common terms alone. Undefined where nothing more is read.
   */
  readonly more: () => Promise<number[] | undefined>;
  /** For a document of the last window. */
  readonly endAt: (doc_no: number) => End;
  /** How many of the last window come before an end. */
  readonly upTo: (order: readonly number[], end: End) => number;
}

async function inOrder(
  index: SearchedIndex,
  codes: readonly string[],
  range: Range,
  counted: readonly number[] | undefined,
): Promise<Ordered> {
  const isWhole = range.from === 0;
  // All asked at once: over a network each would else wait for the one before.
  const first = await Promise.all(codes.map((code) => index.postings(code, range, FEW)));
  const df = await Promise.all(
    codes.map((code, at) => {
      const { length } = first[at]!;
      return counted?.[at] ?? (length < FEW && isWhole ? length : index.count(code, MAX_COUNTED));
    }),
  );
  const rarestFirst = codes.map((_, at) => at).filter((at) => first[at]!.length > 0);
  rarestFirst.sort((a, b) => df[a]! - df[b]! || a - b);
  const isCut = rarestFirst.length > MAX_BITS;
  const read = rarestFirst.slice(0, MAX_BITS);
  const worths = read.map((at) => 1 / Math.log2(2 + df[at]!));
  // What each document has, as bits in the order of rarity.
  let has = new Map<number, number>();
  const lists = read.map((at) => new PostingList(index, codes[at]!, range, first[at]!));
  let windows = 0;
  const own = lists.some(({ isShort }) => !isShort)
    ? await index.ownHaving(
        read.map((at) => codes[at]!),
        range,
        read.reduce((sum, at) => sum + df[at]!, 0),
      )
    : undefined;
  const isComplete = () => !isCut && (own !== undefined || lists.every(({ isOver }) => isOver));
  const isOver = () =>
    windows >= MAX_WINDOWS || (windows > 0 && (own !== undefined || lists.every((list) => list.isOver)));
  const more = async (): Promise<number[] | undefined> => {
    if (isOver()) return undefined;
    const found = own ? new Map(own) : await nextWindow(lists, has);
    const giveWay = givingWay();
    // There are thousands of them, and mostly one window: it is kept as it is.
    if (windows++ === 0) has = found;
    else for (const [doc_no, bits] of found) has.set(doc_no, bits);
    await giveWay();
    return byWorth(found, worths);
  };
  const endAt = (doc_no: number): End => ({ window: windows, bits: has.get(doc_no)!, doc_no });
  const upTo = (order: readonly number[], end: End): number => {
    if (end.window !== windows) return end.window > windows ? Number.POSITIVE_INFINITY : 0;
    return countWhile(order, (doc_no) => isUpTo(endAt(doc_no), end, worths));
  };
  const mayMatch = (doc_no: number) => !isComplete() || has.has(doc_no);
  return { df, isComplete, isOver, mayMatch, more, endAt, upTo };
}

/** How many come before the first of which it does not hold: it holds of none behind that. */
function countWhile(order: readonly number[], holds: (doc_no: number) => boolean): number {
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
async function nextWindow(
  lists: readonly PostingList[],
  before: ReadonlyMap<number, number>,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  const giveWay = givingWay();
  let room = MAX_POSTINGS;
  for (const [bit, list] of lists.entries()) {
    if (room <= 0) break;
    await giveWay();
    const doc_nos = await list.next(room);
    for (const doc_no of doc_nos)
      if (!before.has(doc_no)) found.set(doc_no, (found.get(doc_no) ?? 0) | (1 << bit));
    room -= doc_nos.length;
  }
  return found;
}

/**
 * Those that have the same terms are worth the same: there are few kinds. Each was met in the list of its rarest term, where
 * the newest come first: so they do among those of its kind.
 */
function byWorth(has: ReadonlyMap<number, number>, worths: readonly number[]): number[] {
  const kinds = new Map<number, number[]>();
  for (const [doc_no, bits] of has) {
    const alike = kinds.get(bits);
    if (alike) alike.push(doc_no);
    else kinds.set(bits, [doc_no]);
  }
  return [...kinds]
    .map(([bits, docs]) => ({ bits, docs, worth: worthOf(bits, worths) }))
    .sort((a, b) => b.worth - a.worth || a.bits - b.bits)
    .flatMap(({ docs }) => docs);
}

/** The newest that the filters let through, where nothing is asked for. */
export async function newest(query: Query, asked: Asked, up_to: number, limit: number): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM search_docs d
        WHERE d.doc_no <= ${up_to} AND ${readable(asked)} AND ${isWanted(asked)}
        ORDER BY d.doc_no DESC LIMIT ${limit}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}

/** Turns lend their words to so many others before and after them. */
const NEIGHBOURHOOD = 3;

export interface Placed {
  readonly scope_id: string | null;
  readonly position: number | null;
}

export interface Neighbours {
  /** They may be meant themselves. */
  readonly wanted: number[];
  /** Context alone: the filters leave them out. */
  readonly context: number[];
}

/** The turns around those found that are not among them. */
export async function neighboursOf(
  query: Query,
  asked: Asked,
  found: readonly Placed[],
): Promise<Neighbours> {
  const stretches = stretchesAround(found);
  if (stretches.length === 0) return { wanted: [], context: [] };
  const list = JSON.stringify(stretches);
  const sign = sql`CASE WHEN ${isWanted(asked)} THEN d.doc_no ELSE -d.doc_no END`;
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(${sign}) AS list FROM json_each(${list}) s CROSS JOIN search_docs d
        WHERE d.scope_id = s.value ->> 0 AND d.position IS NOT NULL
          AND d.position BETWEEN s.value ->> 1 AND s.value ->> 2 AND ${readable(asked)}`,
      // One look into the index for each stretch: as a join it would go through the whole table.
      postgres: sql`SELECT json_agg(${sign})::text AS list
        FROM unnest(${stretches.map(([scope_id]) => scope_id)}::text[], ${stretches.map(([, from]) => from)}::bigint[],
            ${stretches.map(([, , to]) => to)}::bigint[]) s(scope_id, first, last)
          CROSS JOIN LATERAL (SELECT * FROM search_docs x
            WHERE x.tenant_id = ${asked.tenant} AND x.scope_id = s.scope_id AND x.position IS NOT NULL
              AND x.position BETWEEN s.first AND s.last AND x.terms IS NOT NULL
            ORDER BY x.position LIMIT ${2 * NEIGHBOURHOOD + 1}) d
        WHERE ${readable(asked)}`,
    }),
  );
  const signed = JSON.parse(row?.list ?? '[]') as number[];
  return {
    wanted: signed.filter((doc_no) => doc_no > 0),
    context: signed.filter((doc_no) => doc_no < 0).map((doc_no) => -doc_no),
  };
}

function stretchesAround(found: readonly Placed[]): [scope_id: string, from: number, to: number][] {
  const scopes = new Map<string, Set<number>>();
  for (const { scope_id, position } of found) {
    if (scope_id === null || position === null) continue;
    const positions = scopes.get(scope_id);
    if (positions) positions.add(position);
    else scopes.set(scope_id, new Set([position]));
  }
  return [...scopes].flatMap(([scope_id, positions]) =>
    gapsAround([...positions].sort((a, b) => a - b)).map(([from, to]): [string, number, number] => [
      scope_id,
      from,
      to,
    ]),
  );
}

/** The stretches around sorted positions that hold none of them. */
export function gapsAround(positions: readonly number[]): [from: number, to: number][] {
  const gaps: [number, number][] = [];
  let behind = 0;
  for (const [i, position] of positions.entries()) {
    const from = Math.max(behind + 1, position - NEIGHBOURHOOD);
    if (from < position) gaps.push([from, position - 1]);
    const next = positions[i + 1] ?? Number.MAX_SAFE_INTEGER;
    const to = Math.min(position + NEIGHBOURHOOD, next - 1);
    if (to > position) gaps.push([position + 1, to]);
    behind = Math.max(position, to);
  }
  return gaps;
}
