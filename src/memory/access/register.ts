/** How memory's own ids are checked against what an agent reaches. */
import { sql, TENANT } from '../../driver/index.js';
import { containerFinders, reachFinders, said, within } from '../../engine/sql.js';
import {
  artifactsWithin,
  notesWithin,
  scopesReadable,
  scopesWithin,
  trajectoriesReadable,
  turnsWithin,
} from './reach.js';

reachFinders.fill(
  'artifact_id',
  (id, reach) =>
    sql`SELECT ${said(artifactsWithin(reach))} FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = 'artifact'`,
);

reachFinders.fill(
  'note_id',
  (id, reach) =>
    sql`SELECT ${said(notesWithin(reach))} FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = 'note'`,
);

reachFinders.fill(
  'turn_id',
  (id, reach) =>
    sql`SELECT ${said(turnsWithin(reach))} FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ${id} AND SUBSTR(c.held_by, 1, 6) = 'scope:'`,
);

reachFinders.fill(
  'scope_id',
  (id, reach) =>
    sql`SELECT ${said(scopesWithin(reach))} FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${id}`,
);

reachFinders.fill(
  'trajectory_id',
  (id, reach) =>
    sql`SELECT ${said(within(reach, sql`t.agent_id`, sql`t.trajectory_id`))} FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${id}`,
);

containerFinders.fill(
  'trajectory_id',
  (id, reach) =>
    sql`SELECT ${said(trajectoriesReadable(reach))} FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${id} AND t.deleted_at IS NULL`,
);

containerFinders.fill(
  'scope_id',
  (id, reach) =>
    sql`SELECT ${said(scopesReadable(reach))} FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${id} AND s.deleted_at IS NULL`,
);
