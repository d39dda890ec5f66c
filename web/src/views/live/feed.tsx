/** The list of events with its filters, and a pause. */
import { ArrowUp, Pause, Play, Search as SearchIcon } from 'lucide-react';
import { type ReactNode, type UIEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { integer } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { Panel } from '../../ui/layout.js';
import { Empty, ErrorBox, Loading } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { agentsOf, entityOf } from './describe.js';
import { EventRow } from './event-row.js';
import { CardsProvider } from './names.js';
import { type Feed as FeedData, type FeedFilters, useFeed } from './use-feed.js';

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string | undefined;
  options: readonly string[];
  onChange: (value: string) => void;
}): ReactNode {
  return (
    <select
      className="input feed-choice"
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{label}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option.replace(/^cairn\./, '')}
        </option>
      ))}
    </select>
  );
}

/** Typed words, told once nobody types any more. */
function Words({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const [text, setText] = useState(value);
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => tell.current(text), 200);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <div className="search-field">
      <SearchIcon aria-hidden="true" />
      <input
        className="input"
        type="search"
        aria-label="Filter by words"
        placeholder="Filter by words"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}

function useChoices(known: FeedData['known'], { type, kind, agent }: FeedFilters) {
  return useMemo(() => {
    const sorted = (values: readonly (string | undefined)[]) =>
      [...new Set(values)].filter((value) => value !== undefined).sort();
    return {
      types: sorted([type, ...known.map(({ packet_type }) => packet_type)]),
      kinds: sorted([kind, ...known.map((event) => entityOf(event).type)]),
      agents: sorted([agent, ...known.flatMap(agentsOf)]),
    };
  }, [known, type, kind, agent]);
}

function HoldButton({ feed, onTop }: { feed: FeedData; onTop: () => void }): ReactNode {
  if (!feed.isHeld)
    return (
      <Button onClick={feed.hold}>
        <Pause />
        Pause
      </Button>
    );
  return (
    <Button
      kind="primary"
      onClick={() => {
        feed.release();
        onTop();
      }}
    >
      {feed.missed > 0 ? <ArrowUp /> : <Play />}
      {feed.missed > 0 ? `${integer(feed.missed)} new` : 'Resume'}
    </Button>
  );
}

export function Feed(): ReactNode {
  const [search, setSearch] = useSearch();
  const filters: FeedFilters = {
    type: search.type || undefined,
    kind: search.kind || undefined,
    agent: search.agent || undefined,
    text: search.text || undefined,
  };
  const feed = useFeed(filters);
  const choices = useChoices(feed.known, filters);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const frame = useRef<HTMLDivElement>(null);
  const byScroll = useRef(false);
  const toggle = (seq: number) => {
    const next = new Set(open);
    if (!next.delete(seq)) {
      next.add(seq);
      feed.hold();
    }
    setOpen(next);
  };
  const toTop = () => {
    byScroll.current = false;
    frame.current?.querySelector('.virtual')?.scrollTo({ top: 0 });
  };
  // Whoever reads further down is not pushed away by what arrives.
  const onScroll = ({ target }: UIEvent<HTMLDivElement>) => {
    const isTop = (target as HTMLElement).scrollTop < 8;
    if (!isTop && !feed.isHeld) {
      byScroll.current = true;
      feed.hold();
    } else if (isTop && feed.isHeld && byScroll.current && open.size === 0) {
      byScroll.current = false;
      feed.release();
    }
  };
  const isFiltered = Object.values(filters).some(Boolean);
  // A short list has no end to scroll to.
  useEffect(() => {
    if (feed.events.length < 20) feed.loadMore();
  });
  return (
    <Panel title="Events" actions={<HoldButton feed={feed} onTop={toTop} />} flush>
      <div className="feed-filters">
        <Words value={search.text ?? ''} onChange={(text) => setSearch({ text })} />
        <Choice
          label="Any type"
          value={filters.type}
          options={choices.types}
          onChange={(type) => setSearch({ type })}
        />
        <Choice
          label="Any entity"
          value={filters.kind}
          options={choices.kinds}
          onChange={(kind) => setSearch({ kind })}
        />
        <Choice
          label="Any agent"
          value={filters.agent}
          options={choices.agents}
          onChange={(agent) => setSearch({ agent })}
        />
      </div>
      {feed.error !== undefined && <ErrorBox error={feed.error} />}
      <div ref={frame} className="feed" onScrollCapture={onScroll}>
        {feed.events.length > 0 ? (
          <CardsProvider events={feed.known}>
            <VirtualList
              label="Events, newest first"
              items={feed.events}
              keyOf={({ seq }) => String(seq)}
              estimate={37}
              onEnd={feed.loadMore}
              height="100%"
              render={(event) => <EventRow event={event} isOpen={open.has(event.seq)} onToggle={toggle} />}
            />
          </CardsProvider>
        ) : feed.isPending ? (
          <Loading lines={10} />
        ) : isFiltered ? (
          <Empty title="No event matches">
            <Button onClick={() => setSearch({ type: '', kind: '', agent: '', text: '' })}>Show all events</Button>
          </Empty>
        ) : (
          <Empty title="Nothing has happened yet" command={`npx cairn demo --url ${location.origin}`}>
            Every change of the store appears here at once.
          </Empty>
        )}
      </div>
      {feed.searchFurther && (
        <div className="feed-gap">
          <span>{integer(feed.known.length)} events were read.</span>
          <Button kind="quiet" onClick={feed.searchFurther}>
            Look further back
          </Button>
        </div>
      )}
    </Panel>
  );
}
