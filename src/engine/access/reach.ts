/**
 * What an agent reaches of memory, as conditions: the same for lists, which leave out what is beyond, and for one entity.
 * Each is written for the name that its table has in lists.
 */
import type { Query } from '../../driver/driver.js';
import { join, type Sql, sql } from '../../driver/sql.js';
import type { CardExtents, Extent } from './rules.js';

/** Of one type of memory; where an agent reaches all of it, there is none. */
export interface Reach {
  readonly extent: Extent;
  /** Of artifacts and notes, where it is not all: how far the agent reads turns. What sums up turns is reached no further. */
  readonly turns?: Exclude<Extent, 'all'> | undefined;
  readonly agent_id: string;
  readonly current_trajectory_id: string | null;
}

const NOTHING = sql`1 = 0`;
const EVERYTHING = sql`1 = 1`;

type Worker = Pick<Reach, 'agent_id' | 'current_trajectory_id'>;

/** Whether a trajectory is the one that an agent was sent to work in, and that it has not given away since. */
const worksIn = (tenant: string, { agent_id, current_trajectory_id }: Worker, trajectory: Sql): Sql =>
  current_trajectory_id === null
    ? NOTHING
    : sql`(${trajectory} = ${current_trajectory_id} AND NOT EXISTS (SELECT 1 FROM former_owners former
        WHERE former.tenant_id = ${tenant} AND former.trajectory_id = ${current_trajectory_id}
          AND former.agent_id = ${agent_id}))`;

/** Whether a trajectory is the agent's, or the one that it works in. */
export const isMine = (tenant: string, reach: Worker, trajectory: Sql): Sql =>
  sql`(${worksIn(tenant, reach, trajectory)} OR EXISTS (SELECT 1 FROM trajectories mine
    WHERE mine.tenant_id = ${tenant} AND mine.trajectory_id = ${trajectory} AND mine.agent_id = ${reach.agent_id}))`;

function within(tenant: string, reach: Reach, owner: Sql, trajectory: Sql): Sql {
  if (reach.extent === 'all') return EVERYTHING;
  if (reach.extent === 'none') return NOTHING;
  if (reach.extent === 'own') return sql`${owner} = ${reach.agent_id}`;
  return sql`(${owner} = ${reach.agent_id} OR ${isMine(tenant, reach, trajectory)})`;
}

/** The columns that say of an artifact or note whose it is, and what. */
export interface MemoryColumns {
  readonly id: Sql;
  readonly owner: Sql;
  readonly trajectory: Sql;
  readonly type: Sql;
  readonly level: Sql;
}

const versions: MemoryColumns = {
  id: sql`v.memory_id`,
  owner: sql`v.agent_id`,
  trajectory: sql`v.trajectory_id`,
  type: sql`v.type`,
  level: sql`v.abstraction_level`,
};

/** A summary says what was said, so it takes the reach of turns besides. It bears the id of the scope's agent. */
export function artifactsWithin(tenant: string, reach: Reach, of: MemoryColumns = versions): Sql {
  const reached = within(tenant, reach, of.owner, of.trajectory);
  const { turns } = reach;
  if (turns === undefined) return reached;
  const heard = within(tenant, { ...reach, extent: turns }, of.owner, of.trajectory);
  return sql`(${reached} AND (${of.type} <> 'Summary' OR ${of.level} <> 'L1' OR ${heard}))`;
}

