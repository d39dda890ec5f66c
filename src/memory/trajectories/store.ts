/** trajectories: one row per task. */
import {
  byDialect,
  insertRows,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  startsWith,
  TENANT,
  type TimeRange,
  type Tx,
  tenantTable,
  textToList,
  timeConditions,
} from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import type { ContainerReach } from '../../engine/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import { trajectoriesReadable } from '../access/reach.js';
import { isoOrNull, selectIds } from '../rows.js';
import type { Outcome, Trajectory, TrajectoryStatus } from './model.js';
import { isFinal } from './rules.js';

export interface TrajectoryRow {
  readonly trajectory_id: string;
  readonly parent_trajectory_id: string | null;
  readonly agent_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly subject_ids: string | null;
  readonly status: TrajectoryStatus;
  readonly metadata: string | null;
  readonly outcome: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly finished_at: number | null;
  readonly deleted_at: number | null;
}

const trajectoriesTable = tenantTable('trajectories', {
  text: [
    'trajectory_id',
    'parent_trajectory_id',
    'agent_id',
    'name',
    'description',
    'subject_ids',
    'status',
    'sent_hash',
  ],
  json: ['metadata'],
  bigint: ['created_at', 'updated_at'],
});

export const isFinished = ({ status }: { readonly status: TrajectoryStatus }): boolean => isFinal(status);

export const toTrajectory = (tenant: string, row: TrajectoryRow): Trajectory => ({
  trajectory_id: row.trajectory_id,
  tenant_id: tenant,
  name: row.name,
  description: row.description,
  status: row.status,
  parent_trajectory_id: row.parent_trajectory_id,
  agent_id: row.agent_id,
  subject_ids: textToList(row.subject_ids),
  outcome: JSON.parse(row.outcome ?? 'null') as Outcome | null,
  metadata: JSON.parse(row.metadata ?? '{}') as JsonObject,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
  finished_at: isoOrNull(row.finished_at),
});

export const insertTrajectory = (tx: Tx, row: TrajectoryRow): Promise<void> => insertRows(tx, trajectoriesTable, [row]);

const byId = (trajectory_id: string): Sql =>
  sql`SELECT * FROM trajectories WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id}`;

/** Deleted trajectories included. */
export const findTrajectory = (query: Query, trajectory_id: string): Promise<TrajectoryRow | undefined> =>
  query.get<TrajectoryRow>(byId(trajectory_id));

/** The same, locked: no other transaction finishes or deletes it. */
export const lockTrajectory = (tx: Tx, trajectory_id: string): Promise<TrajectoryRow | undefined> =>
  tx.get<TrajectoryRow>(sql`${byId(trajectory_id)} FOR UPDATE`);

export const updateTrajectory = (tx: Tx, row: TrajectoryRow): Promise<void> =>
  tx.send(
    sql`UPDATE trajectories SET name = ${row.name}, description = ${row.description}, status = ${row.status},
          metadata = ${row.metadata}, outcome = ${row.outcome}, updated_at = ${row.updated_at},
          finished_at = ${row.finished_at}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${row.trajectory_id}`,
  );

/** Changes the owner of a locked trajectory. */
export const changeOwner = (tx: Tx, trajectory_id: string, agent_id: string, now: number): Promise<void> =>
  tx.send(
    sql`UPDATE trajectories SET agent_id = ${agent_id}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id}`,
  );

/** SQLite would scan all Active trajectories rather than the children of one. */
const byParent: Sql = byDialect({
  sqlite: sql`trajectories INDEXED BY trajectories_by_parent`,
  postgres: sql`trajectories`,
});

/** Ids of the children that are Active. */
export const activeChildren = (query: Query, trajectory_id: string, limit: number): Promise<string[]> =>
  selectIds(
    query,
    sql`SELECT trajectory_id AS id FROM ${byParent}
        WHERE tenant_id = ${TENANT} AND parent_trajectory_id = ${trajectory_id} AND status = 'Active' AND deleted_at IS NULL
        ORDER BY trajectory_id LIMIT ${limit}`,
  );

export interface TrajectoryFilter
  extends Pick<In<'trajectories.list'>, 'status' | 'agent_id' | 'parent_id' | 'top_level' | 'name'> {
  readonly times?: TimeRange;
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
  conditions.push(...timeConditions(sql`t.created_at`, sql`t.updated_at`, filter.times ?? {}));
  if (reach !== undefined) conditions.push(trajectoriesReadable(reach));
  return join(conditions, ' AND ');
}

export const listTrajectories = (query: Query, filter: TrajectoryFilter, page: KeysetPage): Promise<TrajectoryRow[]> =>
  query.all<TrajectoryRow>(
    sql`SELECT t.* FROM trajectories t WHERE ${where(filter)}${keyset(sql`t.trajectory_id`, page)}`,
  );

export const countTrajectories = (filter: TrajectoryFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM trajectories t WHERE ${where(filter)}`;
