/** Pages of a ranking: without hidden results, and with the position that the next page starts from. */
import type { Query } from '../../driver/index.js';
import type { Boost } from '../ranking/boosts.js';
import type { Measures } from '../ranking/fusion.js';
import type { Link } from '../ranking/second-hop.js';
import type { BatchEnd, CandidateStatistics } from './candidates.js';
import type { DocQuery } from './conditions.js';
import { hiddenAmong, mayHide, statementKeys } from './hidden-results.js';

export interface Result {
  readonly doc_no: number;
  readonly score: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly Boost[];
}

/** The statistics and measures of a ranking. */
interface RankingState extends CandidateStatistics {
  /** Absent if terms alone counted. */
  readonly measures?: Measures | undefined;
  /** Absent with an embedder. */
  readonly links?: readonly Link[] | undefined;
  /** The ends of the batches so far. */
  readonly ends: readonly BatchEnd[];
}

/** A batch of results, ranked by itself: by falling score, equals by falling number. */
export interface RankedBatch extends RankingState {
  readonly number: number;
  readonly results: readonly Result[];
  readonly confidenceOf: (result: Result) => number;
  /** The lowest score of earlier batches: no higher score is shown. */
  readonly ceiling: number;
  readonly rest: 'none' | 'more' | 'unknown';
}

/** The end of a page and the state of its ranking, so that the next page continues it despite concurrent writes. */
export interface PagePosition extends RankingState {
  /** Results shown so far. */
  readonly shown: number;
  /** The last result: its batch, its score and its number. */
  readonly batch: number;
  readonly score: number;
  readonly last: number;
  /** The newest document that counted. */
  readonly up_to: number;
  /** The number of documents of the tenant. */
  readonly docs: number;
}

/** Each end takes room in a cursor; a thousand results seldom need more batches. */
const MAX_ENDS = 4;

const isAfter = (position: PagePosition, batch: number, { score, doc_no }: Result): boolean =>
  batch > position.batch ||
  (batch === position.batch && (score < position.score || (score === position.score && doc_no < position.last)));

export interface ShownResult extends Result {
  /** How likely it answers the question, 0 to 1. */
  readonly confidence: number;
  /** Later results that repeat it. */
  readonly repeats: readonly number[];
}

interface Page {
  readonly page: readonly ShownResult[];
  readonly next: Omit<PagePosition, 'up_to' | 'docs'> | null;
  /** Null if more might match. */
  readonly total: number | null;
}

interface VisibleResult extends Pick<RankedBatch, 'number' | 'ceiling' | 'confidenceOf'> {
  readonly result: Result;
  readonly repeats: number[];
}

export interface PageRequest extends DocQuery {
  readonly limit: number;
  readonly after: PagePosition | undefined;
  /** Shows notes and artifacts with the same statement once. */
  readonly merge_repeats: boolean;
}

const NONE: ReadonlySet<number> = new Set();

/** Maximum repetitions listed with a result. */
const MAX_REPEATS = 100;
/** Minimum results checked for a page, since some may be hidden. */
const MIN_CHECKED = 20;