/** A note is in no trajectory: it counts where it was learned; a principle only where all of these are reached. */
export function notesWithin(tenant: string, reach: Reach, of: MemoryColumns = versions): Sql {
  const { extent, turns, agent_id } = reach;
  if (extent === 'none' || extent === 'own') return within(tenant, reach, of.owner, sql`NULL`);
  const mine = (trajectory: Sql): Sql => isMine(tenant, reach, trajectory);
  const heard = (trajectory: Sql): Sql => (turns === 'own_trajectory' ? mine(trajectory) : NOTHING);
  const conditions: Sql[] = [];
  if (extent === 'own_trajectory') {
    conditions.push(sql`EXISTS (${learnedIn(tenant, of.id)} AND ${mine(sql`source.trajectory_id`)})`);
    conditions.push(
      sql`(${of.level} <> 'L2' OR NOT EXISTS (${learnedIn(tenant, of.id)} AND NOT ${mine(sql`source.trajectory_id`)}))`,
    );
  }
  if (turns !== undefined)
    conditions.push(
      sql`(${of.level} <> 'L2' OR NOT EXISTS (${learnedIn(tenant, of.id)} AND NOT (${heard(sql`source.trajectory_id`)})))`,
    );
  return conditions.length === 0
    ? EVERYTHING
    : sql`(${of.owner} = ${agent_id} OR (${join(conditions, ' AND ')}))`;
}

/**
 * The trajectories that a note was learned in, under the name source. Stored when the note is made and never changed:
 * edges come and go by their writers, so they never grant reach.
 */
const learnedIn = (tenant: string, note_id: Sql): Sql =>
  sql`SELECT 1 FROM learned_in source WHERE source.tenant_id = ${tenant} AND source.note_id = ${note_id}`;

export const packetsWithin = (tenant: string, reach: Reach): Sql =>
  within(tenant, reach, sql`p.agent`, sql`p.thread_id`);

export const executionsWithin = (tenant: string, reach: Reach): Sql =>
  within(tenant, reach, sql`e.agent_id`, sql`e.trajectory_id`);

/** Whose context it is, or what it was made for. */
export const manifestsWithin = (tenant: string, reach: Reach): Sql =>
  within(tenant, reach, sql`m.agent_id`, sql`m.trajectory_id`);

export interface CardReach extends CardExtents {
  readonly agent_id: string;
}

/** The same as `reachesCard` of the domain, in SQL. */
export function cardsWithin({ loose, held, agent_id }: CardReach): Sql {
  const by = (extent: Extent): Sql => {
    if (extent === 'all') return sql`1 = 1`;
    return extent === 'none' ? NOTHING : sql`c.author_id = ${agent_id}`;
  };
  return sql`((c.held_by IS NULL AND ${by(loose)}) OR (c.held_by IS NOT NULL AND ${by(held)}))`;
}

const scopesWithin = (tenant: string, reach: Reach): Sql =>
  within(tenant, reach, sql`s.agent_id`, sql`s.trajectory_id`);

/** The card of a turn, aliased c: reached by its author, or through its scope. */
export function turnsWithin(tenant: string, reach: Reach): Sql {
  if (reach.extent === 'none') return NOTHING;
  return sql`(c.author_id = ${reach.agent_id} OR EXISTS (SELECT 1 FROM scopes s
    WHERE s.tenant_id = ${tenant} AND s.scope_id = SUBSTR(c.held_by, 7) AND ${scopesWithin(tenant, reach)}))`;
}

/** A job belongs to the scope that it is about. */
export const jobsWithin = (tenant: string, reach: Reach): Sql =>
  within(
    tenant,
    reach,
    sql`(SELECT s.agent_id FROM scopes s WHERE s.tenant_id = ${tenant} AND s.scope_id = j.scope_id)`,
    sql`j.trajectory_id`,
  );

/** A policy belongs to who made it, and to the scope or trajectory that it is for; those of the tenant are for all. */
export const policiesWithin = (tenant: string, reach: Reach): Sql =>
  sql`(p.attached = 'tenant' OR ${within(tenant, reach, sql`p.agent_id`, sql`p.trajectory_id`)} OR ${within(
    tenant,
    reach,
    sql`(SELECT s.agent_id FROM scopes s WHERE s.tenant_id = ${tenant} AND s.scope_id = p.scope_id)`,
    sql`p.trajectory_id`,
  )})`;

/** What an agent may read of containers: for those who reach anything in them. Absent where Turns are open to it. */
export interface ContainerReach {
  readonly agent_id: string;
  readonly current_trajectory_id: string | null;
  readonly turns: Reach;
  readonly artifacts: Reach;
  readonly notes: Reach;
  readonly executions: Reach;
  /** Whether a rule of any type reaches the trajectory that the agent works in. */
  readonly follows_trajectory: boolean;
}

