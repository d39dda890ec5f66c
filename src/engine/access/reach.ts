/**
 * What an agent reaches of memory, as conditions: the same for lists, which leave out what is beyond, and for one entity.
 * Each is written for the name that its table has in lists.
 */
import { type Query, type Sql, sql } from '../../driver/index.js';
import { SlotRegistry } from '../registry.js';
import type { Extent } from './rules.js';

/** Of one type of memory; where an agent reaches all of it, there is none. */
export interface Reach {
  readonly extent: Extent;
  /** Of artifacts and notes, where it is not all: how far the agent reads turns. What sums up turns is reached no further. */
  readonly turns?: Exclude<Extent, 'all'> | undefined;
  readonly agent_id: string;
  readonly current_trajectory_id: string | null;
}

export const NOTHING = sql`1 = 0`;
export const EVERYTHING = sql`1 = 1`;

export type Worker = Pick<Reach, 'agent_id' | 'current_trajectory_id'>;

/** Whether a trajectory is an agent's own, or the one that it works in. Trajectories belong to memory, which fills this. */
export const ownership = new SlotRegistry<'trajectory', (worker: Worker, trajectory: Sql) => Sql>('ownership', [
  'trajectory',
]);

export function within(reach: Reach, owner: Sql, trajectory: Sql): Sql {
  if (reach.extent === 'all') return EVERYTHING;
  if (reach.extent === 'none') return NOTHING;
  if (reach.extent === 'own') return sql`${owner} = ${reach.agent_id}`;
  return sql`(${owner} = ${reach.agent_id} OR ${ownership.get('trajectory')(reach, trajectory)})`;
}

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

export const said = (condition: Sql): Sql => sql`CASE WHEN ${condition} THEN 1 ELSE 0 END AS reached`;

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

/** For each id by which an operation names memory: a statement that selects whether it is `reached`. */
type Finder<R> = (id: string, reach: R) => Sql;
export const reachFinders = new SlotRegistry<ReachedBy, Finder<Reach>>('reach', reachedBy);
export const containerFinders = new SlotRegistry<ContainerId, Finder<ContainerReach>>('readable container', [
  'trajectory_id',
  'scope_id',
]);

/** Whether a trajectory or scope may be read; undefined where there is none. */
export async function isReadableContainer(
  query: Query,
  by: ContainerId,
  id: string,
  reach: ContainerReach,
): Promise<boolean | undefined> {
  const row = await query.get<{ reached: number }>(containerFinders.get(by)(id, reach));
  return row && row.reached === 1;
}

/** Whether one entity is within reach; undefined where there is no such entity. */
export async function isWithin(query: Query, by: ReachedBy, id: string, reach: Reach): Promise<boolean | undefined> {
  const row = await query.get<{ reached: number }>(reachFinders.get(by)(id, reach));
  return row && row.reached === 1;
}
