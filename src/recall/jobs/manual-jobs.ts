/** Summarising and extracting as a caller asks for it: at once, as that caller, and answered with what was made. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { makes } from '../../engine/contract.js';
import { actsAs, type Call, change, keptAnswer } from '../../engine/index.js';
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
import { isSpent, PlainFailure, type ProviderCost, reasonOf, sumOfCosts } from '../../providers/index.js';
import { applying } from '../policies/rules.js';
import { levelsOf } from '../policies/service.js';
import { attachedTo, policiesFor } from '../policies/store.js';
import { Changed } from '../summaries/service.js';
import { costOf, nothingMade, type Outcome, type Task } from './job-task.js';
import {
  DEFAULT_MAX_SOURCES,
  DEFAULT_MAX_TOKENS,
  type Extracted,
  type PolicyAction,
  type Summarized,
} from './model.js';
import { jobQueue } from './queue.js';
import { prepareTask } from './service.js';
import { endJob, findJob, insertJob, type JobResult, resultOf, sourcesOf } from './store.js';

/** How long a provider has; then it is done without it. */
const PROVIDER_MS = 60_000;
/** How often it is begun anew when others were faster. */
const ATTEMPTS = 5;

/** The task, with what is given, else what the nearest policy for it says. */
async function taskFor(call: Call, input: In<'scopes.summarize'>): Promise<Task> {
  const { driver, tenant } = call;
  const scope = await readScope(call, driver.at(tenant), input.scope_id);
  refuseClosed({ scope_id: scope.scope_id, closed_at: scope.is_active ? null : Date.parse(scope.closed_at!) });
  const levels = levelsOf(input);
  const found = await policiesFor(driver.at(tenant), scope, ['Manual']);
  const policy = applying(found).find(({ source_level }) => source_level === levels.source_level);
  // Who reaches a part of the artifacts only has the principles of what is surely in it.
  const widest = reachOf(call, 'Artifact') ? attachedTo.scope(scope.scope_id) : attachedTo.tenant;
  return {
    job_id: newId(),
    policy_id: policy?.policy_id ?? null,
    trigger_type: 'Manual',
    trajectory_id: scope.trajectory_id,
    scope_id: scope.scope_id,
    agent_id: actsAs(call, undefined, 'agent_id') ?? scope.agent_id,
    settings: {
      ...levels,
      max_sources: input.max_sources ?? policy?.max_sources ?? DEFAULT_MAX_SOURCES,
      max_tokens: input.max_tokens ?? policy?.max_tokens ?? DEFAULT_MAX_TOKENS,
      create_edges: input.create_edges ?? (policy ? policy.create_edges === 1 : true),
      within: widest,
    },
  };
}

/** One of the times that it was begun. */
interface Round {
  readonly action: PolicyAction;
  readonly task: Task;
  readonly attempts: number;
}

/** Records what was made or cost something as a job that has ended; what did neither leaves no trace. */
async function record(
  tx: Tx,
  { action, task, attempts }: Round,
  state: 'done' | 'failed',
  outcome: Outcome,
  now: number,
): Promise<void> {
  const { agent_id: _, ...job } = task;
  const { sources, cost, reason } = outcome;
  await insertJob(tx, {
    ...job,
    cause: `manual ${task.job_id}`,
    action,
    state: 'running',
    attempts,
    pins: null,
    pinned_until: null,
    created_at: now,
  });
  const end = { state, sources, result: resultFor(action, outcome), cost: costOf(cost), error: reason };
  await endJob(tx, task.job_id, end, now);
}

/** With what an answer needs that is given again: later facts may contradict the same. */
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

const outrun = (scope_id: string): CairnError =>
  new CairnError(
    'STATE_CONFLICT',
    `others were faster ${ATTEMPTS} times with the turns of scope ${scope_id}: see what they made, and ask again`,
    { scope_id },
  );

const sumOf = (before: ProviderCost | null, more: ProviderCost | null): ProviderCost | null =>
  before && more ? sumOfCosts(before, more) : (more ?? before);

/** Records what was spent where nothing came of it but a refusal, as far as that can be written. */
async function recordSpent(call: Call, round: Round, cost: ProviderCost | null, error: unknown): Promise<void> {
  if (!isSpent(cost)) return;
  const { driver, tenant } = call;
  const outcome = nothingMade(reasonOf(error), cost);
  await driver.write(tenant, (tx) => record(tx, round, 'failed', outcome, driver.now())).catch(() => undefined);
}

const FASTER = new PlainFailure('the same request was answered meanwhile');

