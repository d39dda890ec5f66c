/** How memory's own ids are checked against what an agent reaches. */
import { sql } from '../../driver/sql.js';
import { containerFinders, reachFinders, said, within } from '../../engine/access/reach.js';
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
  (tenant, id, reach) =>
    sql`SELECT ${said(artifactsWithin(tenant, reach))} FROM memory_versions v
        WHERE v.tenant_id = ${tenant} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = 'artifact'`,
);

reachFinders.fill(
  'note_id',
  (tenant, id, reach) =>
    sql`SELECT ${said(notesWithin(tenant, reach))} FROM memory_versions v
        WHERE v.tenant_id = ${tenant} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = 'note'`,
);

reachFinders.fill(
  'turn_id',
  (tenant, id, reach) =>
    sql`SELECT ${said(turnsWithin(tenant, reach))} FROM cards c
        WHERE c.tenant_id = ${tenant} AND c.card_id = ${id} AND SUBSTR(c.held_by, 1, 6) = 'scope:'`,
);

reachFinders.fill(
  'scope_id',
  (tenant, id, reach) =>
    sql`SELECT ${said(scopesWithin(tenant, reach))} FROM scopes s
        WHERE s.tenant_id = ${tenant} AND s.scope_id = ${id}`,
);

reachFinders.fill(
  'trajectory_id',
  (tenant, id, reach) =>
    sql`SELECT ${said(within(tenant, reach, sql`t.agent_id`, sql`t.trajectory_id`))} FROM trajectories t
        WHERE t.tenant_id = ${tenant} AND t.trajectory_id = ${id}`,
);

containerFinders.fill(
  'trajectory_id',
  (tenant, id, reach) =>
    sql`SELECT ${said(trajectoriesReadable(tenant, reach))} FROM trajectories t
        WHERE t.tenant_id = ${tenant} AND t.trajectory_id = ${id} AND t.deleted_at IS NULL`,
);

containerFinders.fill(
  'scope_id',
  (tenant, id, reach) =>
    sql`SELECT ${said(scopesReadable(tenant, reach))} FROM scopes s
        WHERE s.tenant_id = ${tenant} AND s.scope_id = ${id} AND s.deleted_at IS NULL`,
);
