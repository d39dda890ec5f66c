/** edges and edge_participants: the only relation between entities. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { PENDING } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import { type EntityRef, knownEntities, type Moment, nameOf, readableEntity } from '../entities/store.js';
import { ENDS_OF_EDGE, endsAmong } from './lookups.js';
import type { Edge, EdgeType, EntityType } from './model.js';

export interface Participant extends EntityRef {
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

/**
 * Ends, under the name p, to be found by their entities. SQLite keeps no statistics, and would rather scan all ends of
 * the tenant by their primary key.
 */
export const ENDS_BY_ENTITY: Sql = byDialect({
  sqlite: sql`edge_participants p INDEXED BY edge_participants_by_entity`,
  postgres: sql`edge_participants p`,
});
/** The same for those of edges that were not deleted, in the order of the edges. */
export const ENDS_IN_ORDER: Sql = byDialect({
  sqlite: sql`edge_participants p INDEXED BY edge_participants_in_order`,
  postgres: sql`edge_participants p`,
});

/** Their created_at, by which an as_of looks at them, is PENDING until they are settled. */
export async function insertEdges(tx: Tx, edges: readonly NewEdge[]): Promise<void> {
  await tx.insert(
    edgesTable,
    edges.map((e) => [tx.tenant, e.edge_id, e.edge_type, e.agent_id, e.body, e.sent_hash, PENDING]),
  );
  await tx.insert(
    participantsTable,
    edges.flatMap((e) =>
      e.participants.map((p, i) => [
        tx.tenant,
        e.edge_id,
        i + 1,
        e.edge_type,
        p.entity_type,
        p.entity_id,
        p.role,
        PENDING,
      ]),
    ),
  );
}

/** Gives edges that were inserted or deleted by this commit the time that it has. */
export async function settleEdges(tx: Tx, edge_ids: readonly string[], recorded_at: number): Promise<void> {
  if (edge_ids.length === 0) return;
  await tx.send(
    sql`UPDATE edges SET created_at = CASE WHEN created_at = ${PENDING} THEN ${recorded_at} ELSE created_at END,
          deleted_at = CASE WHEN deleted_at = ${PENDING} THEN ${recorded_at} ELSE deleted_at END
        WHERE tenant_id = ${TENANT} AND edge_id = ANY(${edge_ids})`,
  );
  await tx.send(
    sql`UPDATE edge_participants SET created_at = CASE WHEN created_at = ${PENDING} THEN ${recorded_at} ELSE created_at END,
          deleted_at = CASE WHEN deleted_at = ${PENDING} THEN ${recorded_at} ELSE deleted_at END
        WHERE tenant_id = ${TENANT} AND edge_id = ANY(${edge_ids})`,
  );
}

export interface EdgeRow {
  readonly edge_id: string;
  readonly edge_type: EdgeType;
  readonly agent_id: string | null;
  readonly body: string;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly deleted_at: number | null;
  readonly participants: readonly Participant[];
}

type Bare = Omit<EdgeRow, 'participants'>;

export function toEdge(row: EdgeRow): Edge {
  const { weight, provenance, metadata } = JSON.parse(row.body) as Pick<Edge, 'weight' | 'provenance' | 'metadata'>;
  return {
    edge_id: row.edge_id,
    edge_type: row.edge_type,
    participants: row.participants.map(({ entity_type, entity_id, role }) => ({ entity_type, entity_id, role })),
    weight,
    provenance,
    agent_id: row.agent_id,
    metadata,
    created_at: toIso(row.created_at),
  };
}

/** What an edge weighs in an answer, about. */
export const edgeBytes = ({ body, participants }: EdgeRow): number =>
  participants.reduce(
    (sum, one) => sum + one.entity_id.length + (one.role?.length ?? 0) + 60,
    Buffer.byteLength(body) + 200,
  );

/** Participants never change, so that they need not be of the same moment as the rows. */
async function withParticipants(query: Query, rows: readonly Bare[]): Promise<EdgeRow[]> {
  if (rows.length === 0) return [];
  const found = await query.all<Participant & { edge_id: string }>(
    sql`SELECT p.edge_id, p.entity_type, p.entity_id, p.role FROM edge_participants p
        WHERE p.tenant_id = ${TENANT} AND p.edge_id = ANY(${rows.map(({ edge_id }) => edge_id)})
        ORDER BY p.edge_id, p.position`,
  );
  const byEdge = grouped(found, ({ edge_id }) => edge_id);
  return rows.map((row) => ({ ...row, participants: byEdge.get(row.edge_id) ?? [] }));
}

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}

/** Deleted ones included, since an id is never used twice; in the order of their ids. */
export async function findEdges(query: Query, edge_ids: readonly string[]): Promise<EdgeRow[]> {
  if (edge_ids.length === 0) return [];
  const rows = await query.all<Bare>(
    sql`SELECT e.edge_id, e.edge_type, e.agent_id, e.body, e.sent_hash, e.created_at, e.deleted_at
        FROM edges e WHERE e.tenant_id = ${TENANT} AND e.edge_id = ANY(${edge_ids})
        ORDER BY e.edge_id`,
  );
  return withParticipants(query, rows);
}

