/** What artifacts and notes are linked to: where they came from, what supersedes and contradicts them. */
import type { Query, Tx } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import type { EntityType } from '../model/edge.js';
import { newId } from '../model/ids.js';
import { knownCards } from './cards.js';
import { insertEdges, type Link, linksOf, type NewEdge } from './edges.js';
import { knownMemories, PENDING } from './memories.js';

export interface End {
  readonly entity_type: EntityType;
  readonly entity_id: string;
}

const NOTHING_MORE = '{"metadata":{},"provenance":null,"weight":null}';

const edgeOf = (edge_type: NewEdge['edge_type'], agent_id: string | null, ends: readonly End[]): NewEdge => ({
  edge_id: newId(),
  edge_type,
  agent_id,
  body: NOTHING_MORE,
  sent_hash: null,
  participants: ends.map((end) => ({ ...end, role: null })),
});

/** One edge a source. Something new cannot close a cycle, so nothing is looked at. */
export const derivedEdges = (from: End, sources: readonly End[], agent_id: string | null): NewEdge[] =>
  sources.map((source) => edgeOf('DerivedFrom', agent_id, [from, source]));

export const supersedingEdge = (card_id: string, old_card_id: string, agent_id: string | null): NewEdge =>
  edgeOf('Supersedes', agent_id, [
    { entity_type: 'Card', entity_id: card_id },
    { entity_type: 'Card', entity_id: old_card_id },
  ]);

/** Writes edges at once, so that others of the same commit find them; `settleEdges` gives them their time. */
export const insertPendingEdges = (tx: Tx, tenant: string, edges: readonly NewEdge[]): Promise<void> =>
  insertEdges(tx, tenant, edges, PENDING);

export async function settleEdges(
  tx: Tx,
  tenant: string,
  edge_ids: readonly string[],
  recorded_at: number,
): Promise<void> {
  if (edge_ids.length === 0) return;
  await tx.send(
    sql`UPDATE edges SET created_at = ${recorded_at} WHERE tenant_id = ${tenant} AND edge_id = ANY(${edge_ids})`,
  );
  await tx.send(
    sql`UPDATE edge_participants SET created_at = ${recorded_at}
        WHERE tenant_id = ${tenant} AND edge_id = ANY(${edge_ids})`,
  );
}

export interface Links {
  readonly superseded_by: readonly string[];
  readonly contradicted_by: readonly string[];
  readonly source_trajectory_ids: readonly string[];
  readonly source_artifact_ids: readonly string[];
}

const NO_LINKS: Links = {
  superseded_by: [],
  contradicted_by: [],
  source_trajectory_ids: [],
  source_artifact_ids: [],
};

/** The links of each of these entities, as they are or as they were at a moment. */
export async function memoryLinks(
  query: Query,
  tenant: string,
  ids: readonly string[],
  now: number,
  as_of?: number,
): Promise<(memory_id: string) => Links> {
  if (ids.length === 0) return () => NO_LINKS;
  const links = await linksOf(query, tenant, ids, ['Supersedes', 'Contradicts', 'DerivedFrom'], as_of);
  if (links.length === 0) return () => NO_LINKS;
  const readable = await readableEnds(query, tenant, links, now, as_of);
  const byEntity = new Map<string, Link[]>();
  for (const link of links) {
    const list = byEntity.get(link.of_id);
    if (list) list.push(link);
    else byEntity.set(link.of_id, [link]);
  }
  const distinct = (list: readonly Link[]) => [...new Set(list.map(({ entity_id }) => entity_id))];
  return (memory_id) => {
    const own = byEntity.get(memory_id);
    if (!own) return NO_LINKS;
    const sources = own.filter((link) => link.edge_type === 'DerivedFrom' && link.of_position === 1);
    return {
      superseded_by: distinct(own.filter((l) => l.edge_type === 'Supersedes' && l.position === 1)),
      contradicted_by: distinct(own.filter((l) => l.edge_type === 'Contradicts' && readable(l))),
      source_trajectory_ids: distinct(sources.filter((l) => l.entity_type === 'Trajectory')),
      source_artifact_ids: distinct(sources.filter((l) => l.entity_type === 'Artifact')),
    };
  };
}

/** A contradiction counts as long as what contradicts can be read. */
async function readableEnds(
  query: Query,
  tenant: string,
  links: readonly Link[],
  now: number,
  as_of: number | undefined,
): Promise<(link: Link) => boolean> {
  const idsOf = (...types: EntityType[]) =>
    links
      .filter((link) => link.edge_type === 'Contradicts' && types.includes(link.entity_type))
      .map(({ entity_id }) => entity_id);
  const memories = await knownMemories(query, tenant, idsOf('Artifact', 'Note'), now, { as_of });
  const cards = idsOf('Card', 'Turn');
  const readable = cards.length === 0 ? memories : await knownCards(query, tenant, cards, now);
  return ({ entity_type, entity_id }) => {
    if (entity_type === 'Artifact' || entity_type === 'Note') return memories.has(entity_id);
    return entity_type === 'Card' || entity_type === 'Turn' ? readable.has(entity_id) : true;
  };
}
