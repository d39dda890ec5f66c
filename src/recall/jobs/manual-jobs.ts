/** Manual requests: summarises or extracts at once, as the caller, and answers with the result. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { makes } from '../../engine/contract.js';
import { type Call, change, checkNamedAgent, storedReplay } from '../../engine/index.js';
import { checkUses, reachOf } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import {
  artifactNoun,
  type Memory,
  type Noun,
  noteNoun,
  openScopeLocked,
  readScope,
  readVersion,
  refuseClosed,
} from '../../memory/index.js';
import { isSpent, PlainFailure, type ProviderCost, reasonOf } from '../../providers/index.js';
import { applying } from '../policies/rules.js';
import { levelsOf } from '../policies/service.js';
import { attachedTo, policiesFor } from '../policies/store.js';
import { NOTHING_NEW } from '../summaries/service.js';
import { addCosts, nothingMade, type Outcome, SourcesChanged, type Task } from './job-task.js';
import {
  DEFAULT_MAX_SOURCES,
  DEFAULT_MAX_TOKENS,
  type Extracted,
  type PolicyAction,
  type Summarized,
} from './model.js';
import { jobQueue } from './queue.js';
import { prepareTask } from './service.js';
import { endJob, findJob, insertJob, type JobResult, type JobRow, resultOf, sourcesOf } from './store.js';

/** Time for a provider before the offline fallback. */
const PROVIDER_MS = 60_000;
/** How often a request starts again after others took the same turns. */
const MAX_ROUNDS = 5;

/** The task with the settings of the request, else those of the nearest Manual policy. */
async function taskFor(call: Call, input: In<'scopes.summarize'>): Promise<Task> {
  const query = call.driver.at(call.tenant);
  const scope = await readScope(call, query, input.scope_id);
  refuseClosed({ scope_id: scope.scope_id, closed_at: scope.is_active ? null : Date.parse(scope.closed_at!) });
  const levels = levelsOf(input);
  const policies = applying(await policiesFor(query, scope, ['Manual']));
  const policy = policies.find(({ source_level }) => source_level === levels.source_level);
  return {
    job_id: newId(),
    policy_id: policy?.policy_id ?? null,
    trigger_type: 'Manual',
    trajectory_id: scope.trajectory_id,
    scope_id: scope.scope_id,
    agent_id: checkNamedAgent(call, undefined, 'agent_id') ?? scope.agent_id,
    settings: {
      ...levels,
      max_sources: input.max_sources ?? policy?.max_sources ?? DEFAULT_MAX_SOURCES,
      max_tokens: input.max_tokens ?? policy?.max_tokens ?? DEFAULT_MAX_TOKENS,
      create_edges: input.create_edges ?? (policy ? policy.create_edges === 1 : true),
      // A caller that reaches only some artifacts gets principles of its scope, which it surely reaches.
      within: reachOf(call, 'Artifact') ? attachedTo.scope(scope.scope_id) : attachedTo.tenant,
    },
  };
}

interface Round {
  readonly action: PolicyAction;
  readonly task: Task;
  readonly attempts: number;
}

/** Records a request that made or cost something as an ended job; others leave no trace. */
async function record(
  tx: Tx,
  { action, task, attempts }: Round,
  state: 'done' | 'failed',
  outcome: Outcome,
  now: number,
): Promise<void> {
  const { agent_id: _, ...job } = task;
  const cause = `manual ${task.job_id}`;
  const { sources, cost, reason: error } = outcome;
  const pins = { pins: null, pinned_until: null };
  await insertJob(tx, { ...job, cause, action, state: 'running', attempts, ...pins, created_at: now });
  await endJob(tx, task.job_id, { state, sources, result: resultFor(action, outcome), cost, error }, now);
}

/** Keeps `contradicted_by` for a replay of the answer: later facts may contradict the same ones. */
function resultFor(action: PolicyAction, outcome: Outcome): JobResult {
  const { made, strengthened, contradictions, artifacts, notes } = outcome;
  if (action !== 'extract') return { made, strengthened };
  const contradicted_by = Object.fromEntries(
    [
      ...artifacts.map((one) => [one.artifact_id, one.contradicted_by] as const),
      ...notes.map((one) => [one.note_id, one.contradicted_by] as const),
    ].filter(([, others]) => others.length > 0),
  );
  return { made, strengthened, contradictions, contradicted_by };
}

/** Records the cost of a request that was refused, as far as the database lets it. */
async function recordSpent(call: Call, round: Round, cost: ProviderCost | null, error: unknown): Promise<void> {
  if (!isSpent(cost)) return;
  const { driver, tenant } = call;
  const outcome = nothingMade(reasonOf(error), cost);
  await driver.write(tenant, (tx) => record(tx, round, 'failed', outcome, driver.now())).catch(() => undefined);
}

const ANSWERED_MEANWHILE = new PlainFailure('the same request was answered meanwhile');

interface ManualRequest<A> {
  readonly action: PolicyAction;
  readonly input: In<'scopes.summarize'>;
  readonly answer: (outcome: Outcome, job_id: string | null) => A;
  /** Replays the answer from the job. */
  readonly again: (tx: Tx, job_id: string | null) => Promise<A>;
}

