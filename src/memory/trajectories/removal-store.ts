/** Deletes a trajectory tree with a few statements, whatever its size. Ids are never reused. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { checkpointHolder, sessionHolder, trajectoryHolder } from '../../engine/sql.js';
import { deleteEdges } from '../edges/store.js';
import { ENDS_IN_ORDER } from '../lookups.js';
import { selectIds } from '../rows.js';
import type { TrajectoryRow } from './store.js';

const below = (trajectory_id: string): Sql =>
  sql`WITH RECURSIVE below(trajectory_id) AS (
        SELECT t.trajectory_id FROM trajectories t
          WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${trajectory_id}
        UNION
        SELECT t.trajectory_id FROM below b CROSS JOIN trajectories t
          WHERE t.tenant_id = ${TENANT} AND t.parent_trajectory_id = b.trajectory_id
      )
      SELECT trajectory_id AS id FROM below`;

/** Ids of a tree, the root and deleted trajectories included. */
export const treeIds = (query: Query, trajectory_id: string): Promise<string[]> =>
  selectIds(query, below(trajectory_id));

/** Locks a tree, so that it cannot grow. Returns the ids that are not deleted. */
export async function lockTree(tx: Tx, trajectory_id: string): Promise<string[]> {
  for (let before = -1; ; ) {
    const ids = await treeIds(tx, trajectory_id);
    const rows = await tx.all<Pick<TrajectoryRow, 'trajectory_id' | 'deleted_at'>>(
      sql`SELECT trajectory_id, deleted_at FROM trajectories
          WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${ids}) ORDER BY trajectory_id FOR UPDATE`,
    );
    // A child can be added before its parent is locked, but not after.
    if (ids.length === before) {
      return rows.filter(({ deleted_at }) => deleted_at === null).map((row) => row.trajectory_id);
    }
    before = ids.length;
  }
}

/** Holders that ended in a tree and are not erased yet. */
export async function endedBelow(query: Query, trajectory_id: string): Promise<string[]> {
  // Two statements: in one, PostgreSQL would walk the tree for every ending.
  const ids = await treeIds(query, trajectory_id);
  return selectIds(
    query,
    sql`SELECT x.holder AS id FROM endings x WHERE x.tenant_id = ${TENANT} AND x.done_at IS NULL
          AND x.thread_id = ANY(${ids}) ORDER BY x.ended_at, x.holder`,
  );
}

/** Adds the endings of these trajectories, their sessions and the checkpoints of their scopes. */
export async function endTrajectories(tx: Tx, trajectory_ids: readonly string[], ended_at: number): Promise<void> {
  for (const holder of [trajectoryHolder, sessionHolder]) {
    await tx.send(
      sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, position, erased, kept, versions)
          SELECT t.tenant_id, ${holder('')} || t.trajectory_id, CAST(${ended_at} AS BIGINT), t.trajectory_id, 0, 0, 0, 0
          FROM trajectories t WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ANY(${trajectory_ids})
          ON CONFLICT (tenant_id, holder) DO NOTHING`,
    );
  }
  await tx.send(
    sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, box_id, position, erased, kept, versions)
        SELECT s.tenant_id, ${checkpointHolder('')} || c.box_id, CAST(${ended_at} AS BIGINT), s.trajectory_id, c.box_id, 0, 0, 0, 0
        FROM scopes s CROSS JOIN scope_checkpoints c
        WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${trajectory_ids})
          AND c.tenant_id = ${TENANT} AND c.scope_id = s.scope_id AND c.box_id IS NOT NULL
        ON CONFLICT (tenant_id, holder) DO NOTHING`,
  );
}

/** Clears trajectories and their scopes down to their ids and times. */
export async function clearTrajectories(tx: Tx, trajectory_ids: readonly string[], now: number): Promise<void> {
  await tx.send(
    sql`UPDATE trajectories SET name = '', description = NULL, metadata = NULL, outcome = NULL, sent_hash = NULL,
          updated_at = ${now}, deleted_at = ${now}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND deleted_at IS NULL`,
  );
  await tx.send(
    sql`DELETE FROM scope_checkpoints WHERE tenant_id = ${TENANT} AND scope_id IN (
          SELECT s.scope_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${trajectory_ids}))`,
  );
  await tx.send(
    sql`UPDATE scopes SET name = '', purpose = NULL, metadata = NULL, sent_hash = NULL, updated_at = ${now},
          deleted_at = ${now}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND deleted_at IS NULL`,
  );
}

/**
 * The edges of these trajectories, of their scopes, turns and artifacts, and of the cards of those. The type of a
 * participant is compared in a subquery, after the index lookup: otherwise SQLite scans all edges of the tenant.
 */
const edgesBelow = (trajectory_ids: readonly string[]): Sql =>
  sql`WITH gone(entity_type, entity_id) AS (
        SELECT 'Trajectory', t.trajectory_id FROM trajectories t
          WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ANY(${trajectory_ids})
        UNION ALL
        SELECT 'Scope', s.scope_id FROM scopes s
          WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${trajectory_ids})
        UNION ALL
        SELECT 'Artifact', v.memory_id FROM memory_versions v
          WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ANY(${trajectory_ids}) AND v.kind = 'artifact' AND v.version = 1
        UNION ALL
        SELECT 'Card', v.card_id FROM memory_versions v
          WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ANY(${trajectory_ids}) AND v.kind = 'artifact'
        UNION ALL
        SELECT 'Card', n.card_id FROM scopes s CROSS JOIN box_entries n
          WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${trajectory_ids})
            AND n.tenant_id = ${TENANT} AND n.box_id = s.box_id
      )
      SELECT p.edge_id AS id FROM gone g CROSS JOIN ${ENDS_IN_ORDER}
      WHERE p.tenant_id = ${TENANT} AND p.entity_id = g.entity_id AND p.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM edge_participants q WHERE q.tenant_id = ${TENANT} AND q.edge_id = p.edge_id
          AND q.position = p.position
          AND g.entity_type = CASE WHEN q.entity_type = 'Turn' THEN 'Card' ELSE q.entity_type END)`;

/** Those of them that are not deleted. */
export const edgesLeftBelow = async (query: Query, trajectory_ids: readonly string[]): Promise<string[]> => [
  ...new Set(await selectIds(query, edgesBelow(trajectory_ids))),
];

/** Deletes them, as `deleteEdges` does. */
export const deleteEdgesBelow = async (tx: Tx, trajectory_ids: readonly string[]): Promise<string[]> =>
  deleteEdges(tx, await edgesLeftBelow(tx, trajectory_ids));
