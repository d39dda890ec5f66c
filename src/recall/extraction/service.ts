/** Extraction: stores the facts of turns as artifacts and notes. A known fact is strengthened, a contradicted one linked. */

import { listToText, type Tx } from '../../driver/index.js';

import { type Call, type Subjects, subjectsOf, type Work } from '../../engine/index.js';
import { withReachOf } from '../../identity/index.js';
import { type CooperativeYield, cooperativeYield } from '../../kernel/index.js';
import type { PolicyOutput, Turn } from '../../memory/contract.js';
import {
  addSystemEdges,
  artifactNoun,
  edgeBetween,
  isFinished,
  lockTrajectories,
  type Memory,
  noteBounds,
  noteNoun,
  outlivesScope,
  type PreparedContent,
  prepareContent,
  type TrajectoryRow,
  updateMemory,
} from '../../memory/index.js';
import {
  type EntityRef,
  findScope,
  lockScope,
  type ScopeRow,
  updateCoverage,
  type VersionRow,
} from '../../memory/sql.js';
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
import { type Attempt, factsOf } from '../jobs/provider-calls.js';
import { turnsToTake } from '../summaries/service.js';
import { recalledIn, sourcesOf } from '../summaries/turn-sources.js';
import { factStatementKeys } from '../updating/known-notes.js';
import { sameFact } from './english/same-fact.js';
import type { ExtractedFact, Extraction, FactRelation } from './extractor.js';
import { factKey, insertFactKey, lockFactKeys, memoriesByKey } from './fact-keys.js';
import {
  type Comparisons,
  compareKnown,
  factFields,
  isReached,
  type KnownFacts,
  type KnownMemory,
  knownFacts,
  type SoughtFact,
  similarTo,
} from './known-facts.js';
import { wasShown } from './shown-memories.js';

const MAX_NAME = 500;

/** A fact that is ready to be stored. */
interface Draft extends SoughtFact {
  readonly prepared: PreparedContent;
  readonly statement_keys: readonly string[];
  readonly turns: readonly Turn[];
}

interface Context {
  /** The call with the reach of the agent that the facts are for: it decides which facts are known. */
  readonly reader: Call;
  readonly task: Task;
  readonly scope: ScopeRow;
  /** The owner of new facts. */
  readonly agent_id: string | null;
  readonly extraction: Extraction;
  readonly trajectories: ReadonlyMap<string, TrajectoryRow>;
  readonly comparisons: Comparisons;
  readonly relations: DraftRelations;
}

/** The earlier facts of the same extraction that a fact equals or contradicts. */
type DraftRelations = ReadonlyMap<Draft, ReadonlyMap<Draft, FactRelation>>;

const turnRef = ({ turn_id }: Turn): EntityRef => ({ entity_type: 'Turn', entity_id: turn_id });
const memoryRef = ({ kind, memory_id }: Pick<VersionRow, 'kind' | 'memory_id'>): EntityRef => ({
  entity_type: kind === 'note' ? 'Note' : 'Artifact',
  entity_id: memory_id,
});
const idOf = (memory: Memory): string => ('note_id' in memory ? memory.note_id : memory.artifact_id);
const nameOf = ({ title }: ExtractedFact): string => startOf(title, MAX_NAME);

const subjectsFrom = (scope: ScopeRow, turns: readonly Turn[]): Subjects[] => [
  scope.subject_ids,
  ...turns.map(({ subject_ids }) => subject_ids),
];

async function draftOf(
  call: Call,
  reader: Call,
  scope: ScopeRow,
  fact: ExtractedFact,
  byId: ReadonlyMap<string, Turn>,
): Promise<Draft> {
  const { bytes: _, ...prepared } = await prepareContent(call, fact.content);
  const turns = fact.source_ids.map((id) => byId.get(id)!);
  const subjects = listToText(subjectsOf(call, [], ...subjectsFrom(scope, turns)));
  return {
    fact,
    key: factKey(call.meta.erasure_key, call.tenant, fact),
    prepared,
    statement_keys: fact.type === 'Code' ? [] : factStatementKeys(call, fact.content, subjects),
    similar: await similarTo(reader, fact),
    turns,
    repeatable: turns.every(({ role }) => role !== 'User'),
  };
}

