/** jobs: what fired and is to be done, once each. How long one is held, its lease says. */
import {
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { type Reach, within } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import type { Made } from '../../memory/contract.js';
import type { EntityRef } from '../../memory/sql.js';
import type { Job, PolicyAction, TriggerType } from './model.js';

export type JobState = Job['state'];

/** How a job is to be done, as its policy said when it fired. */
export interface JobSettings {
  readonly source_level: string;
  readonly target_level: string;
  readonly max_sources: number;
  readonly max_tokens: number;
  readonly create_edges: boolean;
  /** Where the summaries are looked for that principles are made from: `tenant`, `trajectory:<id>` or `scope:<id>`. */
  readonly within: string;
}

/** What came of a job: ids and numbers, never content. */
export interface JobResult {
  readonly made: readonly Made[];
  readonly strengthened: readonly Made[];
  /** Of what was asked for by hand: how many of the new facts contradict others, and which, as it was answered. */
  readonly contradictions?: number;
  readonly contradicted_by?: Readonly<Record<string, readonly string[]>>;
}

export interface NewJob {
  readonly job_id: string;
  /** What it was caused by: a second one of the same cause is not inserted. */
  readonly cause: string;
  readonly policy_id: string | null;
  readonly action: PolicyAction;
  readonly trigger_type: TriggerType;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly settings: JobSettings;
  readonly state: JobState;
  readonly attempts: number;
  readonly pins: string | null;
  readonly pinned_until: number | null;
  readonly created_at: number;
}

export interface JobRow extends Omit<NewJob, 'settings'> {
  /** JSON, as are the next three. */
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

const EMPTY: JobResult = { made: [], strengthened: [] };
export const resultOf = ({ result }: Pick<JobRow, 'result'>): JobResult =>
  result === null ? EMPTY : (JSON.parse(result) as JobResult);
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

/** Inserts a job unless there is one of the same cause; says whether. */
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

export function findJob(query: Query, job_id: string): Promise<JobRow | undefined> {
  return query.get<JobRow>(sql`SELECT ${COLUMNS} FROM jobs j WHERE j.tenant_id = ${TENANT} AND j.job_id = ${job_id}`);
}

/** The same, and nobody claims or ends it until the commit. */
export function lockJob(tx: Tx, job_id: string): Promise<JobRow | undefined> {
  return tx.get<JobRow>(
    sql`SELECT ${COLUMNS} FROM jobs j WHERE j.tenant_id = ${TENANT} AND j.job_id = ${job_id} FOR UPDATE`,
  );
}

export function moveJob(
  tx: Tx,
  job_id: string,
  to: Pick<JobRow, 'attempts' | 'error' | 'cost'> & { readonly state: 'waiting' | 'running' },
  now: number,
): Promise<void> {
  return tx.send(
    sql`UPDATE jobs SET state = ${to.state}, attempts = ${to.attempts}, error = ${to.error}, cost = ${to.cost},
          updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND job_id = ${job_id}`,
  );
}

export interface JobEnd {
  readonly state: 'done' | 'failed';
  readonly sources: readonly EntityRef[];
  readonly result: JobResult;
  readonly cost: Job['cost'];
  readonly error: string | null;
}

export function endJob(tx: Tx, job_id: string, end: JobEnd, now: number): Promise<void> {
  const cost = end.cost === null ? null : JSON.stringify(end.cost);
  return tx.send(
    sql`UPDATE jobs SET state = ${end.state}, sources = ${JSON.stringify(end.sources)},
          result = ${JSON.stringify(end.result)}, cost = ${cost}, error = ${end.error}, pins = NULL,
          pinned_until = NULL, updated_at = ${now}, ended_at = ${now}
        WHERE tenant_id = ${TENANT} AND job_id = ${job_id}`,
  );
}

/** Those of scopes that are still to be done or under way. */
export async function openJobs(query: Query, scope_ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ job_id: string }>(
    sql`SELECT j.job_id FROM jobs j
        WHERE j.tenant_id = ${TENANT} AND j.scope_id = ANY(${scope_ids}) AND j.ended_at IS NULL ORDER BY j.job_id`,
  );
  return rows.map(({ job_id }) => job_id);
}

/** Whether a job that fired is still to be made from the card under the name c, though its scope has ended. Ending the job erases it. */
export const pinnedByJob = (now: number): Sql =>
  sql`EXISTS (SELECT 1 FROM jobs j
    WHERE j.tenant_id = ${TENANT} AND j.pins = c.held_by AND j.pins IS NOT NULL AND j.pinned_until > ${now})`;

/**
 * Keeps what open jobs of scopes that end are made from, until a moment. Those that wait are due now, however long they
 * were to wait; what is under way may be taken over before that moment.
 */
export async function pinJobs(
  tx: Tx,
  scope_ids: readonly string[],
  times: { readonly now: number; readonly taken_over_at: number; readonly until: number },
): Promise<void> {
  const pinned = await tx.returning<{ job_id: string; state: JobState }>(
    sql`UPDATE jobs SET pins = 'scope:' || scope_id, pinned_until = ${times.until}
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND ended_at IS NULL AND pins IS NULL
        RETURNING job_id, state`,
  );
  const of = (state: JobState) => pinned.filter((job) => job.state === state).map(({ job_id }) => job_id);
  if (pinned.length === 0) return;
  await tx.send(
    sql`UPDATE leases SET expires_at = ${times.now}, holder = NULL
        WHERE tenant_id = ${TENANT} AND kind = 'job' AND subject_id = ANY(${of('waiting')})`,
  );
  await tx.send(
    sql`UPDATE leases SET expires_at = ${times.taken_over_at}
        WHERE tenant_id = ${TENANT} AND kind = 'job' AND subject_id = ANY(${of('running')})
          AND expires_at > ${times.taken_over_at}`,
  );
}

/**
 * Gives the open jobs about the turns of a scope to the one that it goes on as, to be begun anew: what is under way has
 * lost its hold. Those about artifacts stay where these are.
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

/** Those that keep turns beyond their time. */
export async function overduePins(query: Query, now: number): Promise<string[]> {
  const rows = await query.all<{ job_id: string }>(
    sql`SELECT j.job_id FROM jobs j
        WHERE j.tenant_id = ${TENANT} AND j.pinned_until IS NOT NULL AND j.pinned_until <= ${now}
        ORDER BY j.pinned_until`,
  );
  return rows.map(({ job_id }) => job_id);
}

/** Ends all open jobs of trajectories that are deleted: nothing is to be made of them. What went wrong before goes too. */
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

export interface JobFilter {
  readonly scope_id?: string | undefined;
  readonly policy_id?: string | undefined;
  readonly state?: JobState | undefined;
  readonly reach?: Reach | undefined;
}

function where({ scope_id, policy_id, state, reach }: JobFilter): Sql {
  const conditions: Sql[] = [sql`j.tenant_id = ${TENANT}`];
  if (scope_id !== undefined) conditions.push(sql`j.scope_id = ${scope_id}`);
  if (policy_id !== undefined) conditions.push(sql`j.policy_id = ${policy_id}`);
  if (state !== undefined) conditions.push(sql`j.state = ${state}`);
  if (reach !== undefined) conditions.push(jobsWithin(reach));
  return join(conditions, ' AND ');
}

export function listJobs(query: Query, filter: JobFilter, page: KeysetPage): Promise<JobRow[]> {
  return query.all<JobRow>(sql`SELECT ${COLUMNS} FROM jobs j WHERE ${where(filter)}${keyset(sql`j.job_id`, page)}`);
}

export const countJobs = (filter: JobFilter): Sql => sql`SELECT COUNT(*) AS total FROM jobs j WHERE ${where(filter)}`;

const talliesTable: Table = {
  name: 'artifact_tallies',
  columns: { tenant_id: 'text', counted_in: 'text', level: 'text', made: 'bigint' },
};

/**
 * Counts one more artifact of a level somewhere, and says how many that makes. The first time all that are there are
 * counted, the new one among them.
 */
export async function countArtifact(tx: Tx, counted_in: string, level: string): Promise<number> {
  const [row] = await tx.returning<{ made: number }>(
    sql`UPDATE artifact_tallies SET made = made + 1
        WHERE tenant_id = ${TENANT} AND counted_in = ${counted_in} AND level = ${level} RETURNING made`,
  );
  if (row) return row.made;
  const [kind, id] = [counted_in.split(':')[0]!, counted_in.slice(counted_in.indexOf(':') + 1)];
  const among =
    kind === 'tenant' ? sql`` : kind === 'scope' ? sql` AND v.scope_id = ${id}` : sql` AND v.trajectory_id = ${id}`;
  const all = await tx.get<{ made: number }>(
    sql`SELECT COUNT(*) AS made FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.kind = 'artifact' AND v.abstraction_level = ${level}
          AND v.superseded_at IS NULL${among}`,
  );
  await tx.insert(talliesTable, [[tx.tenant, counted_in, level, all!.made]]);
  return all!.made;
}

/** A job belongs to the scope that it is about. */
export const jobsWithin = (reach: Reach): Sql =>
  within(
    reach,
    sql`(SELECT s.agent_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = j.scope_id)`,
    sql`j.trajectory_id`,
  );
