/** Doctor checks of trajectories. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const trajectoryChecks: readonly Check[] = [
  {
    name: 'the parent of a trajectory exists',
    broken: () =>
      sql`SELECT 'trajectory ' || t.trajectory_id || ' is part of ' || t.parent_trajectory_id AS what FROM trajectories t
          LEFT JOIN trajectories p ON p.tenant_id = t.tenant_id AND p.trajectory_id = t.parent_trajectory_id
          WHERE t.tenant_id = ${TENANT} AND t.parent_trajectory_id IS NOT NULL AND t.deleted_at IS NULL
            AND (p.trajectory_id IS NULL OR p.deleted_at IS NOT NULL) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'finished trajectories have an outcome, and finished or deleted ones no open scope',
    broken: () =>
      sql`SELECT 'scope ' || s.scope_id || ' of trajectory ' || t.trajectory_id AS what FROM trajectories t
            JOIN scopes s ON s.tenant_id = t.tenant_id AND s.trajectory_id = t.trajectory_id AND s.closed_at IS NULL
            WHERE t.tenant_id = ${TENANT} AND (t.finished_at IS NOT NULL OR t.deleted_at IS NOT NULL)
          UNION ALL
          SELECT 'trajectory ' || t.trajectory_id AS what FROM trajectories t
            WHERE t.tenant_id = ${TENANT} AND t.deleted_at IS NULL
              AND (t.status = 'Completed' OR t.status = 'Failed') <> (t.finished_at IS NOT NULL AND t.outcome IS NOT NULL)
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'deleted trajectories and scopes hold no text',
    broken: () =>
      sql`SELECT 'trajectory ' || t.trajectory_id AS what FROM trajectories t
            WHERE t.tenant_id = ${TENANT} AND t.deleted_at IS NOT NULL AND (t.name <> '' OR t.description IS NOT NULL
              OR t.metadata IS NOT NULL OR t.outcome IS NOT NULL OR t.sent_hash IS NOT NULL)
          UNION ALL
          SELECT 'scope ' || s.scope_id AS what FROM scopes s
            WHERE s.tenant_id = ${TENANT} AND s.deleted_at IS NOT NULL AND (s.name <> '' OR s.purpose IS NOT NULL
              OR s.metadata IS NOT NULL OR s.sent_hash IS NOT NULL)
          LIMIT ${MAX_EXAMPLES}`,
  },
];
