/** Walking from an entity along edges. */
import type { z } from 'zod';
import type { edges as operations } from '../contract/edges.js';
import { atLength, type Query } from '../driver/driver.js';
import type { Edge } from '../model/edge.js';
import { edgesBetween, nextEntities, type Step } from '../store/edge-walks.js';
import { edgeBytes, findEdges, toEdge } from '../store/edges.js';
import { type EntityRef, entityKey, knownEntities, nameOf } from '../store/entities.js';
import { inChunks } from './chunks.js';
import { idOf } from './edges.js';
import { momentFor, readableEdges } from './entity-access.js';
import type { Call } from './runtime.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;
type Out<V extends keyof typeof operations> = z.output<(typeof operations)[V]['output']>;

/** How many edges a walk shows at most. */
const WALK_EDGES = 1000;

/** Depth by depth, so that its cost is what it meets: what a step leads to, and by which edges. */
export async function traverse(call: Call, input: In<'traverse'>): Promise<Out<'traverse'>> {
  const { direction = 'both', edge_type, max_depth = 3, limit = 100 } = input;
  const { tenant } = call;
  const query = atLength(call.driver, tenant);
  const start = { entity_type: input.entity_type, entity_id: idOf(input.entity_id, input.entity_type) };
  const seen = [entityKey(start)];
  const entities: Out<'traverse'>['entities'] = [];
  const edge_ids = new Set<string>();
  let truncated = false;
  let from: readonly EntityRef[] = [start];
  for (let depth = 1; from.length > 0 && !truncated; depth++) {
    const step: Step = { from, direction, edge_type };
    const room = depth > max_depth ? 0 : limit - entities.length;
    const next = await nextReadable(call, query, step, seen, room + 1);
    truncated = next.length > room;
    from = next.slice(0, room);
    if (from.length === 0) break;
    const most = WALK_EDGES - edge_ids.size;
    const between = await edgesBetween(query, tenant, step, from, most + 1);
    truncated ||= between.length > most;
    const shown = await walkable(call, query, between.slice(0, most), from);
    from = shown.entities;
    for (const id of shown.edge_ids) edge_ids.add(id);
    for (const one of from) {
      seen.push(entityKey(one));
      entities.push({ ...one, depth });
    }
  }
  const shown = await readEdges(call, query, [...edge_ids]);
  return { entities, edges: shown.edges, truncated: truncated || shown.truncated };
}

/**
 * What a step leads to and can be read, up to a limit. What cannot, since it has ended with its scope, say, is noted as
 * seen: nobody is led there, or past it.
 */
async function nextReadable(
  call: Call,
  query: Query,
  step: Step,
  seen: string[],
  limit: number,
): Promise<EntityRef[]> {
  const found: EntityRef[] = [];
  const moment = momentFor(call);
  // Each look is wider, so that many who cannot be read are passed in a few.
  for (let width = limit; found.length < limit; width *= 4) {
    const passed = [...seen, ...found.map(entityKey)];
    const next = await nextEntities(query, call.tenant, step, passed, width);
    const readable = await knownEntities(query, call.tenant, next, moment);
    for (const one of next) {
      if (readable.has(nameOf(one))) found.push(one);
      else seen.push(entityKey(one));
    }
    if (next.length < width) break;
  }
  return found.slice(0, limit);
}

/** Of the edges of a step those that the caller may read, and the entities that they lead to. */
async function walkable(
  call: Call,
  query: Query,
  edge_ids: readonly string[],
  entities: readonly EntityRef[],
): Promise<{ edge_ids: readonly string[]; entities: readonly EntityRef[] }> {
  if (call.caller.agent_id === null) return { edge_ids, entities };
  const edges = await readableEdges(call, query, await findEdges(query, call.tenant, edge_ids));
  const led = new Set(edges.flatMap(({ participants }) => participants.map(entityKey)));
  return {
    edge_ids: edges.map(({ edge_id }) => edge_id),
    entities: entities.filter((one) => led.has(entityKey(one))),
  };
}

/** Edges in the order of the ids, as many as fit into an answer. */
async function readEdges(
  call: Call,
  query: Query,
  edge_ids: readonly string[],
): Promise<{ edges: Edge[]; truncated: boolean }> {
  const edges: Edge[] = [];
  let bytes = 0;
  for await (const rows of inChunks(edge_ids, (ids) => findEdges(query, call.tenant, ids), edgeBytes)) {
    for (const row of rows) {
      // Deleted since the walk.
      if (row.deleted_at !== null) continue;
      bytes += edgeBytes(row);
      if (bytes > call.limits.max_answer_bytes && edges.length > 0) return { edges, truncated: true };
      edges.push(toEdge(row));
    }
  }
  return { edges, truncated: false };
}
