/** edges and edge_participants, which hold all relations between entities. */
import {
  insertRows,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
  tenantTable,
} from '../../driver/index.js';
import { PENDING } from '../../engine/sql.js';
import { groupBy, toIso } from '../../kernel/index.js';
import { type EntityRef, knownEntities, type Moment, nameOf, readableEntity } from '../entities/store.js';
import { ENDS_IN_ORDER, PARTICIPANTS_OF_EDGE, participantsAmong } from '../lookups.js';
import { selectIds } from '../rows.js';
import type { Edge, EdgeType, EntityType } from './model.js';

interface Participant extends EntityRef {
  readonly role: string | null;
}

export interface NewEdge {
  readonly edge_id: string;
  readonly edge_type: EdgeType;
  readonly agent_id: string | null;
  /** Canonical JSON of weight, provenance and metadata. */
  readonly body: string;
  readonly sent_hash: string | null;
  readonly participants: readonly Participant[];
}

const edgesTable = tenantTable('edges', {
  text: ['edge_id', 'edge_type', 'agent_id', 'sent_hash'],
  json: ['body'],
  bigint: ['created_at'],
});

const participantsTable = tenantTable('edge_participants', {
  text: ['edge_id', 'edge_type', 'entity_type', 'entity_id', 'role'],
  bigint: ['position', 'created_at'],
});

/** Inserts edges with a created_at of PENDING, which `settleEdges` replaces. */
export async function insertEdges(tx: Tx, edges: readonly NewEdge[]): Promise<void> {
  const created_at = PENDING;
  await insertRows(
    tx,
    edgesTable,
    edges.map(({ edge_id, edge_type, agent_id, body, sent_hash }) => ({
      edge_id,
      edge_type,
      agent_id,
      body,
      sent_hash,
      created_at,
    })),
  );
  const participants = edges.flatMap(({ edge_id, edge_type, participants }) =>
    participants.map(({ entity_type, entity_id, role }, i) => ({
      edge_id,
      edge_type,
      position: i + 1,
      entity_type,
      entity_id,
      role,
      created_at,
    })),
  );
  await insertRows(tx, participantsTable, participants);
}

/** Sets the recorded time of edges that this commit inserted or deleted. */
export async function settleEdges(tx: Tx, edge_ids: readonly string[], recorded_at: number): Promise<void> {
  if (edge_ids.length === 0) return;
  const settled = sql`SET created_at = CASE WHEN created_at = ${PENDING} THEN ${recorded_at} ELSE created_at END,
      deleted_at = CASE WHEN deleted_at = ${PENDING} THEN ${recorded_at} ELSE deleted_at END
    WHERE tenant_id = ${TENANT} AND edge_id = ANY(${edge_ids})`;
  await tx.send(sql`UPDATE edges ${settled}`);
  await tx.send(sql`UPDATE edge_participants ${settled}`);
}

export interface EdgeRow extends NewEdge {
  readonly created_at: number;
  readonly deleted_at: number | null;
}

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

/** The approximate size of an edge in an answer. */
export const edgeBytes = ({ body, participants }: EdgeRow): number =>
  participants.reduce(
    (sum, one) => sum + one.entity_id.length + (one.role?.length ?? 0) + 60,
    Buffer.byteLength(body) + 200,
  );

/** Deleted edges included, in the order of their ids. Participants never change, so the second read needs no snapshot. */
export async function findEdges(query: Query, edge_ids: readonly string[]): Promise<EdgeRow[]> {
  if (edge_ids.length === 0) return [];
  const rows = await query.all<Omit<EdgeRow, 'participants'>>(
    sql`SELECT e.edge_id, e.edge_type, e.agent_id, e.body, e.sent_hash, e.created_at, e.deleted_at
        FROM edges e WHERE e.tenant_id = ${TENANT} AND e.edge_id = ANY(${edge_ids})
        ORDER BY e.edge_id`,
  );
  if (rows.length === 0) return [];
  const participants = await query.all<Participant & { edge_id: string }>(
    sql`SELECT p.edge_id, p.entity_type, p.entity_id, p.role FROM edge_participants p
        WHERE p.tenant_id = ${TENANT} AND p.edge_id = ANY(${rows.map(({ edge_id }) => edge_id)})
        ORDER BY p.edge_id, p.position`,
  );
  const byEdge = groupBy(participants, ({ edge_id }) => edge_id);
  return rows.map((row) => ({ ...row, participants: byEdge.get(row.edge_id) ?? [] }));
}

