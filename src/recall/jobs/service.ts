/**
 * Runs jobs: claimed by a lease, computed outside any transaction, and written once, guarded by the lease token. Several
 * servers, or a killed one, still write one result.
 */
import type { Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  type Call,
  endLease,
  findLease,
  type Lease,
  listPage,
  putLease,
  startErasure,
  stillExpired,
  type Work,
} from '../../engine/index.js';
import { eraseAgain, scopeHolder } from '../../engine/sql.js';
import { reachOf } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { notFound } from '../../kernel/index.js';
import { costFrom, costOfFailure, type ProviderCost, reasonOf } from '../../providers/index.js';
import { extractFacts } from '../extraction/service.js';
import { findPrinciple } from '../summaries/principles.js';
import { summarizeArtifacts, summarizeTurns } from '../summaries/service.js';
import { refuseForgotten } from './forgetting.js';
import { addCosts, nothingMade, type Outcome, type PreparedTask, type Task } from './job-task.js';
import type { Job } from './model.js';
import type { Attempt } from './provider-calls.js';
import { type JobRun, jobQueue } from './queue.js';
import {
  countJobs,
  endJob,
  findJob,
  type JobRow,
  type JobSettings,
  listJobs,
  lockJob,
  moveJob,
  overduePins,
  toJob,
} from './store.js';
import { heldUntil, isOverdue, isUrgent, noticedAt, providerTime } from './times.js';
import { fireNext } from './triggers.js';

/** Attempts with the provider before the offline fallback, and attempts in all before the job fails. */
const PROVIDER_ATTEMPTS = 3;
const MAX_ATTEMPTS = 6;
const BACKOFF_MS = [1000, 5000, 15_000, 60_000, 60_000] as const;
/** The lease holder that stands for this process. */
const WORKER = newId();
/** The lease holder of a job that waits for its retry. */
const RETRY = 'later';

/** A job that this process holds. */
interface Claim {
  readonly job: JobRow;
  readonly token: number;
}

/** Claims a job that waits, or whose worker lost its lease; `at_once`: also before the time of a retry. */
function claimJob(call: Call, job_id: string, at_once: boolean): Promise<Claim | 'missing' | 'left'> {
  const { driver, tenant, limits } = call;
  return driver.write(tenant, async (tx): Promise<Claim | 'missing' | 'left'> => {
    const now = driver.now();
    const job = await lockJob(tx, job_id);
    if (!job) return 'missing';
    if (job.ended_at !== null || isOverdue(job, now)) return 'left';
    const lease = await findLease(tx, 'job', job_id);
    const held = lease !== undefined && lease.expires_at > now;
    if (held && (job.state === 'running' || (lease.holder === RETRY && !at_once))) return 'left';
    const token = (lease?.token ?? 0) + 1;
    const running = { ...job, state: 'running', attempts: job.attempts + 1 } as const;
    await moveJob(tx, job_id, running, now);
    const expires_at = heldUntil(limits, job, now);
    await putLease(tx, { kind: 'job', subject_id: job_id, holder: WORKER, token, expires_at });
    return { job: running, token };
  });
}

/** Locks the job if this claim still holds it: no other process claimed or ended it. */
async function lockClaimed(tx: Tx, { job, token }: Claim): Promise<JobRow | undefined> {
  const current = await lockJob(tx, job.job_id);
  if (current?.state !== 'running') return undefined;
  const lease = await findLease(tx, 'job', job.job_id);
  return lease?.token === token ? current : undefined;
}

const taskOf = (job: JobRow): Task => ({ ...job, settings: JSON.parse(job.settings) as JobSettings });

/** Calls the providers and prepares the write, which is dropped if a source is forgotten meanwhile. */
export async function prepareTask(
  call: Call,
  action: JobRow['action'],
  task: Task,
  attempt: Attempt,
): Promise<PreparedTask> {
  const prepared = await prepareAction(call, action, task, attempt);
  const write = async (work: Work): Promise<Outcome> => {
    const outcome = await prepared.write(work);
    await refuseForgotten(work.tx, outcome.sources);
    return outcome;
  };
  return { ...prepared, write };
}

