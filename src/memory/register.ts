/** What memory adds to the registries of lower modules. */
import { type Sql, sql, TENANT } from '../driver/index.js';
import { contentErasers, derivations, forgetters } from '../engine/index.js';
import { containerFinders, type Reach, reachedColumn, reachFinders } from '../engine/sql.js';
import { cardConditions } from '../facts/index.js';
import { agentReferences } from '../identity/index.js';
import {
  artifactsWithin,
  notesWithin,
  scopesReadable,
  scopesWithin,
  trajectoriesReadable,
  trajectoriesWithin,
  turnsWithin,
} from './access/reach.js';
import { cardNotSuperseded } from './entities/supersession.js';
import { deleteLateEdges, eraseVersions } from './erasers.js';
import { scopeForgetter, trajectoryForgetter } from './forgetting/containers.js';
import { derivedByEdges, derivedBySource } from './forgetting/derivations.js';
import { memoryForgetter } from './forgetting/memories.js';
import { turnForgetter } from './forgetting/turns.js';
import { findTrajectory } from './trajectories/store.js';

agentReferences.fill('trajectory', async (query, trajectory_id) => {
  const trajectory = await findTrajectory(query, trajectory_id);
  return trajectory?.deleted_at === null ? trajectory : undefined;
});

contentErasers.fill('versions', eraseVersions);
contentErasers.fill('edges', deleteLateEdges);
forgetters.fill('trajectory', trajectoryForgetter);
forgetters.fill('scope', scopeForgetter);
forgetters.fill('artifact', memoryForgetter('artifact'));
forgetters.fill('note', memoryForgetter('note'));
forgetters.fill('turn', turnForgetter);
derivations.fill('sources', derivedBySource);
derivations.fill('edges', derivedByEdges);
cardConditions.fill('not_superseded', cardNotSuperseded);

const versionFinder = (kind: 'artifact' | 'note', isReached: (reach: Reach) => Sql) => (id: string, reach: Reach) =>
  sql`SELECT ${reachedColumn(isReached(reach))} FROM memory_versions v
      WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = ${kind}`;

reachFinders.fill('artifact_id', versionFinder('artifact', artifactsWithin));
reachFinders.fill('note_id', versionFinder('note', notesWithin));
reachFinders.fill(
  'turn_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(turnsWithin(reach))} FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ${id} AND SUBSTR(c.held_by, 1, 6) = 'scope:'`,
);
reachFinders.fill(
  'scope_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(scopesWithin(reach))} FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${id}`,
);
reachFinders.fill(
  'trajectory_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(trajectoriesWithin(reach))} FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${id}`,
);
containerFinders.fill(
  'trajectory_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(trajectoriesReadable(reach))} FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${id} AND t.deleted_at IS NULL`,
);
containerFinders.fill(
  'scope_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(scopesReadable(reach))} FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${id} AND s.deleted_at IS NULL`,
);
