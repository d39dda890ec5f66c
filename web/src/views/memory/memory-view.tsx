/** Everything remembered: browsed newest first, or searched as one types. */
import { type ReactNode, useMemo, useState } from 'react';
import { useSession } from '../../app/session.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Page } from '../../ui/layout.js';
import { useBrowse } from './browse.js';
import { BrowseList } from './browse-list.js';
import { useFilters } from './filters.js';
import { ForgetDialog } from './forget-dialog.js';
import './memory.css';
import { useSearchResults } from './search.js';
import { SearchList } from './search-list.js';
import { Toolbar } from './toolbar.js';

/** Ids that are ticked, to forget several at once. */
export interface Selection {
  readonly has: (id: string) => boolean;
  readonly toggle: (id: string) => void;
}

export function View(): ReactNode {
  const { canWrite } = useSession();
  const [filters, setFilters] = useFilters();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [forgetting, setForgetting] = useState(false);
  const isSearch = filters.query !== '';
  const browsed = useBrowse(filters, !isSearch);
  const found = useSearchResults(filters);
  const entries = browsed.entries;
  const [users, types] = useMemo(() => {
    const seen = (values: readonly (string | null | undefined)[]) =>
      [...new Set(values)].filter((value) => value != null).sort();
    return [
      seen([filters.user, ...entries.flatMap(({ subjects }) => subjects)]),
      seen([filters.type, ...entries.map(({ kind }) => kind), ...found.passages.map(({ type }) => type)]),
    ];
  }, [entries, found.passages, filters.user, filters.type]);
  const selection: Selection | undefined = canWrite
    ? {
        has: (id) => selected.has(id),
        toggle: (id) => {
          const next = new Set(selected);
          if (!next.delete(id)) next.add(id);
          setSelected(next);
        },
      }
    : undefined;
  return (
    <Page
      title="Memory"
      about="What was remembered, whom it is about, and what became of it."
      actions={
        isSearch ? (
          <CopyMenu call="memory.recall" input={found.input} value={found.passages} />
        ) : (
          <CopyMenu call="notes.list" input={{ order: 'desc', subject_id: filters.user }} value={entries} />
        )
      }
    >
      <Toolbar
        filters={filters}
        onChange={setFilters}
        users={users}
        types={types}
        selected={selected.size}
        onClear={() => setSelected(new Set())}
        onForget={() => setForgetting(true)}
      >
        {isSearch ? found.summary : browsed.total !== undefined && memories(browsed.total)}
      </Toolbar>
      {isSearch ? (
        <SearchList found={found} selection={selection} />
      ) : (
        <BrowseList browsed={browsed} filters={filters} onFilter={setFilters} selection={selection} />
      )}
      {forgetting && (
        <ForgetDialog ids={[...selected]} onDone={() => setSelected(new Set())} onClose={() => setForgetting(false)} />
      )}
    </Page>
  );
}

const memories = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'memory' : 'memories'}`;
