/** Summaries: of the turns of a scope, or of artifacts, into a Summary artifact of the level L1. */
import type { Call, Work } from '../../engine/index.js';
import { trajectoryHolder } from '../../engine/sql.js';
import type { Json } from '../../kernel/contract.js';
import type { Artifact, Turn } from '../../memory/contract.js';
import {
  artifactNoun,
  createMemory,
  lockTrajectory,
  type PreparedContent,
  prepareContent,
  synthesizedEdges,
  type TrajectoryRow,
} from '../../memory/index.js';
import { type EntityRef, findScope, lockScope, noteCovered, type ScopeRow, type VersionRow } from '../../memory/sql.js';
import { PlainFailure } from '../../providers/index.js';
import {
  howMade,
  inferred,
  nothingMade,
  type Outcome,
  persistent,
  type Ready,
  ready,
  startOf,
  type Task,
} from '../jobs/job-task.js';
import { type Attempt, summaryOf } from '../jobs/provider-calls.js';
import { firstGroup, wholeGroups } from './sources.js';
import { looseArtifacts, noteSummarized, turnsBehind } from './sources-store.js';
import type { Summary } from './summarizer.js';
import { groupTurns, sourcesOf, textOf } from './turn-sources.js';

/** How many turns are read at a time, and what they may weigh together. */
const STEP = 50;
const MAX_CHARACTERS = 8_000_000;

const weightOf = ({ content, tool_calls, tool_results }: Turn): number =>
  JSON.stringify([content, tool_calls, tool_results]).length;

/**
 * The turns behind one of them that are taken together: at most so many, but for a tool call with its results, which is
 * never parted. Without `to_end` a call at the end whose results are still to come is left for later.
 */
export async function turnsToTake(
  call: Call,
  scope: ScopeRow,
  after: number,
  max_sources: number,
  to_end: boolean,
): Promise<Turn[]> {
  return call.driver.snapshot(call.tenant, async (query) => {
    const turns: Turn[] = [];
    let weight = 0;
    for (let behind = after; ; ) {
      const step = await turnsBehind(query, scope, behind, STEP);
      turns.push(...step);
      weight += step.reduce((sum, turn) => sum + weightOf(turn), 0);
      behind = step.at(-1)?.sequence ?? behind;
      const atEnd = step.length < STEP;
      const usable = to_end && atEnd ? turns : turns.slice(0, groupTurns(turns).settled);
      const sources = sourcesOf(usable, scope.trajectory_id);
      const taken = wholeGroups(sources, max_sources);
      // A group that alone is more than so many is taken whole.
      const count = taken > 0 ? taken : firstGroup(sources);
      const enough = turns.length > max_sources && count > 0 && count < usable.length;
      if (atEnd || enough || (weight > MAX_CHARACTERS && count > 0)) return usable.slice(0, count);
    }
  });
}

interface Described {
  /** Whose it is: who may read only its own has read all that it says. */
  readonly agent_id: string | null;
  readonly name: string;
  /** What the metadata says of the sources. */
  readonly summary_of: { readonly [name: string]: Json };
}

/** What a summary becomes, checked, hashed and counted before the transaction. */
interface Draft extends Described {
  readonly summary: Summary;
  readonly prepared: PreparedContent;
  readonly refs: readonly EntityRef[];
}

/** Writes a Summary artifact where its trajectory, and scope if any, are locked. */
async function writeSummary(
  work: Work,
  task: Task,
  draft: Draft,
  place: { readonly trajectory_id: string; readonly scope: ScopeRow | undefined },
): Promise<Artifact> {
  const { summary, prepared, refs } = draft;
  const { trajectory_id, scope } = place;
  const agent_id = draft.agent_id;
  const metadata = { summary_of: draft.summary_of, ...howMade(task, summary.cost, summary.fallback_reason) };
  return createMemory(work, artifactNoun, {
    memory_id: undefined,
    sent_hash: null,
    agent_id,
    fields: persistent({
      type: 'Summary',
      name: draft.name,
      abstraction_level: 'L1',
      provenance: inferred(null, null),
      metadata,
    }),
    prepared,
    place: async (_work, entity_id) => ({
      trajectory_id,
      scope_id: scope?.scope_id ?? null,
      thread_id: trajectory_id,
      held_by: trajectoryHolder(trajectory_id),
      sources: [],
      edges: task.settings.create_edges ? synthesizedEdges({ entity_type: 'Artifact', entity_id }, refs, agent_id) : [],
    }),
  });
}

const isGone = (row: { readonly deleted_at: number | null } | undefined): boolean => !row || row.deleted_at !== null;

const outcomeOf = (artifact: Artifact, { refs, summary }: Draft): Outcome => ({
  ...nothingMade('', summary.cost),
  sources: refs,
  made: [{ kind: 'summary', id: artifact.artifact_id }],
  artifacts: [artifact],
  reason: summary.fallback_reason ?? null,
});

export const NOTHING_NEW = 'there is nothing new to summarise';
const NOTHING_SAID = 'nothing in it could be said within max_tokens';
const GONE = 'its trajectory was deleted';
const COVERED = 'another summary of the same was made meanwhile';

