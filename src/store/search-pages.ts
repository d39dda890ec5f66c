/** A page of a ranking: without what is not to be shown, and where the next one begins. */
import type { Boost } from '../domain/ranking-boosts.js';
import type { Query } from '../driver/driver.js';
import type { Asked } from './search-candidates.js';
import { hiddenAmong } from './search-superseded.js';

export interface Result {
  readonly doc_no: number;
  readonly score: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly Boost[];
}

/** A part of a ranking, which goes on behind it. */
export interface Stretch {
  readonly results: readonly Result[];
  /** By which they were ranked. */
  readonly df: readonly number[];
  /** What comes behind it. */
  readonly rest: 'none' | 'more' | 'unknown';
}

/**
 * Where a page ended, and what the ranking went by: the next page is of the same ranking, though others write and delete
 * meanwhile.
 */
export interface Place {
  /** How many were shown so far, and the last of them. */
  readonly shown: number;
  readonly last: number;
  /** The newest document that counted, how many the tenant had, and how many had each term. */
  readonly up_to: number;
  readonly docs: number;
  readonly df: readonly number[];
}

interface Page {
  readonly page: readonly Result[];
  readonly next: Pick<Place, 'shown' | 'last' | 'df'> | null;
  /** Null where more might match. */
  readonly total: number | null;
}

/** So many at least are looked at for a page: some of them may not be shown. */
const LOOKED_AT = 20;

export async function pageOf(
  query: Query,
  request: Asked & { readonly limit: number; readonly place: Place | undefined },
  ranking: AsyncIterable<Stretch>,
): Promise<Page> {
  const { limit, place } = request;
  const seen = new Set<string>();
  const visible: Result[] = [];
  let start = place ? undefined : 0;
  let df: readonly number[] = [];
  let rest: Stretch['rest'] = 'none';
  let over = false;
  const isFull = () => {
    // What the page before ended with may be gone since.
    if (start === undefined && visible.length > place!.shown + limit) start = place!.shown - 1;
    return start !== undefined && visible.length > start + limit;
  };
  for await (const stretch of ranking) {
    ({ df, rest } = stretch);
    const { results } = stretch;
    // How many there are is told where it is known.
    const isCounted = !place && rest === 'none' && !over;
    const size = isCounted ? Math.max(1, results.length) : Math.max(limit + 5, LOOKED_AT);
    for (let at = 0; at < results.length && !over; at += size) {
      const some = results.slice(at, at + size);
      const hidden = await hiddenAmong(
        query,
        request,
        some.map(({ doc_no }) => doc_no),
        seen,
      );
      for (const result of some) {
        if (!hidden.has(result.doc_no)) visible.push(result);
        if (result.doc_no === place?.last) start = visible.length;
      }
      over = isFull();
    }
    if (over) break;
  }
  start ??= Math.max(0, place!.shown - 1);
  const page = visible.slice(start, start + limit);
  const shown = (place?.shown ?? 0) + page.length;
  return {
    page,
    next: visible.length > start + limit ? { shown, last: page.at(-1)!.doc_no, df } : null,
    total: rest === 'none' ? visible.length : null,
  };
}