export interface EdgeFilter {
  readonly edge_type?: EdgeType | undefined;
  /** One entity, by each spelling of its id. */
  readonly entity_ids?: readonly string[] | undefined;
  readonly entity_type?: EntityType | undefined;
  readonly created_after?: number | undefined;
  readonly created_before?: number | undefined;
  /** Only edges whose participants this viewer can all read. */
  readonly viewer?: Moment | undefined;
}

/** Conditions for `edges p` and for `edge_participants p` alike. */
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

/** Reads `edges`, or with an entity `edge_participants`, whose rows repeat the filtered columns of their edge. */
function edgesWhere(filter: EdgeFilter): Sql {
  const { entity_ids, entity_type } = filter;
  const conditions = conditionsOf(filter);
  if (entity_ids === undefined) return sql`edges p WHERE ${join(conditions, ' AND ')}`;
  // `= id`, not `= ANY`: the index then yields the order of the edges.
  const [first, ...others] = entity_ids;
  const named = others.length === 0 ? sql`= ${first!}` : sql`= ANY(${entity_ids})`;
  conditions.push(sql`p.entity_id ${named}`);
  // A turn can be linked as its card.
  if (entity_type === 'Turn' || entity_type === 'Card') conditions.push(sql`p.entity_type IN ('Card', 'Turn')`);
  else if (entity_type !== undefined) conditions.push(sql`p.entity_type = ${entity_type}`);
  // Two participants of different types can have the same id: count the first.
  else
    conditions.push(
      sql`NOT EXISTS (SELECT 1 FROM edge_participants q WHERE q.tenant_id = p.tenant_id AND q.edge_id = p.edge_id
            AND q.entity_id ${named} AND q.position < p.position)`,
    );
  return sql`${ENDS_IN_ORDER} WHERE ${join(conditions, ' AND ')}`;
}

export async function listEdges(query: Query, filter: EdgeFilter, page: KeysetPage): Promise<EdgeRow[]> {
  const ids = await selectIds(
    query,
    sql`SELECT p.edge_id AS id FROM ${edgesWhere(filter)}${keyset(sql`p.edge_id`, page)}`,
  );
  const edges = await findEdges(query, ids);
  return page.order === 'desc' ? edges.reverse() : edges;
}

export const countEdges = (filter: EdgeFilter): Sql => sql`SELECT COUNT(*) AS total FROM ${edgesWhere(filter)}`;

/** Whether the edge of a participant p exists at a moment; default: now. */
export const edgeExistsAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`p.deleted_at IS NULL`
    : sql`p.created_at <= ${as_of} AND (p.deleted_at IS NULL OR p.deleted_at > ${as_of})`;

interface Link extends EntityRef {
  readonly edge_id: string;
  readonly edge_type: EdgeType;
  /** The entity in `entity_ids`. */
  readonly of_id: string;
  readonly of_type: EntityType;
  /** Its position in the edge; `position` is that of the other participant. */
  readonly of_position: number;
  readonly position: number;
}

/** The other participants of the edges of these types that link these entities, in the order of the edges. */
export const linksOf = (
  query: Query,
  entity_ids: readonly string[],
  edge_types: readonly EdgeType[],
  as_of?: number,
  more: Sql = sql``,
): Promise<Link[]> =>
  query.all<Link>(
    sql`SELECT p.edge_id, p.edge_type, p.entity_id AS of_id, p.entity_type AS of_type, p.position AS of_position,
          o.position, o.entity_type, o.entity_id
        FROM ${participantsAmong(entity_ids)} CROSS JOIN ${PARTICIPANTS_OF_EDGE}
        WHERE o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position <> p.position
          AND p.tenant_id = ${TENANT} AND p.entity_id = ANY(${entity_ids}) AND p.edge_type = ANY(${edge_types})
          AND ${edgeExistsAt(as_of)}${more}
        ORDER BY p.edge_id, o.position`,
  );

