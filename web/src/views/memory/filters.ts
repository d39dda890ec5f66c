/** What the list shows, from its address. */
import { useSearch } from '../../app/search.js';

export const kinds = [
  ['all', 'All'],
  ['notes', 'Notes'],
  ['artifacts', 'Artifacts'],
  ['summaries', 'Summaries'],
  ['cards', 'Cards'],
  ['turns', 'Turns'],
] as const;

export type KindFilter = (typeof kinds)[number][0];

export interface Filters {
  readonly kind: KindFilter;
  readonly query: string;
  readonly user: string | undefined;
  /** A note_type or artifact_type. */
  readonly type: string | undefined;
}

export function useFilters(): readonly [Filters, (change: Partial<Record<keyof Filters, string | undefined>>) => void] {
  const [{ kind, q, user, type }, setSearch] = useSearch();
  const known = kinds.find(([id]) => id === kind)?.[0] ?? 'all';
  const change = ({ query, ...next }: Partial<Record<keyof Filters, string | undefined>>) =>
    setSearch({
      ...next,
      ...(next.kind === 'all' ? { kind: undefined } : {}),
      ...(query === undefined ? {} : { q: query }),
    });
  return [{ kind: known, query: q?.trim() ?? '', user: user || undefined, type: type || undefined }, change];
}
