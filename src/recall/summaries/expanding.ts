/** Expanding a summary, a principle or a fact to what it was made from, while that exists. */
import type { z } from 'zod';
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { artifactNoun, erased, linksOf, type Memory, type Noun, noteNoun, notFound } from '../../memory/index.js';
import { type EntityRef, findMemory, lives, scopesReached, type VersionRow } from '../../memory/sql.js';
import { currentMemories } from '../extraction/fact-keys.js';
import { isReached } from '../extraction/known-facts.js';
import type { artifactSources, noteSources } from '../jobs/contract.js';
import type { Expanded } from '../jobs/model.js';
import { findJob, resultOf, sourcesOf } from '../jobs/store.js';
import { readableTurns } from './sources-store.js';

type Source = Expanded['sources'][number];

const EXPANDED = ['Turn', 'Artifact', 'Note'];

/** What its edges say; where there are none, what the job that made it kept of it. */
async function refsOf(query: Query, row: VersionRow): Promise<EntityRef[]> {
  const { memory_id } = row;
  const links = await linksOf(query, [memory_id], ['SynthesizedFrom', 'DerivedFrom']);
  const linked = links.filter(({ of_position, entity_type }) => of_position === 1 && EXPANDED.includes(entity_type));
  if (linked.length > 0) return linked.map(({ entity_type, entity_id }) => ({ entity_type, entity_id }));
  const { job_id } = JSON.parse(row.metadata ?? '{}') as { job_id?: unknown };
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
  throw new CairnError('FORBIDDEN', `it was made from ${what} that this agent may not read`, {
    rule: 'memory_access',
    need: 'read',
  });
}

async function turnSources(call: Call, query: Query, ids: readonly string[]): Promise<Source[]> {
  const turns = await readableTurns(query, ids, call.driver.now());
  const reach = reachOf(call, 'Turn');
  if (reach && turns.length > 0) {
    const scope_ids = [...new Set(turns.map(({ scope_id }) => scope_id))];
    const reached = await scopesReached(query, scope_ids, reach);
    if (scope_ids.some((id) => !reached.has(id))) refuseBeyond('turns');
  }
  return turns.map((turn) => ({
    entity_type: 'Turn',
    id: turn.turn_id,
    name: null,
    content: turn.content,
    scope_id: turn.scope_id,
    sequence: turn.sequence,
    role: turn.role,
    created_at: turn.created_at,
  }));
}

async function memorySources(call: Call, query: Query, ids: readonly string[]): Promise<Source[]> {
  const rows = await currentMemories(query, ids, call.driver.now());
  for (const row of rows) if (!(await isReached(call, query, row, 'read'))) refuseBeyond(`${row.kind}s`);
  return rows.map(memorySource);
}

async function expand<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  memory_id: string,
  left: boolean | undefined,
): Promise<Expanded> {
  return call.driver.snapshot(call.tenant, async (query) => {
    const row = await findMemory(query, memory_id);
    if (!row || row.kind !== noun.kind) throw notFound(call, noun, memory_id);
    if (!lives(row, call.driver.now())) throw erased(noun.kind, memory_id);
    const refs = await refsOf(query, row);
    const idsOf = (types: readonly string[]) =>
      refs.filter(({ entity_type }) => types.includes(entity_type)).map(({ entity_id }) => entity_id);
    const found = new Map(
      [
        ...(await turnSources(call, query, idsOf(['Turn']))),
        ...(await memorySources(call, query, idsOf(['Artifact', 'Note']))),
      ].map((one) => [one.id, one]),
    );
    const gone = refs.filter(({ entity_id }) => !found.has(entity_id));
    if (gone.length > 0 && !left) throw goneOf(noun.kind, memory_id, gone, found.size);
    return { sources: refs.flatMap(({ entity_id }) => found.get(entity_id) ?? []) };
  });
}

const goneOf = (kind: string, memory_id: string, gone: readonly EntityRef[], left: number): CairnError => {
  const names = gone.slice(0, 3).map(({ entity_type, entity_id }) => `${entity_type} ${entity_id}`);
  return new CairnError(
    'CONTENT_ERASED',
    `${gone.length} of the sources of ${kind} ${memory_id} are gone: ${names.join(', ')}; ${left} are left: ask for those with left`,
    { sources: gone.map(({ entity_type, entity_id }) => ({ entity_type, entity_id })), left },
  );
};

export const expandArtifact = (
  call: Call,
  { artifact_id, left }: z.output<(typeof artifactSources)['expand']['input']>,
): Promise<Expanded> => expand(call, artifactNoun, artifact_id, left);

export const expandNote = (
  call: Call,
  { note_id, left }: z.output<(typeof noteSources)['expand']['input']>,
): Promise<Expanded> => expand(call, noteNoun, note_id, left);
