/** The reach of an agent in the memory hierarchy, as SQL conditions on the table aliases that lists use. */
import { join, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import {
  type AgentPosition,
  type ContainerReach,
  EVERYTHING,
  NOTHING,
  ownership,
  type Reach,
  Registry,
  subjectsWithin,
  within,
  withinExtent,
} from '../../engine/sql.js';
import { selectIds } from '../rows.js';

/** An additional condition, if the reader has a reach; undefined: everything. */
export const andWithin = <R>(reach: R | undefined, within: (reach: R) => Sql): Sql =>
  reach === undefined ? sql`` : sql` AND ${within(reach)}`;

/** Whether an agent currently works in a trajectory and has not handed it off since. */
const worksIn = ({ agent_id, current_trajectory_id }: AgentPosition, trajectory: Sql): Sql =>
  current_trajectory_id === null
    ? NOTHING
    : sql`(${trajectory} = ${current_trajectory_id} AND NOT EXISTS (SELECT 1 FROM former_owners former
        WHERE former.tenant_id = ${TENANT} AND former.trajectory_id = ${current_trajectory_id}
          AND former.agent_id = ${agent_id}))`;

/** Whether the agent owns a trajectory or works in it. */
export const ownsOrWorksIn = (reach: AgentPosition, trajectory: Sql): Sql =>
  sql`(${worksIn(reach, trajectory)} OR EXISTS (SELECT 1 FROM trajectories mine
    WHERE mine.tenant_id = ${TENANT} AND mine.trajectory_id = ${trajectory} AND mine.agent_id = ${reach.agent_id}))`;

ownership.fill('trajectory', ownsOrWorksIn);

/** The columns of an artifact or note that decide its reach. */
export interface MemoryColumns {
  readonly id: Sql;
  readonly owner: Sql;
  readonly trajectory: Sql;
  readonly subjects: Sql;
  readonly type: Sql;
  readonly level: Sql;
}

const versions: MemoryColumns = {
  id: sql`v.memory_id`,
  owner: sql`v.agent_id`,
  trajectory: sql`v.trajectory_id`,
  subjects: sql`v.subject_ids`,
  type: sql`v.type`,
  level: sql`v.abstraction_level`,
};

/** An L1 summary repeats turns, so it also needs the reach of turns. Its agent_id is that of the scope. */
export function artifactsWithin(reach: Reach, of: MemoryColumns = versions): Sql {
  const reached = within(reach, of);
  const { turns } = reach;
  if (turns === undefined) return reached;
  const turnsReached = within({ ...reach, extent: turns }, of);
  return sql`(${reached} AND (${of.type} <> 'Summary' OR ${of.level} <> 'L1' OR ${turnsReached}))`;
}

/** A note is reached through a trajectory in `learned_in`; a principle (L2) needs all of them. */
export function notesWithin(reach: Reach, of: MemoryColumns = versions): Sql {
  const { user } = reach;
  if (user === undefined) return notesWithinExtent(reach, of);
  return sql`(${subjectsWithin(user, of.subjects)} AND ${notesWithinExtent(reach, of)})`;
}

function notesWithinExtent(reach: Reach, of: MemoryColumns): Sql {
  const { extent, turns, agent_id } = reach;
  if (extent === 'none' || extent === 'own') return withinExtent(reach, of.owner, sql`NULL`);
  const mine = ownsOrWorksIn(reach, sql`source.trajectory_id`);
  const allReached = (reached: Sql): Sql =>
    sql`(${of.level} <> 'L2' OR NOT EXISTS (${learnedIn(of.id)} AND NOT (${reached})))`;
  const conditions: Sql[] = [];
  if (extent === 'own_trajectory') conditions.push(sql`EXISTS (${learnedIn(of.id)} AND ${mine})`, allReached(mine));
  if (turns !== undefined) conditions.push(allReached(turns === 'own_trajectory' ? mine : NOTHING));
  return conditions.length === 0 ? EVERYTHING : sql`(${of.owner} = ${agent_id} OR (${join(conditions, ' AND ')}))`;
}

/** Rows `source` of `learned_in`. Written once with the note: edges can be added by others, so they never grant reach. */
const learnedIn = (note_id: Sql): Sql =>
  sql`SELECT 1 FROM learned_in source WHERE source.tenant_id = ${TENANT} AND source.note_id = ${note_id}`;

const scopeColumns = { owner: sql`s.agent_id`, trajectory: sql`s.trajectory_id`, subjects: sql`s.subject_ids` };
const trajectoryColumns = { owner: sql`t.agent_id`, trajectory: sql`t.trajectory_id`, subjects: sql`t.subject_ids` };

export const scopesWithin = (reach: Reach): Sql => within(reach, scopeColumns);
export const trajectoriesWithin = (reach: Reach): Sql => within(reach, trajectoryColumns);

/** The card c of a turn: reached by its author, or through its scope. */
export function turnsWithin(reach: Reach): Sql {
  const { user, extent } = reach;
  if (extent === 'none') return NOTHING;
  const own = user === undefined ? EVERYTHING : subjectsWithin(user, sql`c.subject_ids`);
  if (extent === 'all') return own;
  return sql`(${own} AND (c.author_id = ${reach.agent_id} OR EXISTS (SELECT 1 FROM scopes s
    WHERE s.tenant_id = ${TENANT} AND s.scope_id = SUBSTR(c.held_by, 7) AND ${scopesWithin(reach)})))`;
}

const artifactIn = (reach: Reach, container: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM memory_versions v WHERE v.tenant_id = ${TENANT} AND ${container} AND v.kind = 'artifact'
    AND v.superseded_at IS NULL AND ${artifactsWithin(reach)})`;

/** Conditions of higher modules by which an agent can read a trajectory t, through what they store in it. */
export const trajectoryReadConditions = new Registry<(reach: ContainerReach) => Sql>();

/** A trajectory t that the agent owns, or in which it reaches a scope, artifact, note or execution. */
export function trajectoriesReadable(reach: ContainerReach): Sql {
  const { agent_id, artifacts, notes, user } = reach;
  const own = user === undefined ? EVERYTHING : subjectsWithin(user, sql`t.subject_ids`);
  if (reach.turns.extent === 'all') return own;
  const ways: Sql[] = [
    sql`t.agent_id = ${agent_id}`,
    sql`EXISTS (SELECT 1 FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = t.trajectory_id
      AND s.deleted_at IS NULL AND s.agent_id = ${agent_id})`,
  ];
  if (reach.follows_trajectory) ways.push(worksIn(reach, sql`t.trajectory_id`));
  if (artifacts.extent !== 'none') ways.push(artifactIn(artifacts, sql`v.trajectory_id = t.trajectory_id`));
  for (const way of trajectoryReadConditions) ways.push(way(reach));
  if (notes.extent !== 'none')
    ways.push(sql`EXISTS (SELECT 1 FROM learned_in l CROSS JOIN memory_versions v
      WHERE l.tenant_id = ${TENANT} AND l.trajectory_id = t.trajectory_id AND v.tenant_id = ${TENANT}
        AND v.memory_id = l.note_id AND v.superseded_at IS NULL AND ${notesWithin(notes)})`);
  return sql`(${own} AND (${join(ways, ' OR ')}))`;
}

/** A scope s that the agent owns, whose turns it reads, or in which it reaches an artifact. */
export function scopesReadable(reach: ContainerReach): Sql {
  const own = reach.user === undefined ? EVERYTHING : subjectsWithin(reach.user, sql`s.subject_ids`);
  if (reach.turns.extent === 'all') return own;
  const ways: Sql[] = [sql`s.agent_id = ${reach.agent_id}`, scopesWithin(reach.turns)];
  if (reach.artifacts.extent !== 'none') ways.push(artifactIn(reach.artifacts, sql`v.scope_id = s.scope_id`));
  return sql`(${own} AND (${join(ways, ' OR ')}))`;
}

export async function scopesReached(query: Query, scope_ids: readonly string[], reach: Reach): Promise<Set<string>> {
  const ids = await selectIds(
    query,
    sql`SELECT s.scope_id AS id FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ANY(${scope_ids}) AND ${scopesWithin(reach)}`,
  );
  return new Set(ids);
}

/** Conditions by which a trajectory t was made on behalf of an agent, such as for its delegation. */
export const onBehalfConditions = new Registry<(agent_id: string) => Sql>();

/** One of these trajectories that is beyond reach and was not made on behalf of the agent. */
export async function trajectoryBeyond(
  query: Query,
  trajectory_ids: readonly string[],
  reach: Reach,
): Promise<string | undefined> {
  // Without an agent only the user counts.
  const ownerless = reach.agent_id === null ? NOTHING : sql`t.agent_id IS NULL`;
  const { agent_id } = reach;
  const onBehalf = agent_id === null ? [NOTHING] : [...onBehalfConditions].map((isMade) => isMade(agent_id));
  const [id] = await selectIds(
    query,
    sql`SELECT t.trajectory_id AS id FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ANY(${trajectory_ids})
          AND (${ownerless} OR NOT ${trajectoriesWithin(reach)})
          AND NOT (${join(onBehalf, ' OR ')})
        ORDER BY t.trajectory_id LIMIT 1`,
  );
  return id;
}