/** Stores a new fact, linked to its turns and to the memories that it contradicts. */
async function storeFact(
  work: Work,
  { task, scope, agent_id, extraction, trajectories }: Context,
  { fact, key, statement_keys, prepared, turns }: Draft,
  contradicted: readonly KnownMemory[],
): Promise<Memory> {
  const { trajectory_id, scope_id } = scope;
  const trajectory = trajectories.get(trajectory_id)!;
  const source_turn = turns[0]!.sequence;
  const isNote = fact.kind === 'note';
  const memory = {
    agent_id,
    fields: {
      type: fact.type,
      name: nameOf(fact),
      abstraction_level: 'L0',
      provenance: isNote ? { confidence: fact.confidence } : inferred(source_turn, fact.confidence),
      metadata: {
        fact: factFields(fact),
        times_seen: 1,
        ...(isNote ? { extraction_method: 'Inferred', source_turn, scope_id } : {}),
        ...(fact.happens_at === undefined ? {} : { happens_at: fact.happens_at }),
        ...(fact.language === undefined ? {} : { language: fact.language }),
        ...howMade(task, extraction),
      },
    },
    prepared,
    place: async (_work: Work, memory_id: string) => {
      const own = memoryRef({ kind: fact.kind, memory_id });
      const edges = contradicted.map((row) => edgeBetween('Contradicts', own, memoryRef(row), agent_id));
      const sources = turns.map(turnRef);
      const where = { thread_id: trajectory_id, edges, subjects: subjectsFrom(scope, turns) };
      return isNote
        ? {
            ...where,
            trajectory_id: null,
            scope_id: null,
            bounds: noteBounds(memory_id, trajectory),
            sources: [{ entity_type: 'Trajectory', entity_id: trajectory_id } as const, ...sources],
          }
        : { ...where, trajectory_id, scope_id, bounds: outlivesScope(trajectory), sources };
    },
  };
  const stored: Memory = isNote
    ? await createByDefault(work, noteNoun, memory)
    : await createByDefault(work, artifactNoun, memory);
  // Under the last ones `remember` finds it.
  for (const one of [key, ...statement_keys]) await insertFactKey(work.tx, one, idOf(stored));
  return stored;
}

/** Repeated evidence raises the confidence, never above 0.99. */
const raised = (before: number, seen: number): number =>
  Math.min(0.99, Math.round((1 - (1 - before) * (1 - seen / 2)) * 1000) / 1000);

/** Links new turns to a known fact, raises its confidence and counts it as seen. */
async function strengthen(
  work: Work,
  { reader, agent_id, scope, trajectories }: Context,
  { fact, turns }: Draft,
  row: KnownMemory,
): Promise<void> {
  const edges = turns.map((turn) => edgeBetween('Supports', turnRef(turn), memoryRef(row), agent_id));
  await addSystemEdges(work, edges, scope.trajectory_id);
  // A memory in a finished or unlocked trajectory does not change, nor one that the caller may not write.
  const trajectory = row.trajectory_id === null ? undefined : trajectories.get(row.trajectory_id);
  const fixed = row.trajectory_id !== null && (!trajectory || isFinished(trajectory));
  if (fixed || !(await isReached(reader, work.tx, row, 'write'))) return;
  const patch: Parameters<typeof updateMemory>[2] = {
    memory_id: row.memory_id,
    version: undefined,
    ttl: undefined,
    prepared: undefined,
    next: (current) => {
      const { confidence } = current.provenance;
      const { times_seen } = current.metadata;
      const before = typeof confidence === 'number' ? confidence : 0.5;
      return {
        ...current,
        provenance: { ...current.provenance, confidence: raised(before, fact.confidence) },
        metadata: { ...current.metadata, times_seen: (typeof times_seen === 'number' ? times_seen : 1) + 1 },
      };
    },
  };
  if (row.kind === 'note') await updateMemory(work, noteNoun, patch);
  else await updateMemory(work, artifactNoun, patch);
}

