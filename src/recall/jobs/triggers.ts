/**
 * Fires policies: in the transaction of a change, inserts one job per crossing, and does nothing else. A tenant without
 * policies pays one lookup in an empty index.
 */
import { putLease, type Work } from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import { newId } from '../../kernel/contract.js';
import { findScope, type ScopeRow, type ScopeUsage, type TriggerSource } from '../../memory/sql.js';
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
  readonly place: TriggerSource;
  /** Subject and crossing; with policy and action they are the cause, which has one job. */
  readonly subject: string;
  readonly crossing: string;
  /** For a scope that has ended: how long its turns are kept. */
  readonly pinned_until?: number | undefined;
}

const causeOf = (...parts: readonly [policy_id: string, action: string, subject: string, crossing: string]): string =>
  parts.join(' ');

/** Inserts the job of a firing and returns its id, unless there is one already. */
async function fire(work: Work, firing: Firing): Promise<string | undefined> {
  const { policy, action, place, subject, pinned_until = null } = firing;
  const { source_level, target_level, max_sources, max_tokens, attached: within } = policy;
  const job: NewJob = {
    job_id: newId(),
    cause: causeOf(policy.policy_id, action, subject, firing.crossing),
    policy_id: policy.policy_id,
    action,
    trigger_type: policy.trigger_type,
    trajectory_id: place.trajectory_id,
    scope_id: place.scope_id,
    settings: { source_level, target_level, max_sources, max_tokens, create_edges: policy.create_edges === 1, within },
    state: 'waiting',
    attempts: 0,
    pins: pinned_until === null || place.scope_id === null ? null : scopeHolder(place.scope_id),
    pinned_until,
    created_at: work.now,
  };
  return (await begin(work, job)) ? job.job_id : undefined;
}

/** Inserts a job that any process may claim at once, unless its cause has one; returns whether it did. */
async function begin({ call, tx, now }: Work, job: NewJob): Promise<boolean> {
  if (!(await insertJob(tx, job))) return false;
  await putLease(tx, { kind: 'job', subject_id: job.job_id, holder: null, token: 0, expires_at: now });
  jobQueue.of(call).expect(call.tenant, job.job_id);
  return true;
}

/** Fires policies after turns were added or the budget changed. The scope is locked. */
export async function fireOnUse(
  work: Work,
  scope: TriggerSource & { readonly scope_id: string },
  before: ScopeUsage & { readonly looked_at: number },
  after: ScopeUsage,
): Promise<void> {
  for (const policy of applying(await policiesFor(work.tx, scope, ['TurnCount', 'DosageThreshold']))) {
    const crossed = crossing(policy, before, after);
    if (crossed === undefined) continue;
    for (const action of policy.actions)
      await fire(work, { policy, action, place: scope, subject: scope.scope_id, crossing: crossed });
  }
}

/**
 * Fires policies after an artifact was created. L0 artifacts are counted in their scope, or in the trajectory if they
 * have none; L1 artifacts where the policy is attached.
 */
export async function fireOnArtifact(
  work: Work,
  { scope_id, trajectory_id, abstraction_level: level }: TriggerSource & { readonly abstraction_level: string },
): Promise<void> {
  const { tx } = work;
  const place = { scope_id, trajectory_id };
  const nearest = scope_id === null ? attachedTo.trajectory(trajectory_id) : attachedTo.scope(scope_id);
  const counts = new Map<string, number>();
  for (const policy of applying(await policiesFor(tx, place, ['ArtifactCount']))) {
    if (policy.source_level !== level) continue;
    const subject = level === 'L0' ? nearest : policy.attached;
    const made = counts.get(subject) ?? (await countArtifact(tx, subject, level));
    counts.set(subject, made);
    const crossed = artifactCrossing(policy, made);
    if (crossed === undefined) continue;
    for (const action of policy.actions) {
      // Without a scope there are no turns to extract from.
      if (action === 'extract' && scope_id === null) continue;
      await fire(work, { policy, action, place, subject, crossing: crossed });
    }
  }
}

const coveredTurns = (scope: ScopeRow, action: PolicyAction): number =>
  action === 'extract' ? scope.extracted_turns : scope.summarized_turns;

/** Fires policies of open scopes that close, which are locked; returns the ids of new jobs. */
export async function fireOnClose(work: Work, scopes: readonly ScopeRow[], pinned_until?: number): Promise<string[]> {
  const { tx } = work;
  const lengths = await lengthsOf(tx, scopes);
  const fired: string[] = [];
  for (const scope of scopes)
    for (const policy of applying(await policiesFor(tx, scope, ['ScopeClose'])))
      for (const action of policy.actions) {
        const covered = coveredTurns(scope, action);
        const fromSummaries = policy.source_level === 'L1';
        if (!fromSummaries && covered >= lengths.get(scope.scope_id)!) continue;
        // Once for principles; for turns once per uncovered stretch.
        const crossed = fromSummaries ? 'close' : `close:${covered}`;
        const subject = scope.scope_id;
        const id = await fire(work, { policy, action, place: scope, subject, crossing: crossed, pinned_until });
        if (id !== undefined) fired.push(id);
      }
  return fired;
}

/**
 * Fires policies of scopes that end within another change, before which no job can run: their turns, no longer readable,
 * stay pinned for the jobs until a deadline.
 */
export async function fireAtEnd(work: Work, scopes: readonly ScopeRow[]): Promise<void> {
  const { call, tx, now } = work;
  const until = now + call.limits.max_closing_ms;
  const scope_ids = scopes.map(({ scope_id }) => scope_id);
  await pinJobs(tx, scope_ids, { now, taken_over_at: takenOverAt(call.limits, until), until });
  await fireOnClose(work, scopes, until);
}

/** After a job of an ended scope: inserts the next one for the remaining turns, with the same deadline. */
export async function fireNext(work: Work, job: JobRow): Promise<void> {
  const { policy_id, action, scope_id, pinned_until } = job;
  if (pinned_until === null || scope_id === null || job.trigger_type !== 'ScopeClose') return;
  const settings = JSON.parse(job.settings) as JobSettings;
  const scope = await findScope(work.tx, scope_id);
  if (!scope || settings.source_level !== 'L0') return;
  const covered = coveredTurns(scope, action);
  if (covered >= (await lengthsOf(work.tx, [scope])).get(scope_id)!) return;
  // A job that made no progress has the same cause, so it is not inserted again.
  const cause = causeOf(policy_id!, action, scope_id, `close:${covered}`);
  await begin(work, { ...job, job_id: newId(), cause, settings, state: 'waiting', attempts: 0, created_at: work.now });
}
