/** Lookups of a context without a search: open scopes, principles, summaries, the newest memories of a trajectory. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { Reach } from '../../engine/sql.js';
import type { EdgeType } from '../../memory/contract.js';
import { PARTICIPANTS_OF_EDGE, participantsAmong } from '../../memory/index.js';
import { artifactsWithin, currentAt, liveAt, notesWithin, versionNotSuperseded } from '../../memory/sql.js';

/** An artifact or note and the card of its current version. */
export interface MemoryRef {
  readonly memory_id: string;
  readonly card_id: string;
}

export interface MemoryFilter {
  readonly reach: Reach | undefined;
  readonly limit: number;
  readonly now: number;
}

/** Without statistics SQLite would choose another index. */
const abstracted: Sql = byDialect({
  sqlite: sql`memory_versions v INDEXED BY memory_abstracted`,
  postgres: sql`memory_versions v`,
});

const ofTrajectory: Sql = byDialect({
  sqlite: sql`memory_versions v INDEXED BY memory_by_trajectory`,
  postgres: sql`memory_versions v`,
});

const isCurrent = ({ reach, now }: MemoryFilter, kind: 'artifact' | 'note'): Sql => {
  const within = kind === 'artifact' ? artifactsWithin : notesWithin;
  const reached = reach ? sql` AND ${within(reach)}` : sql``;
  return sql`${currentAt(undefined)} AND ${liveAt(now)} AND ${versionNotSuperseded(now)}${reached}`;
};

/** Notes of level L2, newest first. */
export function newestPrinciples(query: Query, filter: MemoryFilter): Promise<MemoryRef[]> {
  return query.all<MemoryRef>(
    sql`SELECT v.memory_id, v.card_id FROM ${abstracted}
        WHERE v.tenant_id = ${TENANT} AND v.kind = 'note' AND v.abstraction_level = 'L2'
          AND v.abstraction_level <> 'L0' AND v.trajectory_id IS NULL AND ${isCurrent(filter, 'note')}
        ORDER BY v.recorded_at DESC, v.memory_id DESC LIMIT ${filter.limit}`,
  );
}

/** Summaries of a trajectory, newest first. */
export function newestSummaries(query: Query, trajectory_id: string, filter: MemoryFilter): Promise<MemoryRef[]> {
  return query.all<MemoryRef>(
    sql`SELECT v.memory_id, v.card_id FROM ${abstracted}
        WHERE v.tenant_id = ${TENANT} AND v.kind = 'artifact' AND v.abstraction_level = 'L1'
          AND v.abstraction_level <> 'L0' AND v.trajectory_id = ${trajectory_id} AND v.type = 'Summary'
          AND ${isCurrent(filter, 'artifact')}
        ORDER BY v.recorded_at DESC, v.memory_id DESC LIMIT ${filter.limit}`,
  );
}

/** Artifacts of a trajectory other than summaries, newest first. */
export function newestArtifacts(query: Query, trajectory_id: string, filter: MemoryFilter): Promise<MemoryRef[]> {
  return query.all<MemoryRef>(
    sql`SELECT v.memory_id, v.card_id FROM ${ofTrajectory}
        WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ${trajectory_id} AND v.kind = 'artifact'
          AND NOT (v.type = 'Summary' AND v.abstraction_level = 'L1') AND ${isCurrent(filter, 'artifact')}
        ORDER BY v.memory_id DESC LIMIT ${filter.limit}`,
  );
}

/** Notes other than principles that were derived from a trajectory, newest first. */
export function notesLearnedIn(query: Query, trajectory_id: string, filter: MemoryFilter): Promise<MemoryRef[]> {
  return query.all<MemoryRef>(
    sql`SELECT v.memory_id, v.card_id FROM (
          SELECT DISTINCT o.entity_id AS note_id FROM ${participantsAmong([trajectory_id], sql` AND l.edge_type = 'DerivedFrom'`)}
          CROSS JOIN ${PARTICIPANTS_OF_EDGE}
          WHERE o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position = 1 AND o.entity_type = 'Note'
            AND p.tenant_id = ${TENANT} AND p.entity_id = ${trajectory_id} AND p.edge_type = 'DerivedFrom'
            AND p.position > 1 AND p.deleted_at IS NULL
        ) n CROSS JOIN memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = n.note_id AND v.abstraction_level <> 'L2'
          AND ${isCurrent(filter, 'note')}
        ORDER BY v.memory_id DESC LIMIT ${filter.limit}`,
  );
}

export interface MemoryName extends MemoryRef {
  readonly type: string;
  readonly name: string | null;
  readonly metadata: string | null;
}

/** Names of versions, by the cards that hold their content. */
export async function namesOf(query: Query, found: readonly MemoryRef[]): Promise<Map<string, MemoryName>> {
  if (found.length === 0) return new Map();
  const ids = found.map(({ memory_id }) => memory_id);
  const cards = found.map(({ card_id }) => card_id);
  const rows = await query.all<MemoryName>(
    sql`SELECT memory_id, card_id, type, name, metadata FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ANY(${ids}) AND card_id = ANY(${cards})`,
  );
  return new Map(rows.map((row) => [row.card_id, row]));
}

