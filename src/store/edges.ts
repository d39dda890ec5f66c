/** edges and edge_participants: the only relation between entities. */
import type { Query, Table, Tx } from '../driver/driver.js';
import { type Sql, sql } from '../driver/sql.js';
import type { EdgeType, EntityType } from '../model/edge.js';

export interface Participant {
  readonly entity_type: EntityType;
  readonly entity_id: string;
  readonly role: string | null;
}

export interface NewEdge {
  readonly edge_id: string;
  readonly edge_type: EdgeType;
  readonly agent_id: string | null;
  /** Canonical JSON of weight, provenance and metadata. */
  readonly body: string;
  readonly sent_hash: string | null;
  /** The first is A. */
  readonly participants: readonly Participant[];
}

const edgesTable: Table = {
  name: 'edges',
  columns: {
    tenant_id: 'text',
    edge_id: 'text',
    edge_type: 'text',
    agent_id: 'text',
    body: 'json',
    sent_hash: 'text',
    created_at: 'bigint',
  },
};

const participantsTable: Table = {
  name: 'edge_participants',
  columns: {
    tenant_id: 'text',
    edge_id: 'text',
    position: 'bigint',
    edge_type: 'text',
    entity_type: 'text',
    entity_id: 'text',
    role: 'text',
    created_at: 'bigint',
  },
};

/** created_at is the recorded time (see `settle` of a packet), by which an as_of looks at them. */
export async function insertEdges(
  tx: Tx,
  tenant: string,
  edges: readonly NewEdge[],
  created_at: number,
): Promise<void> {
  await tx.insert(
    edgesTable,
    edges.map((e) => [tenant, e.edge_id, e.edge_type, e.agent_id, e.body, e.sent_hash, created_at]),
  );
  await tx.insert(
    participantsTable,
    edges.flatMap((e) =>
      e.participants.map((p, i) => [
        tenant,
        e.edge_id,
        i + 1,
        e.edge_type,
        p.entity_type,
        p.entity_id,
        p.role,
        created_at,
      ]),
    ),
  );
}

/** Whether an edge holds at a moment; at any moment unless given, as long as it was not deleted. */
const holdsAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`p.deleted_at IS NULL`
    : sql`p.created_at <= ${as_of} AND (p.deleted_at IS NULL OR p.deleted_at > ${as_of})`;

export interface Link {
  readonly edge_id: string;
  readonly edge_type: EdgeType;
  /** The entity that was asked about. */
  readonly of_id: string;
  /** Its position in the edge, and that of the other end. */
  readonly of_position: number;
  readonly position: number;
  readonly entity_type: EntityType;
  readonly entity_id: string;
}

/** The other ends of the edges of these types that these entities take part in, in the order of the edges. */
export function linksOf(
  query: Query,
  tenant: string,
  entity_ids: readonly string[],
  edge_types: readonly EdgeType[],
  as_of?: number,
): Promise<Link[]> {
  return query.all<Link>(
    sql`SELECT p.edge_id, p.edge_type, p.entity_id AS of_id, p.position AS of_position, o.position,
          o.entity_type, o.entity_id
        FROM edge_participants p
        JOIN edge_participants o ON o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position <> p.position
        WHERE p.tenant_id = ${tenant} AND p.entity_id = ANY(${entity_ids}) AND p.edge_type = ANY(${edge_types})
          AND ${holdsAt(as_of)}
        ORDER BY p.edge_id, o.position`,
  );
}

/** Removes the edges that these entities take part in, when those are removed for good. */
export async function removeEdgesOf(
  tx: Tx,
  tenant: string,
  entity_ids: readonly string[],
  now: number,
): Promise<void> {
  const rows = await tx.all<{ edge_id: string }>(
    sql`SELECT DISTINCT p.edge_id FROM edge_participants p
        WHERE p.tenant_id = ${tenant} AND p.entity_id = ANY(${entity_ids}) AND p.deleted_at IS NULL`,
  );
  await markDeleted(
    tx,
    tenant,
    rows.map(({ edge_id }) => edge_id),
    now,
  );
}

/** Deletes edges; what they linked, and that they were there, can still be seen by an earlier as_of. */
export async function markDeleted(
  tx: Tx,
  tenant: string,
  edge_ids: readonly string[],
  now: number,
): Promise<void> {
  if (edge_ids.length === 0) return;
  await tx.send(
    sql`UPDATE edges SET deleted_at = ${now}
        WHERE tenant_id = ${tenant} AND edge_id = ANY(${edge_ids}) AND deleted_at IS NULL`,
  );
  await tx.send(
    sql`UPDATE edge_participants SET deleted_at = ${now}
        WHERE tenant_id = ${tenant} AND edge_id = ANY(${edge_ids}) AND deleted_at IS NULL`,
  );
}