async function runManually<A extends { readonly job_id: string | null }>(
  call: Call,
  { action, input, answer, again }: ManualRequest<A>,
): Promise<A> {
  const { scope_id } = input;
  const known = (await storedReplay(call, input)) !== undefined;
  const signal = call.options.signal ?? jobQueue.of(call).signal;
  /** The cost of all rounds, and the last round. */
  let spent: ProviderCost | null = null;
  let round: Round | undefined;
  for (let attempts = 1; ; attempts++) {
    try {
      // An answered request needs no provider: `change` replays the answer.
      const task = known ? undefined : await taskFor(call, input);
      if (task) round = { action, task, attempts };
      const prepared =
        task && (await prepareTask(call, action, task, { timeout_ms: PROVIDER_MS, final: true, signal }));
      spent = addCosts(spent, prepared?.cost ?? null);
      const answered = await change<A>(call, {
        input,
        bytes: prepared?.bytes ?? 0,
        work: async (work) => {
          await prepared!.lock(work.tx);
          await openScopeLocked(work, scope_id);
          const outcome = { ...(await prepared!.write(work)), cost: spent };
          const kept = hasMade(outcome) || isSpent(spent);
          if (kept) await record(work.tx, round!, 'done', outcome, work.now);
          return answer(outcome, kept ? round!.task.job_id : null);
        },
        remember: ({ job_id }) => job_id,
        again: (tx, kept) => again(tx, kept as string | null),
      });
      if (round && answered.job_id !== round.task.job_id) await recordSpent(call, round, spent, ANSWERED_MEANWHILE);
      return answered;
    } catch (error) {
      const outrun = error instanceof SourcesChanged;
      if (outrun && attempts < MAX_ROUNDS) continue;
      const refusal = outrun
        ? new CairnError(
            'STATE_CONFLICT',
            `other requests took the turns of scope ${scope_id} ${MAX_ROUNDS} times: see their results, then try again`,
            { scope_id },
          )
        : error;
      if (round) await recordSpent(call, round, spent, refusal);
      throw refusal;
    }
  }
}

const hasMade = ({ made, strengthened }: Pick<Outcome, 'made' | 'strengthened'>): boolean =>
  made.length + strengthened.length > 0;

const findKept = async (tx: Tx, job_id: string | null): Promise<JobRow | undefined> =>
  job_id === null ? undefined : findJob(tx, job_id);

export async function summarize(call: Call, input: In<'scopes.summarize'>): Promise<Summarized> {
  if (input.target_level === 'L2') await checkUses(call, [makes('Note')], input);
  return runManually<Summarized>(call, {
    action: 'summarize',
    input,
    answer: (outcome, job_id) => ({
      made: hasMade(outcome),
      reason: outcome.reason,
      artifact: outcome.artifacts[0] ?? null,
      note: outcome.notes[0] ?? null,
      sources: outcome.sources.length,
      job_id,
    }),
    again: async (tx, job_id) => {
      const job = await findKept(tx, job_id);
      if (!job) return { made: false, reason: NOTHING_NEW, artifact: null, note: null, sources: 0, job_id: null };
      const [one] = resultOf(job).made;
      const work = { call, tx, now: call.driver.now() };
      return {
        made: one !== undefined,
        reason: job.error,
        artifact: one?.kind === 'summary' ? await readVersion(work, artifactNoun, one.id, 1) : null,
        note: one?.kind === 'note' ? await readVersion(work, noteNoun, one.id, 1) : null,
        sources: sourcesOf(job).length,
        job_id,
      };
    },
  });
}

export function extract(call: Call, input: In<'scopes.extract'>): Promise<Extracted> {
  return runManually<Extracted>(call, {
    action: 'extract',
    input,
    answer: ({ artifacts, notes, strengthened, contradictions, sources }, job_id) => ({
      artifacts: [...artifacts],
      notes: [...notes],
      strengthened: [...strengthened],
      contradictions,
      sources: sources.length,
      job_id,
    }),
    again: async (tx, job_id) => {
      const job = await findKept(tx, job_id);
      const { made, strengthened, ...then } = resultOf(job ?? { result: null });
      const read = async <M extends Memory>(noun: Noun<M>): Promise<M[]> => {
        const ids = made.filter(({ kind }) => kind === noun.kind).map(({ id }) => id);
        const all = await Promise.all(ids.map((id) => readVersion({ call, tx, now: call.driver.now() }, noun, id, 1)));
        // In place: memories of the same commit get their times when it is settled.
        if (then.contradicted_by)
          for (const [at, one] of all.entries()) one.contradicted_by = [...(then.contradicted_by[ids[at]!] ?? [])];
        return all;
      };
      const artifacts = await read(artifactNoun);
      const notes = await read(noteNoun);
      // Older jobs did not record the number.
      const contradictions =
        then.contradictions ?? [...artifacts, ...notes].filter((one) => one.contradicted_by.length > 0).length;
      const sources = sourcesOf(job ?? { sources: null }).length;
      return { artifacts, notes, strengthened: [...strengthened], contradictions, sources, job_id };
    },
  });
}
