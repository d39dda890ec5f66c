/** Reach: the memory that an agent may access, as SQL conditions, the same for lists and single entities. */
import { type Query, type Sql, sql } from '../../driver/index.js';
import { SlotRegistry } from '../registry.js';
import type { Extent } from './rules.js';
import { subjectsWithin, type UserReach } from './subjects.js';

/** The reach in one type of memory; absent if the agent reaches all of it. */
export interface Reach {
  readonly extent: Extent;
  /** For artifacts and notes: the extent of turns, if not all. Summaries of turns are reached no further than turns. */
  readonly turns?: Exclude<Extent, 'all'> | undefined;
  /** Null for a caller that is restricted to a user alone. */
  readonly agent_id: string | null;
  readonly current_trajectory_id: string | null;
  /** Of a caller that acts for a user. */
  readonly user?: UserReach | undefined;
}

export const NOTHING = sql`1 = 0`;
export const EVERYTHING = sql`1 = 1`;

export type AgentPosition = Pick<Reach, 'agent_id' | 'current_trajectory_id'>;

/** The condition that an agent owns or works in a trajectory. Filled by memory, which has the trajectories. */
export const ownership = new SlotRegistry<'trajectory', (worker: AgentPosition, trajectory: Sql) => Sql>('ownership', [
  'trajectory',
]);

/** The columns that decide what an entity's reach is. */
interface ReachColumns {
  readonly owner: Sql;
  readonly trajectory: Sql;
  readonly subjects: Sql;
}

export function within(reach: Reach, { owner, trajectory, subjects }: ReachColumns): Sql {
  const { user } = reach;
  if (user === undefined) return withinExtent(reach, owner, trajectory);
  return sql`(${subjectsWithin(user, subjects)} AND ${withinExtent(reach, owner, trajectory)})`;
}

/** The condition of `within` on the agent alone. */
export function withinExtent(reach: Reach, owner: Sql, trajectory: Sql): Sql {
  if (reach.extent === 'all') return EVERYTHING;
  if (reach.extent === 'none') return NOTHING;
  if (reach.extent === 'own') return sql`${owner} = ${reach.agent_id}`;
  return sql`(${owner} = ${reach.agent_id} OR ${ownership.get('trajectory')(reach, trajectory)})`;
}

/** The reach in containers, which an agent may read if it reaches anything in them. Absent if it reaches all turns. */
export interface ContainerReach extends AgentPosition {
  readonly turns: Reach;
  readonly artifacts: Reach;
  readonly notes: Reach;
  readonly executions: Reach;
  /** Whether a rule of any type reaches the agent's current trajectory. */
  readonly follows_trajectory: boolean;
  readonly user?: UserReach | undefined;
}

export const reachedColumn = (condition: Sql): Sql => sql`CASE WHEN ${condition} THEN 1 ELSE 0 END AS reached`;

const reachedBy = [
  'artifact_id',
  'note_id',
  'packet_id',
  'execution_id',
  'checkpoint_id',
  'manifest_id',
  'job_id',
  'policy_id',
  'turn_id',
  'scope_id',
  'trajectory_id',
] as const;
export type ReachedBy = (typeof reachedBy)[number];
export type ContainerId = 'trajectory_id' | 'scope_id';

/** For each id that operations name: a statement that selects whether it is `reached`. */
type Finder<R> = (id: string, reach: R) => Sql;
export const reachFinders = new SlotRegistry<ReachedBy, Finder<Reach>>('reach', reachedBy);
export const containerFinders = new SlotRegistry<ContainerId, Finder<ContainerReach>>('readable container', [
  'trajectory_id',
  'scope_id',
]);

/** Whether a trajectory or scope may be read; undefined if it does not exist. */
export const isReadableContainer = (query: Query, by: ContainerId, id: string, reach: ContainerReach) =>
  isReached(query, containerFinders.get(by)(id, reach));

/** Whether an entity is within reach; undefined if it does not exist. */
export const isWithin = (query: Query, by: ReachedBy, id: string, reach: Reach) =>
  isReached(query, reachFinders.get(by)(id, reach));

async function isReached(query: Query, statement: Sql): Promise<boolean | undefined> {
  const row = await query.get<{ reached: number }>(statement);
  return row && row.reached === 1;
}
