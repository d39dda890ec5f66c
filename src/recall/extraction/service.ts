/**
 * Extracting: artifacts and notes of what turns say, before they go. The same fact again strengthens what is known, one
 * that contradicts it is kept beside it.
 */
import type { Tx } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { noteHolder, trajectoryHolder } from '../../engine/sql.js';
import { withReachOf } from '../../identity/index.js';
import { type GiveWay, givingWay } from '../../kernel/index.js';
import type { Made, Turn } from '../../memory/contract.js';
import {
  artifactNoun,
  createMemory,
  isFinished,
  linkAll,
  linkEdge,
  lockTrajectories,
  type Memory,
  noteNoun,
  type PreparedContent,
  prepareContent,
  type TrajectoryRow,
  updateMemory,
} from '../../memory/index.js';
import { type EntityRef, findScope, lockScope, noteCovered, type ScopeRow, type VersionRow } from '../../memory/sql.js';
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
import { type Attempt, factsOf } from '../jobs/provider-calls.js';
import { Changed, turnsToTake } from '../summaries/service.js';
import { recalledIn, sourcesOf } from '../summaries/turn-sources.js';
import { sameFact } from './english/same-fact.js';
import type { Extraction } from './extractor.js';
import { factKey, lockFacts, noteFact, placesByFact } from './fact-keys.js';
import type { ExtractedFact, FactRelation } from './facts.js';
import {
  type Comparisons,
  compareKnown,
  factFields,
  isReached,
  type KnownFacts,
  type KnownPlace,
  knownFacts,
  type SoughtFact,
  similarTo,
} from './known-facts.js';
import { wasShown } from './shown-memories.js';

const MAX_NAME = 500;

/** A fact that is ready to be kept. */
interface Draft extends SoughtFact {
  readonly prepared: PreparedContent;
  readonly turns: readonly Turn[];
}

interface Extracting {
  /** With the reach of whom the facts are for: by it they are known or not. */
  readonly reader: Call;
  readonly task: Task;
  readonly scope: ScopeRow;
  readonly extraction: Extraction;
  readonly trajectories: ReadonlyMap<string, TrajectoryRow>;
  readonly comparisons: Comparisons;
  readonly twins: Twins;
}

/** How facts of one extraction stand to earlier ones of it, where they are not different. */
type Twins = ReadonlyMap<Draft, ReadonlyMap<Draft, FactRelation>>;

const refOf = (turn: Turn): EntityRef => ({ entity_type: 'Turn', entity_id: turn.turn_id });
const refTo = ({ kind, memory_id }: Pick<VersionRow, 'kind' | 'memory_id'>): EntityRef => ({
  entity_type: kind === 'note' ? 'Note' : 'Artifact',
  entity_id: memory_id,
});

const nameOf = ({ title }: ExtractedFact): string => startOf(title, MAX_NAME);

async function draftOf(
  call: Call,
  reader: Call,
  fact: ExtractedFact,
  turns: ReadonlyMap<string, Turn>,
): Promise<Draft> {
  const { bytes: _, ...prepared } = await prepareContent(call, fact.content, nameOf(fact));
  const said = fact.source_ids.map((id) => turns.get(id)!);
  return {
    fact,
    key: factKey(call.meta.erasure_key, call.tenant, fact),
    prepared,
    similar: await similarTo(reader, fact),
    turns: said,
    repeatable: said.every(({ role }) => role !== 'User'),
  };
}

/** Keeps a new fact, linked to its turns and to what it contradicts. */
async function keepFact(
  work: Work,
  { task, scope, extraction }: Extracting,
  draft: Draft,
  contradicted: readonly KnownPlace[],
): Promise<Memory> {
  const { tx } = work;
  const { fact, prepared, turns } = draft;
  const { trajectory_id, scope_id } = scope;
  const agent_id = task.agent_id ?? scope.agent_id;
  const source_turn = turns[0]!.sequence;
  const isNote = fact.kind === 'note';
  const metadata = {
    fact: factFields(fact),
    times_seen: 1,
    ...(isNote ? { extraction_method: 'Inferred', source_turn, scope_id } : {}),
    ...(fact.happens_at === undefined ? {} : { happens_at: fact.happens_at }),
    ...(fact.language === undefined ? {} : { language: fact.language }),
    ...howMade(task, extraction.cost, extraction.fallback_reason),
  };
  const memory = {
    memory_id: undefined,
    sent_hash: null,
    agent_id,
    fields: persistent({
      type: fact.type,
      name: nameOf(fact),
      abstraction_level: 'L0',
      provenance: isNote ? { confidence: fact.confidence } : inferred(source_turn, fact.confidence),
      metadata,
    }),
    prepared,
    place: async (_work: Work, memory_id: string) => {
      const own = refTo({ kind: fact.kind, memory_id });
      const edges = contradicted.map((row) => linkEdge('Contradicts', own, refTo(row), agent_id));
      const from = turns.map(refOf);
      const where = { thread_id: trajectory_id, edges };
      return isNote
        ? {
            ...where,
            trajectory_id: null,
            scope_id: null,
            held_by: noteHolder(memory_id),
            sources: [{ entity_type: 'Trajectory', entity_id: trajectory_id } as const, ...from],
          }
        : { ...where, trajectory_id, scope_id, held_by: trajectoryHolder(trajectory_id), sources: from };
    },
  };
  const kept: Memory = isNote
    ? await createMemory(work, noteNoun, memory)
    : await createMemory(work, artifactNoun, memory);
  await noteFact(tx, draft.key, idOf(kept));
  return kept;
}