/** Of readable entities; `sources` are those that it was derived or synthesized from. */
interface Relations {
  readonly superseded_by: string[];
  readonly contradicted_by: string[];
  readonly sources: readonly EntityRef[];
}

/** Of SynthesizedFrom edges, only the artifacts of a note: the turns of a summary are too many to list. */
const SOURCES_OF_NOTES = sql` AND (p.edge_type <> 'SynthesizedFrom'
  OR (p.position = 1 AND p.entity_type = 'Note' AND o.entity_type = 'Artifact'))`;
const RELATIONS = ['Supersedes', 'Contradicts', 'DerivedFrom', 'SynthesizedFrom'] as const;

const supersedes = ({ edge_type, position }: Link) => edge_type === 'Supersedes' && position === 1;
/** Participant 1 contradicts each of the others; these do not contradict each other. */
const contradicts = ({ edge_type, position, of_position }: Link) =>
  edge_type === 'Contradicts' && (position === 1 || of_position === 1);
const isSource = ({ edge_type, of_position }: Link) =>
  (edge_type === 'DerivedFrom' || edge_type === 'SynthesizedFrom') && of_position === 1;

/** What supersedes and contradicts these artifacts and notes, and their sources, by id. */
export async function relationsOf(
  query: Query,
  entity_ids: readonly string[],
  moment: Moment,
): Promise<Map<string, Relations>> {
  const found = await linksOf(query, entity_ids, RELATIONS, moment.as_of, SOURCES_OF_NOTES);
  const links = found.filter(({ of_type }) => of_type === 'Artifact' || of_type === 'Note');
  const ends = links.filter((one) => supersedes(one) || contradicts(one));
  const readable = await knownEntities(query, ends, moment);
  const byEntity = groupBy(links, ({ of_id }) => of_id);
  const relations = (id: string): Relations => {
    const own = byEntity.get(id) ?? [];
    const idsOf = (is: (one: Link) => boolean) => [
      ...new Set(own.filter((one) => is(one) && readable.has(nameOf(one))).map(({ entity_id }) => entity_id)),
    ];
    return { superseded_by: idsOf(supersedes), contradicted_by: idsOf(contradicts), sources: own.filter(isSource) };
  };
  return new Map(entity_ids.map((id) => [id, relations(id)]));
}

/** The body of an edge without weight, provenance and metadata. */
export const EMPTY_BODY = '{"metadata":{},"provenance":null,"weight":null}';

/** Locks edges that are not deleted, in the order of their ids, so that deletions cannot deadlock. */
export const lockEdges = async (tx: Tx, edge_ids: readonly string[]): Promise<string[]> =>
  edge_ids.length === 0
    ? []
    : selectIds(
        tx,
        sql`SELECT e.edge_id AS id FROM edges e WHERE e.tenant_id = ${TENANT} AND e.edge_id = ANY(${edge_ids})
              AND e.deleted_at IS NULL ORDER BY e.edge_id FOR UPDATE`,
      );

/**
 * Deletes those of these edges that exist, and returns their ids, to be settled. Only participants and times remain of
 * a deleted edge. Runs before the head row is locked, as every lock does.
 */
export async function deleteEdges(tx: Tx, edge_ids: readonly string[]): Promise<string[]> {
  const ids = await lockEdges(tx, edge_ids);
  if (ids.length === 0) return ids;
  await tx.send(
    sql`UPDATE edges SET deleted_at = ${PENDING}, body = ${EMPTY_BODY}, sent_hash = NULL
        WHERE tenant_id = ${TENANT} AND edge_id = ANY(${ids})`,
  );
  await tx.send(
    sql`UPDATE edge_participants SET deleted_at = ${PENDING}, role = NULL
        WHERE tenant_id = ${TENANT} AND edge_id = ANY(${ids})`,
  );
  return ids;
}

/** Deletes the edges of these entities, as `deleteEdges` does. */
export const deleteEdgesOf = async (tx: Tx, entity_ids: readonly string[]): Promise<string[]> =>
  deleteEdges(
    tx,
    await selectIds(
      tx,
      sql`SELECT DISTINCT p.edge_id AS id FROM ${participantsAmong(entity_ids)}
          WHERE p.tenant_id = ${TENANT} AND p.entity_id = ANY(${entity_ids}) AND p.deleted_at IS NULL`,
    ),
  );