function prepareAction(call: Call, action: JobRow['action'], task: Task, attempt: Attempt): Promise<PreparedTask> {
  if (action === 'extract') return extractFacts(call, task, attempt);
  if (task.settings.source_level === 'L1') return findPrinciple(call, task, attempt);
  if (task.trigger_type === 'ArtifactCount') return summarizeArtifacts(call, task, attempt);
  return summarizeTurns(call, task, attempt);
}

/** The cost of all attempts, failed ones included. */
const totalCost = ({ cost }: JobRow, more: ProviderCost | null): ProviderCost | null =>
  addCosts(cost === null ? null : costFrom(JSON.parse(cost)), more);

/** Ends a locked job and releases its pins. */
async function finish(work: Work, job: JobRow, state: 'done' | 'failed', outcome: Outcome): Promise<void> {
  const { tx, now } = work;
  const { sources, made, strengthened, reason: error } = outcome;
  const cost = totalCost(job, outcome.cost);
  await endJob(tx, job.job_id, { state, sources, result: { made, strengthened }, cost, error }, now);
  await endLease(tx, 'job', job.job_id);
  if (state === 'done') await fireNext(work, job);
  // The pinned turns of an ended scope are erased now.
  if (job.scope_id !== null) await eraseAgain(tx, scopeHolder(job.scope_id));
  tx.wake(jobKey(job.job_id));
}

export const jobKey = (job_id: string): string => `job:${job_id}`;

/** Puts a job back for a retry, later or at once, or fails it after its last attempt. */
function putBack(
  call: Call,
  claim: Claim,
  error: unknown,
  attempt: Attempt,
  spent: ProviderCost | null,
): Promise<JobRun> {
  const { driver, tenant } = call;
  const aborted = attempt.signal?.aborted ?? false;
  return driver.write(tenant, async (tx): Promise<JobRun> => {
    const now = driver.now();
    const job = await lockClaimed(tx, claim);
    if (!job) return 'worked';
    if (job.attempts >= MAX_ATTEMPTS && !aborted) {
      await finish({ call, tx, now }, job, 'failed', nothingMade(reasonOf(error), spent));
      return 'worked';
    }
    // The scope has ended meanwhile: its pins leave no time for a backoff.
    const again = !aborted && !attempt.final && job.pinned_until !== null;
    const wait_ms = aborted || again ? 0 : BACKOFF_MS[Math.min(job.attempts, BACKOFF_MS.length) - 1]!;
    const cost = totalCost(job, spent);
    const to = {
      state: 'waiting',
      // A shutdown of this process is no failed attempt of the job.
      attempts: aborted ? job.attempts - 1 : job.attempts,
      error: aborted ? job.error : reasonOf(error),
      cost: cost && JSON.stringify(cost),
    } as const;
    await moveJob(tx, job.job_id, to, now);
    await putLease(tx, {
      kind: 'job',
      subject_id: job.job_id,
      holder: wait_ms === 0 ? null : RETRY,
      token: claim.token,
      expires_at: Math.min(now + wait_ms, job.pinned_until ?? Number.POSITIVE_INFINITY),
    });
    tx.wake(jobKey(job.job_id));
    return again ? 'again' : 'worked';
  });
}

interface RunOptions {
  /** Upper limit of the time for a provider. */
  readonly timeout_ms?: number;
  /** A caller waits: if the provider fails, use the offline fallback at once. */
  readonly hurry?: boolean;
  /** Also before the time of a retry. */
  readonly at_once?: boolean;
  readonly signal?: AbortSignal;
}

