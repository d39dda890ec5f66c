/** Table jobs: one row per firing. The lease of a job says who works on it, and until when. */
import { join, type KeysetPage, keyset, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Reach, within } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import type { PolicyOutput } from '../../memory/contract.js';
import type { EntityRef } from '../../memory/sql.js';
import type { ProviderCost } from '../../providers/index.js';
import { versionsIn } from '../policies/store.js';
import type { Job, TriggerType } from './model.js';

/** The settings of the policy at the time it fired. */
export interface JobSettings {
  readonly source_level: string;
  readonly target_level: string;
  readonly max_sources: number;
  readonly max_tokens: number;
  readonly create_edges: boolean;
  /** Where principles look for summaries: `tenant`, `trajectory:<id>` or `scope:<id>`. */
  readonly within: string;
  /** Made because the scope retains a digest, not by a policy. */
  readonly digest?: boolean;
}

/** The result of a job: ids and numbers, never content. */
export interface JobResult {
  readonly made: readonly PolicyOutput[];
  readonly strengthened: readonly PolicyOutput[];
  /** For a manual request: how many new facts contradict others, and which, as in the original answer. */
  readonly contradictions?: number;
  readonly contradicted_by?: Readonly<Record<string, readonly string[]>>;
}

export interface NewJob
  extends Readonly<Pick<Job, 'job_id' | 'policy_id' | 'action' | 'trajectory_id' | 'scope_id' | 'state' | 'attempts'>> {
  /** Unique: a crossing causes one job. */
  readonly cause: string;
  readonly trigger_type: TriggerType;
  readonly settings: JobSettings;
  /** The holder whose turns are kept for the job until `pinned_until`, though it has ended. */
  readonly pins: string | null;
  readonly pinned_until: number | null;
  readonly created_at: number;
}

export interface JobRow extends Omit<NewJob, 'settings'> {
  /** JSON, as are `sources`, `result` and `cost`. */
  readonly settings: string;
  readonly sources: string | null;
  readonly result: string | null;
  readonly cost: string | null;
  readonly error: string | null;
  readonly updated_at: number;
  readonly ended_at: number | null;
}

const COLUMNS: Sql = sql`j.job_id, j.cause, j.policy_id, j.action, j.trigger_type, j.trajectory_id, j.scope_id, j.settings,
  j.state, j.attempts, j.pins, j.pinned_until, j.sources, j.result, j.cost, j.error, j.created_at, j.updated_at, j.ended_at`;

export const resultOf = ({ result }: Pick<JobRow, 'result'>): JobResult =>
  result === null ? { made: [], strengthened: [] } : (JSON.parse(result) as JobResult);
export const sourcesOf = ({ sources }: Pick<JobRow, 'sources'>): EntityRef[] =>
  sources === null ? [] : (JSON.parse(sources) as EntityRef[]);

export function toJob(row: JobRow): Job {
  const { made, strengthened } = resultOf(row);
  return {
    job_id: row.job_id,
    policy_id: row.policy_id,
    action: row.action,
    trigger: row.trigger_type,
    trajectory_id: row.trajectory_id,
    scope_id: row.scope_id,
    state: row.state,
    attempts: row.attempts,
    sources: sourcesOf(row).length,
    made: [...made],
    strengthened: [...strengthened],
    cost: row.cost === null ? null : (JSON.parse(row.cost) as Job['cost']),
    error: row.error,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    ended_at: row.ended_at === null ? null : toIso(row.ended_at),
  };
}

/** Inserts a job unless one with the same cause exists; returns whether it did. */
export async function insertJob(tx: Tx, row: NewJob): Promise<boolean> {
  const changed = await tx.run(
    sql`INSERT INTO jobs (tenant_id, job_id, cause, policy_id, action, trigger_type, trajectory_id, scope_id, settings,
          state, attempts, pins, pinned_until, created_at, updated_at)
        VALUES (${TENANT}, ${row.job_id}, ${row.cause}, ${row.policy_id}, ${row.action}, ${row.trigger_type},
          ${row.trajectory_id}, ${row.scope_id}, ${JSON.stringify(row.settings)}, ${row.state}, ${row.attempts},
          ${row.pins}, ${row.pinned_until}, ${row.created_at}, ${row.created_at})
        ON CONFLICT (tenant_id, cause) DO NOTHING`,
  );
  return changed > 0;
}

