/** The edges that artifacts and notes are created with. */
import { newId } from '../../kernel/contract.js';
import type { EdgeType } from '../edges/model.js';
import { EMPTY_BODY, type NewEdge } from '../edges/store.js';
import type { EntityRef } from '../entities/store.js';

const edgeOf = (edge_type: EdgeType, agent_id: string | null, ends: readonly EntityRef[]): NewEdge => ({
  edge_id: newId(),
  edge_type,
  agent_id,
  body: EMPTY_BODY,
  sent_hash: null,
  participants: ends.map((end) => ({ ...end, role: null })),
});

/** One edge per source. A new entity cannot close a cycle, so none is checked. */
export const derivedEdges = (from: EntityRef, sources: readonly EntityRef[], agent_id: string | null): NewEdge[] =>
  sources.map((source) => edgeOf('DerivedFrom', agent_id, [from, source]));

const MAX_PARTICIPANTS = 100;

export function synthesizedEdges(from: EntityRef, sources: readonly EntityRef[], agent_id: string | null): NewEdge[] {
  const edges: NewEdge[] = [];
  for (let i = 0; i < sources.length; i += MAX_PARTICIPANTS - 1)
    edges.push(edgeOf('SynthesizedFrom', agent_id, [from, ...sources.slice(i, i + MAX_PARTICIPANTS - 1)]));
  return edges;
}

export const edgeBetween = (edge_type: EdgeType, from: EntityRef, to: EntityRef, agent_id: string | null): NewEdge =>
  edgeOf(edge_type, agent_id, [from, to]);