/**
 * Whether turns only repeat what memory says, which is no evidence: no User says it, and a memory of it is older than the
 * turns, or its source stood in a context of the trajectory by then.
 */
async function isEcho(
  tx: Tx,
  { turns, repeatable }: Draft,
  { trajectory_id }: ScopeRow,
  known: readonly KnownMemory[],
): Promise<boolean> {
  if (!repeatable) return false;
  const until = Math.min(...turns.map(({ created_at }) => Date.parse(created_at)));
  if (known.some(({ created_at }) => created_at <= until)) return true;
  for (const { memory_id } of known) if (await wasShown(tx, memory_id, trajectory_id, until)) return true;
  return false;
}

/** Earlier facts that one fact is compared with: about as many as some pages of text have. */
const MAX_EARLIER = 200;

/** Compares the facts of one extraction with each other, before the transaction. */
async function relationsAmong(drafts: readonly Draft[], maybe_yield: CooperativeYield): Promise<DraftRelations> {
  const relations = new Map<Draft, Map<Draft, FactRelation>>();
  for (const [at, draft] of drafts.entries()) {
    const own = new Map<Draft, FactRelation>();
    for (const earlier of drafts.slice(Math.max(0, at - MAX_EARLIER), at)) {
      await maybe_yield();
      const relation = sameFact(draft.fact, earlier.fact);
      if (relation !== 'different') own.set(earlier, relation);
    }
    relations.set(draft, own);
  }
  return relations;
}

/** Adds the facts that this transaction has stored to the known ones. */
function withStored(
  known: KnownFacts,
  relations: ReadonlyMap<Draft, FactRelation>,
  stored: ReadonlyMap<Draft, KnownMemory>,
): KnownFacts {
  if (known.same) return known;
  const contradicted: KnownMemory[] = [...known.contradicted];
  for (const [earlier, relation] of relations) {
    const memory = stored.get(earlier);
    if (!memory) continue;
    if (relation === 'same') return { same: memory, contradicted: [], containing: [] };
    // With the same key, it was found already.
    if (!contradicted.some(({ memory_id }) => memory_id === memory.memory_id)) contradicted.push(memory);
  }
  return { ...known, contradicted };
}

async function storeFacts(
  work: Work,
  context: Context,
  drafts: readonly Draft[],
): Promise<Pick<Outcome, 'made' | 'strengthened' | 'contradictions' | 'artifacts' | 'notes'>> {
  const { tx, now } = work;
  const { reader, scope, comparisons, relations } = context;
  const memories: Memory[] = [];
  const stored = new Map<Draft, KnownMemory>();
  const strengthened: PolicyOutput[] = [];
  let contradictions = 0;
  const keys = drafts.map(({ key }) => key);
  await lockFactKeys(tx, keys);
  for (const draft of drafts) {
    const before = await knownFacts(reader, tx, draft, comparisons, now);
    const { same, contradicted, containing } = withStored(before, relations.get(draft)!, stored);
    if (await isEcho(tx, draft, scope, same ? [same] : containing)) continue;
    if (!same) {
      const memory = await storeFact(work, context, draft, contradicted);
      const memory_id = idOf(memory);
      for (const other of contradicted)
        memories.find((one) => idOf(one) === other.memory_id)?.contradicted_by.push(memory_id);
      memories.push(memory);
      const { kind } = draft.fact;
      const trajectory_id = kind === 'note' ? null : scope.trajectory_id;
      stored.set(draft, { memory_id, kind, trajectory_id, created_at: now });
      if (contradicted.length > 0) contradictions++;
    } else if (!memories.some((one) => idOf(one) === same.memory_id)) {
      await strengthen(work, context, draft, same);
      strengthened.push({ kind: same.kind, id: same.memory_id });
    }
  }
  return {
    made: memories.map((one): PolicyOutput => ({ kind: 'note_id' in one ? 'note' : 'artifact', id: idOf(one) })),
    strengthened,
    contradictions,
    artifacts: memories.filter((one) => 'artifact_id' in one),
    notes: memories.filter((one) => 'note_id' in one),
  };
}

