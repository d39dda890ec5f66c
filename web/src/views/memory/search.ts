/** Recall, as an agent would ask, but without counting as an access. */
import type { Passage } from 'cairndb/client';
import { type InputOf, type Pages, usePages } from '../../data/api.js';
import type { Filters, KindFilter } from './filters.js';

const PAGE = 30;
/** Below this confidence a passage is a guess. */
export const GUESS = 0.4;

type Input = InputOf<'memory.recall'>;

const searched: Readonly<Record<KindFilter, Input['entity_types']>> = {
  all: undefined,
  notes: ['Note'],
  artifacts: ['Artifact'],
  summaries: ['Note', 'Artifact'],
  cards: ['Card'],
  turns: ['Turn'],
};

export interface Found {
  readonly input: Input;
  readonly pages: Pages<Passage>;
  readonly passages: readonly Passage[];
  readonly summary: string;
}

export function useSearchResults({ kind, query, user, type }: Filters): Found {
  const filters = [
    ...(kind === 'summaries'
      ? [{ field: 'abstraction_level' as const, operator: 'in' as const, value: ['L1', 'L2'] }]
      : []),
    ...(type === undefined ? [] : [{ field: 'type' as const, operator: 'eq' as const, value: type }]),
  ];
  const input: Input = {
    query,
    limit: PAGE,
    entity_types: searched[kind],
    count_access: false,
    user,
    filters: filters.length === 0 ? undefined : filters,
  };
  const pages = usePages('memory.recall', 'passages', input, { enabled: query !== '' });
  const passages = query === '' ? [] : pages.items;
  const likely = passages.filter(({ confidence }) => confidence >= GUESS).length;
  const more = pages.query.hasNextPage ? ' so far' : '';
  const summary = pages.query.isPending ? '' : `${likely} likely, ${passages.length - likely} guesses${more}`;
  return { input, pages, passages, summary };
}