/** Claims a job and runs it, or leaves it to its worker. */
export async function runJob(call: Call, job_id: string, options: RunOptions = {}): Promise<JobRun> {
  const { driver, tenant, limits } = call;
  const { hurry = false, at_once = false, signal } = options;
  const claim = await claimJob(call, job_id, at_once);
  if (typeof claim === 'string') return claim;
  const { job } = claim;
  const most_ms = providerTime(limits, job, driver.now());
  const attempt: Attempt = {
    timeout_ms: Math.min(options.timeout_ms ?? most_ms, most_ms),
    final: hurry || job.pinned_until !== null || job.attempts >= PROVIDER_ATTEMPTS,
    ...(signal ? { signal } : {}),
  };
  let run: JobRun = 'worked';
  let spent: ProviderCost | null = null;
  try {
    const { bytes, cost, lock, write } = await prepareTask(call, job.action, taskOf(job), attempt);
    spent = cost;
    await driver.write(
      tenant,
      async (tx) => {
        const work = { call, tx, now: driver.now() };
        await lock(tx);
        const current = await lockClaimed(tx, claim);
        if (current) await finish(work, current, 'done', await write(work));
      },
      { bytes },
    );
  } catch (error) {
    spent ??= costOfFailure(error) ?? null;
    // If this fails too, the lease expires and another process claims the job.
    run = await putBack(call, claim, error, attempt, spent).catch((): JobRun => 'worked');
  }
  if (job.scope_id !== null) startErasure(call, [scopeHolder(job.scope_id)]);
  return run;
}

const giveUp = (work: Work, job: JobRow): Promise<void> =>
  finish(work, job, 'failed', nothingMade('it was not done in time, and its turns are erased'));

/** Fails jobs whose pins are overdue, for processes without a background worker. */
export async function releasePins(call: Call): Promise<void> {
  const { driver, tenant } = call;
  for (const job_id of await overduePins(driver.at(tenant), driver.now()))
    await driver.write(tenant, async (tx) => {
      const now = driver.now();
      const job = await lockJob(tx, job_id);
      if (job && isOverdue(job, now)) await giveUp({ call, tx, now }, job);
    });
}

/** The lease of a job expired: it is due, or its worker is gone. Fails a job whose pins are overdue. */
export async function jobDue(work: Work, lease: Lease): Promise<void> {
  const { call, tx, now } = work;
  const { subject_id: job_id } = lease;
  const job = await lockJob(tx, job_id);
  if (!job || job.ended_at !== null) return endLease(tx, 'job', job_id);
  const over = await stillExpired(tx, lease, now);
  if (!over) return;
  if (isOverdue(job, now)) return giveUp(work, job);
  if (job.state === 'running' && job.pinned_until !== null && over.holder === WORKER)
    // It runs in this process, and there is no time to start it again.
    return putLease(tx, { ...over, expires_at: job.pinned_until });
  if (job.state === 'running')
    await moveJob(tx, job_id, { ...job, state: 'waiting', error: 'its worker was lost' }, now);
  const queue = jobQueue.of(call);
  // Too slow in this process: the expired lease stays, so that another process claims the job at once.
  if (queue.isUnderWay(job_id)) return;
  // The lease has no holder meanwhile: whichever process comes to it first claims it.
  queue.expect(call.tenant, job_id, isUrgent(call.limits, job, now));
  await putLease(tx, { ...over, holder: null, expires_at: noticedAt(call.limits, job, queue.waiting, now) });
}

export async function get(call: Call, { job_id }: In<'jobs.get'>): Promise<Job> {
  const row = await findJob(call.driver.at(call.tenant), job_id);
  if (!row) throw notFound(call, 'job', job_id);
  return toJob(row);
}

export async function list(call: Call, input: In<'jobs.list'>): Promise<Out<'jobs.list'>> {
  const { scope_id, policy_id, state } = input;
  const filter = { scope_id, policy_id, state, reach: reachOf(call, 'Turn') };
  const { rows, ...page } = await listPage<JobRow, string>(call, {
    input,
    filters: { scope_id: scope_id ?? null, policy_id: policy_id ?? null, state: state ?? null },
    key: 'string',
    keyOf: ({ job_id }) => job_id,
    read: (request) => listJobs(call.driver.at(call.tenant), filter, request),
    bytesOf: ({ sources, result }) => (sources?.length ?? 0) + (result?.length ?? 0),
    count: countJobs(filter),
  });
  return { jobs: rows.map(toJob), ...page };
}
