/** The events that are listed: the live ones, and before them as much of the past as somebody scrolled through. */
import { useMemo, useState } from 'react';
import { usePages } from '../../data/api.js';
import { type LiveEvent, type LiveState, MAX_EVENTS, useLive } from '../../data/events.js';
import { agentsOf, entityOf, matches } from './describe.js';

const PAGE = 200;
/** So much of the past is read at once if few events match. */
const MAX_SEARCHED = 4000;

export interface FeedFilters {
  readonly type: string | undefined;
  readonly kind: string | undefined;
  readonly agent: string | undefined;
  readonly text: string | undefined;
}

export interface Feed {
  readonly state: LiveState;
  /** Newest first. */
  readonly events: readonly LiveEvent[];
  /** All that is known, before filters. */
  readonly known: readonly LiveEvent[];
  readonly isPending: boolean;
  readonly error: unknown;
  readonly isHeld: boolean;
  /** Since it is held. */
  readonly missed: number;
  readonly hold: () => void;
  readonly release: () => void;
  readonly loadMore: () => void;
  /** The past goes on, but was not searched any further by itself. */
  readonly searchFurther: (() => void) | undefined;
}

interface Held {
  readonly events: readonly LiveEvent[];
  readonly count: number;
}

/** Read once: what follows comes by the stream, and must not make the past be read again. */
export function usePast(input: { readonly limit: number; readonly packet_type?: string | undefined }) {
  const key = JSON.stringify(input);
  const [read, setRead] = useState('');
  const pages = usePages('packets.list', 'packets', input, { enabled: read !== key, keep: false });
  if (pages.query.isSuccess && read !== key) setRead(key);
  return pages;
}

export function useFeed(filters: FeedFilters): Feed {
  const live = useLive();
  const { type, kind, agent, text } = filters;
  const past = usePast({ limit: PAGE, packet_type: type });
  const [held, setHeld] = useState<Held | undefined>();
  const [allowed, setAllowed] = useState(MAX_SEARCHED);
  const events = held?.events ?? live.events;
  const oldest = events[0]?.seq;
  const newestPast = past.items[0]?.seq;
  const known = useMemo(() => {
    const before = oldest === undefined ? past.items : past.items.filter(({ seq }) => seq < oldest);
    return [...events.toReversed(), ...before];
  }, [events, past.items, oldest]);
  const listed = useMemo(() => {
    const isListed = (event: LiveEvent) =>
      (type === undefined || event.packet_type === type) &&
      (kind === undefined || entityOf(event).type === kind) &&
      (agent === undefined || agentsOf(event).includes(agent)) &&
      (text === undefined || matches(event, text));
    return (type ?? kind ?? agent ?? text) ? known.filter(isListed) : known;
  }, [known, type, kind, agent, text]);
  const hasMore = past.query.hasNextPage;
  const isAllowed = past.items.length < allowed;
  // Of the live events only the newest are kept: the past is read again where they no longer meet it.
  const hasGap = events.length >= MAX_EVENTS && newestPast !== undefined && events[0]!.seq > newestPast;
  return {
    state: live.state,
    events: listed,
    known,
    isPending: past.query.isPending,
    error: past.query.error ?? undefined,
    isHeld: held !== undefined,
    missed: held ? live.count - held.count : 0,
    hold: () => setHeld((now) => now ?? { events: live.events, count: live.count }),
    release: () => setHeld(undefined),
    loadMore: () => {
      if (hasGap) {
        if (!past.query.isFetching) void past.query.refetch();
      } else if (hasMore && isAllowed) past.loadMore();
    },
    searchFurther: hasMore && !isAllowed ? () => setAllowed(past.items.length + MAX_SEARCHED) : undefined,
  };
}
