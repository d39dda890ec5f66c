/** Summaries (Summary artifacts, level L1) of the turns of a scope, or of artifacts. */
import type { Call, Subjects, Work } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import type { Turn } from '../../memory/contract.js';
import {
  artifactNoun,
  lockTrajectory,
  outlivesScope,
  type PreparedContent,
  prepareContent,
  synthesizedEdges,
  type TrajectoryRow,
} from '../../memory/index.js';
import { type EntityRef, findScope, lockScope, type ScopeRow, updateCoverage } from '../../memory/sql.js';
import {
  createByDefault,
  howMade,
  inferred,
  nothingMade,
  nothingToWrite,
  type Outcome,
  type PreparedTask,
  SourcesChanged,
  startOf,
  type Task,
} from '../jobs/job-task.js';
import { type Attempt, summaryOf } from '../jobs/provider-calls.js';
import { wordCount } from './reading/clauses.js';
import { firstGroup, type TextSource, wholeGroups } from './sources.js';
import { markSummarized, turnsAfter, unsummarizedArtifacts } from './sources-store.js';
import type { Summary } from './summarizer.js';
import { groupTurns, sourcesOf, textOf } from './turn-sources.js';

/** Turns per read, and the size at which reading stops. */
const STEP = 50;
const MAX_CHARACTERS = 8_000_000;

const sizeOf = ({ content, tool_calls, tool_results }: Turn): number =>
  JSON.stringify([content, tool_calls, tool_results]).length;

/** Whether a task takes all turns: no further turn follows in a scope that closes. */
const takesAll = (task: Task, scope: ScopeRow): boolean =>
  task.trigger_type === 'ScopeClose' || scope.closed_at !== null;

/**
 * The turns after `after` that one task takes: at most `max_sources`, but a tool call and its results are never split.
 * A call at the end whose results are outstanding is left for later, unless the task takes all turns.
 */
export function turnsToTake(call: Call, task: Task, scope: ScopeRow, after: number): Promise<Turn[]> {
  const { max_sources } = task.settings;
  return call.driver.snapshot(call.tenant, async (query) => {
    const turns: Turn[] = [];
    let size = 0;
    for (let last = after; ; ) {
      const step = await turnsAfter(query, scope, last, STEP);
      turns.push(...step);
      size += step.reduce((sum, turn) => sum + sizeOf(turn), 0);
      last = step.at(-1)?.sequence ?? last;
      const atEnd = step.length < STEP;
      const usable = atEnd && takesAll(task, scope) ? turns : turns.slice(0, groupTurns(turns).settled);
      const sources = sourcesOf(usable, scope.trajectory_id);
      // A first group larger than `max_sources` is taken whole.
      const count = wholeGroups(sources, max_sources) || firstGroup(sources);
      const enough = turns.length > max_sources && count > 0 && count < usable.length;
      if (atEnd || enough || (size > MAX_CHARACTERS && count > 0)) return usable.slice(0, count);
    }
  });
}

/** A summary with its hash, tokens and search terms, computed before the transaction. */
interface Draft {
  /** The agent that owns all sources: a reader of its own content sees no content of others. */
  readonly agent_id: string | null;
  readonly name: string;
  /** The sources, as the metadata shows them. */
  readonly summary_of: JsonObject;
  readonly summary: Summary;
  readonly prepared: PreparedContent;
  readonly refs: readonly EntityRef[];
  /** Of all texts that were read, cited or not. */
  readonly subjects: readonly Subjects[];
}

/** Writes a Summary artifact; its trajectory and scope are locked. */
async function writeSummary(
  work: Work,
  task: Task,
  draft: Draft,
  { trajectory, scope_id }: { readonly trajectory: TrajectoryRow; readonly scope_id: string | null },
): Promise<Outcome> {
  const { agent_id, name, summary_of, summary, prepared, refs } = draft;
  const { digest = false } = task.settings;
  const metadata = { summary_of, ...(digest ? { digest } : {}), ...howMade(task, summary) };
  const { trajectory_id } = trajectory;
  const artifact = await createByDefault(work, artifactNoun, {
    agent_id,
    fields: { type: 'Summary', name, abstraction_level: 'L1', provenance: inferred(null, null), metadata },
    prepared,
    place: async (_work, entity_id) => ({
      trajectory_id,
      scope_id,
      thread_id: trajectory_id,
      bounds: outlivesScope(trajectory),
      sources: [],
      subjects: [trajectory.subject_ids, ...draft.subjects],
      edges: task.settings.create_edges ? synthesizedEdges({ entity_type: 'Artifact', entity_id }, refs, agent_id) : [],
    }),
  });
  return {
    ...nothingMade(summary.fallback_reason ?? null, summary.cost),
    sources: refs,
    made: [{ kind: digest ? 'digest' : 'summary', id: artifact.artifact_id }],
    artifacts: [artifact],
  };
}

/** Share of the words of a conversation that its digest may have, and how many it may have anyway. */
const DIGEST_SHARE = 0.385;
const MIN_DIGEST_WORDS = 120;

const digestWords = (sources: readonly TextSource[]): number =>
  Math.max(MIN_DIGEST_WORDS, Math.floor(DIGEST_SHARE * sources.reduce((sum, { text }) => sum + wordCount(text), 0)));

const isGone = (row: { readonly deleted_at: number | null } | undefined): boolean => !row || row.deleted_at !== null;

