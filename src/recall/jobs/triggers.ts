/**
 * Fires policies: in the transaction of a change, inserts one job per crossing, and does nothing else. A tenant without
 * policies pays one lookup in an empty index.
 */
import { type AssumedRevision, putLease, type Work } from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import type { Retain } from '../../identity/contract.js';
import { assumedSettings } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { findScope, type ScopeRow, type ScopeUsage, type TriggerSource } from '../../memory/sql.js';
import { applying, artifactCrossing, crossing, type FiringPolicy } from '../policies/rules.js';
import { attachedTo, policiesFor } from '../policies/store.js';
import { lengthsOf } from '../summaries/sources-store.js';
import { DEFAULT_MAX_SOURCES, type PolicyAction } from './model.js';
import { jobQueue } from './queue.js';
import { countArtifact, insertJob, type JobRow, type JobSettings, type NewJob, pinJobs } from './store.js';
import { takenOverAt } from './times.js';

/** A policy that fires; `policy_id` is null for a digest. */
type Cause = Omit<FiringPolicy, 'policy_id'> & { readonly policy_id: string | null };

/** Stands for a policy in the cause of a job. */
const DIGEST_CAUSE = 'digest';

/** Maximum tokens of a digest. */
const DIGEST_TOKENS = 2000;

/** The summary of a scope that no policy summarizes when it closes. */
const DIGEST: Cause = {
  policy_id: null,
  attached: attachedTo.tenant,
  trigger_type: 'ScopeClose',
  threshold: 0,
  source_level: 'L0',
  target_level: 'L1',
  max_sources: DEFAULT_MAX_SOURCES,
  max_tokens: DIGEST_TOKENS,
  create_edges: 1,
  actions: ['summarize'],
  enabled: 1,
  updated_at: 0,
};

interface Firing {
  readonly policy: Cause;
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
    cause: causeOf(policy.policy_id ?? DIGEST_CAUSE, action, subject, firing.crossing),
    policy_id: policy.policy_id,
    action,
    trigger_type: policy.trigger_type,
    trajectory_id: place.trajectory_id,
    scope_id: place.scope_id,
    settings: {
      source_level,
      target_level,
      max_sources,
      max_tokens,
      create_edges: policy.create_edges === 1,
      within,
      ...(policy.policy_id === null ? { digest: true } : {}),
    },
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

/** Whether a closing scope leaves a digest: as it says itself, else as the tenant does. */
export const leavesDigest = (scope: Pick<ScopeRow, 'retain'>, retain: Retain): boolean =>
  (scope.retain ?? retain) === 'digest';

const summarizesTurns = ({ source_level, actions }: FiringPolicy): boolean =>
  source_level === 'L0' && actions.includes('summarize');

/** The policies of a closing scope, and its digest if none of them summarizes its turns. */
async function causesOf({ tx }: Work, scope: ScopeRow, retain: Retain): Promise<readonly Cause[]> {
  const policies = applying(await policiesFor(tx, scope, ['ScopeClose']));
  return leavesDigest(scope, retain) && !policies.some(summarizesTurns) ? [...policies, DIGEST] : policies;
}

/** Fires policies and digests of open scopes that close, which are locked; returns the ids of new jobs. */
export async function fireOnClose(
  work: Work,
  scopes: readonly ScopeRow[],
  retain: Retain,
  pinned_until?: number,
): Promise<string[]> {
  const lengths = await lengthsOf(work.tx, scopes);
  const fired: string[] = [];
  for (const scope of scopes)
    for (const policy of await causesOf(work, scope, retain))
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
 * Fires policies and digests of scopes that end within another change, before which no job can run: their turns, no longer
 * readable, stay pinned for the jobs until a deadline. Returns the settings that this rests on.
 */
export async function fireAtEnd(work: Work, scopes: readonly ScopeRow[]): Promise<AssumedRevision | undefined> {
  const { call, tx, now } = work;
  const until = now + call.limits.max_closing_ms;
  const scope_ids = scopes.map(({ scope_id }) => scope_id);
  await pinJobs(tx, scope_ids, { now, taken_over_at: takenOverAt(call.limits, until), until });
  const { settings, assumes } = await assumedSettings(work);
  await fireOnClose(work, scopes, settings.retain, until);
  return assumes;
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
  const cause = causeOf(policy_id ?? DIGEST_CAUSE, action, scope_id, `close:${covered}`);
  await begin(work, { ...job, job_id: newId(), cause, settings, state: 'waiting', attempts: 0, created_at: work.now });
}
