/** Links of artifacts and notes: their sources, and what supersedes and contradicts them. Without schemas, for the reading thread. */
import type { Query } from '../../driver/index.js';
import type { EdgeType, EntityType } from '../edges/model.js';
import { type NewEdge, relationsOf } from '../edges/store.js';
import type { EntityRef, Moment } from '../entities/store.js';

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
