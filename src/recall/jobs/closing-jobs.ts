/** Finishes the jobs of scopes before they close, with the offline fallback where a provider takes too long. */
import type { Query } from '../../driver/index.js';
import { type Call, systemCall, writeGuarded } from '../../engine/index.js';
import type { Retain } from '../../identity/contract.js';
import { waitFor } from '../../identity/index.js';
import type { PolicyOutput } from '../../memory/contract.js';
import { refuseFormerOwner } from '../../memory/index.js';
import { type ClosingScopes, findOpenScopes, lockOpenScopes, lockScopesOf } from '../../memory/sql.js';
import { closingRules } from '../policies/store.js';
import { jobQueue } from './queue.js';
import { jobKey, runJob } from './service.js';
import { findJob, openJobs, resultOf } from './store.js';
import { PROVIDER_SHARE } from './times.js';
import { fireOnClose, leavesDigest } from './triggers.js';

/** May refuse the closing before any job runs. */
type Check = (query: Query) => Promise<void>;

/** Fires the policies and digests of closing scopes and returns the jobs of these scopes that have not ended. */
function jobsToDo(call: Call, closing: ClosingScopes, retain: Retain, check: Check): Promise<string[]> {
  return writeGuarded(call, async (tx) => {
    const scopes =
      'scope_ids' in closing
        ? await lockOpenScopes(tx, closing.scope_ids)
        : await lockScopesOf(tx, closing.trajectory_ids);
    for (const trajectory_id of new Set(scopes.map((scope) => scope.trajectory_id)))
      await refuseFormerOwner(call, tx, trajectory_id);
    await check(tx);
    await fireOnClose({ call, tx, now: call.driver.now() }, scopes, retain);
    const scope_ids = scopes.map(({ scope_id }) => scope_id);
    return openJobs(tx, scope_ids);
  });
}

/** Times of `performance.now()`: when provider calls end, and when everything does. */
interface Deadline {
  readonly providers_until: number;
  readonly end: number;
}

/** Runs a job, or waits for its worker; returns its results if it ends in time. */
async function doJob(call: Call, job_id: string, { providers_until, end }: Deadline): Promise<readonly PolicyOutput[]> {
  const { driver, tenant } = call;
  const jobs = jobQueue.of(call);
  const left = (): number => end - performance.now();
  let at_once = true;
  const attempt = async () => {
    // The lane bounds concurrent provider calls, however many scopes close.
    await jobs.closing.run(async () => {
      if (left() <= 0) return;
      const timeout_ms = providers_until - performance.now();
      await runJob(call, job_id, { hurry: true, at_once, timeout_ms, signal: jobs.signal });
    });
    at_once = false;
    const job = await findJob(driver.at(tenant), job_id);
    if (job && job.ended_at === null) return undefined;
    return job ? resultOf(job).made : [];
  };
  // Another server may run it and may lose it, so this tries again every second.
  const made = await waitFor(call, [jobKey(job_id)], Math.max(0, left()), attempt, () => performance.now() + 1000);
  return made ?? [];
}

/**
 * Finishes the jobs of scopes before they close, in rounds: turns may be added meanwhile, and one summary may not take all
 * of them. Ends by the deadline, whatever hangs.
 */
export async function workBeforeClosing(
  call: Call,
  closing: ClosingScopes,
  check: Check = async () => undefined,
): Promise<PolicyOutput[]> {
  const query = call.driver.at(call.tenant);
  const made: PolicyOutput[] = [];
  const scopes = await findOpenScopes(query, closing);
  if (scopes.length === 0) return made;
  // Read for each request: a setting applies to every close after its acknowledgement.
  const { policies, retain } = await closingRules(query);
  const ids = scopes.map(({ scope_id }) => scope_id);
  const digests = scopes.some((scope) => leavesDigest(scope, retain));
  if (!policies && !digests && (await openJobs(query, ids)).length === 0) return made;
  // Policies run as the system, not as the caller that closes the scope.
  const own = systemCall(call, call.tenant);
  const { max_closing_ms } = call.limits;
  const begin = performance.now();
  const end = begin + max_closing_ms;
  const providers_until = begin + max_closing_ms * PROVIDER_SHARE;
  for (;;) {
    const job_ids = await jobsToDo(call, closing, retain, check);
    if (job_ids.length === 0) return made;
    const done = await Promise.all(job_ids.map((job_id) => doJob(own, job_id, { providers_until, end })));
    made.push(...done.flat());
    if (performance.now() >= end) return made;
  }
}