const idOf = (memory: Memory): string => ('note_id' in memory ? memory.note_id : memory.artifact_id);

/** What was seen again is surer than before, and never quite sure. */
const surer = (before: number | null, seen: number): number =>
  Math.min(0.99, Math.round((1 - (1 - (before ?? 0.5)) * (1 - seen / 2)) * 1000) / 1000);

/** Strengthens what is known: new turns support it, it is surer and was seen once more. */
async function strengthen(
  work: Work,
  { reader, task, scope, trajectories }: Extracting,
  { fact, turns }: Draft,
  row: KnownPlace,
): Promise<void> {
  const { tx } = work;
  const agent_id = task.agent_id ?? scope.agent_id;
  const edges = turns.map((turn) => linkEdge('Supports', refOf(turn), refTo(row), agent_id));
  await linkAll(work, edges, scope.trajectory_id);
  // What is in a finished trajectory, or in one that is not locked, stays as it is; so does what is not the caller's to change.
  const trajectory = row.trajectory_id === null ? undefined : trajectories.get(row.trajectory_id);
  const fixed = row.trajectory_id !== null && (!trajectory || isFinished(trajectory));
  if (fixed || !(await isReached(reader, tx, row, 'write'))) return;
  const patch = {
    memory_id: row.memory_id,
    version: undefined,
    ttl: undefined,
    prepared: undefined,
    next: (current: Parameters<Parameters<typeof updateMemory>[2]['next']>[0]) => {
      const before = current.provenance.confidence;
      const seen = current.metadata.times_seen;
      return {
        ...current,
        provenance: {
          ...current.provenance,
          confidence: surer(typeof before === 'number' ? before : null, fact.confidence),
        },
        metadata: { ...current.metadata, times_seen: (typeof seen === 'number' ? seen : 1) + 1 },
      };
    },
  };
  if (row.kind === 'note') await updateMemory(work, noteNoun, patch);
  else await updateMemory(work, artifactNoun, patch);
}

/**
 * Whether it is only repeated, which is no evidence: no User says it, and it was kept before it was said, whichever way it
 * was recalled; or what it was learned from stood in a context of the trajectory by then.
 */
async function isEcho(
  tx: Tx,
  { turns, repeatable }: Draft,
  { trajectory_id }: ScopeRow,
  known: readonly KnownPlace[],
): Promise<boolean> {
  if (!repeatable) return false;
  const until = Math.min(...turns.map(({ created_at }) => Date.parse(created_at)));
  if (known.some(({ created_at }) => created_at <= until)) return true;
  for (const { memory_id } of known) if (await wasShown(tx, memory_id, { trajectory_id, until })) return true;
  return false;
}

/** Of the facts before it that one fact is compared with: as many as a text of some pages holds. */
const MAX_TWINS = 200;

/** Compares the facts of one extraction with each other, before the transaction. */
async function twinsAmong(drafts: readonly Draft[], give_way: GiveWay): Promise<Twins> {
  const twins = new Map<Draft, Map<Draft, FactRelation>>();
  for (const [at, draft] of drafts.entries()) {
    const own = new Map<Draft, FactRelation>();
    for (const earlier of drafts.slice(Math.max(0, at - MAX_TWINS), at)) {
      await give_way();
      const relation = sameFact(draft.fact, earlier.fact);
      if (relation !== 'different') own.set(earlier, relation);
    }
    twins.set(draft, own);
  }
  return twins;
}

/** What is known of a fact, what was kept of it a moment ago included. */
function withKept(known: KnownFacts, draft: Draft, { twins }: Extracting, kept: Kept): KnownFacts {
  if (known.same) return known;
  const contradicted: KnownPlace[] = [...known.contradicted];
  for (const [earlier, relation] of twins.get(draft)!) {
    const place = kept.get(earlier);
    if (!place) continue;
    if (relation === 'same') return { same: place, contradicted: [], telling: [] };
    // Under the same key it was found already.
    if (!contradicted.some(({ memory_id }) => memory_id === place.memory_id)) contradicted.push(place);
  }
  return { ...known, contradicted };
}

/** What was made in this transaction, by its draft. */
type Kept = ReadonlyMap<Draft, KnownPlace>;