export interface EdgeFilter {
  readonly edge_type?: EdgeType | undefined;
  /** One entity, by each way to write its id. */
  readonly entity_ids?: readonly string[] | undefined;
  readonly entity_type?: EntityType | undefined;
  readonly created_after?: number | undefined;
  readonly created_before?: number | undefined;
  /** Only edges all of whose ends this viewer can read. */
  readonly viewer?: Moment | undefined;
}

/** What edges and their ends are both found by, in a table under the name p. */
function conditionsOf(filter: EdgeFilter): Sql[] {
  const { edge_type, created_after, created_before, viewer } = filter;
  const conditions: Sql[] = [sql`p.tenant_id = ${TENANT} AND p.deleted_at IS NULL`];
  if (edge_type !== undefined) conditions.push(sql`p.edge_type = ${edge_type}`);
  if (created_after !== undefined) conditions.push(sql`p.created_at >= ${created_after}`);
  if (created_before !== undefined) conditions.push(sql`p.created_at < ${created_before}`);
  if (viewer !== undefined)
    conditions.push(
      sql`NOT EXISTS (SELECT 1 FROM edge_participants f WHERE f.tenant_id = ${TENANT} AND f.edge_id = p.edge_id
            AND ${readableEntity(viewer)} IS NULL)`,
    );
  return conditions;
}

/** By the table that leads: with an entity it is that of its ends, which say enough of their edges. */
function edgesWhere(filter: EdgeFilter): Sql {
  const { entity_ids, entity_type } = filter;
  const conditions = conditionsOf(filter);
  if (entity_ids === undefined) return sql`edges p WHERE ${join(conditions, ' AND ')}`;
  // One id is asked for as such: its ends are in the order of the edges already.
  const [first, ...others] = entity_ids;
  const named = others.length === 0 ? sql`= ${first!}` : sql`= ANY(${entity_ids})`;
  conditions.push(sql`p.entity_id ${named}`);
  // A turn may be linked as its card.
  if (entity_type === 'Turn' || entity_type === 'Card') conditions.push(sql`p.entity_type IN ('Card', 'Turn')`);
  else if (entity_type !== undefined) conditions.push(sql`p.entity_type = ${entity_type}`);
  // Two entities of an edge may have the same id, if they are of different types.
  else
    conditions.push(
      sql`NOT EXISTS (SELECT 1 FROM edge_participants q WHERE q.tenant_id = p.tenant_id AND q.edge_id = p.edge_id
            AND q.entity_id ${named} AND q.position < p.position)`,
    );
  return sql`${ENDS_IN_ORDER} WHERE ${join(conditions, ' AND ')}`;
}

export async function listEdges(query: Query, filter: EdgeFilter, page: KeysetPage): Promise<EdgeRow[]> {
  const rows = await query.all<{ edge_id: string }>(
    sql`SELECT p.edge_id FROM ${edgesWhere(filter)}${keyset(sql`p.edge_id`, page)}`,
  );
  const edges = await findEdges(
    query,
    rows.map(({ edge_id }) => edge_id),
  );
  return page.order === 'desc' ? edges.reverse() : edges;
}

export const countEdges = (filter: EdgeFilter): Sql => sql`SELECT COUNT(*) AS total FROM ${edgesWhere(filter)}`;

/** Whether the edge of an end, under the name p, holds at a moment; now unless given. */
export const holdsAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`p.deleted_at IS NULL`
    : sql`p.created_at <= ${as_of} AND (p.deleted_at IS NULL OR p.deleted_at > ${as_of})`;

export interface Link {
  readonly edge_id: string;
  readonly edge_type: EdgeType;
  /** The entity that was asked about. */
  readonly of_id: string;
  readonly of_type: EntityType;
  /** Its position in the edge, and that of the other end. */
  readonly of_position: number;
  readonly position: number;
  readonly entity_type: EntityType;
  readonly entity_id: string;
}

/** The other ends of the edges of these types that these entities take part in, in the order of the edges. */
export function linksOf(
  query: Query,
  entity_ids: readonly string[],
  edge_types: readonly EdgeType[],
  as_of?: number,
  more: Sql = sql``,
): Promise<Link[]> {
  return query.all<Link>(
    sql`SELECT p.edge_id, p.edge_type, p.entity_id AS of_id, p.entity_type AS of_type, p.position AS of_position,
          o.position, o.entity_type, o.entity_id
        FROM ${endsAmong(entity_ids)} CROSS JOIN ${ENDS_OF_EDGE}
        WHERE o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position <> p.position
          AND p.tenant_id = ${TENANT} AND p.entity_id = ANY(${entity_ids}) AND p.edge_type = ANY(${edge_types})
          AND ${holdsAt(as_of)}${more}
        ORDER BY p.edge_id, o.position`,
  );
}

