/** Reads a trajectory tree with a few statements. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { ContainerReach, Reach } from '../../engine/sql.js';
import { andWithin, artifactsWithin, notesWithin, scopesReadable, trajectoriesReadable } from '../access/reach.js';
import { artifactsAmong } from '../lookups.js';
import type { ScopeRow } from '../scopes/store.js';
import { notesFromThese, readableVersion } from './outputs.js';
import type { TrajectoryRow } from './store.js';

/** A trajectory and its descendants, the nearest first. */
export const branchesOf = (
  query: Query,
  trajectory_id: string,
  limit: number,
  reach: TreeReach,
): Promise<Pick<TrajectoryRow, 'trajectory_id' | 'parent_trajectory_id'>[]> =>
  query.all(
    sql`WITH RECURSIVE below(trajectory_id, parent_trajectory_id) AS (
          SELECT t.trajectory_id, t.parent_trajectory_id FROM trajectories t
            WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${trajectory_id}
          UNION ALL
          SELECT t.trajectory_id, t.parent_trajectory_id FROM below b CROSS JOIN trajectories t
            WHERE t.tenant_id = ${TENANT} AND t.parent_trajectory_id = b.trajectory_id AND t.deleted_at IS NULL
              ${trajectoriesShown(reach)}
        )
        SELECT trajectory_id, parent_trajectory_id FROM below LIMIT ${limit}`,
  );

/** The reach of the reader; undefined: everything. */
export interface TreeReach {
  readonly artifacts?: Reach | undefined;
  readonly notes?: Reach | undefined;
  readonly containers?: ContainerReach | undefined;
}

const artifactsShown = ({ artifacts }: TreeReach = {}): Sql => andWithin(artifacts, artifactsWithin);
const notesShown = ({ notes }: TreeReach = {}): Sql => andWithin(notes, notesWithin);
const scopesShown = ({ containers }: TreeReach = {}): Sql => andWithin(containers, scopesReadable);
const trajectoriesShown = ({ containers }: TreeReach = {}): Sql => andWithin(containers, trajectoriesReadable);

/** Number of scopes, artifacts and notes per trajectory. */
export async function sizesOf(
  query: Query,
  trajectory_ids: readonly string[],
  now: number,
  reach: TreeReach = {},
): Promise<Map<string, number>> {
  const rows = await query.all<{ trajectory_id: string; total: number }>(
    sql`SELECT s.trajectory_id, COUNT(*) AS total FROM scopes s
          WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${trajectory_ids}) AND s.deleted_at IS NULL
            ${scopesShown(reach)}
          GROUP BY s.trajectory_id
        UNION ALL
        SELECT v.trajectory_id, COUNT(*) AS total FROM ${artifactsAmong(trajectory_ids)}
          WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ANY(${trajectory_ids}) AND v.kind = 'artifact'
            AND ${readableVersion(now)}${artifactsShown(reach)}
          GROUP BY v.trajectory_id
        UNION ALL
        SELECT p.entity_id, COUNT(DISTINCT v.memory_id) AS total ${notesFromThese(trajectory_ids, now)}
            ${notesShown(reach)}
          GROUP BY p.entity_id`,
  );
  const sizes = new Map<string, number>();
  for (const { trajectory_id, total } of rows) sizes.set(trajectory_id, (sizes.get(trajectory_id) ?? 0) + total);
  return sizes;
}

/** The trajectories to read. `last` is read last: it can have more nodes than the limit allows. */
interface TreeSlice {
  readonly trajectory_ids: readonly string[];
  readonly last: string;
  readonly limit: number;
  readonly reach?: TreeReach;
}

export const trajectoryLeaves = (
  query: Query,
  { trajectory_ids }: TreeSlice,
): Promise<Pick<TrajectoryRow, 'trajectory_id' | 'name' | 'status'>[]> =>
  query.all(
    sql`SELECT trajectory_id, name, status FROM trajectories
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND deleted_at IS NULL`,
  );

export interface ScopeLeaf
  extends Pick<
    ScopeRow,
    'trajectory_id' | 'scope_id' | 'parent_scope_id' | 'name' | 'closed_at' | 'token_budget' | 'tokens_used'
  > {
  readonly turns: number;
}

export const scopeLeaves = (query: Query, slice: TreeSlice): Promise<ScopeLeaf[]> =>
  query.all<ScopeLeaf>(
    sql`SELECT s.trajectory_id, s.scope_id, s.parent_scope_id, s.name, s.closed_at, s.token_budget, s.tokens_used,
          b.length AS turns
        FROM scopes s JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
        WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${slice.trajectory_ids}) AND s.deleted_at IS NULL
          ${scopesShown(slice.reach)}
        ORDER BY CASE WHEN s.trajectory_id = ${slice.last} THEN 1 ELSE 0 END, s.scope_id LIMIT ${slice.limit}`,
  );

export interface MemoryLeaf {
  readonly trajectory_id: string;
  readonly memory_id: string;
  readonly name: string | null;
  readonly type: string;
}

export const artifactLeaves = (query: Query, slice: TreeSlice, now: number): Promise<MemoryLeaf[]> =>
  query.all<MemoryLeaf>(
    sql`SELECT v.trajectory_id, v.memory_id, v.name, v.type FROM ${artifactsAmong(slice.trajectory_ids)}
        WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ANY(${slice.trajectory_ids}) AND v.kind = 'artifact'
          AND ${readableVersion(now)}${artifactsShown(slice.reach)}
        ORDER BY CASE WHEN v.trajectory_id = ${slice.last} THEN 1 ELSE 0 END, v.memory_id LIMIT ${slice.limit}`,
  );

export const noteLeaves = (query: Query, slice: TreeSlice, now: number): Promise<MemoryLeaf[]> =>
  query.all<MemoryLeaf>(
    sql`SELECT n.trajectory_id, n.memory_id, n.name, n.type FROM (
          SELECT DISTINCT v.tenant_id, p.entity_id AS trajectory_id, v.memory_id, v.name, v.type
          ${notesFromThese(slice.trajectory_ids, now)}${notesShown(slice.reach)}) n
        WHERE n.tenant_id = ${TENANT}
        ORDER BY CASE WHEN n.trajectory_id = ${slice.last} THEN 1 ELSE 0 END, n.memory_id LIMIT ${slice.limit}`,
  );