export const findJob = (query: Query, job_id: string): Promise<JobRow | undefined> =>
  query.get(sql`SELECT ${COLUMNS} FROM jobs j WHERE j.tenant_id = ${TENANT} AND j.job_id = ${job_id}`);

export const lockJob = (tx: Tx, job_id: string): Promise<JobRow | undefined> =>
  tx.get(sql`SELECT ${COLUMNS} FROM jobs j WHERE j.tenant_id = ${TENANT} AND j.job_id = ${job_id} FOR UPDATE`);

export const moveJob = (
  tx: Tx,
  job_id: string,
  to: Pick<JobRow, 'attempts' | 'error' | 'cost'> & { readonly state: 'waiting' | 'running' },
  now: number,
): Promise<void> =>
  tx.send(
    sql`UPDATE jobs SET state = ${to.state}, attempts = ${to.attempts}, error = ${to.error}, cost = ${to.cost},
          updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND job_id = ${job_id}`,
  );

interface JobEnd extends Pick<Job, 'error'> {
  readonly state: 'done' | 'failed';
  readonly sources: readonly EntityRef[];
  readonly result: JobResult;
  readonly cost: ProviderCost | null;
}

export const endJob = (tx: Tx, job_id: string, end: JobEnd, now: number): Promise<void> =>
  tx.send(
    sql`UPDATE jobs SET state = ${end.state}, sources = ${JSON.stringify(end.sources)},
          result = ${JSON.stringify(end.result)}, cost = ${end.cost && JSON.stringify(end.cost)}, error = ${end.error},
          pins = NULL, pinned_until = NULL, updated_at = ${now}, ended_at = ${now}
        WHERE tenant_id = ${TENANT} AND job_id = ${job_id}`,
  );

const idsIn = async (query: Query, jobs: Sql): Promise<string[]> =>
  (await query.all<{ job_id: string }>(jobs)).map(({ job_id }) => job_id);

/** Jobs of these scopes that have not ended. */
export const openJobs = (query: Query, scope_ids: readonly string[]): Promise<string[]> =>
  idsIn(
    query,
    sql`SELECT j.job_id FROM jobs j
        WHERE j.tenant_id = ${TENANT} AND j.scope_id = ANY(${scope_ids}) AND j.ended_at IS NULL ORDER BY j.job_id`,
  );

/** Whether a job that has not ended pins the card `c` of an ended scope. The end of the job erases the card. */
export const pinnedByJob = (now: number): Sql =>
  sql`EXISTS (SELECT 1 FROM jobs j
    WHERE j.tenant_id = ${TENANT} AND j.pins = c.held_by AND j.pins IS NOT NULL AND j.pinned_until > ${now})`;

/**
 * Pins the turns of scopes that end for their open jobs, until a deadline. Waiting jobs become due at once; a running job
 * can be taken over before the deadline.
 */
export async function pinJobs(
  tx: Tx,
  scope_ids: readonly string[],
  times: { readonly now: number; readonly taken_over_at: number; readonly until: number },
): Promise<void> {
  const pinned = await tx.returning<Pick<JobRow, 'job_id' | 'state'>>(
    sql`UPDATE jobs SET pins = 'scope:' || scope_id, pinned_until = ${times.until}
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND ended_at IS NULL AND pins IS NULL
        RETURNING job_id, state`,
  );
  if (pinned.length === 0) return;
  const idsOf = (state: JobRow['state']) => pinned.filter((job) => job.state === state).map(({ job_id }) => job_id);
  await tx.send(
    sql`UPDATE leases SET expires_at = ${times.now}, holder = NULL
        WHERE tenant_id = ${TENANT} AND kind = 'job' AND subject_id = ANY(${idsOf('waiting')})`,
  );
  await tx.send(
    sql`UPDATE leases SET expires_at = ${times.taken_over_at}
        WHERE tenant_id = ${TENANT} AND kind = 'job' AND subject_id = ANY(${idsOf('running')})
          AND expires_at > ${times.taken_over_at}`,
  );
}

/**
 * Moves the open jobs on the turns of a scope to its successor, to be started again: the new lease token fences running
 * workers. Jobs on artifacts stay.
 */
