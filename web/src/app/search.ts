/** What a view keeps in its address: the chosen tab, filters, a query. */
import { useNavigate, useRouterState } from '@tanstack/react-router';
import type { Search } from './router.js';

export function useSearch(): readonly [Search, (change: Search) => void] {
  const search = useRouterState({ select: ({ location }) => location.search as Search });
  const navigate = useNavigate();
  const change = (next: Search) => {
    const merged = Object.fromEntries(
      Object.entries({ ...search, ...next }).filter(([, value]) => value !== undefined && value !== ''),
    );
    void navigate({ to: '.', search: merged as never, replace: true });
  };
  return [search, change];
}