export interface Relations {
  /** Entities that supersede it, as far as they can be read. */
  readonly superseded_by: string[];
  /** Entities that contradict it, or that it contradicts, as far as they can be read. */
  readonly contradicted_by: string[];
  /** What it came from. */
  readonly sources: readonly EntityRef[];
}

/** Of what was made from others, the artifacts of a note: the turns of a summary are many, and are not shown beside it. */
const SOURCES_OF_NOTES = sql` AND (p.edge_type <> 'SynthesizedFrom'
  OR (p.position = 1 AND p.entity_type = 'Note' AND o.entity_type = 'Artifact'))`;
const RELATIONS = ['Supersedes', 'Contradicts', 'DerivedFrom', 'SynthesizedFrom'] as const;

/** What supersedes and contradicts these artifacts and notes, and what they came from; for each of them. */
export async function relationsOf(
  query: Query,
  entity_ids: readonly string[],
  moment: Moment,
): Promise<Map<string, Relations>> {
  const { as_of } = moment;
  const found = await linksOf(query, entity_ids, RELATIONS, as_of, SOURCES_OF_NOTES);
  const links = found.filter(({ of_type }) => of_type === 'Artifact' || of_type === 'Note');
  const superseding = links.filter((one) => one.edge_type === 'Supersedes' && one.position === 1);
  // Between A and each of the others; those say nothing of each other.
  const contradicting = links.filter(
    (one) => one.edge_type === 'Contradicts' && (one.position === 1 || one.of_position === 1),
  );
  const ends = [...superseding, ...contradicting];
  const readable = await knownEntities(query, ends, moment);
  const supersedes = grouped(
    superseding.filter((one) => readable.has(nameOf(one))),
    ({ of_id }) => of_id,
  );
  const contradicts = grouped(
    contradicting.filter((one) => readable.has(nameOf(one))),
    ({ of_id }) => of_id,
  );
  const sources = grouped(
    links.filter((one) => /^(?:Derived|Synthesized)From$/.test(one.edge_type) && one.of_position === 1),
    ({ of_id }) => of_id,
  );
  const idsOf = (ends: readonly Link[] = []) => [...new Set(ends.map(({ entity_id }) => entity_id))];
  return new Map(
    entity_ids.map((id) => [
      id,
      {
        superseded_by: idsOf(supersedes.get(id)),
        contradicted_by: idsOf(contradicts.get(id)),
        sources: sources.get(id) ?? [],
      },
    ]),
  );
}

/** What an edge says that says nothing but what it links. */
export const NOTHING_MORE = '{"metadata":{},"provenance":null,"weight":null}';

/** Locks edges that are about to be deleted, in one order for all, so that no two wait for each other; gives those there are. */
export async function lockEdges(tx: Tx, edge_ids: readonly string[]): Promise<string[]> {
  if (edge_ids.length === 0) return [];
  const rows = await tx.all<{ edge_id: string }>(
    sql`SELECT e.edge_id FROM edges e WHERE e.tenant_id = ${TENANT} AND e.edge_id = ANY(${edge_ids})
          AND e.deleted_at IS NULL ORDER BY e.edge_id FOR UPDATE`,
  );
  return rows.map(({ edge_id }) => edge_id);
}

/**
 * Deletes edges from this commit on, as far as they are there, to be settled; gives those. It comes before the head row
 * is taken, as every lock. Of a deleted edge no more is left than what it linked, and when.
 */
export async function deleteEdges(tx: Tx, edge_ids: readonly string[]): Promise<string[]> {
  const ids = await lockEdges(tx, edge_ids);
  if (ids.length === 0) return ids;
  await tx.send(
    sql`UPDATE edges SET deleted_at = ${PENDING}, body = ${NOTHING_MORE}, sent_hash = NULL
        WHERE tenant_id = ${TENANT} AND edge_id = ANY(${ids})`,
  );
  await tx.send(
    sql`UPDATE edge_participants SET deleted_at = ${PENDING}, role = NULL
        WHERE tenant_id = ${TENANT} AND edge_id = ANY(${ids})`,
  );
  return ids;
}

/** Deletes the edges that these entities take part in, as deleteEdges does. */
export async function deleteEdgesOf(tx: Tx, entity_ids: readonly string[]): Promise<string[]> {
  const rows = await tx.all<{ edge_id: string }>(
    sql`SELECT DISTINCT p.edge_id FROM ${endsAmong(entity_ids)}
        WHERE p.tenant_id = ${TENANT} AND p.entity_id = ANY(${entity_ids}) AND p.deleted_at IS NULL`,
  );
  return deleteEdges(
    tx,
    rows.map(({ edge_id }) => edge_id),
  );
}