/** The turns of a scope since its last summary. By hand, what gives no summary is left as it was. */
export async function summarizeTurns(call: Call, task: Task, attempt: Attempt): Promise<Ready> {
  const { tenant } = call;
  const scope = await findScope(call.driver.at(tenant), task.scope_id!);
  if (!scope || isGone(scope)) return ready(nothingMade(GONE));
  const { max_sources, max_tokens } = task.settings;
  const to_end = task.trigger_type === 'ScopeClose' || scope.closed_at !== null;
  const turns = await turnsToTake(call, scope, scope.summarized_turns, max_sources, to_end);
  if (turns.length === 0) return ready(nothingMade(NOTHING_NEW));
  const sources = sourcesOf(turns, scope.trajectory_id);
  const summary = await summaryOf(call, { sources, max_tokens, level: 'L1' }, attempt);
  const [from, to] = [turns[0]!.sequence, turns.at(-1)!.sequence];
  const name = startOf(`Turns ${from} to ${to} of ${scope.name}`, 500);
  const { bytes, ...prepared } = await prepareContent(call, summary.text, name);
  const draft: Draft = {
    agent_id: task.agent_id ?? scope.agent_id,
    name,
    summary_of: { scope_id: scope.scope_id, from_sequence: from, to_sequence: to, turns: turns.length },
    summary,
    prepared,
    refs: turns.map(({ turn_id }): EntityRef => ({ entity_type: 'Turn', entity_id: turn_id })),
  };
  let trajectory: TrajectoryRow | undefined;
  let locked: ScopeRow | undefined;
  return {
    bytes,
    cost: summary.cost,
    lock: async (tx) => {
      trajectory = await lockTrajectory(tx, scope.trajectory_id);
      locked = await lockScope(tx, scope.scope_id);
    },
    write: async (work) => {
      const { tx } = work;
      if (isGone(trajectory) || !locked || isGone(locked)) return nothingMade(GONE, summary.cost);
      if (locked.summarized_turns !== scope.summarized_turns) {
        // Whoever asked by hand has the rest, if there is one.
        if (task.trigger_type === 'Manual') throw new Changed(COVERED);
        return nothingMade(COVERED, summary.cost);
      }
      const empty = summary.text === '';
      if (empty && task.trigger_type === 'Manual') return nothingMade(NOTHING_SAID, summary.cost);
      await noteCovered(tx, { ...locked, summarized_turns: to });
      if (empty) return { ...nothingMade(NOTHING_SAID, summary.cost), sources: draft.refs };
      const place = { trajectory_id: scope.trajectory_id, scope: locked };
      return outcomeOf(await writeSummary({ ...work, call }, task, draft, place), draft);
    },
  };
}

const artifactRef = ({ memory_id }: VersionRow): EntityRef => ({ entity_type: 'Artifact', entity_id: memory_id });

/** The artifacts of L0 of a scope, or of a trajectory without one, that went into no summary yet. */
export async function summarizeArtifacts(call: Call, task: Task, attempt: Attempt): Promise<Ready> {
  const { tenant, driver } = call;
  const { trajectory_id, scope_id, settings } = task;
  const place = { trajectory_id: trajectory_id!, scope_id };
  const rows = await looseArtifacts(driver.at(tenant), place, driver.now(), settings.max_sources);
  if (rows.length === 0) return ready(nothingMade(NOTHING_NEW));
  const sources = rows.map((row) => ({
    id: row.memory_id,
    text: `${row.name ?? ''}\n${textOf(JSON.parse(row.content!) as Json)}`.trim(),
    trajectory_id,
  }));
  const request = { sources, max_tokens: settings.max_tokens, level: 'L1' as const };
  const summary = await summaryOf(call, request, attempt);
  if (summary.text === '') return ready(nothingMade(NOTHING_SAID, summary.cost));
  const name = `Summary of ${rows.length} artifact(s)`;
  const { bytes, ...prepared } = await prepareContent(call, summary.text, name);
  const owners = new Set(rows.map(({ agent_id }) => agent_id));
  const draft: Draft = {
    agent_id: owners.size === 1 ? rows[0]!.agent_id : null,
    name,
    summary_of: { ...place, artifacts: rows.length },
    summary,
    prepared,
    refs: rows.map(artifactRef),
  };
  let trajectory: TrajectoryRow | undefined;
  let scope: ScopeRow | undefined;
  return {
    bytes,
    cost: summary.cost,
    lock: async (tx) => {
      trajectory = await lockTrajectory(tx, place.trajectory_id);
      scope = scope_id === null ? undefined : await lockScope(tx, scope_id);
    },
    write: async (work) => {
      const { tx } = work;
      if (isGone(trajectory)) return nothingMade(GONE, summary.cost);
      const ids = rows.map(({ memory_id }) => memory_id);
      if (!(await noteSummarized(tx, ids, task.job_id))) throw new Changed(COVERED);
      const where = { trajectory_id: place.trajectory_id, scope };
      return outcomeOf(await writeSummary({ ...work, call }, task, draft, where), draft);
    },
  };
}

/** What it was made from has changed meanwhile: it is made anew. */
export class Changed extends PlainFailure {}
