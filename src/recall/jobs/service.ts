/**
 * Doing jobs: claimed by a lease, done outside any transaction, and written once, in a transaction that is guarded by the
 * token of the lease. So two servers, or one that is killed, make one result.
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
  stillOver,
  type Work,
} from '../../engine/index.js';
import { eraseAgain, scopeHolder } from '../../engine/sql.js';
import { reachOf } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { costFrom, costOfFailure, type ProviderCost, reasonOf, sumOfCosts } from '../../providers/index.js';
import { extractFacts } from '../extraction/service.js';
import { findPrinciple } from '../summaries/principles.js';
import { summarizeArtifacts, summarizeTurns } from '../summaries/service.js';
import { costOf, nothingMade, type Outcome, type Ready, type Task } from './job-task.js';
import type { Job } from './model.js';
import type { Attempt } from './provider-calls.js';
import { jobQueue, type Looked } from './queue.js';
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

/** After so many attempts the offline way is taken; if even that fails a few times, the job is given up. */
const PROVIDER_ATTEMPTS = 3;
const MAX_ATTEMPTS = 6;
const BACKOFF_MS = [1000, 5000, 15_000, 60_000, 60_000] as const;
/** Of this process: by it a lease says who works. */
const WORKER = newId();
/** Of a lease that says when to try again. */
const LATER = 'later';

/** A job that this process holds. */
interface Claimed {
  readonly job: JobRow;
  readonly token: number;
}

type Claim = Claimed | 'missing' | 'left';

/** Takes a job, if it waits, or if whoever had it lost it; at once, or not before the time of a retry. */
function claim(call: Call, job_id: string, at_once: boolean): Promise<Claim> {
  const { driver, tenant, limits } = call;
  return driver.write(tenant, async (tx): Promise<Claim> => {
    const now = driver.now();
    const job = await lockJob(tx, job_id);
    if (!job) return 'missing';
    if (job.ended_at !== null || isOverdue(job, now)) return 'left';
    const lease = await findLease(tx, 'job', job_id);
    const held = lease !== undefined && lease.expires_at > now;
    if (held && job.state === 'running') return 'left';
    if (held && lease.holder === LATER && !at_once) return 'left';
    const token = (lease?.token ?? 0) + 1;
    const attempts = job.attempts + 1;
    await moveJob(tx, job_id, { ...job, state: 'running', attempts }, now);
    await putLease(tx, {
      kind: 'job',
      subject_id: job_id,
      holder: WORKER,
      token,
      expires_at: heldUntil(limits, job, now),
    });
    return { job: { ...job, state: 'running', attempts }, token };
  });
}

/** The job, now locked, if it is still held by this claim: nobody else took it, and nobody ended it. */
async function stillHeld(tx: Tx, { job, token }: Claimed): Promise<JobRow | undefined> {
  const current = await lockJob(tx, job.job_id);
  if (current?.state !== 'running') return undefined;
  const lease = await findLease(tx, 'job', job.job_id);
  return lease?.token === token ? current : undefined;
}

export const taskOf = (job: JobRow): Task => ({
  job_id: job.job_id,
  policy_id: job.policy_id,
  trigger_type: job.trigger_type,
  trajectory_id: job.trajectory_id,
  scope_id: job.scope_id,
  settings: JSON.parse(job.settings) as JobSettings,
});

/** Asks the providers, and gives what is left to be written. */
export function prepareTask(call: Call, action: JobRow['action'], task: Task, attempt: Attempt): Promise<Ready> {
  if (action === 'extract') return extractFacts(call, task, attempt);
  if (task.settings.source_level === 'L1') return findPrinciple(call, task, attempt);
  if (task.trigger_type === 'ArtifactCount') return summarizeArtifacts(call, task, attempt);
  return summarizeTurns(call, task, attempt);
}

