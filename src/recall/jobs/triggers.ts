/**
 * What makes policies fire: in the transaction of a change a job is inserted, once for each crossing, and nothing else is
 * done there. Where a tenant has no policy this costs a look at an empty index.
 */
import type { Query } from '../../driver/index.js';
import { putLease, type Work } from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import { newId } from '../../kernel/contract.js';
import { findScope, type ScopeRow, type ScopeUsage, type TriggerPlace } from '../../memory/sql.js';
import { applying, artifactCrossing, crossing, type FiringPolicy } from '../policies/rules.js';
import { attachedTo, policiesFor } from '../policies/store.js';
import { lengthsOf } from '../summaries/sources-store.js';
import type { PolicyAction } from './model.js';
import { jobQueue } from './queue.js';
import { countArtifact, insertJob, type JobRow, type JobSettings, type NewJob, pinJobs } from './store.js';
import { takenOverAt } from './times.js';

interface Firing {
  readonly policy: FiringPolicy;
  readonly action: PolicyAction;
  readonly place: TriggerPlace;
  /** What it is about, and at which of its moments: with the policy the cause, of which there is one job. */
  readonly about: string;
  readonly crossing: string;
  /** Of a scope that has ended: until when its turns stay. */
  readonly pinned_until?: number;
}

const causeOf = (...of: readonly [policy_id: string, action: string, about: string, crossing: string]): string =>
  of.join(' ');

/** Inserts the job of a firing, unless there is one; says its id. */
async function fire(work: Work, firing: Firing): Promise<string | undefined> {
  const { now } = work;
  const { policy, action, place, about, pinned_until = null } = firing;
  const job: NewJob = {
    job_id: newId(),
    cause: causeOf(policy.policy_id, action, about, firing.crossing),
    policy_id: policy.policy_id,
    action,
    trigger_type: policy.trigger_type,
    trajectory_id: place.trajectory_id,
    scope_id: place.scope_id,
    settings: {
      source_level: policy.source_level,
      target_level: policy.target_level,
      max_sources: policy.max_sources,
      max_tokens: policy.max_tokens,
      create_edges: policy.create_edges === 1,
      within: policy.attached,
    },
    state: 'waiting',
    attempts: 0,
    pins: pinned_until === null || place.scope_id === null ? null : scopeHolder(place.scope_id),
    pinned_until,
    created_at: now,
  };
  return (await begin(work, job)) ? job.job_id : undefined;
}

/** Inserts a job that is due at once, unless there is one of the same cause; says whether. */
async function begin({ call, tx, now }: Work, job: NewJob): Promise<boolean> {
  if (!(await insertJob(tx, job))) return false;
  // Due at once: whoever notices it begins it, in this process or another.
  await putLease(tx, { kind: 'job', subject_id: job.job_id, holder: null, token: 0, expires_at: now });
  jobQueue.of(call).expect(call.tenant, job.job_id);
  return true;
}

/** Fires what turns that were added, or another budget, make fire. The scope is locked. */
export async function fireOnUse(
  work: Work,
  scope: TriggerPlace & { readonly scope_id: string },
  before: ScopeUsage & { readonly looked_at: number },
  after: ScopeUsage,
): Promise<void> {
  const { tx } = work;
  const found = await policiesFor(tx, scope, ['TurnCount', 'DosageThreshold']);
  for (const policy of applying(found)) {
    const crossed = crossing(policy, before, after);
    if (crossed === undefined) continue;
    for (const action of policy.actions)
      await fire(work, { policy, action, place: scope, about: scope.scope_id, crossing: crossed });
  }
}

/**
 * Fires what an artifact that was made makes fire. Those of L0 are counted in their scope, or in the trajectory if they
 * have none; those of L1 where the policy is attached.
 */