export async function moveJobs(tx: Tx, from: string, to: string, now: number): Promise<string[]> {
  const moved = await tx.returning<{ job_id: string }>(
    sql`UPDATE jobs SET scope_id = ${to}, state = 'waiting', updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND scope_id = ${from} AND ended_at IS NULL AND trigger_type <> 'ArtifactCount'
        RETURNING job_id`,
  );
  const ids = moved.map(({ job_id }) => job_id);
  if (ids.length > 0)
    await tx.send(
      sql`UPDATE leases SET holder = NULL, token = token + 1, expires_at = ${now}
          WHERE tenant_id = ${TENANT} AND kind = 'job' AND subject_id = ANY(${ids})`,
    );
  return ids;
}

/** Jobs whose pins are past their deadline. */
export const overduePins = (query: Query, now: number): Promise<string[]> =>
  idsIn(
    query,
    sql`SELECT j.job_id FROM jobs j
        WHERE j.tenant_id = ${TENANT} AND j.pinned_until IS NOT NULL AND j.pinned_until <= ${now}
        ORDER BY j.pinned_until`,
  );

/** Fails the open jobs of deleted trajectories, and erases the errors of ended ones. */
export async function dropJobs(tx: Tx, trajectory_ids: readonly string[], now: number): Promise<void> {
  await tx.send(
    sql`UPDATE jobs SET error = NULL
        WHERE tenant_id = ${TENANT} AND ended_at IS NOT NULL AND scope_id IN (
          SELECT s.scope_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.trajectory_id = ANY(${trajectory_ids}))`,
  );
  await tx.send(
    sql`UPDATE jobs SET state = 'failed', error = 'its trajectory was deleted', pins = NULL, pinned_until = NULL,
          updated_at = ${now}, ended_at = ${now}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND ended_at IS NULL`,
  );
}

interface JobFilter extends Pick<In<'jobs.list'>, 'scope_id' | 'policy_id' | 'state'> {
  readonly reach: Reach | undefined;
}

function where({ scope_id, policy_id, state, reach }: JobFilter): Sql {
  const conditions: Sql[] = [sql`j.tenant_id = ${TENANT}`];
  if (scope_id !== undefined) conditions.push(sql`j.scope_id = ${scope_id}`);
  if (policy_id !== undefined) conditions.push(sql`j.policy_id = ${policy_id}`);
  if (state !== undefined) conditions.push(sql`j.state = ${state}`);
  if (reach !== undefined) conditions.push(jobsWithin(reach));
  return join(conditions, ' AND ');
}

export const listJobs = (query: Query, filter: JobFilter, page: KeysetPage): Promise<JobRow[]> =>
  query.all(sql`SELECT ${COLUMNS} FROM jobs j WHERE ${where(filter)}${keyset(sql`j.job_id`, page)}`);

export const countJobs = (filter: JobFilter): Sql => sql`SELECT COUNT(*) AS total FROM jobs j WHERE ${where(filter)}`;

/** Adds 1 to the artifact count of a place and level, and returns it. The first time it counts the existing artifacts. */
export async function countArtifact(tx: Tx, counted_in: string, level: string): Promise<number> {
  const [row] = await tx.returning<{ made: number }>(
    sql`UPDATE artifact_tallies SET made = made + 1
        WHERE tenant_id = ${TENANT} AND counted_in = ${counted_in} AND level = ${level} RETURNING made`,
  );
  if (row) return row.made;
  const all = await tx.get<{ made: number }>(
    sql`SELECT COUNT(*) AS made FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.kind = 'artifact' AND v.abstraction_level = ${level}
          AND v.superseded_at IS NULL${versionsIn(counted_in)}`,
  );
  await tx.send(
    sql`INSERT INTO artifact_tallies (tenant_id, counted_in, level, made)
        VALUES (${TENANT}, ${counted_in}, ${level}, ${all!.made})`,
  );
  return all!.made;
}

/** A job belongs to its scope. What is about nobody may have been made of what is about many: its jobs are of no user. */
export const jobsWithin = ({ user, ...reach }: Reach): Sql =>
  within(
    { ...reach, user: user && { ...user, owned: true } },
    {
      owner: sql`(SELECT s.agent_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = j.scope_id)`,
      trajectory: sql`j.trajectory_id`,
      // A job of a trajectory has no scope, one of the whole tenant neither.
      subjects: sql`COALESCE((SELECT s.subject_ids FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = j.scope_id),
      (SELECT t.subject_ids FROM trajectories t WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = j.trajectory_id))`,
    },
  );
