/** How many events there were, minute by minute: counted from the past once, and then as they arrive. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLive } from '../../data/events.js';
import { columnsOf, countInto, forgetBefore, type Minutes, minuteOf, type Span, spans } from './buckets.js';
import { usePast } from './use-feed.js';

const PAGE = 500;
/** So many events of the past are read for a chart. */
const MAX_PAST = 4000;

export interface Growth {
  readonly columns: [number[], number[]];
  /** Of the store, which numbers its events. */
  readonly total: number | undefined;
  readonly lastMinute: number;
  /** The past before this was not read; undefined if the chart is complete. */
  readonly since: string | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
}

/** Moves charts on while nothing happens. */
export function useNow(every_ms: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

export function useGrowth(span: Span): Growth {
  const { events, count } = useLive();
  const tick = useNow(5000);
  const { query, items, loadMore } = usePast({ limit: PAGE });
  const oldest = items.at(-1);
  const { columns, minutes } = spans[span];
  const first = minuteOf(tick) - columns * minutes;
  const reachesBack = oldest !== undefined && minuteOf(oldest.recorded_at) < first;
  const isCut = query.hasNextPage && !reachesBack && items.length >= MAX_PAST;
  useEffect(() => {
    if (query.hasNextPage && !reachesBack && items.length < MAX_PAST) loadMore();
  });
  const past = useMemo(() => countInto(new Map(), items), [items]);
  // What arrived since the past was read. Events leave the list of live ones, but their counts stay.
  const arrived = useRef<{ minutes: Minutes; last: number; lived: number }>({ minutes: new Map(), last: 0, lived: 0 });
  const newestPast = items[0]?.seq ?? 0;
  const newest = events.at(-1)?.seq ?? 0;
  const arrivedColumns = useMemo(() => {
    const { current } = arrived;
    if (!query.isSuccess) return current.minutes;
    // Another connection of the page: it counts from its beginning.
    if (count < current.lived) current.minutes.clear();
    const from = Math.max(current.last, newestPast);
    countInto(
      current.minutes,
      events.filter(({ seq }) => seq > from),
    );
    current.last = Math.max(from, newest);
    current.lived = count;
    forgetBefore(current.minutes, minuteOf(Date.now()) - spans.hour.columns * spans.hour.minutes);
    return new Map(current.minutes);
  }, [events, count, newest, newestPast, query.isSuccess]);
  const now = Math.max(tick, Date.now() - 1000);
  const shown = columnsOf([past, arrivedColumns], span, now);
  const minute = minuteOf(now);
  const within = (at: number) => (past.get(at) ?? 0) + (arrivedColumns.get(at) ?? 0);
  return {
    columns: shown,
    total: Math.max(newestPast, newest) || undefined,
    lastMinute: within(minute) + within(minute - 1),
    since: isCut ? oldest?.recorded_at : undefined,
    isPending: query.isPending,
    error: query.error ?? undefined,
  };
}
