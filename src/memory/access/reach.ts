/** What an agent reaches of the memory hierarchy, as conditions: each for the name that its table has in lists. */
import { join, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import {
  type ContainerReach,
  EVERYTHING,
  NOTHING,
  ownership,
  type Reach,
  Registry,
  type Worker,
  within,
} from '../../engine/sql.js';

/** Whether a trajectory is the one that an agent was sent to work in, and that it has not given away since. */
const worksIn = ({ agent_id, current_trajectory_id }: Worker, trajectory: Sql): Sql =>
  current_trajectory_id === null
    ? NOTHING
    : sql`(${trajectory} = ${current_trajectory_id} AND NOT EXISTS (SELECT 1 FROM former_owners former
        WHERE former.tenant_id = ${TENANT} AND former.trajectory_id = ${current_trajectory_id}
          AND former.agent_id = ${agent_id}))`;

/** Whether a trajectory is the agent's, or the one that it works in. */
export const isMine = (reach: Worker, trajectory: Sql): Sql =>
  sql`(${worksIn(reach, trajectory)} OR EXISTS (SELECT 1 FROM trajectories mine
    WHERE mine.tenant_id = ${TENANT} AND mine.trajectory_id = ${trajectory} AND mine.agent_id = ${reach.agent_id}))`;

ownership.fill('trajectory', isMine);

/** The columns that say of an artifact or note whose it is, and what. */
export interface MemoryColumns {
  readonly id: Sql;
  readonly owner: Sql;
  readonly trajectory: Sql;
  readonly type: Sql;
  readonly level: Sql;
}

export const versions: MemoryColumns = {
  id: sql`v.memory_id`,
  owner: sql`v.agent_id`,
  trajectory: sql`v.trajectory_id`,
  type: sql`v.type`,
  level: sql`v.abstraction_level`,
};

/** A summary says what was said, so it takes the reach of turns besides. It bears the id of the scope's agent. */
export function artifactsWithin(reach: Reach, of: MemoryColumns = versions): Sql {
  const reached = within(reach, of.owner, of.trajectory);
  const { turns } = reach;
  if (turns === undefined) return reached;
  const heard = within({ ...reach, extent: turns }, of.owner, of.trajectory);
  return sql`(${reached} AND (${of.type} <> 'Summary' OR ${of.level} <> 'L1' OR ${heard}))`;
}

/** A note is in no trajectory: it counts where it was learned; a principle only where all of these are reached. */
export function notesWithin(reach: Reach, of: MemoryColumns = versions): Sql {
  const { extent, turns, agent_id } = reach;
  if (extent === 'none' || extent === 'own') return within(reach, of.owner, sql`NULL`);
  const mine = (trajectory: Sql): Sql => isMine(reach, trajectory);
  const heard = (trajectory: Sql): Sql => (turns === 'own_trajectory' ? mine(trajectory) : NOTHING);
  const conditions: Sql[] = [];
  if (extent === 'own_trajectory') {
    conditions.push(sql`EXISTS (${learnedIn(of.id)} AND ${mine(sql`source.trajectory_id`)})`);
    conditions.push(
      sql`(${of.level} <> 'L2' OR NOT EXISTS (${learnedIn(of.id)} AND NOT ${mine(sql`source.trajectory_id`)}))`,
    );
  }
  if (turns !== undefined)
    conditions.push(
      sql`(${of.level} <> 'L2' OR NOT EXISTS (${learnedIn(of.id)} AND NOT (${heard(sql`source.trajectory_id`)})))`,
    );
  return conditions.length === 0 ? EVERYTHING : sql`(${of.owner} = ${agent_id} OR (${join(conditions, ' AND ')}))`;
}

/**
 * The trajectories that a note was learned in, under the name source. Stored when the note is made and never changed:
 * edges come and go by their writers, so they never grant reach.
 */
export const learnedIn = (note_id: Sql): Sql =>
  sql`SELECT 1 FROM learned_in source WHERE source.tenant_id = ${TENANT} AND source.note_id = ${note_id}`;

export const scopesWithin = (reach: Reach): Sql => within(reach, sql`s.agent_id`, sql`s.trajectory_id`);

/** The card of a turn, aliased c: reached by its author, or through its scope. */
export function turnsWithin(reach: Reach): Sql {
  if (reach.extent === 'none') return NOTHING;
  return sql`(c.author_id = ${reach.agent_id} OR EXISTS (SELECT 1 FROM scopes s
    WHERE s.tenant_id = ${TENANT} AND s.scope_id = SUBSTR(c.held_by, 7) AND ${scopesWithin(reach)}))`;
}

export const artifactIn = (reach: Reach, place: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM memory_versions v WHERE v.tenant_id = ${TENANT} AND ${place} AND v.kind = 'artifact'
    AND v.superseded_at IS NULL AND ${artifactsWithin(reach)})`;

/** Conditions by which higher modules let an agent read a trajectory under the name t: through what they keep in it. */
export const waysIntoTrajectories = new Registry<(reach: ContainerReach) => Sql>();

/** A trajectory under the name t that its reader owns, or in which it reaches a scope, artifact, note or execution. */
export function trajectoriesReadable(reach: ContainerReach): Sql {
  const { agent_id, artifacts, notes } = reach;
  const ways: Sql[] = [
    sql`t.agent_id = ${agent_id}`,
    sql`EXISTS (SELECT 1 FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = t.trajectory_id
      AND s.deleted_at IS NULL AND s.agent_id = ${agent_id})`,
  ];
  if (reach.follows_trajectory) ways.push(worksIn(reach, sql`t.trajectory_id`));
  if (artifacts.extent !== 'none') ways.push(artifactIn(artifacts, sql`v.trajectory_id = t.trajectory_id`));
  for (const way of waysIntoTrajectories) ways.push(way(reach));
  if (notes.extent !== 'none')
    ways.push(sql`EXISTS (SELECT 1 FROM learned_in l CROSS JOIN memory_versions v
      WHERE l.tenant_id = ${TENANT} AND l.trajectory_id = t.trajectory_id AND v.tenant_id = ${TENANT}
        AND v.memory_id = l.note_id AND v.superseded_at IS NULL AND ${notesWithin(notes)})`);
  return sql`(${join(ways, ' OR ')})`;
}

/** A scope under the name s that its reader owns, whose turns it reads, or in which it reaches an artifact. */
export function scopesReadable(reach: ContainerReach): Sql {
  const ways: Sql[] = [sql`s.agent_id = ${reach.agent_id}`, scopesWithin(reach.turns)];
  if (reach.artifacts.extent !== 'none') ways.push(artifactIn(reach.artifacts, sql`v.scope_id = s.scope_id`));
  return sql`(${join(ways, ' OR ')})`;
}

/** Which of these scopes are within reach. */
export async function scopesReached(query: Query, scope_ids: readonly string[], reach: Reach): Promise<Set<string>> {
  const rows = await query.all<{ scope_id: string }>(
    sql`SELECT s.scope_id FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ANY(${scope_ids}) AND ${scopesWithin(reach)}`,
  );
  return new Set(rows.map(({ scope_id }) => scope_id));
}

/** Conditions by which a trajectory under the name t was made on behalf of an agent, as for what it delegated. */
export const madeForAgents = new Registry<(agent_id: string) => Sql>();

/**
 * Of these trajectories one that is beyond reach, and was not made by what the agent itself delegated: to delete a tree
 * is to delete all of it.
 */
export async function trajectoryBeyond(
  query: Query,
  trajectory_ids: readonly string[],
  reach: Reach,
): Promise<string | undefined> {
  const row = await query.get<{ trajectory_id: string }>(
    sql`SELECT t.trajectory_id FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ANY(${trajectory_ids})
          AND (t.agent_id IS NULL OR NOT ${within(reach, sql`t.agent_id`, sql`t.trajectory_id`)})
          AND NOT (${join(
            [...madeForAgents].map((isMade) => isMade(reach.agent_id)),
            ' OR ',
          )})
        ORDER BY t.trajectory_id LIMIT 1`,
  );
  return row?.trajectory_id;
}
