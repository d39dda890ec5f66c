/** What a graph asks the store: its root, and what the reader expands. */
import { useQueries } from '@tanstack/react-query';
import type { Api, EdgeTraverseInput } from 'cairndb/client';
import { useEffect, useMemo, useRef } from 'react';
import { useSession } from '../../app/session.js';
import { type LiveEvent, useLive } from '../../data/events.js';
import { queryClient } from '../../data/query-client.js';
import { type EntityRef, type Found, type Graph, graphOf, keyOfEntity } from './graph.js';

type TraversedType = EdgeTraverseInput['entity_type'];

export type Ask =
  | { readonly op: 'packet'; readonly id: string }
  | { readonly op: 'edge'; readonly id: string }
  | { readonly op: 'lineage'; readonly id: string; readonly direction: 'ancestors' | 'descendants' }
  | { readonly op: 'traverse'; readonly type: string; readonly id: string; readonly depth: number };

/** The farthest that `packets.lineage` walks. */
const MAX_DEPTH = 50;
/** Entities that one traversal may find. */
const MAX_FOUND = 500;

const TRAVERSED: readonly string[] = ['Trajectory', 'Scope', 'Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Box'];

/** The relations around an entity, and the ancestors and descendants of a packet. */
export function asksFor({ type, id }: EntityRef, depth: number): Ask[] {
  if (type === 'Edge') return [{ op: 'edge', id }];
  const relations: Ask[] = TRAVERSED.includes(type) ? [{ op: 'traverse', type, id, depth }] : [];
  if (type !== 'Packet') return relations;
  return [
    { op: 'packet', id },
    { op: 'lineage', id, direction: 'ancestors' },
    { op: 'lineage', id, direction: 'descendants' },
    ...relations,
  ];
}

interface Answered extends Found {
  readonly truncated: boolean;
}

const NOTHING: Answered = { packets: [], edges: [], entities: [], truncated: false };

async function answer(api: Api, ask: Ask, signal: AbortSignal): Promise<Answered> {
  if (ask.op === 'packet') return { ...NOTHING, packets: [await api.packets.get({ packet_id: ask.id }, { signal })] };
  if (ask.op === 'edge') {
    const edge = await api.edges.get({ edge_id: ask.id }, { signal });
    const entities = edge.participants.map(({ entity_type, entity_id }) => ({ type: entity_type, id: entity_id }));
    return { ...NOTHING, edges: [edge], entities };
  }
  if (ask.op === 'lineage') {
    const { id: packet_id, direction } = ask;
    const found = await api.packets.lineage({ packet_id, direction, max_depth: MAX_DEPTH }, { signal });
    return { ...NOTHING, packets: found.packets, truncated: found.truncated };
  }
  const { type, id, depth } = ask;
  const input = { entity_type: type as TraversedType, entity_id: id, max_depth: depth, limit: MAX_FOUND };
  const { edges, entities, truncated } = await api.edges.traverse(input, { signal });
  return {
    packets: [],
    edges,
    entities: entities.map(({ entity_type, entity_id }) => ({ type: entity_type, id: entity_id })),
    // More than a few steps away there is nearly always something.
    truncated: truncated && entities.length >= MAX_FOUND,
  };
}

/** Not among the packets that every event makes stale: a lineage changes when one of its packets gets a child. */
const queryKeyOf = (ask: Ask) => [ask.op === 'lineage' || ask.op === 'packet' ? 'lineage' : 'edges', 'graph', ask];

export interface Lineage {
  readonly graph: Graph;
  readonly isPending: boolean;
  readonly truncated: boolean;
  readonly error: Error | null;
  readonly refetch: () => void;
}

/** A packet that has a parent in the graph belongs to it. */
function useNewChildren({ nodes }: Graph): void {
  const { events } = useLive();
  const seen = useRef(events.at(-1)?.seq ?? 0);
  useEffect(() => {
    const isChild = ({ seq, lineage }: LiveEvent) =>
      seq > seen.current && lineage.parent_ids.some((id) => nodes.has(keyOfEntity({ type: 'Packet', id })));
    const last = events.at(-1)?.seq ?? 0;
    if (last <= seen.current) return;
    if (events.some(isChild)) void queryClient.invalidateQueries({ queryKey: ['lineage'] });
    seen.current = last;
  }, [events, nodes]);
}

export function useLineage(root: EntityRef, asks: readonly Ask[]): Lineage {
  const { api } = useSession();
  const combined = useQueries({
    queries: asks.map((ask) => ({
      queryKey: queryKeyOf(ask),
      queryFn: ({ signal }: { signal: AbortSignal }) => answer(api, ask, signal),
    })),
    combine,
  });
  const { found, ...rest } = combined;
  const { type, id } = root;
  const graph = useMemo(() => graphOf(type === 'Edge' ? undefined : { type, id }, found), [type, id, found]);
  useNewChildren(graph);
  return { graph, ...rest };
}

interface Result {
  readonly data: Answered | undefined;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

const combine = (results: readonly Result[]) => ({
  found: results.flatMap(({ data }) => data ?? []),
  isPending: results.some(({ isPending }) => isPending),
  truncated: results.some(({ data }) => data?.truncated),
  error: results.find(({ error }) => error)?.error ?? null,
  refetch: () => {
    for (const { error, refetch } of results) if (error) refetch();
  },
});