const artifactIn = (tenant: string, reach: Reach, place: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM memory_versions v WHERE v.tenant_id = ${tenant} AND ${place} AND v.kind = 'artifact'
    AND v.superseded_at IS NULL AND ${artifactsWithin(tenant, reach)})`;

/** A trajectory under the name t that its reader owns, or in which it reaches a scope, artifact, note or execution. */
export function trajectoriesReadable(tenant: string, reach: ContainerReach): Sql {
  const { agent_id, artifacts, notes, executions } = reach;
  const ways: Sql[] = [
    sql`t.agent_id = ${agent_id}`,
    sql`EXISTS (SELECT 1 FROM scopes s WHERE s.tenant_id = ${tenant} AND s.trajectory_id = t.trajectory_id
      AND s.deleted_at IS NULL AND s.agent_id = ${agent_id})`,
  ];
  if (reach.follows_trajectory) ways.push(worksIn(tenant, reach, sql`t.trajectory_id`));
  if (artifacts.extent !== 'none')
    ways.push(artifactIn(tenant, artifacts, sql`v.trajectory_id = t.trajectory_id`));
  if (executions.extent !== 'none')
    ways.push(sql`EXISTS (SELECT 1 FROM executions e WHERE e.tenant_id = ${tenant}
      AND e.trajectory_id = t.trajectory_id AND e.deleted_at IS NULL AND ${executionsWithin(tenant, executions)})`);
  if (notes.extent !== 'none')
    ways.push(sql`EXISTS (SELECT 1 FROM learned_in l CROSS JOIN memory_versions v
      WHERE l.tenant_id = ${tenant} AND l.trajectory_id = t.trajectory_id AND v.tenant_id = ${tenant}
        AND v.memory_id = l.note_id AND v.superseded_at IS NULL AND ${notesWithin(tenant, notes)})`);
  return sql`(${join(ways, ' OR ')})`;
}

/** A scope under the name s that its reader owns, whose turns it reads, or in which it reaches an artifact. */
export function scopesReadable(tenant: string, reach: ContainerReach): Sql {
  const ways: Sql[] = [sql`s.agent_id = ${reach.agent_id}`, scopesWithin(tenant, reach.turns)];
  if (reach.artifacts.extent !== 'none')
    ways.push(artifactIn(tenant, reach.artifacts, sql`v.scope_id = s.scope_id`));
  return sql`(${join(ways, ' OR ')})`;
}

/** Which of these scopes are within reach. */
export async function scopesReached(
  query: Query,
  tenant: string,
  scope_ids: readonly string[],
  reach: Reach,
): Promise<Set<string>> {
  const rows = await query.all<{ scope_id: string }>(
    sql`SELECT s.scope_id FROM scopes s
        WHERE s.tenant_id = ${tenant} AND s.scope_id = ANY(${scope_ids}) AND ${scopesWithin(tenant, reach)}`,
  );
  return new Set(rows.map(({ scope_id }) => scope_id));
}

const said = (condition: Sql): Sql => sql`CASE WHEN ${condition} THEN 1 ELSE 0 END AS reached`;

const finders = {
  artifact_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(artifactsWithin(tenant, reach))} FROM memory_versions v
        WHERE v.tenant_id = ${tenant} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = 'artifact'`,
  note_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(notesWithin(tenant, reach))} FROM memory_versions v
        WHERE v.tenant_id = ${tenant} AND v.memory_id = ${id} AND v.version = 1 AND v.kind = 'note'`,
  packet_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(packetsWithin(tenant, reach))} FROM packet_store p
        WHERE p.tenant_id = ${tenant} AND p.packet_id = ${id}`,
  execution_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(executionsWithin(tenant, reach))} FROM executions e
        WHERE e.tenant_id = ${tenant} AND e.execution_id = ${id}`,
  checkpoint_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(executionsWithin(tenant, reach))} FROM checkpoints c
        JOIN executions e ON e.tenant_id = c.tenant_id AND e.execution_id = c.execution_id
        WHERE c.tenant_id = ${tenant} AND c.checkpoint_id = ${id}`,
  manifest_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(manifestsWithin(tenant, reach))} FROM manifests m
        WHERE m.tenant_id = ${tenant} AND m.manifest_id = ${id}`,
  job_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(jobsWithin(tenant, reach))} FROM jobs j WHERE j.tenant_id = ${tenant} AND j.job_id = ${id}`,
  policy_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(policiesWithin(tenant, reach))} FROM summarization_policies p
        WHERE p.tenant_id = ${tenant} AND p.policy_id = ${id} AND p.deleted_at IS NULL`,
  turn_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(turnsWithin(tenant, reach))} FROM cards c
        WHERE c.tenant_id = ${tenant} AND c.card_id = ${id} AND SUBSTR(c.held_by, 1, 6) = 'scope:'`,
  scope_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(scopesWithin(tenant, reach))} FROM scopes s
        WHERE s.tenant_id = ${tenant} AND s.scope_id = ${id}`,
  trajectory_id: (tenant: string, id: string, reach: Reach) =>
    sql`SELECT ${said(within(tenant, reach, sql`t.agent_id`, sql`t.trajectory_id`))} FROM trajectories t
        WHERE t.tenant_id = ${tenant} AND t.trajectory_id = ${id}`,
};
export type ReachedBy = keyof typeof finders;

/**
 * Of these trajectories one that is beyond reach, and was not made by what the agent itself delegated: to delete a tree
 * is to delete all of it.
 */
export async function trajectoryBeyond(
  query: Query,
  tenant: string,
  trajectory_ids: readonly string[],
  reach: Reach,
): Promise<string | undefined> {
  const row = await query.get<{ trajectory_id: string }>(
    sql`SELECT t.trajectory_id FROM trajectories t
        WHERE t.tenant_id = ${tenant} AND t.trajectory_id = ANY(${trajectory_ids})
          AND (t.agent_id IS NULL OR NOT ${within(tenant, reach, sql`t.agent_id`, sql`t.trajectory_id`)})
          AND NOT EXISTS (SELECT 1 FROM delegations d WHERE d.tenant_id = ${tenant}
            AND d.child_trajectory_id = t.trajectory_id AND d.from_agent_id = ${reach.agent_id})
        ORDER BY t.trajectory_id LIMIT 1`,
  );
  return row?.trajectory_id;
}

export type ContainerId = 'trajectory_id' | 'scope_id';

const containers: Readonly<Record<ContainerId, (tenant: string, id: string, reach: ContainerReach) => Sql>> =
  {
    trajectory_id: (tenant, id, reach) =>
      sql`SELECT ${said(trajectoriesReadable(tenant, reach))} FROM trajectories t
        WHERE t.tenant_id = ${tenant} AND t.trajectory_id = ${id} AND t.deleted_at IS NULL`,
    scope_id: (tenant, id, reach) =>
      sql`SELECT ${said(scopesReadable(tenant, reach))} FROM scopes s
        WHERE s.tenant_id = ${tenant} AND s.scope_id = ${id} AND s.deleted_at IS NULL`,
  };

/** Whether a trajectory or scope may be read; undefined where there is none. */
export async function isReadableContainer(
  query: Query,
  tenant: string,
  by: ContainerId,
  id: string,
  reach: ContainerReach,
): Promise<boolean | undefined> {
  const row = await query.get<{ reached: number }>(containers[by](tenant, id, reach));
  return row && row.reached === 1;
}

/** Whether one entity is within reach; undefined where there is no such entity. */
export async function isWithin(
  query: Query,
  tenant: string,
  by: ReachedBy,
  id: string,
  reach: Reach,
): Promise<boolean | undefined> {
  const row = await query.get<{ reached: number }>(finders[by](tenant, id, reach));
  return row && row.reached === 1;
}