/** The first participant of an edge, and one of the others. */
export interface EdgeEnds {
  readonly one: string;
  readonly other: string;
}

const edgesFrom = (edge_type: EdgeType, from: readonly string[]): Sql =>
  sql`FROM ${participantsAmong(from, sql` AND l.edge_type = ${edge_type}`)} CROSS JOIN ${PARTICIPANTS_OF_EDGE}
      WHERE o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position > 1
        AND p.tenant_id = ${TENANT} AND p.entity_id = ANY(${from}) AND p.edge_type = ${edge_type}
        AND p.position = 1 AND p.deleted_at IS NULL`;

/** Edges of a type between two sets of ids. */
export async function edgesAmong(
  query: Query,
  edge_type: EdgeType,
  from: readonly string[],
  to: readonly string[],
): Promise<EdgeEnds[]> {
  if (from.length === 0 || to.length === 0) return [];
  return query.all<EdgeEnds>(
    sql`SELECT p.entity_id AS one, o.entity_id AS other ${edgesFrom(edge_type, from)} AND o.entity_id = ANY(${to})`,
  );
}

/** An edge from a memory to another. */
export interface MemoryEdge extends EdgeEnds {
  readonly edge_type: 'Contradicts' | 'Supersedes';
  readonly body: string;
}

/** The contradictions among memories, and what they supersede. */
export async function memoryEdges(query: Query, ids: readonly string[]): Promise<MemoryEdge[]> {
  if (ids.length === 0) return [];
  return query.all<MemoryEdge>(
    sql`SELECT p.edge_type, p.entity_id AS one, o.entity_id AS other, e.body
        FROM ${participantsAmong(ids, sql` AND l.edge_type IN ('Contradicts', 'Supersedes')`)}
        CROSS JOIN ${PARTICIPANTS_OF_EDGE} CROSS JOIN edges e
        WHERE o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position > 1
          AND p.tenant_id = ${TENANT} AND p.entity_id = ANY(${ids}) AND p.edge_type IN ('Contradicts', 'Supersedes')
          AND p.position = 1 AND p.deleted_at IS NULL AND e.tenant_id = p.tenant_id AND e.edge_id = p.edge_id
          AND (p.edge_type = 'Supersedes' OR o.entity_id = ANY(${ids})) AND o.entity_type IN ('Artifact', 'Note')`,
  );
}

/** The number of distinct sources of each summary. */
export async function sourceCounts(query: Query, summary_ids: readonly string[]): Promise<Map<string, number>> {
  if (summary_ids.length === 0) return new Map();
  const rows = await query.all<{ summary_id: string; sources: number }>(
    sql`SELECT p.entity_id AS summary_id, COUNT(DISTINCT o.entity_id) AS sources
        ${edgesFrom('SynthesizedFrom', summary_ids)} GROUP BY p.entity_id`,
  );
  return new Map(rows.map(({ summary_id, sources }) => [summary_id, sources]));
}

export interface ScopeBox {
  readonly scope_id: string;
  readonly box_id: string;
  readonly created_at: number;
}

const openScopes: Sql = byDialect({ sqlite: sql`scopes s INDEXED BY scopes_open`, postgres: sql`scopes s` });

/** A page of the open scopes of a trajectory, newest first. */
export function newestScopes(
  query: Query,
  trajectory_id: string,
  before: ScopeBox | undefined,
  limit: number,
): Promise<ScopeBox[]> {
  const after = before
    ? sql`AND (s.created_at < ${before.created_at} OR (s.created_at = ${before.created_at} AND s.scope_id < ${before.scope_id}))`
    : sql``;
  return query.all<ScopeBox>(
    sql`SELECT s.scope_id, s.box_id, s.created_at FROM ${openScopes}
        WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ${trajectory_id} AND s.closed_at IS NULL ${after}
        ORDER BY s.created_at DESC, s.scope_id DESC LIMIT ${limit}`,
  );
}

/** A scope and its open ancestors, innermost first. */
export function scopesAround(query: Query, scope_id: string): Promise<ScopeBox[]> {
  return query.all<ScopeBox>(
    sql`WITH RECURSIVE around(scope_id, depth) AS (
          SELECT s.scope_id, 0 FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${scope_id}
          UNION ALL
          SELECT s.parent_scope_id, a.depth + 1 FROM around a CROSS JOIN scopes s
            WHERE s.tenant_id = ${TENANT} AND s.scope_id = a.scope_id AND s.parent_scope_id IS NOT NULL AND a.depth < 100
        )
        SELECT s.scope_id, s.box_id, s.created_at FROM around a CROSS JOIN scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = a.scope_id AND s.closed_at IS NULL ORDER BY a.depth`,
  );
}

/** The number of turns in the open scopes of a trajectory. */
export async function turnsIn(query: Query, trajectory_id: string): Promise<number> {
  const row = await query.get<{ turns: number | null }>(
    sql`SELECT CAST(SUM(b.length - s.forgotten_turns) AS BIGINT) AS turns FROM ${openScopes} CROSS JOIN boxes b
        WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ${trajectory_id} AND s.closed_at IS NULL
          AND b.tenant_id = ${TENANT} AND b.box_id = s.box_id`,
  );
  return row?.turns ?? 0;
}