/** What all its attempts cost, with this one: what was spent in vain was spent all the same. */
function spentOn({ cost }: JobRow, more: ProviderCost | null): Job['cost'] {
  const before = cost === null ? null : costFrom(JSON.parse(cost));
  return costOf(before && more ? sumOfCosts(before, more) : (more ?? before));
}

/** Ends a job, which is locked, and lets go of what it kept. */
async function finish(work: Work, job: JobRow, state: 'done' | 'failed', outcome: Outcome): Promise<void> {
  const { tx, now } = work;
  const { sources, made, strengthened, cost, reason } = outcome;
  const result = { made, strengthened };
  const spent = spentOn(job, cost);
  await endJob(tx, job.job_id, { state, sources, result, cost: spent, error: reason }, now);
  await endLease(tx, 'job', job.job_id);
  if (state === 'done') await fireNext(work, job);
  // Where the scope has ended, the turns that were kept for it are erased now.
  if (job.scope_id !== null) await eraseAgain(tx, scopeHolder(job.scope_id));
  tx.wake(jobKey(job.job_id));
}

export const jobKey = (job_id: string): string => `job:${job_id}`;

/** Has it done again, later or at once, or gives it up. */
function putBack(
  call: Call,
  claimed: Claimed,
  error: unknown,
  run: Attempt,
  spent: ProviderCost | null,
): Promise<Looked> {
  const { driver, tenant } = call;
  const { token } = claimed;
  const aborted = run.signal?.aborted ?? false;
  return driver.write(tenant, async (tx): Promise<Looked> => {
    const now = driver.now();
    const job = await stillHeld(tx, claimed);
    if (!job) return 'worked';
    if (job.attempts >= MAX_ATTEMPTS && !aborted) {
      await finish({ call, tx, now }, job, 'failed', nothingMade(reasonOf(error), spent));
      return 'worked';
    }
    // Its scope has ended meanwhile: what is kept for it is not kept for long.
    const again = !aborted && !run.final && job.pinned_until !== null;
    // What this process has to leave is no failure of the job.
    const attempts = aborted ? job.attempts - 1 : job.attempts;
    const wait_ms = aborted || again ? 0 : BACKOFF_MS[Math.min(job.attempts, BACKOFF_MS.length) - 1]!;
    const told = aborted ? job.error : reasonOf(error);
    const cost = spentOn(job, spent);
    const to = { state: 'waiting', attempts, error: told, cost: cost && JSON.stringify(cost) } as const;
    await moveJob(tx, job.job_id, to, now);
    await putLease(tx, {
      kind: 'job',
      subject_id: job.job_id,
      holder: wait_ms === 0 ? null : LATER,
      token,
      expires_at: Math.min(now + wait_ms, job.pinned_until ?? Number.POSITIVE_INFINITY),
    });
    tx.wake(jobKey(job.job_id));
    return again ? 'again' : 'worked';
  });
}

export interface Run {
  /** How long a provider has at most. */
  readonly timeout_ms?: number;
  /** Somebody waits for it: the offline way is taken at once where the provider fails. */
  readonly hurry?: boolean;
  /** Also before it is time to try it again. */
  readonly at_once?: boolean;
  readonly signal?: AbortSignal;
}