async function keepFacts(
  work: Work,
  extracting: Extracting,
  drafts: readonly Draft[],
): Promise<Pick<Outcome, 'made' | 'strengthened' | 'contradictions' | 'artifacts' | 'notes'>> {
  const { tx, now } = work;
  const kept: Memory[] = [];
  const places = new Map<Draft, KnownPlace>();
  const strengthened: Made[] = [];
  let contradictions = 0;
  const { reader, scope, comparisons } = extracting;
  await lockFacts(
    tx,
    drafts.map(({ key }) => key),
  );
  for (const draft of drafts) {
    const stored = await knownFacts(reader, tx, draft, comparisons, now);
    const known = withKept(stored, draft, extracting, places);
    const { same, contradicted } = known;
    if (await isEcho(tx, draft, scope, same ? [same] : known.telling)) continue;
    if (!same) {
      const made = await keepFact(work, extracting, draft, contradicted);
      for (const { memory_id } of contradicted)
        kept.find((one) => idOf(one) === memory_id)?.contradicted_by.push(idOf(made));
      kept.push(made);
      const { trajectory_id } = scope;
      const kind = draft.fact.kind;
      places.set(draft, {
        memory_id: idOf(made),
        kind,
        trajectory_id: kind === 'note' ? null : trajectory_id,
        created_at: now,
      });
      if (contradicted.length > 0) contradictions++;
    } else if (!kept.some((one) => idOf(one) === same.memory_id)) {
      await strengthen(work, extracting, draft, same);
      strengthened.push({ kind: same.kind, id: same.memory_id });
    }
  }
  return {
    made: kept.map((one): Made => ({ kind: 'note_id' in one ? 'note' : 'artifact', id: idOf(one) })),
    strengthened,
    contradictions,
    artifacts: kept.filter((one) => 'artifact_id' in one),
    notes: kept.filter((one) => 'note_id' in one),
  };
}

const NOTHING_NEW = 'there are no turns that were not looked at yet';
const NOTHING_SAID = 'nothing in the turns is a fact';
const GONE = 'its trajectory was deleted';
const COVERED = 'the same turns were looked at meanwhile';

/** The trajectories of what may be strengthened, and that of the scope: all are locked first. */
async function trajectoriesOf(call: Call, scope: ScopeRow, drafts: readonly Draft[]): Promise<string[]> {
  const { driver, tenant } = call;
  const ids = new Set([scope.trajectory_id]);
  for (const { key } of drafts)
    for (const row of await placesByFact(driver.at(tenant), key, driver.now()))
      if (row.trajectory_id !== null) ids.add(row.trajectory_id);
  return [...ids];
}

export async function extractFacts(call: Call, task: Task, attempt: Attempt): Promise<Ready> {
  const { driver, tenant } = call;
  const scope = await findScope(driver.at(tenant), task.scope_id!);
  if (!scope || scope.deleted_at !== null) return ready(nothingMade(GONE));
  const { max_sources } = task.settings;
  const to_end = task.trigger_type === 'ScopeClose' || scope.closed_at !== null;
  const turns = await turnsToTake(call, scope, scope.extracted_turns, max_sources, to_end);
  if (turns.length === 0) return ready(nothingMade(NOTHING_NEW));
  const request = { sources: sourcesOf(turns, scope.trajectory_id), recalled: recalledIn(turns) };
  const extraction = await factsOf(call, request, attempt);
  const byId = new Map(turns.map((turn) => [turn.turn_id, turn]));
  // What Cairn or the tenant extracts for an agent is that agent's: what it may not read says nothing about it.
  const reader = await withReachOf(call, task.agent_id ?? scope.agent_id);
  const drafts: Draft[] = [];
  for (const fact of extraction.facts) drafts.push(await draftOf(call, reader, fact, byId));
  const give_way = givingWay(attempt.signal);
  const comparisons = await compareKnown(call, drafts, give_way);
  const twins = await twinsAmong(drafts, give_way);
  const trajectory_ids = await trajectoriesOf(call, scope, drafts);
  let trajectories: ReadonlyMap<string, TrajectoryRow> = new Map();
  let locked: ScopeRow | undefined;
  return {
    bytes: drafts.reduce((sum, { prepared }) => sum + prepared.content.length, 0),
    cost: extraction.cost,
    lock: async (tx) => {
      trajectories = await lockTrajectories(tx, trajectory_ids);
      locked = await lockScope(tx, scope.scope_id);
    },
    write: async (work) => {
      const { tx } = work;
      const { cost, fallback_reason } = extraction;
      if (!trajectories.has(scope.trajectory_id) || !locked) return nothingMade(GONE, cost);
      if (locked.extracted_turns !== scope.extracted_turns) {
        if (task.trigger_type === 'Manual') throw new Changed(COVERED);
        return nothingMade(COVERED, cost);
      }
      await noteCovered(tx, { ...locked, extracted_turns: turns.at(-1)!.sequence });
      const extracting = { reader, task, scope: locked, extraction, trajectories, comparisons, twins };
      const kept = await keepFacts({ ...work, call }, extracting, drafts);
      const reason = fallback_reason ?? (drafts.length === 0 ? NOTHING_SAID : null);
      return { ...kept, sources: turns.map(refOf), cost, reason };
    },
  };
}
