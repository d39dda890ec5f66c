/** trajectories: one row a task. */
import type { Query, Table, Tx } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import { toIso } from '../model/common.js';
import type { JsonObject } from '../model/json.js';
import type { Outcome, Trajectory, TrajectoryStatus } from '../model/trajectory.js';

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

export const isFinished = ({ status }: { readonly status: TrajectoryStatus }): boolean =>
  status === 'Completed' || status === 'Failed';

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

export async function insertTrajectory(tx: Tx, tenant: string, row: TrajectoryRow): Promise<void> {
  await tx.insert(trajectoriesTable, [
    [
      tenant,
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
export function findTrajectory(
  query: Query,
  tenant: string,
  trajectory_id: string,
): Promise<TrajectoryRow | undefined> {
  return query.get<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id}`,
  );
}

/** The same, and nobody finishes or deletes it until the commit. */
export function lockTrajectory(
  tx: Tx,
  tenant: string,
  trajectory_id: string,
): Promise<TrajectoryRow | undefined> {
  return tx.get<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id} FOR UPDATE`,
  );
}
