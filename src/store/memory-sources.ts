/** What artifacts and notes come from, as it must be when they are made: trajectories and turns. */
import type { Query, Tx } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import { entriesAfter, segmentsOf } from './box-entries.js';
import { findBox } from './boxes.js';
import type { TrajectoryRow } from './trajectories.js';

/** Those of these trajectories that were not deleted; nobody finishes or deletes them until the commit. */
export async function lockTrajectories(
  tx: Tx,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, TrajectoryRow>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${tenant} AND trajectory_id = ANY(${ids})
        ORDER BY trajectory_id FOR UPDATE`,
  );
  return new Map(rows.filter((row) => row.deleted_at === null).map((row) => [row.trajectory_id, row]));
}

/** The turn of this sequence in a box of turns: a card. */
export async function turnAt(
  query: Query,
  tenant: string,
  box_id: string,
  sequence: number,
): Promise<string | undefined> {
  const box = await findBox(query, tenant, box_id);
  if (!box || sequence > box.length) return undefined;
  const segments = await segmentsOf(query, tenant, box);
  const [entry] = await entriesAfter(query, tenant, segments, { after: 0, limit: 1, offset: sequence - 1 });
  return entry?.card_id;
}
