/** The readable outputs of a trajectory: its artifacts, and the notes derived from it. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { artifactsAmong, PARTICIPANTS_OF_EDGE, participantsAmong, VERSION_OF_END } from '../lookups.js';
import { selectIds } from '../rows.js';
import { currentAt, liveAt } from '../versions/store.js';

/** Whether a version v is current and readable. */
export const readableVersion = (now: number): Sql => sql`${currentAt(undefined)} AND ${liveAt(now)}`;

export const artifactsOf = (query: Query, trajectory_id: string, now: number, limit: number): Promise<string[]> =>
  selectIds(
    query,
    sql`SELECT v.memory_id AS id FROM ${artifactsAmong([trajectory_id])}
        WHERE v.tenant_id = ${TENANT} AND v.trajectory_id = ${trajectory_id} AND v.kind = 'artifact'
          AND ${readableVersion(now)} ORDER BY v.memory_id LIMIT ${limit}`,
  );

/** Notes v that are derived from these trajectories (p.entity_id). */
export const notesFromThese = (trajectory_ids: readonly string[], now: number): Sql =>
  sql`FROM ${participantsAmong(trajectory_ids)} CROSS JOIN ${PARTICIPANTS_OF_EDGE} CROSS JOIN ${VERSION_OF_END}
      WHERE p.tenant_id = ${TENANT} AND p.entity_id = ANY(${trajectory_ids}) AND p.edge_type = 'DerivedFrom'
        AND p.entity_type = 'Trajectory' AND p.position > 1 AND p.deleted_at IS NULL
        AND o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position = 1 AND o.entity_type = 'Note'
        AND v.tenant_id = o.tenant_id AND v.memory_id = o.entity_id AND v.kind = 'note' AND ${readableVersion(now)}`;

export const notesFrom = (query: Query, trajectory_id: string, now: number, limit: number): Promise<string[]> =>
  selectIds(
    query,
    sql`SELECT DISTINCT v.memory_id AS id ${notesFromThese([trajectory_id], now)} ORDER BY v.memory_id LIMIT ${limit}`,
  );
