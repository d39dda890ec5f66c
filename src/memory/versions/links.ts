/** Links of artifacts and notes: their sources, and what supersedes and contradicts them. */
import type { Query } from '../../driver/index.js';
import { newId } from '../../kernel/contract.js';
import type { EdgeType, EntityType } from '../edges/model.js';
import { EMPTY_BODY, type NewEdge, relationsOf } from '../edges/store.js';
import type { EntityRef, Moment } from '../entities/store.js';

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

export interface Links {
  readonly superseded_by: readonly string[];
  readonly contradicted_by: readonly string[];
  readonly source_trajectory_ids: readonly string[];
  readonly source_artifact_ids: readonly string[];
}

export async function memoryLinks(
  query: Query,
  ids: readonly string[],
  moment: Moment,
): Promise<(memory_id: string) => Links> {
  const relations = ids.length === 0 ? new Map<string, never>() : await relationsOf(query, ids, moment);
  return (memory_id) => {
    const { superseded_by = [], contradicted_by = [], sources = [] } = relations.get(memory_id) ?? {};
    return {
      superseded_by,
      contradicted_by,
      source_trajectory_ids: idsOf(sources, 'Trajectory'),
      source_artifact_ids: idsOf(sources, 'Artifact'),
    };
  };
}

/** Distinct ids of the participants of a type. */
const idsOf = (ends: readonly EntityRef[], type: EntityType): string[] => [
  ...new Set(ends.filter(({ entity_type }) => entity_type === type).map(({ entity_id }) => entity_id)),
];

/** The links of a new entity, from its edges. */
export function linksTo(edges: readonly NewEdge[]): Links {
  const ends = (...types: readonly EdgeType[]): EntityRef[] =>
    edges.filter(({ edge_type }) => types.includes(edge_type)).flatMap(({ participants }) => participants.slice(1));
  return {
    superseded_by: [],
    contradicted_by: [...new Set(ends('Contradicts').map(({ entity_id }) => entity_id))],
    source_trajectory_ids: idsOf(ends('DerivedFrom'), 'Trajectory'),
    source_artifact_ids: idsOf(ends('DerivedFrom', 'SynthesizedFrom'), 'Artifact'),
  };
}
