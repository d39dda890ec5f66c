/** trajectories: one row a task. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  startsWith,
  type Table,
  TENANT,
  type Times,
  type Tx,
  within,
} from '../../driver/index.js';
import type { ContainerReach } from '../../engine/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import { trajectoriesReadable } from '../access/reach.js';
import type { Outcome, Trajectory, TrajectoryStatus } from './model.js';
import { isFinal } from './rules.js';

export interface TrajectoryRow {
  readonly trajectory_id: string;
  readonly parent_trajectory_id: string | null;
  readonly agent_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly status: TrajectoryStatus;
  readonly metadata: string | null;
  readonly outcome: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly finished_at: number | null;
  readonly deleted_at: number | null;
}

const trajectoriesTable: Table = {
  name: 'trajectories',
  columns: {
    tenant_id: 'text',
    trajectory_id: 'text',
    parent_trajectory_id: 'text',
    agent_id: 'text',
    name: 'text',
    description: 'text',
    status: 'text',
    metadata: 'json',
    sent_hash: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
};

export const isFinished = ({ status }: { readonly status: TrajectoryStatus }): boolean => isFinal(status);

export function toTrajectory(tenant: string, row: TrajectoryRow): Trajectory {
  return {
    trajectory_id: row.trajectory_id,
    tenant_id: tenant,
    name: row.name,
    description: row.description,
    status: row.status,
    parent_trajectory_id: row.parent_trajectory_id,
    agent_id: row.agent_id,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as Outcome),
    metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as JsonObject),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    finished_at: row.finished_at === null ? null : toIso(row.finished_at),
  };
}

export async function insertTrajectory(tx: Tx, row: TrajectoryRow): Promise<void> {
  await tx.insert(trajectoriesTable, [
    [
      tx.tenant,
      row.trajectory_id,
      row.parent_trajectory_id,
      row.agent_id,
      row.name,
      row.description,
      row.status,
      row.metadata,
      row.sent_hash,
      row.created_at,
      row.updated_at,
    ],
  ]);
}

/** Deleted ones included, since an id is never used twice. */
export function findTrajectory(query: Query, trajectory_id: string): Promise<TrajectoryRow | undefined> {
  return query.get<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id}`,
  );
}

/** The same, and nobody finishes or deletes it until the commit. */
export function lockTrajectory(tx: Tx, trajectory_id: string): Promise<TrajectoryRow | undefined> {
  return tx.get<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} FOR UPDATE`,
  );
}

export interface TrajectoryChange {
  readonly name: string;
  readonly description: string | null;
  readonly status: TrajectoryStatus;
  /** Canonical JSON, and that of the outcome. */
  readonly metadata: string | null;
  readonly outcome: string | null;
  readonly updated_at: number;
  readonly finished_at: number | null;
}

export async function updateTrajectory(tx: Tx, trajectory_id: string, change: TrajectoryChange): Promise<void> {
  await tx.send(
    sql`UPDATE trajectories SET name = ${change.name}, description = ${change.description}, status = ${change.status},
          metadata = ${change.metadata}, outcome = ${change.outcome}, updated_at = ${change.updated_at},
          finished_at = ${change.finished_at}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id}`,
  );
}

/** Gives a trajectory, which is locked, to another agent. */
export async function moveTrajectory(tx: Tx, trajectory_id: string, agent_id: string, now: number): Promise<void> {
  await tx.send(
    sql`UPDATE trajectories SET agent_id = ${agent_id}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id}`,
  );
}

/** SQLite would rather go through all that are Active than through the children of one. */
const byParent: Sql = byDialect({
  sqlite: sql`trajectories INDEXED BY trajectories_by_parent`,
  postgres: sql`trajectories`,
});

/** Those of a trajectory's children that are Active, at most so many. */
export async function activeChildren(query: Query, trajectory_id: string, limit: number): Promise<string[]> {
  const rows = await query.all<{ trajectory_id: string }>(
    sql`SELECT trajectory_id FROM ${byParent}
        WHERE tenant_id = ${TENANT} AND parent_trajectory_id = ${trajectory_id} AND status = 'Active' AND deleted_at IS NULL
        ORDER BY trajectory_id LIMIT ${limit}`,
  );
  return rows.map((row) => row.trajectory_id);
}

export interface TrajectoryFilter {
  readonly status?: TrajectoryStatus | undefined;
  readonly agent_id?: string | undefined;
  readonly parent_id?: string | undefined;
  /** Only those that are a part of none. */
  readonly top_level?: boolean | undefined;
  /** How the name starts. */
  readonly name?: string | undefined;
  readonly times?: Times;
  readonly reach?: ContainerReach | undefined;
}

function where(filter: TrajectoryFilter): Sql {
  const { status, agent_id, parent_id, top_level, name, reach } = filter;
  const conditions: Sql[] = [sql`t.tenant_id = ${TENANT}`, sql`t.deleted_at IS NULL`];
  if (status !== undefined) conditions.push(sql`t.status = ${status}`);
  if (agent_id !== undefined) conditions.push(sql`t.agent_id = ${agent_id}`);
  if (parent_id !== undefined) conditions.push(sql`t.parent_trajectory_id = ${parent_id}`);
  if (top_level) conditions.push(sql`t.parent_trajectory_id IS NULL`);
  if (name !== undefined) conditions.push(startsWith(sql`t.name`, name));
  conditions.push(...within(sql`t.created_at`, sql`t.updated_at`, filter.times ?? {}));
  if (reach !== undefined) conditions.push(trajectoriesReadable(reach));
  return join(conditions, ' AND ');
}

export function listTrajectories(query: Query, filter: TrajectoryFilter, page: KeysetPage): Promise<TrajectoryRow[]> {
  return query.all<TrajectoryRow>(
    sql`SELECT t.* FROM trajectories t WHERE ${where(filter)}${keyset(sql`t.trajectory_id`, page)}`,
  );
}

export const countTrajectories = (filter: TrajectoryFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM trajectories t WHERE ${where(filter)}`;
