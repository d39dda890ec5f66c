/** What a search found, best first. */
import type { ReactNode } from 'react';
import { Empty, ErrorBox, Loading } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import type { Selection } from './memory-view.js';
import { ResultRow } from './result-row.js';
import type { Found } from './search.js';

export function SearchList({ found, selection }: { found: Found; selection: Selection | undefined }): ReactNode {
  const { pages, passages, input } = found;
  const { query } = pages;
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending)
    return (
      <div className="panel">
        <Loading lines={9} />
      </div>
    );
  if (passages.length === 0)
    return (
      <Empty title="Nothing found">
        {input.user === undefined
          ? 'No memory has a word of this question, or one like it.'
          : `Nothing that is about ${input.user}, or about nobody, has a word of this question, or one like it.`}
      </Empty>
    );
  return (
    <>
      <div className={`panel memory-list ${query.isPlaceholderData ? 'stale' : ''}`}>
        <VirtualList
          label="Results"
          items={passages}
          keyOf={({ id, checkpoint_id }) => id + (checkpoint_id ?? '')}
          estimate={84}
          onEnd={pages.loadMore}
          height="100%"
          render={(passage) => (
            <ResultRow
              passage={passage}
              selected={selection?.has(passage.id)}
              onSelect={(id) => selection?.toggle(id)}
            />
          )}
        />
      </div>
      {input.user !== undefined && (
        <p className="muted small">Found is what a call for {input.user} finds: also what is about nobody.</p>
      )}
    </>
  );
}