export async function pageOf(query: Query, request: PageRequest, ranking: AsyncIterable<RankedBatch>): Promise<Page> {
  const { limit, after, merge_repeats } = request;
  // Runs while the ranking is computed.
  const hides = mayHide(query);
  hides.catch(() => undefined);
  const seen = new Set<string>();
  const visible: VisibleResult[] = [];
  const byStatement = new Map<string, VisibleResult>();
  let start = 0;
  let state: RankingState = { df: [], read: [], ends: [] };
  let rest: RankedBatch['rest'] = 'none';
  for await (const batch of ranking) {
    const { number, results, confidenceOf, ceiling, df, read, measures, links, ends } = batch;
    state = { df, read, measures, links, ends: ends.slice(0, MAX_ENDS) };
    rest = batch.rest;
    // The total is only known after checking all results; with repetitions merged, nobody asks for it.
    const size =
      !after && rest === 'none' && !merge_repeats
        ? Math.max(1, results.length)
        : Math.max(limit + 5, MIN_CHECKED, after?.shown ?? 0);
    for (let at = 0; at < results.length && visible.length <= start + limit; at += size) {
      const some = results.slice(at, at + size);
      const doc_nos = some.map(({ doc_no }) => doc_no);
      const hidden = (await hides) ? await hiddenAmong(query, request, doc_nos, seen) : NONE;
      const statements = merge_repeats ? await statementKeys(query, doc_nos) : undefined;
      for (const result of some) {
        if (hidden.has(result.doc_no)) continue;
        const statement = statements?.get(result.doc_no);
        const before = statement === undefined ? undefined : byStatement.get(statement);
        if (before) {
          if (before.repeats.length < MAX_REPEATS) before.repeats.push(result.doc_no);
          continue;
        }
        const one: VisibleResult = { number, ceiling, confidenceOf, result, repeats: [] };
        visible.push(one);
        if (statement !== undefined) byStatement.set(statement, one);
        if (after && !isAfter(after, number, result)) start = visible.length;
      }
    }
    if (visible.length > start + limit) break;
  }
  const page = visible.slice(start, start + limit);
  const last = page.at(-1);
  const shown = (after?.shown ?? 0) + page.length;
  const hasMore = last !== undefined && visible.length > start + limit;
  return {
    // Plain objects: they may be sent between threads.
    page: page.map(({ result, ceiling, confidenceOf, repeats }) => {
      const { doc_no, score, matched, nearby, boosts } = result;
      const confidence = confidenceOf(result);
      return { doc_no, score: Math.min(score, ceiling), confidence, matched, nearby, boosts, repeats };
    }),
    next: hasMore ? { shown, batch: last.number, score: last.result.score, last: last.result.doc_no, ...state } : null,
    total: rest === 'none' && !merge_repeats ? visible.length : null,
  };
}

/**
 * A position as the text of a cursor: the score and measures to the last bit, other numbers in base 36. Parts separated
 * by slashes: exact numbers, counts, batch ends, terms read, links.
 */
export function writePosition(position: PagePosition): string {
  const { score, shown, batch, last, up_to, docs, df, read, measures, links = [], ends } = position;
  const exact = measures ? [score, measures.mean, measures.deviation, measures.unit, measures.much] : [score];
  const whole = (numbers: readonly number[]) => numbers.map((one) => one.toString(36)).join(' ');
  const batches = ends.flatMap(({ window, bits, doc_no }) => [window, bits, doc_no]);
  const counts = [shown, batch, last, up_to, docs, ...df];
  return [exact.join(' '), whole(counts), whole(batches), whole(read), whole(links.flat())].join('/');
}

/** Undefined if the text is no position. */
export function readPosition(text: string): PagePosition | undefined {
  const [first, ...others] = text.split('/');
  if (first === undefined || others.length < 4) return undefined;
  const [score = Number.NaN, ...measured] = first.split(' ').map(Number);
  const whole = (part: string) => (part === '' ? [] : part.split(' ')).map((one) => Number.parseInt(one, 36));
  const [counts, batches, read, linked] = others.map(whole) as [number[], number[], number[], number[]];
  const isPlain = [...counts, ...batches, ...read, ...linked].every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!isPlain || counts.length < 5 || !(score >= 0)) return undefined;
  const [shown, batch, last, up_to, docs, ...df] = counts as [number, number, number, number, number];
  const [mean, deviation, unit, much] = measured as [number, number, number, number];
  const measures = measured.length === 4 ? { mean, deviation, unit, much } : undefined;
  const ends: BatchEnd[] = [];
  for (let at = 0; at + 2 < batches.length; at += 3) {
    ends.push({ window: batches[at]!, bits: batches[at + 1]!, doc_no: batches[at + 2]! });
  }
  const links: Link[] = [];
  for (let at = 0; at + 1 < linked.length; at += 2) links.push([linked[at]!, linked[at + 1]!]);
  return { score, shown, batch, last, up_to, docs, df, read, measures, links, ends };
}
