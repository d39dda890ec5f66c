/** Walking from an entity along edges. */
import { atLength, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, inChunks } from '../../engine/index.js';
import { momentFor, readableEdges } from '../entities/access.js';
import { type EntityRef, entityKey, knownEntities, nameOf } from '../entities/store.js';
import type { Edge } from './model.js';
import { idOf } from './service.js';
import { type EdgeRow, edgeBytes, findEdges, toEdge } from './store.js';
import { edgesBetween, nextEntities, type Step } from './walks-store.js';

/** How many edges a walk shows at most. */
const WALK_EDGES = 1000;

/** Depth by depth, so that its cost is what it meets: what a step leads to, and by which edges. */
export async function traverse(call: Call, input: In<'edges.traverse'>): Promise<Out<'edges.traverse'>> {
  const { direction = 'both', edge_type, max_depth = 3, limit = 100 } = input;
  const { tenant } = call;
  const query = atLength(call.driver, tenant);
  const start = { entity_type: input.entity_type, entity_id: idOf(input.entity_id, input.entity_type) };
  const seen = [entityKey(start)];
  const entities: Out<'edges.traverse'>['entities'] = [];
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
    const between = await readableBetween(call, query, step, from, most + 1);
    truncated ||= between.length > most;
    for (const id of between.slice(0, most)) edge_ids.add(id);
    for (const one of from) {
      seen.push(entityKey(one));
      entities.push({ ...one, depth });
    }
  }
  const shown = await readEdges(call, query, [...edge_ids]);
  return { entities, edges: shown.edges, truncated: truncated || shown.truncated };
}

/**
 * Entities that a step leads to and the caller can read, up to a limit. An unreadable one, since it has ended with its
 * scope, say, is added to seen: nobody is led there, or past it. One that only hidden edges lead to is passed over here,
 * since a later step may reach it.
 */
async function nextReadable(call: Call, query: Query, step: Step, seen: string[], limit: number): Promise<EntityRef[]> {
  const found: EntityRef[] = [];
  const passedOver: string[] = [];
  const moment = momentFor(call);
  // Each look is wider, so that many who cannot be read are passed in a few.
  for (let width = limit; found.length < limit; width *= 4) {
    const passed = [...seen, ...passedOver, ...found.map(entityKey)];
    const next = await nextEntities(query, step, passed, width);
    const readable = await knownEntities(query, next, moment);
    const known = next.filter((one) => readable.has(nameOf(one)));
    const led = await ledTo(call, query, step, known);
    for (const one of next) {
      if (!readable.has(nameOf(one))) seen.push(entityKey(one));
      else if (led.has(entityKey(one))) found.push(one);
      else passedOver.push(entityKey(one));
    }
    if (next.length < width) break;
  }
  return found.slice(0, limit);
}

/** Edges of a step that are read at a time to find those that an agent may read. */
const EDGES_AT_A_TIME = 200;

/** The edges by which a step leads to these entities and that the caller may read, in pages; `left` may shrink meanwhile. */
async function* readableOf(
  call: Call,
  query: Query,
  step: Step,
  left: () => readonly EntityRef[],
): AsyncGenerator<readonly EdgeRow[]> {
  let after: string | undefined;
  while (left().length > 0) {
    const page = { limit: EDGES_AT_A_TIME, after };
    const ids = await edgesBetween(query, step, left(), page);
    yield await readableEdges(call, query, await findEdges(query, ids));
    if (ids.length < EDGES_AT_A_TIME) return;
    after = ids.at(-1);
  }
}

/** Keys of those entities that an edge leads to which the caller may read. */
async function ledTo(
  call: Call,
  query: Query,
  step: Step,
  entities: readonly EntityRef[],
): Promise<ReadonlySet<string>> {
  if (call.caller.agent_id === null) return new Set(entities.map(entityKey));
  const starts = new Set(step.from.map(entityKey));
  const led = new Set<string>();
  let left = entities;
  for await (const edges of readableOf(call, query, step, () => left)) {
    for (const { participants } of edges) {
      const [first, ...others] = participants.map(entityKey) as [string, ...string[]];
      if (step.direction !== 'in' && starts.has(first)) for (const one of others) led.add(one);
      if (step.direction !== 'out' && others.some((one) => starts.has(one))) led.add(first);
    }
    left = left.filter((one) => !led.has(entityKey(one)));
  }
  return led;
}

/** Ids of the edges by which a step leads to these and that the caller may read, up to a limit. */
async function readableBetween(
  call: Call,
  query: Query,
  step: Step,
  to: readonly EntityRef[],
  limit: number,
): Promise<string[]> {
  if (call.caller.agent_id === null) return edgesBetween(query, step, to, { limit });
  const found: string[] = [];
  for await (const edges of readableOf(call, query, step, () => to)) {
    found.push(...edges.map(({ edge_id }) => edge_id));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Edges in the order of the ids, as many as fit into an answer. */
async function readEdges(
  call: Call,
  query: Query,
  edge_ids: readonly string[],
): Promise<{ edges: Edge[]; truncated: boolean }> {
  const edges: Edge[] = [];
  let bytes = 0;
  for await (const rows of inChunks(edge_ids, (ids) => findEdges(query, ids), edgeBytes)) {
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
