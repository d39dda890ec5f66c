/** The list of everything, or why it is empty. */
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.js';
import { Empty, ErrorBox, Loading } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { type Browsed, MOST_HITS } from './browse.js';
import { EntryRow } from './entry-row.js';
import type { Filters } from './filters.js';
import type { Selection } from './memory-view.js';

interface Props {
  readonly browsed: Browsed;
  readonly filters: Filters;
  readonly onFilter: (change: Partial<Record<keyof Filters, string | undefined>>) => void;
  readonly selection: Selection | undefined;
}

export function BrowseList({ browsed, filters, onFilter, selection }: Props): ReactNode {
  const { entries, error, isPending, isCut } = browsed;
  const isFiltered = filters.kind !== 'all' || filters.user !== undefined || filters.type !== undefined;
  return (
    <>
      {error !== undefined && <ErrorBox error={error} retry={browsed.retry} />}
      {isPending ? (
        <div className="panel">
          <Loading lines={12} />
        </div>
      ) : entries.length > 0 ? (
        <div className="panel memory-list">
          <VirtualList
            label="Memories"
            items={entries}
            keyOf={({ id }) => id}
            estimate={58}
            onEnd={browsed.loadMore}
            height="100%"
            render={(entry) => (
              <EntryRow entry={entry} selected={selection?.has(entry.id)} onSelect={(id) => selection?.toggle(id)} />
            )}
          />
        </div>
      ) : error !== undefined ? null : isFiltered ? (
        <Empty title="No memory matches">
          <Button onClick={() => onFilter({ kind: 'all', user: '', type: '' })}>Show everything</Button>
        </Empty>
      ) : (
        <Empty title="Nothing is remembered yet" command={`npx cairn demo --url ${location.origin}`}>
          An agent remembers by remember, by results of its tasks, and when a conversation is closed. This fills the
          store with an example:
        </Empty>
      )}
      {(isCut || (filters.user !== undefined && (filters.kind === 'cards' || filters.kind === 'turns'))) && (
        <p className="muted small">
          {isCut && `The newest ${MOST_HITS.toLocaleString('en')} are listed. A search finds older ones. `}
          {filters.user !== undefined &&
            (filters.kind === 'cards' || filters.kind === 'turns') &&
            `Listed is what a call for ${filters.user} sees: also what is about nobody.`}
        </p>
      )}
    </>
  );
}
