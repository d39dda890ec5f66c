/** What is below a trajectory, read for all of its tree at once. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { ContainerReach, Reach } from '../../engine/sql.js';
import { artifactsWithin, notesWithin, scopesReadable, trajectoriesReadable } from '../access/reach.js';
import { artifactsAmong } from '../versions/lookups.js';
import type { TrajectoryStatus } from './model.js';
import { notesFromThese, readableVersion } from './outputs.js';

export interface Branch {
  readonly trajectory_id: string;
  readonly parent_trajectory_id: string | null;
}

/** A trajectory and those below it, the nearest first, at most so many. */
export function branchesOf(query: Query, trajectory_id: string, limit: number, reach: TreeReach): Promise<Branch[]> {
  return query.all<Branch>(
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
}

/** How far whoever looks at a tree reaches, where that is not all. */
export interface TreeReach {
  readonly artifacts?: Reach | undefined;
  readonly notes?: Reach | undefined;
  readonly containers?: ContainerReach | undefined;
}

const artifactsShown = ({ artifacts }: TreeReach = {}): Sql =>
  artifacts ? sql` AND ${artifactsWithin(artifacts)}` : sql``;
const notesShown = ({ notes }: TreeReach = {}): Sql => (notes ? sql` AND ${notesWithin(notes)}` : sql``);

const scopesShown = ({ containers }: TreeReach = {}): Sql =>
  containers ? sql` AND ${scopesReadable(containers)}` : sql``;
const trajectoriesShown = ({ containers }: TreeReach = {}): Sql =>
  containers ? sql` AND ${trajectoriesReadable(containers)}` : sql``;

/** How many scopes, artifacts and notes each of these trajectories has. */
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

/** Which trajectories to look at: `last` is asked last, since it may have more than the limit lets through. */
export interface Wanted {
  readonly trajectory_ids: readonly string[];
  readonly last: string;
  readonly limit: number;
  readonly reach?: TreeReach;
}

export interface TrajectoryLeaf {
  readonly trajectory_id: string;
  readonly name: string;
  readonly status: TrajectoryStatus;
}

export function trajectoryLeaves(query: Query, wanted: Wanted): Promise<TrajectoryLeaf[]> {
  return query.all<TrajectoryLeaf>(
    sql`SELECT trajectory_id, name, status FROM trajectories
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${wanted.trajectory_ids}) AND deleted_at IS NULL`,
  );
}

export interface ScopeLeaf {
  readonly trajectory_id: string;
  readonly scope_id: string;
  readonly parent_scope_id: string | null;
  readonly name: string;
  readonly closed_at: number | null;
  readonly token_budget: number;
  readonly tokens_used: number;
  readonly turns: number;
}

export function scopeLeaves(query: Query, wanted: Wanted): Promise<ScopeLeaf[]> {
  return query.all<ScopeLeaf>(
    sql`SELECT s.trajectory_id, s.scope_id, s.parent_scope_id, s.name, s.closed_at, s.token_budget, s.tokens_used,
          b.length AS turns
        FROM scopes s JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
        WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${wanted.trajectory_ids}) AND s.deleted_at IS NULL
          ${scopesShown(wanted.reach)}
        ORDER BY CASE WHEN s.trajectory_id = ${wanted.last} THEN 1 ELSE 0 END, s.scope_id LIMIT ${wanted.limit}`,
  );
}

export interface MemoryLeaf {
  readonly trajectory_id: string;
  readonly memory_id: string;
  readonly name: string | null;
  readonly type: string;
}

export function artifactLeaves(query: Query, wanted: Wanted, now: number): Promise<MemoryLeaf[]> {
  return query.all<MemoryLeaf>(
    sql`SELECT v.trajectory_id, v.memory_id, v.name, v.type FROM ${artifactsAmong(wanted.trajectory_ids)}
        WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ANY(${wanted.trajectory_ids}) AND v.kind = 'artifact'
          AND ${readableVersion(now)}${artifactsShown(wanted.reach)}
        ORDER BY CASE WHEN v.trajectory_id = ${wanted.last} THEN 1 ELSE 0 END, v.memory_id LIMIT ${wanted.limit}`,
  );
}

export function noteLeaves(query: Query, wanted: Wanted, now: number): Promise<MemoryLeaf[]> {
  return query.all<MemoryLeaf>(
    sql`SELECT n.trajectory_id, n.memory_id, n.name, n.type FROM (
          SELECT DISTINCT v.tenant_id, p.entity_id AS trajectory_id, v.memory_id, v.name, v.type
          ${notesFromThese(wanted.trajectory_ids, now)}${notesShown(wanted.reach)}) n
        WHERE n.tenant_id = ${TENANT}
        ORDER BY CASE WHEN n.trajectory_id = ${wanted.last} THEN 1 ELSE 0 END, n.memory_id LIMIT ${wanted.limit}`,
  );
}
