/** Everything remembered, newest first: several lists as one, each read page by page. */
import { useMemo } from 'react';
import { type Pages, usePages } from '../../data/api.js';
import { type Entry, fromArtifact, fromHit, fromNote } from './entries.js';
import type { Filters } from './filters.js';

const PAGE = 200;
/** A search ends here. */
export const MOST_HITS = 1000;

interface Source {
  readonly pages: Pages<unknown>;
  readonly entries: readonly Entry[];
}

export interface Browsed {
  readonly entries: readonly Entry[];
  readonly total: number | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  /** Whether older cards or turns are found by a search alone. */
  readonly isCut: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

const hasMore = ({ pages }: Source): boolean => pages.query.hasNextPage;

/** The oldest entry of a list that goes on: what is older in other lists has to wait for its next page. */
const endOf = ({ entries }: Source): string => entries.at(-1)?.created_at ?? '';

function merged(sources: readonly Source[]): Entry[] {
  const complete = sources.filter(hasMore).map(endOf).sort().at(-1);
  const all = sources.flatMap(({ entries }) => entries);
  const shown = complete === undefined ? all : all.filter(({ created_at }) => created_at >= complete);
  return shown.sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0));
}

function loadMore(sources: readonly Source[]): void {
  const open = sources.filter(hasMore);
  const latest = open.map(endOf).sort().at(-1);
  for (const source of open) if (endOf(source) === latest) source.pages.loadMore();
}

export function useBrowse({ kind, user, type }: Filters, enabled: boolean): Browsed {
  const wants = (...of: Filters['kind'][]) => enabled && of.includes(kind);
  const shared = { order: 'desc', limit: PAGE, include_superseded: true, subject_id: user } as const;
  const level = (summary: 'L1' | 'L2') => (kind === 'summaries' ? { abstraction_level: summary } : {});
  const withNotes = wants('all', 'notes', 'summaries');
  const withArtifacts = wants('all', 'artifacts', 'summaries');
  // A list by user has no cards: a search tells not whom they are about.
  const withHits = wants('cards', 'turns') || (wants('all') && user === undefined && type === undefined);
  const notes = usePages(
    'notes.list',
    'notes',
    { ...shared, ...level('L2'), note_type: type },
    { enabled: withNotes, keep: false },
  );
  const artifacts = usePages(
    'artifacts.list',
    'artifacts',
    { ...shared, ...level('L1'), artifact_type: type },
    { enabled: withArtifacts, keep: false },
  );
  const hits = usePages(
    'search.query',
    'results',
    { query: '', entity_types: [kind === 'turns' ? 'Turn' : 'Card'], limit: 100, user },
    { enabled: withHits, keep: false },
  );
  const fromNotes = useMemo(() => notes.items.map(fromNote), [notes.items]);
  const fromArtifacts = useMemo(() => artifacts.items.map(fromArtifact), [artifacts.items]);
  const fromHits = useMemo(() => hits.items.map(fromHit), [hits.items]);
  const sources: Source[] = [
    ...(withNotes ? [{ pages: notes, entries: fromNotes }] : []),
    ...(withArtifacts ? [{ pages: artifacts, entries: fromArtifacts }] : []),
    ...(withHits ? [{ pages: hits, entries: fromHits }] : []),
  ];
  const state = sources.map((source) => hasMore(source)).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sources are made of these.
  const entries = useMemo(
    () => merged(sources),
    [fromNotes, fromArtifacts, fromHits, withNotes, withArtifacts, withHits, state],
  );
  const totals = sources.map(({ pages }) => pages.total);
  return {
    entries,
    total: totals.some((total) => total === undefined) ? undefined : totals.reduce((sum, one) => sum! + one!, 0),
    isPending: sources.some(({ pages }) => pages.query.isPending),
    error: sources.map(({ pages }) => pages.query.error).find(Boolean),
    isCut: withHits && !hits.query.hasNextPage && hits.items.length >= MOST_HITS,
    loadMore: () => loadMore(sources),
    retry: () => {
      for (const { pages } of sources) void pages.query.refetch();
    },
  };
}
