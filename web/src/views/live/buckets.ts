/** Events counted by minute or hour. */
import type { LiveEvent } from '../../data/events.js';

export const MINUTE_MS = 60_000;

/** A chart has so many columns of so many minutes. */
export const spans = {
  minute: { columns: 60, minutes: 1, label: 'Last hour' },
  hour: { columns: 48, minutes: 60, label: 'Last two days' },
} as const;

export type Span = keyof typeof spans;

/** Counts by the minute since the epoch. */
export type Minutes = Map<number, number>;

export const minuteOf = (at: string | number): number => Math.floor(new Date(at).getTime() / MINUTE_MS);

export function countInto(minutes: Minutes, events: Iterable<Pick<LiveEvent, 'recorded_at'>>): Minutes {
  for (const { recorded_at } of events) {
    const minute = minuteOf(recorded_at);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
  }
  return minutes;
}

/** Starts of the columns in seconds, and the events in each. */
export function columnsOf(sources: readonly Minutes[], span: Span, now: number): [number[], number[]] {
  const { columns, minutes } = spans[span];
  const last = Math.floor(minuteOf(now) / minutes);
  const counts = Array.from({ length: columns }, () => 0);
  for (const source of sources)
    for (const [minute, count] of source) {
      const column = columns - 1 - (last - Math.floor(minute / minutes));
      if (column >= 0 && column < columns) counts[column]! += count;
    }
  const starts = counts.map((_, column) => ((last - (columns - 1 - column)) * minutes * MINUTE_MS) / 1000);
  return [starts, counts];
}

/** Drops what no chart shows any more. */
export function forgetBefore(minutes: Minutes, first: number): void {
  for (const minute of minutes.keys()) if (minute < first) minutes.delete(minute);
}
