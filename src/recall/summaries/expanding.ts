/** Expands a summary, principle or fact to its sources, while they exist. */
import { listToText, type Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, reachesSubjects } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, notFound, toIso } from '../../kernel/index.js';
import type { Turn } from '../../memory/contract.js';
import { contentErased, linksOf } from '../../memory/index.js';
import { type EntityRef, findMemory, isVersionLive, scopesReached, type VersionRow } from '../../memory/sql.js';
import { currentMemories } from '../extraction/fact-keys.js';
import { isReached } from '../extraction/known-facts.js';
import type { Expanded } from '../jobs/model.js';
import { findJob, resultOf, sourcesOf } from '../jobs/store.js';
import { readableTurns } from './sources-store.js';

type Source = Expanded['sources'][number];

const EXPANDED = ['Turn', 'Artifact', 'Note'];

/** The sources by its edges; without edges, those that its job recorded. */
async function refsOf(query: Query, { memory_id, metadata }: VersionRow): Promise<EntityRef[]> {
  const links = await linksOf(query, [memory_id], ['SynthesizedFrom', 'DerivedFrom']);
  const linked = links.filter(({ of_position, entity_type }) => of_position === 1 && EXPANDED.includes(entity_type));
  if (linked.length > 0) return linked.map(({ entity_type, entity_id }) => ({ entity_type, entity_id }));
  const { job_id } = JSON.parse(metadata ?? '{}') as { job_id?: unknown };
  const job = typeof job_id === 'string' ? await findJob(query, job_id) : undefined;
  return job && resultOf(job).made.some(({ id }) => id === memory_id) ? sourcesOf(job) : [];
}

const memorySource = (row: VersionRow): Source => ({
  entity_type: row.kind === 'note' ? 'Note' : 'Artifact',
  id: row.memory_id,
  name: row.name,
  content: JSON.parse(row.content!) as Json,
  scope_id: row.scope_id,
  sequence: null,
  role: null,
  created_at: toIso(row.created_at),
});

function refuseBeyond(what: string): never {
  const details = { rule: 'memory_access', need: 'read' };
  throw new CairnError('FORBIDDEN', `its sources include ${what} that this agent may not read`, details);
}

async function turnSources(call: Call, query: Query, ids: readonly string[]): Promise<Source[]> {
  const turns = await readableTurns(query, ids, call.driver.now());
  const reach = reachOf(call, 'Turn');
  if (reach && turns.length > 0) {
    const scope_ids = [...new Set(turns.map(({ scope_id }) => scope_id))];
    const reached = await scopesReached(query, scope_ids, reach);
    const isForeign = ({ subject_ids }: Turn) => !reachesSubjects(reach.user, listToText(subject_ids));
    if (scope_ids.some((id) => !reached.has(id)) || turns.some(isForeign)) refuseBeyond('turns');
  }
  return turns.map(({ turn_id: id, content, scope_id, sequence, role, created_at }) => {
    return { entity_type: 'Turn', id, name: null, content, scope_id, sequence, role, created_at };
  });
}

async function memorySources(call: Call, query: Query, ids: readonly string[]): Promise<Source[]> {
  const rows = await currentMemories(query, ids, call.driver.now());
  for (const row of rows) if (!(await isReached(call, query, row, 'read'))) refuseBeyond(`${row.kind}s`);
  return rows.map(memorySource);
}

function expand(call: Call, kind: VersionRow['kind'], memory_id: string, left: boolean | undefined): Promise<Expanded> {
  return call.driver.snapshot(call.tenant, async (query) => {
    const row = await findMemory(query, memory_id);
    if (row?.kind !== kind) throw notFound(call, kind, memory_id);
    if (!isVersionLive(row, call.driver.now())) throw contentErased(kind, memory_id);
    const refs = await refsOf(query, row);
    const turns = refs.filter(({ entity_type }) => entity_type === 'Turn');
    const memories = refs.filter(({ entity_type }) => entity_type === 'Artifact' || entity_type === 'Note');
    const sources = [
      ...(await turnSources(call, query, turns.map(idOf))),
      ...(await memorySources(call, query, memories.map(idOf))),
    ];
    const found = new Map(sources.map((one) => [one.id, one]));
    const gone = refs.filter(({ entity_id }) => !found.has(entity_id));
    if (gone.length > 0 && !left) throw sourcesGone(`${kind} ${memory_id}`, gone, found.size);
    return { sources: refs.flatMap(({ entity_id }) => found.get(entity_id) ?? []) };
  });
}

const idOf = ({ entity_id }: EntityRef): string => entity_id;

function sourcesGone(what: string, gone: readonly EntityRef[], left: number): CairnError {
  const sources = gone.map(({ entity_type, entity_id }) => ({ entity_type, entity_id }));
  const names = sources.slice(0, 3).map(({ entity_type, entity_id }) => `${entity_type} ${entity_id}`);
  return new CairnError(
    'CONTENT_ERASED',
    `${gone.length} of the sources of ${what} are gone: ${names.join(', ')}; set \`left\` to read the remaining ${left}`,
    { sources, left },
  );
}

export const expandArtifact = (call: Call, { artifact_id, left }: In<'artifacts.expand'>): Promise<Expanded> =>
  expand(call, 'artifact', artifact_id, left);

export const expandNote = (call: Call, { note_id, left }: In<'notes.expand'>): Promise<Expanded> =>
  expand(call, 'note', note_id, left);