/** Claims a job and does it, or leaves it to whoever has it. */
export async function runJob(call: Call, job_id: string, run: Run = {}): Promise<Looked> {
  const { driver, tenant, limits } = call;
  const { hurry = false, at_once = false, signal } = run;
  const claimed = await claim(call, job_id, at_once);
  if (typeof claimed === 'string') return claimed;
  const { job } = claimed;
  const most_ms = providerTime(limits, job, driver.now());
  const attempt: Attempt = {
    timeout_ms: Math.min(run.timeout_ms ?? most_ms, most_ms),
    final: hurry || job.pinned_until !== null || job.attempts >= PROVIDER_ATTEMPTS,
    ...(signal ? { signal } : {}),
  };
  let looked: Looked = 'worked';
  let spent: ProviderCost | null = null;
  try {
    const { bytes, cost, lock, write } = await prepareTask(call, job.action, taskOf(job), attempt);
    spent = cost;
    await driver.write(
      tenant,
      async (tx) => {
        const now = driver.now();
        await lock(tx);
        const current = await stillHeld(tx, claimed);
        if (current) await finish({ call, tx, now }, current, 'done', await write({ call, tx, now }));
      },
      { bytes },
    );
  } catch (error) {
    // If even this fails, the lease ends and another takes it.
    spent ??= costOfFailure(error) ?? null;
    looked = await putBack(call, claimed, error, attempt, spent).catch((): Looked => 'worked');
  }
  if (job.scope_id !== null) startErasure(call, [scopeHolder(job.scope_id)]);
  return looked;
}

const giveUp = (work: Work, job: JobRow): Promise<void> =>
  finish(work, job, 'failed', nothingMade('it was not done in time, and its turns are gone'));

/** Gives up what keeps turns beyond its time, where nobody works in the background and notices it. */
export async function releasePins(call: Call): Promise<void> {
  const { driver, tenant } = call;
  for (const job_id of await overduePins(driver.at(tenant), driver.now()))
    await driver.write(tenant, async (tx) => {
      const job = await lockJob(tx, job_id);
      if (job && isOverdue(job, driver.now())) await giveUp({ call, tx, now: driver.now() }, job);
    });
}

/** A lease of a job is over: it is time to begin it, or whoever did it is gone. What was kept for it too long is let go. */
export async function jobDue(work: Work, lease: Lease): Promise<void> {
  const { call, tx, now } = work;
  const { tenant, limits } = call;
  const { subject_id: job_id } = lease;
  const job = await lockJob(tx, job_id);
  if (!job || job.ended_at !== null) return endLease(tx, 'job', job_id);
  const over = await stillOver(tx, lease, now);
  if (!over) return;
  if (isOverdue(job, now)) return giveUp(work, job);
  if (job.state === 'running' && job.pinned_until !== null && over.holder === WORKER)
    // It is under way here: to begin it anew would take more time than there is.
    return putLease(tx, { ...over, expires_at: job.pinned_until });
  if (job.state === 'running') {
    const error = 'whoever did it went away';
    await moveJob(tx, job_id, { ...job, state: 'waiting', error }, now);
  }
  // Too slow here, and lost: left as it is, so that another process notices it at once.
  if (jobQueue.of(call).isUnderWay(job_id)) return;
  // Nobody holds it meanwhile: another process that notices it before this one comes to it begins it.
  jobQueue.of(call).expect(tenant, job_id, isUrgent(limits, job, now));
  const expires_at = noticedAt(limits, job, jobQueue.of(call).waiting, now);
  await putLease(tx, { ...over, holder: null, expires_at });
}

export async function get(call: Call, input: In<'jobs.get'>): Promise<Job> {
  const row = await findJob(call.driver.at(call.tenant), input.job_id);
  if (row) return toJob(row);
  throw new CairnError('JOB_NOT_FOUND', `there is no job ${input.job_id}`);
}

export async function list(call: Call, input: In<'jobs.list'>): Promise<Out<'jobs.list'>> {
  const { driver, tenant } = call;
  const { scope_id, policy_id, state } = input;
  const filter = { scope_id, policy_id, state, reach: reachOf(call, 'Turn') };
  const { rows, ...page } = await listPage<JobRow, string>(call, {
    input,
    filters: { scope_id: scope_id ?? null, policy_id: policy_id ?? null, state: state ?? null },
    key: 'string',
    keyOf: ({ job_id }) => job_id,
    read: (request) => listJobs(driver.at(tenant), filter, request),
    bytesOf: ({ sources, result }) => (sources?.length ?? 0) + (result?.length ?? 0),
    count: countJobs(filter),
  });
  return { jobs: rows.map(toJob), ...page };
}
