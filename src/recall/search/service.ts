/** Use cases of searching. job.ts does the work, off the event loop. */
import { parseThoughtContentId } from '../../checkpoints/sql.js';
import type { In } from '../../engine/contract.js';
import { type Call, indexKey } from '../../engine/index.js';
import { cardReachOf, reachOf, userReachOf } from '../../identity/index.js';
import { embedding, vectorIndexing } from '../../index/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, indexedType, type SearchedType, shownType, toIso } from '../../kernel/index.js';
import { decodeCursor, encodeCursor, seal, unseal } from '../../kernel/node.js';
import { VECTOR_WEIGHT } from '../ranking/fusion.js';
import type { QuestionVector } from '../vectors/nearest.js';
import type { Viewer } from './conditions.js';
import type { HitDetail, SearchAnswer, SearchHit, SearchRequest } from './job.js';
import type { SearchOutput } from './model.js';
import { type PagePosition, readPosition, writePosition } from './pages.js';

const JOB = new URL('./job.js', import.meta.url);
const DEFAULT_LIMIT = 10;
/** Maximum paging depth. */
const MAX_DEPTH = 1000;

/** Null for a caller that may read everything. */
export function viewerOf(call: Call): Viewer | null {
  const agent_id = call.caller.agent_id ?? call.acting?.agent_id ?? null;
  const user = userReachOf(call);
  if (agent_id === null && user === undefined) return null;
  return {
    agent_id,
    user,
    turn: reachOf(call, 'Turn'),
    artifact: reachOf(call, 'Artifact'),
    note: reachOf(call, 'Note'),
    packet: reachOf(call, 'Packet'),
    thought: reachOf(call, 'Checkpoint'),
    card: cardReachOf(call),
  };
}

type HitPage = Pick<SearchOutput, 'next_cursor' | 'total'> & { readonly hits: readonly SearchHit[] };

/** Searches as the caller: entities that it may not see are neither found nor counted. */
export async function searchHits(
  call: Call,
  input: In<'search.query'> & { readonly min_confidence?: number | undefined },
  detail: HitDetail,
  is_recall = false,
): Promise<HitPage> {
  const { cursor, limit = DEFAULT_LIMIT, min_score = 0, ...asked } = input;
  const filters = JSON.parse(JSON.stringify({ ...asked, min_score })) as Json;
  const after = cursor === undefined ? undefined : positionOf(call, filters, cursor);
  const request: SearchRequest = {
    ...asked,
    entity_types: asked.entity_types?.map(indexedType),
    tenant: call.tenant,
    store: call.meta.store_epoch,
    index_key: indexKey(call.meta, call.tenant),
    now: call.driver.now(),
    viewer: viewerOf(call),
    min_score,
    limit,
    after,
    merge_repeats: is_recall,
    with_guesses: is_recall,
    detail,
    vector: await vectorOf(call, input.query, after),
  };
  const { hits, next, total } = await answerTo(call, request);
  if (next === null || next.shown >= MAX_DEPTH) return { hits, next_cursor: null, total };
  // Encrypted: document numbers count what the caller may not see.
  const sealed = seal(call.meta.erasure_key, call.tenant, writePosition(next));
  return { hits, next_cursor: encodeCursor(call, filters, sealed), total };
}

async function answerTo(call: Call, request: SearchRequest): Promise<SearchAnswer> {
  const { driver, tenant } = call;
  const { vector } = request;
  try {
    return await driver.away<SearchAnswer>(tenant, JOB, request);
  } catch (error) {
    if (!vector?.operators || error instanceof CairnError) throw error;
    // The extension with the operators may have been dropped since it was last looked up.
    vectorIndexing.find(call)?.forget();
    return driver.away<SearchAnswer>(tenant, JOB, { ...request, vector: { ...vector, operators: undefined } });
  }
}

/** Undefined without an embedder or if it does not answer in time: then terms alone count. */
async function vectorOf(
  call: Call,
  query: string,
  after: PagePosition | undefined,
): Promise<QuestionVector | undefined> {
  const asked = query.trim() === '' ? undefined : embedding.find(call);
  const vector = await asked?.question(query);
  if (vector) {
    const { name: model, weight = VECTOR_WEIGHT } = asked!.embedder;
    const { operators } = vectorIndexing.of(call);
    return { model, weight, vector, dialect: call.driver.dialect, operators };
  }
  if (!after?.measures) return undefined;
  // Terms alone would give another ranking, which repeats some results and omits others.
  throw new CairnError(
    'MODEL_FAILED',
    'the embedder that ranked the first page returned no vector for the question: try again, or start without a cursor',
    { reason: 'no vector for the question' },
  );
}

function positionOf(call: Call, filters: Json, cursor: string): PagePosition {
  const sealed = decodeCursor(call, filters, cursor, 'string') as string;
  const text = unseal(call.meta.erasure_key, call.tenant, sealed) ?? '';
  const position = readPosition(text);
  if (position && position.shown < MAX_DEPTH) return position;
  throw new CairnError('INVALID_CURSOR', '`cursor` does not belong to this search: start without one');
}

export const describeHit = ({ doc, why, related }: SearchHit) => ({
  entity_type: shownType(doc.entity_type),
  id: doc.entity_id,
  checkpoint_id: doc.entity_type === 'thought' ? parseThoughtContentId(doc.content_id)[0] : null,
  name: doc.name,
  score: why.score,
  matched: [...why.matched],
  nearby: [...why.nearby],
  boosts: why.boosts.map((boost) => ({ ...boost })),
  type: doc.type,
  trajectory_id: doc.trajectory_id,
  scope_id: doc.scope_id,
  sequence: doc.position,
  role: doc.role,
  speaker: doc.speaker,
  agent_id: doc.agent_id,
  abstraction_level: doc.abstraction_level,
  category: doc.category,
  tags: doc.tags === null ? [] : (JSON.parse(doc.tags) as string[]),
  occurred_at: toIso(doc.occurred_at),
  created_at: toIso(doc.created_at),
  related: related.map((one) => ({ ...one, entity_type: shownType(one.entity_type) })),
});

export async function query(call: Call, input: In<'search.query'>): Promise<SearchOutput> {
  const { hits, next_cursor, total } = await searchHits(call, input, 'snippet');
  const results = hits.map((hit) => ({ ...describeHit(hit), snippet: hit.snippet, highlights: hit.highlights }));
  return { results, next_cursor, total };
}

export const searchAmong =
  (type: SearchedType) =>
  (call: Call, input: Omit<In<'search.query'>, 'entity_types'>): Promise<SearchOutput> =>
    query(call, { ...input, entity_types: [type] });

export type EntitySearch = Omit<In<'search.query'>, 'cursor' | 'limit'> & { readonly limit: number };

/** The best hits without snippets, for use cases that read the contents themselves. */
export const findEntities = async (call: Call, search: EntitySearch): Promise<readonly SearchHit[]> =>
  (await searchHits(call, search, 'nothing')).hits;