export const NOTHING_NEW = 'there is nothing new to summarise';
const NOTHING_FITS = 'no sentence of the sources fits into max_tokens';
const GONE = 'its trajectory was deleted';
const COVERED = 'another summary of the same sources was made meanwhile';

/** Summarises the turns of a scope since its last summary. A manual request without a result covers no turns. */
export async function summarizeTurns(call: Call, task: Task, attempt: Attempt): Promise<PreparedTask> {
  const scope = await findScope(call.driver.at(call.tenant), task.scope_id!);
  if (!scope || isGone(scope)) return nothingToWrite(GONE);
  const { trajectory_id, scope_id, summarized_turns } = scope;
  const turns = await turnsToTake(call, task, scope, summarized_turns);
  if (turns.length === 0) return nothingToWrite(NOTHING_NEW);
  const { max_tokens, max_sources, digest = false } = task.settings;
  const sources = sourcesOf(turns, trajectory_id);
  const limits = digest ? { max_tokens, max_words: digestWords(sources), digest } : { max_tokens };
  const summary = await summaryOf(call, { sources, level: 'L1', ...limits }, attempt);
  const { cost } = summary;
  const [from, to] = [turns[0]!.sequence, turns.at(-1)!.sequence];
  const whole = digest && from === 1 && turns.length < max_sources;
  const what = whole ? 'Digest' : `Turns ${from} to ${to}`;
  const name = startOf(`${what} of ${scope.name}`, 500);
  const { bytes, ...prepared } = await prepareContent(call, summary.text);
  const draft: Draft = {
    agent_id: task.agent_id ?? scope.agent_id,
    name,
    summary_of: { scope_id, from_sequence: from, to_sequence: to, turns: turns.length },
    summary,
    prepared,
    refs: turns.map(({ turn_id }): EntityRef => ({ entity_type: 'Turn', entity_id: turn_id })),
    subjects: [scope.subject_ids, ...turns.map(({ subject_ids }) => subject_ids)],
  };
  const manual = task.trigger_type === 'Manual';
  let trajectory: TrajectoryRow | undefined;
  let locked: ScopeRow | undefined;
  return {
    bytes,
    cost,
    lock: async (tx) => {
      trajectory = await lockTrajectory(tx, trajectory_id);
      locked = await lockScope(tx, scope_id);
    },
    write: async (work) => {
      if (!trajectory || isGone(trajectory) || !locked || isGone(locked)) return nothingMade(GONE, cost);
      if (locked.summarized_turns !== summarized_turns) {
        // A manual request starts again with the remaining turns.
        if (manual) throw new SourcesChanged(COVERED);
        return nothingMade(COVERED, cost);
      }
      const empty = summary.text === '';
      if (empty && manual) return nothingMade(NOTHING_FITS, cost);
      await updateCoverage(work.tx, { ...locked, summarized_turns: to });
      if (empty) return { ...nothingMade(NOTHING_FITS, cost), sources: draft.refs };
      return writeSummary({ ...work, call }, task, draft, { trajectory, scope_id });
    },
  };
}

/** Summarises the L0 artifacts of a scope, or of a trajectory outside any scope, that are in no summary yet. */
export async function summarizeArtifacts(call: Call, task: Task, attempt: Attempt): Promise<PreparedTask> {
  const { driver, tenant } = call;
  const { scope_id, settings } = task;
  const trajectory_id = task.trajectory_id!;
  const place = { trajectory_id, scope_id };
  const rows = await unsummarizedArtifacts(driver.at(tenant), place, driver.now(), settings.max_sources);
  if (rows.length === 0) return nothingToWrite(NOTHING_NEW);
  const sources = rows.map((row) => ({
    id: row.memory_id,
    text: `${row.name ?? ''}\n${textOf(JSON.parse(row.content!) as Json)}`.trim(),
    trajectory_id,
  }));
  const summary = await summaryOf(call, { sources, max_tokens: settings.max_tokens, level: 'L1' }, attempt);
  if (summary.text === '') return nothingToWrite(NOTHING_FITS, summary.cost);
  const name = `Summary of ${rows.length} artifact(s)`;
  const { bytes, ...prepared } = await prepareContent(call, summary.text);
  const ids = rows.map(({ memory_id }) => memory_id);
  const owners = new Set(rows.map(({ agent_id }) => agent_id));
  const draft: Draft = {
    agent_id: owners.size === 1 ? rows[0]!.agent_id : null,
    name,
    summary_of: { ...place, artifacts: rows.length },
    summary,
    prepared,
    refs: ids.map((entity_id): EntityRef => ({ entity_type: 'Artifact', entity_id })),
    subjects: rows.map(({ subject_ids }) => subject_ids),
  };
  let trajectory: TrajectoryRow | undefined;
  let scope: ScopeRow | undefined;
  return {
    bytes,
    cost: summary.cost,
    lock: async (tx) => {
      trajectory = await lockTrajectory(tx, trajectory_id);
      scope = scope_id === null ? undefined : await lockScope(tx, scope_id);
    },
    write: async (work) => {
      if (!trajectory || isGone(trajectory)) return nothingMade(GONE, summary.cost);
      if (!(await markSummarized(work.tx, ids, task.job_id))) throw new SourcesChanged(COVERED);
      const where = { trajectory, scope_id: scope?.scope_id ?? null };
      return writeSummary({ ...work, call }, task, draft, where);
    },
  };
}