const NOTHING_NEW = 'there are no turns that were not examined yet';
const NO_FACTS = 'the turns state no facts';
const GONE = 'its trajectory was deleted';
const COVERED = 'the same turns were examined meanwhile';

/** The trajectories to lock: that of the scope, and those of memories that may be strengthened. */
async function trajectoriesOf(call: Call, scope: ScopeRow, drafts: readonly Draft[]): Promise<string[]> {
  const { driver, tenant } = call;
  const ids = new Set([scope.trajectory_id]);
  for (const { key } of drafts)
    for (const { trajectory_id } of await memoriesByKey(driver.at(tenant), key, driver.now()))
      if (trajectory_id !== null) ids.add(trajectory_id);
  return [...ids];
}

export async function extractFacts(call: Call, task: Task, attempt: Attempt): Promise<PreparedTask> {
  const scope = await findScope(call.driver.at(call.tenant), task.scope_id!);
  if (!scope || scope.deleted_at !== null) return nothingToWrite(GONE);
  const turns = await turnsToTake(call, task, scope, scope.extracted_turns);
  if (turns.length === 0) return nothingToWrite(NOTHING_NEW);
  const request = { sources: sourcesOf(turns, scope.trajectory_id), recalled: recalledIn(turns) };
  const extraction = await factsOf(call, request, attempt);
  const byId = new Map(turns.map((turn) => [turn.turn_id, turn]));
  // Compares only with facts that the scope's agent may read, even if another caller extracts for it.
  const subjects = subjectsOf(call, [], ...subjectsFrom(scope, turns));
  const reader = await withReachOf(call, task.agent_id ?? scope.agent_id, subjects);
  const drafts: Draft[] = [];
  for (const fact of extraction.facts) drafts.push(await draftOf(call, reader, scope, fact, byId));
  const maybe_yield = cooperativeYield(attempt.signal);
  const comparisons = await compareKnown(call, drafts, maybe_yield);
  const relations = await relationsAmong(drafts, maybe_yield);
  const trajectory_ids = await trajectoriesOf(call, scope, drafts);
  const { cost, fallback_reason } = extraction;
  let trajectories: ReadonlyMap<string, TrajectoryRow> = new Map();
  let locked: ScopeRow | undefined;
  return {
    bytes: drafts.reduce((sum, { prepared }) => sum + prepared.content.length, 0),
    cost,
    lock: async (tx) => {
      trajectories = await lockTrajectories(tx, trajectory_ids);
      locked = await lockScope(tx, scope.scope_id);
    },
    write: async (work) => {
      if (!trajectories.has(scope.trajectory_id) || !locked) return nothingMade(GONE, cost);
      if (locked.extracted_turns !== scope.extracted_turns) {
        if (task.trigger_type === 'Manual') throw new SourcesChanged(COVERED);
        return nothingMade(COVERED, cost);
      }
      await updateCoverage(work.tx, { ...locked, extracted_turns: turns.at(-1)!.sequence });
      const agent_id = task.agent_id ?? locked.agent_id;
      const context = { reader, task, scope: locked, agent_id, extraction, trajectories, comparisons, relations };
      const outcome = await storeFacts({ ...work, call }, context, drafts);
      const reason = fallback_reason ?? (drafts.length === 0 ? NO_FACTS : null);
      return { ...outcome, sources: turns.map(turnRef), cost, reason };
    },
  };
}
