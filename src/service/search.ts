/** Use cases of searching. The work is done by store/search-job.ts, beside the event loop. */
import type { z } from 'zod';
import type { search as operations } from '../contract/search.js';
import { decodeCursor, encodeCursor } from '../domain/cursor.js';
import { toIso } from '../model/common.js';
import { CairnError } from '../model/errors.js';
import type { Json } from '../model/json.js';
import type { SearchedType, SearchOutput } from '../model/search.js';
import type { Viewer } from '../store/search-conditions.js';
import type { SearchAnswer, SearchHit, SearchRequest } from '../store/search-job.js';
import { cardReachOf, reachOf } from './memory-access.js';
import type { Call } from './runtime.js';

type In = z.output<(typeof operations)['query']['input']>;

const JOB = new URL('../store/search-job.js', import.meta.url);
const LIMIT = 10;
/** Behind so many no page begins: whoever wants more asks more narrowly. */
const MAX_DEPTH = 1000;

function viewerOf(call: Call): Viewer | null {
  const { agent_id } = call.caller;
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
export async function find(call: Call, input: In, whole: boolean): Promise<Found> {
  const { cursor, limit = LIMIT, min_score = 0, ...asked } = input;
  const filters = JSON.parse(JSON.stringify({ ...asked, min_score })) as Json;
  const place = cursor === undefined ? undefined : placeOf(call, filters, cursor);
  const request: SearchRequest = {
    ...asked,
    tenant: call.tenant,
    store: call.meta.store_epoch,
    in_order: call.driver.dialect === 'sqlite',
    now: call.driver.now(),
    viewer: viewerOf(call),
    min_score,
    limit,
    after: place?.after ?? 0,
    up_to: place?.up_to,
    whole,
  };
  const { hits, next, up_to, total } = await call.driver.away<SearchAnswer>(call.tenant, JOB, request);
  const more = next !== null && next < MAX_DEPTH;
  return {
    hits,
    next_cursor: more ? encodeCursor(call.operation, filters, `${next}.${up_to}`) : null,
    total,
  };
}

/** The place in the ranking, and the newest document that counts: what came since does not move it. */
function placeOf(call: Call, filters: Json, cursor: string): { after: number; up_to: number } {
  const [after, up_to] = (decodeCursor(call.operation, filters, cursor, 'string') as string)
    .split('.')
    .map(Number) as [number, number];
  if (Number.isSafeInteger(after) && Number.isSafeInteger(up_to) && after > 0 && after < MAX_DEPTH)
    return { after, up_to };
  throw new CairnError('INVALID_CURSOR', 'the cursor was not made by this search: start without one');
}

/** What all that was found says of itself. */
export const describeHit = (hit: SearchHit) => ({
  entity_type: hit.entity_type,
  id: hit.entity_id,
  name: hit.name,
  score: hit.score,
  matched: [...hit.matched],
  nearby: [...hit.nearby],
  boosts: hit.boosts.map((boost) => ({ ...boost })),
  type: hit.type,
  trajectory_id: hit.trajectory_id,
  scope_id: hit.scope_id,
  sequence: hit.position,
  role: hit.role,
  speaker: hit.speaker,
  agent_id: hit.agent_id,
  abstraction_level: hit.abstraction_level,
  category: hit.category,
  tags: hit.tags === null ? [] : (JSON.parse(hit.tags) as string[]),
  occurred_at: toIso(hit.occurred_at),
  created_at: toIso(hit.created_at),
  related: hit.related.map((one) => ({ ...one })),
});

export async function query(call: Call, input: In): Promise<SearchOutput> {
  const { hits, next_cursor, total } = await find(call, input, false);
  const results = hits.map((hit) => ({
    ...describeHit(hit),
    snippet: hit.snippet,
    highlights: hit.highlights,
  }));
  return { results, next_cursor, total };
}

/** Among the entities of one type. */
export const searchAmong =
  (type: SearchedType) =>
  (call: Call, input: Omit<In, 'entity_types'>): Promise<SearchOutput> =>
    query(call, { ...input, entity_types: [type] });

/** A passage that answers, whole: for use cases that go on with it. */
export interface Hit extends ReturnType<typeof describeHit> {
  readonly card_id: string;
  readonly text: string;
}

export interface PassageRequest {
  readonly query: string;
  readonly entity_types?: SearchedType[] | undefined;
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly filters?: In['filters'];
  readonly min_score?: number | undefined;
  readonly limit: number;
}

/** The best passages that this caller may read, the best first. */
export async function findPassages(call: Call, request: PassageRequest): Promise<Hit[]> {
  const { hits } = await find(call, request as In, true);
  return hits.map((hit) => ({ ...describeHit(hit), card_id: hit.content_id, text: hit.text! }));
}
