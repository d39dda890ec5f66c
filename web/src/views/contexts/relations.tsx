/** Where an entry was learned, and what it is related to, by its edges. */
import type { ContextEntry, Edge } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { words } from '../../data/format.js';
import { Named } from '../../ui/named.js';

/** From the view of the first participant, and of the others. */
const phrases: Readonly<Partial<Record<Edge['edge_type'], readonly [active: string, passive: string]>>> = {
  DerivedFrom: ['Learned from', 'Source of'],
  SynthesizedFrom: ['Made from', 'Part of'],
  Supersedes: ['Supersedes', 'Superseded by'],
  Supports: ['Supports', 'Supported by'],
  Contradicts: ['Contradicts', 'Contradicted by'],
};

type Relation = readonly [name: string, value: ReactNode];

/** Enough to see where something came from; the graph of its lineage has all. */
const MAX_EDGES = 30;

export function useRelations({ entity_type, id }: ContextEntry): readonly Relation[] {
  const isMemory = entity_type === 'Note' || entity_type === 'Artifact';
  const { data } = useCall('edges.list', { entity_type, entity_id: id, limit: MAX_EDGES }, { enabled: isMemory });
  const found = new Map<string, ReactNode[]>();
  for (const { edge_id, edge_type, participants } of data?.edges ?? []) {
    const isFirst = participants[0]?.entity_id === id;
    const name = phrases[edge_type]?.[isFirst ? 0 : 1] ?? words(edge_type);
    const others = isFirst ? participants.slice(1) : participants.slice(0, 1);
    const list = found.get(name) ?? [];
    for (const other of others)
      list.push(<Named key={edge_id + other.entity_id} type={other.entity_type} id={other.entity_id} />);
    found.set(name, list);
  }
  return [...found];
}
