/** A page of a ranking: without what is not to be shown, and where the next one begins. */
import type { Query } from '../../driver/index.js';
import type { Boost } from '../ranking/boosts.js';
import type { Measures } from '../ranking/fusion.js';
import type { End } from './candidates.js';
import type { Asked } from './conditions.js';
import { whatTheySay } from './repeats.js';
import { hiddenAmong, mayHide } from './superseded.js';

export interface Result {
  readonly doc_no: number;
  readonly score: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly Boost[];
}

/** A part of a ranking, which goes on behind it. */
export interface Stretch {
  /** Within one, results have falling scores, and of equals falling numbers. */
  readonly number: number;
  readonly results: readonly Result[];
  /** No more is shown as a score than the least before it: a part is ranked by itself. */
  readonly ceiling: number;
  /** By which they were ranked, and found. */
  readonly df: readonly number[];
  readonly read: readonly number[];
  /** And, where vectors counted, how these were measured. */
  readonly measures?: Measures | undefined;
  /** Where it ended, and those before it. */
  readonly ends: readonly End[];
  /** What comes behind it. */
  readonly rest: 'none' | 'more' | 'unknown';
}

/**
 * Where a page ended, and what the ranking went by: the next page is of the same ranking, though others write and delete
 * meanwhile.
 */
export interface Place {
  /** How many were shown so far. */
  readonly shown: number;
  /** The last of them: in which stretch, with which score, and its number. */
  readonly stretch: number;
  readonly score: number;
  readonly last: number;
  /** The newest document that counted, how many the tenant had, how many had each term, and which terms were looked for. */
  readonly up_to: number;
  readonly docs: number;
  readonly df: readonly number[];
  readonly read: readonly number[];
  /** How likeness was measured; absent where terms alone counted. */
  readonly measures?: Measures | undefined;
  /** Where the first stretches ended. */
  readonly ends: readonly End[];
}

/** A thousand results are of so many stretches, unless most are not shown; each takes room in a cursor. */
const MAX_ENDS = 4;

const isBehind = (place: Place, stretch: number, { score, doc_no }: Result): boolean =>
  stretch > place.stretch ||
  (stretch === place.stretch && (score < place.score || (score === place.score && doc_no < place.last)));

export interface Shown extends Result {
  /** What says the same, and was found behind it. */
  readonly repeats: readonly number[];
}

interface Page {
  readonly page: readonly Shown[];
  readonly next: Omit<Place, 'up_to' | 'docs'> | null;
  /** Null where more might match. */
  readonly total: number | null;
}

interface Visible {
  readonly stretch: number;
  readonly ceiling: number;
  readonly result: Result;
  readonly repeats: number[];
}

export interface AskedPage extends Asked {
  readonly limit: number;
  readonly place: Place | undefined;
  /** Whether notes and artifacts that say the same are told once. */
  readonly once: boolean;
}

const NONE: ReadonlySet<number> = new Set();

/** Of one thing, so many others are named that say the same. */
const MAX_REPEATS = 100;
/** So many at least are looked at for a page: some of them may not be shown. */
const LOOKED_AT = 20;

export async function pageOf(query: Query, request: AskedPage, ranking: AsyncIterable<Stretch>): Promise<Page> {
  const { limit, place, once } = request;
  // On its way while the ranking is made.
  const hides = mayHide(query);
  hides.catch(() => undefined);
  const seen = new Set<string>();
  const visible: Visible[] = [];
  const bySaid = new Map<string, Visible>();
  let start = 0;
  let df: readonly number[] = [];
  let read: readonly number[] = [];
  let measures: Measures | undefined;
  let ends: readonly End[] = [];
  let rest: Stretch['rest'] = 'none';
  for await (const stretch of ranking) {
    const { number, results, ceiling } = stretch;
    ({ df, read, measures, ends, rest } = stretch);
    // How many there are is told where it is known, which needs a look at all of them.
    const size =
      !place && rest === 'none' ? Math.max(1, results.length) : Math.max(limit + 5, LOOKED_AT, place?.shown ?? 0);
    for (let at = 0; at < results.length && visible.length <= start + limit; at += size) {
      const some = results.slice(at, at + size);
      const doc_nos = some.map(({ doc_no }) => doc_no);
      const hidden = (await hides) ? await hiddenAmong(query, request, doc_nos, seen) : NONE;
      const said = once ? await whatTheySay(query, doc_nos) : undefined;
      for (const result of some) {
        if (hidden.has(result.doc_no)) continue;
        const says = said?.get(result.doc_no);
        const before = says === undefined ? undefined : bySaid.get(says);
        if (before) {
          if (before.repeats.length < MAX_REPEATS) before.repeats.push(result.doc_no);
          continue;
        }
        const one: Visible = { stretch: number, ceiling, result, repeats: [] };
        visible.push(one);
        if (says !== undefined) bySaid.set(says, one);
        if (place && !isBehind(place, number, result)) start = visible.length;
      }
    }
    if (visible.length > start + limit) break;
  }
  const page = visible.slice(start, start + limit);
  const last = page.at(-1);
  const shown = (place?.shown ?? 0) + page.length;
  const more = last !== undefined && visible.length > start + limit;
  const kept = { df, read, measures, ends: ends.slice(0, MAX_ENDS) };
  return {
    // Plain, since it may come from beside the event loop.
    page: page.map(({ result: { doc_no, score, matched, nearby, boosts }, ceiling, repeats }) => ({
      doc_no,
      score: Math.min(score, ceiling),
      matched,
      nearby,
      boosts,
      repeats,
    })),
    next: more ? { shown, stretch: last.stretch, score: last.result.score, last: last.result.doc_no, ...kept } : null,
    total: rest === 'none' ? visible.length : null,
  };
}