export async function fireOnArtifact(
  work: Work,
  artifact: TriggerPlace & { readonly abstraction_level: string },
): Promise<void> {
  const { tx } = work;
  const { scope_id, trajectory_id, abstraction_level: level } = artifact;
  const place = { scope_id, trajectory_id };
  const found = await policiesFor(tx, place, ['ArtifactCount']);
  const tallies = new Map<string, number>();
  for (const policy of applying(found)) {
    if (policy.source_level !== level) continue;
    const nearest = scope_id === null ? attachedTo.trajectory(trajectory_id) : attachedTo.scope(scope_id);
    const about = level === 'L0' ? nearest : policy.attached;
    const made = tallies.get(about) ?? (await countArtifact(tx, about, level));
    tallies.set(about, made);
    const crossed = artifactCrossing(policy, made);
    if (crossed === undefined) continue;
    for (const action of policy.actions) {
      // What is in no scope has no turns beside it that could be looked through.
      if (action === 'extract' && scope_id === null) continue;
      await fire(work, { policy, action, place, about, crossing: crossed });
    }
  }
}

/** What of a scope is still to be made when it closes: by a policy and action. */
async function dueOnClose(query: Query, scope: ScopeRow, turns: number) {
  const found = await policiesFor(query, scope, ['ScopeClose']);
  return applying(found).flatMap((policy) =>
    policy.actions.flatMap((action) => {
      const covered = action === 'extract' ? scope.extracted_turns : scope.summarized_turns;
      const isNew = policy.source_level === 'L1' || covered < turns;
      return isNew ? [{ policy, action, covered }] : [];
    }),
  );
}

/** Fires what the closing of open scopes, which are locked, makes fire; gives the ids of jobs that are new. */
export async function fireOnClose(work: Work, scopes: readonly ScopeRow[], pinned_until?: number): Promise<string[]> {
  const { tx } = work;
  const lengths = await lengthsOf(tx, scopes);
  const fired: string[] = [];
  for (const scope of scopes) {
    for (const { policy, action, covered } of await dueOnClose(tx, scope, lengths.get(scope.scope_id)!)) {
      const id = await fire(work, {
        policy,
        action,
        place: scope,
        about: scope.scope_id,
        // Of principles once; of turns for each stretch that is not covered yet.
        crossing: policy.source_level === 'L1' ? 'close' : `close:${covered}`,
        ...(pinned_until === undefined ? {} : { pinned_until }),
      });
      if (id !== undefined) fired.push(id);
    }
  }
  return fired;
}

/**
 * The same for scopes that end within another change, where nothing can be made before it: their turns, which nobody
 * can read any more, are kept for the jobs, until a deadline at most.
 */
export async function fireAtEnd(work: Work, scopes: readonly ScopeRow[]): Promise<void> {
  const { call, tx, now } = work;
  const until = now + call.limits.max_closing_ms;
  await pinJobs(
    tx,
    scopes.map(({ scope_id }) => scope_id),
    { now, taken_over_at: takenOverAt(call.limits, until), until },
  );
  await fireOnClose(work, scopes, until);
}

/**
 * When a job of a scope that has ended is done, and that has more turns than one takes: the next, for those that are
 * left, within the same time.
 */
export async function fireNext(work: Work, job: JobRow): Promise<void> {
  const { tx, now } = work;
  const { policy_id, action, scope_id, pinned_until } = job;
  if (pinned_until === null || scope_id === null || job.trigger_type !== 'ScopeClose') return;
  const settings = JSON.parse(job.settings) as JobSettings;
  const scope = await findScope(tx, scope_id);
  if (!scope || settings.source_level !== 'L0') return;
  const covered = action === 'extract' ? scope.extracted_turns : scope.summarized_turns;
  const turns = (await lengthsOf(tx, [scope])).get(scope_id)!;
  // What got no further is of the same cause, and not begun again.
  const cause = causeOf(policy_id!, action, scope_id, `close:${covered}`);
  const { job_id: _, ...same } = job;
  const next = { ...same, job_id: newId(), cause, settings, state: 'waiting', attempts: 0, created_at: now } as const;
  if (covered < turns) await begin(work, next);
}