interface Asked<A> {
  readonly action: PolicyAction;
  readonly input: In<'scopes.summarize'>;
  readonly answer: (outcome: Outcome, job_id: string | null) => A;
  /** The answer again, from the job. */
  readonly again: (tx: Tx, job_id: string | null) => Promise<A>;
}

async function doneByHand<A extends { readonly job_id: string | null }>(
  call: Call,
  { action, input, answer, again }: Asked<A>,
): Promise<A> {
  const known = (await keptAnswer(call, input)) !== undefined;
  /** On all rounds up to now, and the last of them that began. */
  let spent: ProviderCost | null = null;
  let round: Round | undefined;
  for (let attempts = 1; ; attempts++) {
    try {
      // Answered before, it needs no provider: `change` gives the answer again.
      const task = known ? undefined : await taskFor(call, input);
      if (task) round = { action, task, attempts };
      const { signal } = call.options;
      const settings = { timeout_ms: PROVIDER_MS, final: true, signal: signal ?? jobQueue.of(call).signal };
      const ready = task && (await prepareTask(call, action, task, settings));
      spent = sumOf(spent, ready?.cost ?? null);
      const answered = await change<A>(call, {
        input,
        bytes: ready?.bytes ?? 0,
        work: async (work) => {
          const { tx, now } = work;
          await ready!.lock(tx);
          await openScopeLocked(work, input.scope_id);
          const outcome = { ...(await ready!.write(work)), cost: spent };
          const kept = hasMade(outcome) || isSpent(spent);
          if (kept) await record(tx, { action, task: task!, attempts }, 'done', outcome, now);
          return answer(outcome, kept ? task!.job_id : null);
        },
        remember: ({ job_id }) => job_id,
        again: (tx, kept) => again(tx, kept as string | null),
      });
      if (round && answered.job_id !== round.task.job_id) await recordSpent(call, round, spent, FASTER);
      return answered;
    } catch (error) {
      const again = error instanceof Changed;
      if (again && attempts < ATTEMPTS) continue;
      const refusal = again ? outrun(input.scope_id) : error;
      if (round) await recordSpent(call, round, spent, refusal);
      throw refusal;
    }
  }
}

const hasMade = ({ made, strengthened }: Pick<Outcome, 'made' | 'strengthened'>): boolean =>
  made.length + strengthened.length > 0;

const NOTHING = { made: false, artifact: null, note: null, sources: 0, job_id: null };

export async function summarize(call: Call, input: In<'scopes.summarize'>): Promise<Summarized> {
  if (input.target_level === 'L2') await checkUses(call, [makes('Note')], input);
  return doneByHand<Summarized>(call, {
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
      const job = job_id === null ? undefined : await findJob(tx, job_id);
      if (!job) return { ...NOTHING, reason: 'there was nothing new to summarise' };
      const [one] = resultOf(job).made;
      return {
        made: one !== undefined,
        reason: job.error,
        artifact:
          one?.kind === 'summary'
            ? await readVersion({ call, tx, now: call.driver.now() }, artifactNoun, one.id, 1)
            : null,
        note:
          one?.kind === 'note' ? await readVersion({ call, tx, now: call.driver.now() }, noteNoun, one.id, 1) : null,
        sources: sourcesOf(job).length,
        job_id,
      };
    },
  });
}

export async function extract(call: Call, input: In<'scopes.extract'>): Promise<Extracted> {
  return doneByHand<Extracted>(call, {
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
      const job = job_id === null ? undefined : await findJob(tx, job_id);
      const { made, strengthened, ...then } = resultOf(job ?? { result: null });
      const read = async <M extends Memory>(noun: Noun<M>): Promise<M[]> => {
        const ids = made.filter(({ kind }) => kind === noun.kind).map(({ id }) => id);
        const all = await Promise.all(ids.map((id) => readVersion({ call, tx, now: call.driver.now() }, noun, id, 1)));
        // In place: what is of the same commit gets its times when that is settled.
        if (then.contradicted_by)
          for (const [at, one] of all.entries()) one.contradicted_by = [...(then.contradicted_by[ids[at]!] ?? [])];
        return all;
      };
      const artifacts = await read(artifactNoun);
      const notes = await read(noteNoun);
      // Jobs of before it was kept do not say how many there were.
      const contradictions =
        then.contradictions ?? [...artifacts, ...notes].filter((one) => one.contradicted_by.length > 0).length;
      const sources = sourcesOf(job ?? { sources: null }).length;
      return { artifacts, notes, strengthened: [...strengthened], contradictions, sources, job_id };
    },
  });
}
