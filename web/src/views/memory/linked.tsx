/** What supports, contradicts, replaces it, and what was made from it. */
import type { Edge } from 'cairndb/client';
import type { ReactNode } from 'react';
import { usePages } from '../../data/api.js';
import { words } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { Panel } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { Answer } from '../../ui/states.js';

/** What an edge says of the others, seen from its first participant and from another. */
const relations: Readonly<Record<string, readonly [fromFirst: string, fromOther: string]>> = {
  Contradicts: ['Contradicts', 'Contradicted by'],
  Supersedes: ['Replaces', 'Replaced by'],
  Supports: ['Supports', 'Supported by'],
  DerivedFrom: ['', 'Used for'],
  SynthesizedFrom: ['', 'Summarised in'],
  Causal: ['Causes', 'Caused by'],
  Temporal: ['Before or after', 'Before or after'],
};

const MAX_SHOWN = 8;

interface Group {
  readonly label: string;
  readonly others: readonly Edge['participants'][number][];
}

function groupsOf(edges: readonly Edge[], id: string): Group[] {
  const groups = new Map<string, Map<string, Edge['participants'][number]>>();
  for (const { edge_type, participants } of edges) {
    const isFirst = participants[0]?.entity_id === id;
    const [fromFirst, fromOther] = relations[edge_type] ?? [words(edge_type), words(edge_type)];
    const label = isFirst ? fromFirst : fromOther;
    // Its own sources are shown in their own words.
    if (label === '') continue;
    const group = groups.get(label) ?? new Map();
    groups.set(label, group);
    // A source of the same summary is no relation of this one.
    const isSource = !isFirst && (edge_type === 'DerivedFrom' || edge_type === 'SynthesizedFrom');
    for (const other of isSource ? participants.slice(0, 1) : participants)
      if (other.entity_id !== id) group.set(other.entity_id, other);
  }
  return [...groups].map(([label, others]) => ({ label, others: [...others.values()] }));
}

export function Linked({ id }: { id: string }): ReactNode {
  const { query, items, loadMore } = usePages('edges.list', 'edges', { entity_id: id, limit: 100, order: 'desc' });
  return (
    <Panel title="Linked">
      <Answer query={{ ...query, data: query.data === undefined ? undefined : items }} lines={3}>
        {(edges) =>
          groupsOf(edges, id).length === 0 ? (
            <p className="muted small">Nothing supports, contradicts or replaces it.</p>
          ) : (
            <div className="stack">
              {groupsOf(edges, id).map(({ label, others }) => (
                <section key={label} className="stack tight">
                  <h3 className="muted">{label}</h3>
                  <ul className="stack tight small">
                    {others.slice(0, MAX_SHOWN).map(({ entity_type, entity_id }) => (
                      <li key={entity_id} className="row">
                        <Named type={entity_type} id={entity_id} />
                      </li>
                    ))}
                  </ul>
                  {others.length > MAX_SHOWN && (
                    <span className="faint small">and {others.length - MAX_SHOWN} more</span>
                  )}
                </section>
              ))}
              {query.hasNextPage && (
                <Button kind="quiet" onClick={loadMore}>
                  Older links
                </Button>
              )}
            </div>
          )
        }
      </Answer>
    </Panel>
  );
}
