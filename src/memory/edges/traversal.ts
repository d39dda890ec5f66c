/** Traversal: a breadth-first walk from an entity along edges. */

import { longQuery, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, inChunks } from '../../engine/index.js';
import { seesAll } from '../../identity/index.js';
import { momentFor, readableEdges } from '../entities/access.js';
import { type EntityRef, entityKey, knownEntities, nameOf } from '../entities/store.js';
import type { Edge } from './model.js';
import { idOf } from './service.js';
import { type EdgeRow, edgeBytes, findEdges, toEdge } from './store.js';
import { edgesBetween, nextEntities, type Step } from './traversal-store.js';

const MAX_EDGES = 1000;

/** Depth by depth, so that the cost is proportional to the entities met. */
export async function traverse(call: Call, input: In<'edges.traverse'>): Promise<Out<'edges.traverse'>> {
  const { direction = 'both', edge_type, max_depth = 3, limit = 100 } = input;
  const query = longQuery(call.driver, call.tenant);
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
    const edgesLeft = MAX_EDGES - edge_ids.size;
    const between = await readableBetween(call, query, step, from, edgesLeft + 1);
    truncated ||= between.length > edgesLeft;
    for (const id of between.slice(0, edgesLeft)) edge_ids.add(id);
    for (const one of from) {
      seen.push(entityKey(one));
      entities.push({ ...one, depth });
    }
  }
  const shown = await readEdges(call, query, [...edge_ids]);
  return { entities, edges: shown.edges, truncated: truncated || shown.truncated };
}

/**
 * Entities that a step leads to and the caller can read, up to a limit. Unreadable ones are added to `seen`, so that
 * the walk neither returns them nor passes them. An entity that only unreadable edges lead to is skipped here: a later
 * step can still reach it.
 */
async function nextReadable(call: Call, query: Query, step: Step, seen: string[], limit: number): Promise<EntityRef[]> {
  const found: EntityRef[] = [];
  const skipped: string[] = [];
  const moment = momentFor(call);
  // Each read is wider, so that a few reads get past many unreadable entities.
  for (let width = limit; found.length < limit; width *= 4) {
    const excluded = [...seen, ...skipped, ...found.map(entityKey)];
    const next = await nextEntities(query, step, excluded, width);
    const readable = await knownEntities(query, next, moment);
    const known = next.filter((one) => readable.has(nameOf(one)));
    const reached = await reachedByReadable(call, query, step, known);
    for (const one of next) {
      if (!readable.has(nameOf(one))) seen.push(entityKey(one));
      else if (reached.has(entityKey(one))) found.push(one);
      else skipped.push(entityKey(one));
    }
    if (next.length < width) break;
  }
  return found.slice(0, limit);
}

const EDGES_PER_READ = 200;

/** The readable edges by which a step leads to these entities, in pages; the caller may shrink `left` between pages. */
async function* readablePages(
  call: Call,
  query: Query,
  step: Step,
  left: () => readonly EntityRef[],
): AsyncGenerator<readonly EdgeRow[]> {
  let after: string | undefined;
  while (left().length > 0) {
    const ids = await edgesBetween(query, step, left(), { limit: EDGES_PER_READ, after });
    yield await readableEdges(call, query, await findEdges(query, ids));
    if (ids.length < EDGES_PER_READ) return;
    after = ids.at(-1);
  }
}

/** Keys of the entities that a readable edge of the step leads to. */
async function reachedByReadable(
  call: Call,
  query: Query,
  step: Step,
  entities: readonly EntityRef[],
): Promise<ReadonlySet<string>> {
  if (seesAll(call)) return new Set(entities.map(entityKey));
  const starts = new Set(step.from.map(entityKey));
  const reached = new Set<string>();
  let left = entities;
  for await (const edges of readablePages(call, query, step, () => left)) {
    for (const { participants } of edges) {
      const [first, ...others] = participants.map(entityKey) as [string, ...string[]];
      if (step.direction !== 'in' && starts.has(first)) for (const one of others) reached.add(one);
      if (step.direction !== 'out' && others.some((one) => starts.has(one))) reached.add(first);
    }
    left = left.filter((one) => !reached.has(entityKey(one)));
  }
  return reached;
}

/** Ids of the readable edges by which a step leads to these entities, up to a limit. */
async function readableBetween(
  call: Call,
  query: Query,
  step: Step,
  to: readonly EntityRef[],
  limit: number,
): Promise<string[]> {
  if (seesAll(call)) return edgesBetween(query, step, to, { limit });
  const found: string[] = [];
  for await (const edges of readablePages(call, query, step, () => to)) {
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
    // Some may have been deleted since the walk.
    for (const row of rows.filter(({ deleted_at }) => deleted_at === null)) {
      bytes += edgeBytes(row);
      if (bytes > call.limits.max_answer_bytes && edges.length > 0) return { edges, truncated: true };
      edges.push(toEdge(row));
    }
  }
  return { edges, truncated: false };
}
