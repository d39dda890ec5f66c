/** Use cases of searching. The work is done by job.ts, beside the event loop. */
import { thoughtOf } from '../../checkpoints/sql.js';
import type { In } from '../../engine/contract.js';
import { type Call, indexKey } from '../../engine/index.js';
import { cardReachOf, reachOf } from '../../identity/index.js';
import { embedding, vectorIndexing } from '../../index/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, indexedType, type SearchedType, shownType, toIso } from '../../kernel/index.js';
import { decodeCursor, encodeCursor, seal, unseal } from '../../kernel/node.js';
import { VECTOR_WEIGHT } from '../ranking/fusion.js';
import type { Likeness } from '../vectors/nearest.js';
import type { Viewer } from './conditions.js';
import type { SearchAnswer, SearchHit, SearchRequest, Shows } from './job.js';
import type { SearchOutput } from './model.js';
import type { Place } from './pages.js';
import { readPlace, writePlace } from './places.js';

const JOB = new URL('./job.js', import.meta.url);
const LIMIT = 10;
/** Behind so many no page begins: whoever wants more asks more narrowly. */
const MAX_DEPTH = 1000;

function viewerOf(call: Call): Viewer | null {
  const agent_id = call.caller.agent_id ?? call.acting?.agent_id ?? null;
  if (agent_id === null) return null;
  return {
    agent_id,
    turn: reachOf(call, 'Turn'),
    artifact: reachOf(call, 'Artifact'),
    note: reachOf(call, 'Note'),
    packet: reachOf(call, 'Packet'),
    thought: reachOf(call, 'Checkpoint'),
    card: cardReachOf(call),
  };
}

export interface Found {
  readonly hits: readonly SearchHit[];
  readonly next_cursor: string | null;
  readonly total: number | null;
}

/** Searches as this caller: what it may not see is neither found nor counted. */
export async function find(call: Call, input: In<'search.query'>, shows: Shows, once = false): Promise<Found> {
  const { cursor, limit = LIMIT, min_score = 0, ...asked } = input;
  const filters = JSON.parse(JSON.stringify({ ...asked, min_score })) as Json;
  const place = cursor === undefined ? undefined : placeOf(call, filters, cursor);
  const request: SearchRequest = {
    ...asked,
    entity_types: asked.entity_types?.map(indexedType),
    tenant: call.tenant,
    store: call.meta.store_epoch,
    index_key: indexKey(call.meta, call.tenant),
    in_order: call.driver.dialect === 'sqlite',
    now: call.driver.now(),
    viewer: viewerOf(call),
    min_score,
    limit,
    place,
    once,
    shows,
    likeness: await likenessOf(call, input.query, place),
  };
  const { hits, next, total } = await answerTo(call, request);
  const more = next !== null && next.shown < MAX_DEPTH;
  // Numbers of documents count all tenants: they are for nobody to read.
  const next_cursor = more
    ? encodeCursor(call, filters, seal(call.meta.erasure_key, call.tenant, writePlace(next)))
    : null;
  return { hits, next_cursor, total };
}

async function answerTo(call: Call, request: SearchRequest): Promise<SearchAnswer> {
  const { driver, tenant } = call;
  const { likeness } = request;
  try {
    return await driver.away<SearchAnswer>(tenant, JOB, request);
  } catch (error) {
    if (!likeness?.operators || error instanceof CairnError) throw error;
    // They may have been taken away since they were last looked for.
    vectorIndexing.find(call)?.forget();
    const compared = { ...likeness, operators: undefined };
    return driver.away<SearchAnswer>(tenant, JOB, { ...request, likeness: compared });
  }
}

/** The question's vector; without an embedder, or one that answers in time, terms alone are searched by. */
async function likenessOf(call: Call, query: string, place: Place | undefined): Promise<Likeness | undefined> {
  const asked = query.trim() === '' ? undefined : embedding.find(call);
  const vector = await asked?.question(query);
  if (vector) {
    const { name: model, weight = VECTOR_WEIGHT } = asked!.embedder;
    const { operators } = vectorIndexing.of(call);
    return { model, weight, vector, dialect: call.driver.dialect, operators };
  }
  // By terms alone it would be another ranking, which repeats some of what was shown and leaves some out.
  if (place?.measures)
    throw new CairnError(
      'MODEL_FAILED',
      'the embedder by which the first page was ranked gave no vector for the question: try again, or start without a cursor',
      { reason: 'no vector for the question' },
    );
  return undefined;
}

function placeOf(call: Call, filters: Json, cursor: string): Place {
  const sealed = decodeCursor(call, filters, cursor, 'string') as string;
  const text = unseal(call.meta.erasure_key, call.tenant, sealed) ?? '';
  const place = readPlace(text);
  if (place && place.shown < MAX_DEPTH) return place;
  throw new CairnError('INVALID_CURSOR', 'the cursor was not made by this search: start without one');
}

/** What all that was found says of itself. */
export const describeHit = ({ doc, why, related }: SearchHit) => ({
  entity_type: shownType(doc.entity_type),
  id: doc.entity_id,
  checkpoint_id: doc.entity_type === 'thought' ? thoughtOf(doc.content_id)[0] : null,
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
  const { hits, next_cursor, total } = await find(call, input, 'snippet');
  const results = hits.map((hit) => ({ ...describeHit(hit), snippet: hit.snippet, highlights: hit.highlights }));
  return { results, next_cursor, total };
}

/** Among the entities of one type. */
export const searchAmong =
  (type: SearchedType) =>
  (call: Call, input: Omit<In<'search.query'>, 'entity_types'>): Promise<SearchOutput> =>
    query(call, { ...input, entity_types: [type] });

export interface SoughtEntities {
  readonly query: string;
  readonly entity_types?: SearchedType[] | undefined;
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly filters?: In<'search.query'>['filters'];
  readonly min_score?: number | undefined;
  readonly limit: number;
}

/** What answers best, of all that this caller may read: for use cases that read it themselves. */
export async function findEntities(call: Call, sought: SoughtEntities): Promise<readonly SearchHit[]> {
  return (await find(call, sought as In<'search.query'>, 'nothing')).hits;
}
