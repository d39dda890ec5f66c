/** Before a scope closes: what its policies make of it is made, by the offline way if the other one takes too long. */
import type { Query } from '../../driver/index.js';
import { type Call, systemCall, writeGuarded } from '../../engine/index.js';
import { waitFor } from '../../identity/index.js';
import type { Made } from '../../memory/contract.js';
import { refuseFormerOwner } from '../../memory/index.js';
import { type ClosingScopes, lockOpenScopes, lockScopesOf, openScopesAt } from '../../memory/sql.js';
import { anyPolicy } from '../policies/store.js';
import { jobQueue } from './queue.js';
import { jobKey, runJob } from './service.js';
import { findJob, openJobs, resultOf } from './store.js';
import { PROVIDER_SHARE } from './times.js';
import { fireOnClose } from './triggers.js';

/** Refuses what they would close with, before anything is made of them. */
type Check = (query: Query) => Promise<void>;

async function idsAt(query: Query, closing: ClosingScopes): Promise<string[]> {
  return (await openScopesAt(query, closing)).map(({ scope_id }) => scope_id);
}

/** Fires what closing these scopes makes fire, and gives the jobs of them that are still to be done. */
function jobsToDo(call: Call, closing: ClosingScopes, check: Check): Promise<string[]> {
  const { driver } = call;
  return writeGuarded(call, async (tx) => {
    const scopes =
      'scope_ids' in closing
        ? await lockOpenScopes(tx, closing.scope_ids)
        : await lockScopesOf(tx, closing.trajectory_ids);
    for (const trajectory_id of new Set(scopes.map((scope) => scope.trajectory_id)))
      await refuseFormerOwner(call, tx, trajectory_id);
    await check(tx);
    await fireOnClose({ call, tx, now: driver.now() }, scopes);
    return openJobs(
      tx,
      scopes.map(({ scope_id }) => scope_id),
    );
  });
}

/** Moments of `performance.now()`: until when providers are asked, and when all is over. */
interface Deadline {
  readonly asked_until: number;
  readonly end: number;
}

/** Does a job, or waits for whoever does it; gives what it made, as far as it has ended in time. */
async function doJob(call: Call, job_id: string, { asked_until, end }: Deadline): Promise<readonly Made[]> {
  const { driver, tenant } = call;
  const jobs = jobQueue.of(call);
  const left = (): number => end - performance.now();
  const look = async () => {
    const job = await findJob(driver.at(tenant), job_id);
    if (job && job.ended_at === null) return undefined;
    return job ? resultOf(job).made : [];
  };
  let at_once = true;
  const trying = async () => {
    // However many there are, and whoever closes something: so many ask a provider at a time.
    await jobs.closing.run(async () => {
      if (left() <= 0) return;
      const timeout_ms = asked_until - performance.now();
      await runJob(call, job_id, { hurry: true, at_once, timeout_ms, signal: jobs.signal });
    });
    at_once = false;
    return look();
  };
  // Another server may have it, and may lose it: what is not done by the next look is tried again.
  const found = await waitFor(call, [jobKey(job_id)], Math.max(0, left()), trying, () => performance.now() + 1000);
  return found ?? [];
}

/**
 * Makes what is to be made of scopes before they close, in rounds: turns may be added meanwhile, and there may be more of
 * them than one summary takes. Ends by the deadline, whatever hangs.
 */
export async function workBeforeClosing(
  call: Call,
  closing: ClosingScopes,
  check: Check = async () => undefined,
): Promise<Made[]> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const made: Made[] = [];
  const ids = await idsAt(query, closing);
  if (ids.length === 0) return made;
  if (!(await anyPolicy(query)) && (await openJobs(query, ids)).length === 0) return made;
  // Cairn does it, as its policies say, whoever closes the scope.
  const own = systemCall(call, tenant);
  const { max_closing_ms } = call.limits;
  const begin = performance.now();
  const end = begin + max_closing_ms;
  const asked_until = begin + max_closing_ms * PROVIDER_SHARE;
  for (;;) {
    const job_ids = await jobsToDo(call, closing, check);
    if (job_ids.length === 0) return made;
    const done = await Promise.all(job_ids.map((job_id) => doJob(own, job_id, { asked_until, end })));
    made.push(...done.flat());
    if (performance.now() >= end) return made;
  }
}
