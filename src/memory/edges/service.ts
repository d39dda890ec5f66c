/** Use cases of edges, except traversal. */

import { DriverError, longQuery, type Query, type Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  allSucceeded,
  type Call,
  change,
  equalsAnswer,
  event,
  listPage,
  type NewPacket,
  runEach,
  timesOf,
  totalBytes,
  type Work,
  withItemIndex,
} from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { ownerOf } from '../../facts/index.js';
import { seesAll } from '../../identity/index.js';
import { type Json, type JsonObject, newId, uuid } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, present, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { momentFor, refuseLinking, refuseUnreadableEdge } from '../entities/access.js';
import { idReused, idTaken } from '../entities/errors.js';
import { type EntityRef, entityKey, knownEntities, nameOf } from '../entities/store.js';
import { type Edge, type EdgeInput, type EdgeType, type EntityType, edgeInput } from './model.js';
import {
  countEdges,
  deleteEdges,
  type EdgeFilter,
  type EdgeRow,
  edgeBytes,
  findEdges,
  insertEdges,
  listEdges,
  lockEdges,
  type NewEdge,
  settleEdges,
  toEdge,
} from './store.js';
import { edgeThatCloses, lockGuard } from './traversal-store.js';

type Item = In<'edges.batch'>['items'][number];

const ACYCLIC_TYPES: readonly EdgeType[] = ['DerivedFrom', 'Supersedes'];

/** An edge, validated and hashed before the transaction. */
interface PreparedEdge extends Omit<NewEdge, 'edge_id'> {
  readonly input: EdgeInput;
  readonly edge_id: string | undefined;
  readonly bytes: number;
}

/** Ids of all types but cards are UUIDs, which are stored in lower case. */
export const idOf = (entity_id: string, entity_type: EntityType): string =>
  entity_type === 'Card' ? entity_id : entity_id.toLowerCase();

/** The stored spellings of an id. Without a type it can be the id of a card, which is stored as it was sent. */
function spellingsOf(entity_id: string, entity_type: EntityType | undefined): string[] {
  if (entity_type !== undefined) return [idOf(entity_id, entity_type)];
  return [...new Set([entity_id, uuid.safeParse(entity_id).data ?? entity_id])];
}

function prepare(call: Call, input: EdgeInput): PreparedEdge {
  const { edge_id, edge_type, weight = null, provenance, metadata = {} } = input;
  const agent_id = ownerOf(call, input.agent_id ?? undefined);
  const participants = input.participants.map(({ entity_type, entity_id, role = null }) => ({
    entity_type,
    entity_id: idOf(entity_id, entity_type),
    role,
  }));
  const keys = participants.map(entityKey);
  for (const [i, { entity_type, entity_id }] of participants.entries()) {
    if (keys.indexOf(keys[i]!) === i) continue;
    throw invalid(`participants[${i}] repeats ${entity_type} ${entity_id}: an edge links different entities`);
  }
  const body = canonical({
    weight,
    provenance: provenance
      ? {
          source_turn: provenance.source_turn ?? null,
          extraction_method: provenance.extraction_method ?? null,
          confidence: provenance.confidence ?? null,
        }
      : null,
    metadata,
  });
  // Only an id that the client chose can be sent again.
  const sent_hash = edge_id === undefined ? null : sha256(canonical({ ...input, edge_id: null } as unknown as Json));
  return { input, edge_id, edge_type, agent_id, participants, body, bytes: body.length, sent_hash };
}

/** An edge of the same commit has no time yet: a conflict makes the driver run the write again after the commit. */
function show(row: EdgeRow): Edge {
  if (row.created_at === PENDING)
    throw new DriverError('conflict', `edge ${row.edge_id} is being written by another call`);
  return toEdge(row);
}

async function readEdge(call: Call, query: Query, edge_id: string): Promise<Edge> {
  const [row] = await findEdges(query, [edge_id]);
  return show(present(call, 'edge', edge_id, row));
}

/** Refuses an existing id, unless it came from the same request by the same agent. */
function requireSame(row: EdgeRow, prepared: PreparedEdge): void {
  if (row.deleted_at !== null) throw idReused(`edge ${row.edge_id}`);
  const isSame = row.sent_hash === prepared.sent_hash || equalsAnswer(edgeInput, show(row), prepared.input);
  if (!isSame || row.agent_id !== prepared.agent_id) throw idTaken(`edge ${row.edge_id}`, 'use a new edge_id');
}

const readableAmong = ({ call, tx }: Work, entities: readonly EntityRef[]): Promise<Set<string>> =>
  knownEntities(tx, entities, momentFor(call));

function requireReadable(participants: readonly EntityRef[], readable: ReadonlySet<string>): void {
  const missing = participants.filter((one) => !readable.has(nameOf(one)));
  if (missing.length === 0) return;
  throw new CairnError(
    'UNKNOWN_ENTITY',
    `participants names ${missing.length} that do not exist or were deleted: ${missing.slice(0, 3).map(nameOf).join(', ')}`,
    { missing_entities: missing.map(({ entity_type, entity_id }) => ({ entity_type, entity_id })) },
  );
}

async function refuseCycle(tx: Tx, { edge_type, participants }: PreparedEdge): Promise<void> {
  if (!ACYCLIC_TYPES.includes(edge_type)) return;
  await lockGuard(tx, edge_type);
  const edge_id = await edgeThatCloses(tx, edge_type, participants);
  if (edge_id === undefined) return;
  throw new CairnError(
    'EDGE_CYCLE',
    `${edge_type} from ${nameOf(participants[0]!)} would close a cycle, since edge ${edge_id} leads back to it: reverse it, or delete that edge`,
    { edge_id },
  );
}

/** The changes of one transaction. Created edges get their time at the commit. */
class EdgeChanges {
  readonly created = new Map<string, Edge>();
  readonly deleted: string[] = [];
}

/** Creates an edge, or returns the existing one. All checks precede the first change. */
async function addEdge(
  tx: Tx,
  prepared: PreparedEdge,
  readable: (participants: readonly EntityRef[]) => Promise<ReadonlySet<string>>,
  { created }: EdgeChanges,
): Promise<Edge> {
  const { edge_type, agent_id, participants, body, sent_hash } = prepared;
  if (prepared.edge_id !== undefined) {
    const [existing] = await findEdges(tx, [prepared.edge_id]);
    if (existing) {
      requireSame(existing, prepared);
      return created.get(existing.edge_id) ?? show(existing);
    }
  }
  requireReadable(participants, await readable(participants));
  await refuseCycle(tx, prepared);
  const edge_id = prepared.edge_id ?? newId();
  const row = { edge_id, edge_type, agent_id, body, sent_hash, participants };
  await insertEdges(tx, [row]);
  const edge = toEdge({ ...row, created_at: PENDING, deleted_at: null });
  created.set(edge_id, edge);
  return edge;
}

/** Journals one event for the created edges and one for the deleted; each settles its edges. */
function journal(work: Work, { created, deleted }: EdgeChanges): void {
  const append = (packet_type: string, edge_ids: readonly string[], facts: JsonObject) => {
    const payload: JsonObject = edge_ids.length === 1 ? facts : { edge_ids: [...edge_ids] };
    const packet: NewPacket = {
      ...event(work, packet_type, { type: 'edge', id: edge_ids[0]! }, payload),
      settle: async (tx, recorded_at) => {
        await settleEdges(tx, edge_ids, recorded_at);
        for (const id of edge_ids) {
          const edge = created.get(id);
          if (edge) edge.created_at = toIso(recorded_at);
        }
      },
    };
    work.tx.journal(packet);
  };
  const [first] = created.values();
  if (first) {
    const participants = first.participants.map(({ entity_type, entity_id }) => ({ entity_type, entity_id }));
    append('cairn.edge.created', [...created.keys()], { edge_type: first.edge_type, participants });
  }
  if (deleted.length > 0) append('cairn.edge.deleted', deleted, {});
}

export async function create(call: Call, input: EdgeInput): Promise<Edge> {
  const prepared = prepare(call, input);
  await refuseLinking(call, prepared.edge_type, prepared.participants);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const changes = new EdgeChanges();
      const edge = await addEdge(work.tx, prepared, (ends) => readableAmong(work, ends), changes);
      journal(work, changes);
      return edge;
    },
    remember: ({ edge_id }) => edge_id,
    again: (query, kept) => readEdge(call, query, kept as string),
  });
}

export async function get(call: Call, input: In<'edges.get'>): Promise<Edge> {
  const query = call.driver.at(call.tenant);
  const edge = await readEdge(call, query, input.edge_id);
  await refuseUnreadableEdge(call, query, edge.participants);
  return edge;
}

export async function list(call: Call, input: In<'edges.list'>): Promise<Out<'edges.list'>> {
  const { edge_type, entity_id, entity_type } = input;
  if (entity_type !== undefined && entity_id === undefined) {
    throw invalid('entity_type is the type of entity_id: give both, or neither');
  }
  const entity_ids = entity_id === undefined ? undefined : spellingsOf(entity_id, entity_type);
  const { created_after, created_before } = timesOf(input);
  const viewer = seesAll(call) ? undefined : momentFor(call);
  const filter: EdgeFilter = { edge_type, entity_type, entity_ids, created_after, created_before, viewer };
  const query = longQuery(call.driver, call.tenant);
  const { rows, ...page } = await listPage<EdgeRow, string>(call, {
    input,
    filters: {
      edge_type: edge_type ?? null,
      entity_id: entity_ids ?? null,
      entity_type: entity_type ?? null,
      created_after: created_after ?? null,
      created_before: created_before ?? null,
    },
    key: 'string',
    keyOf: ({ edge_id }) => edge_id,
    read: (request) => listEdges(query, filter, request),
    bytesOf: edgeBytes,
    count: countEdges(filter),
  });
  // An edge that was deleted during the read has lost its body.
  return { edges: rows.filter(({ deleted_at }) => deleted_at === null).map(toEdge), ...page };
}

async function removeEdge({ call, tx }: Work, edge_id: string, { deleted }: EdgeChanges): Promise<void> {
  const ids = await deleteEdges(tx, [edge_id]);
  deleted.push(...ids);
  if (ids.length === 0 && (await findEdges(tx, [edge_id])).length === 0) throw notFound(call, 'edge', edge_id);
}

/** Deleting an edge needs the same access as creating it. Edges never change, so no lock is needed. */
async function refuseUnlinking(call: Call, edge_id: string): Promise<void> {
  if (seesAll(call)) return;
  const query = call.driver.at(call.tenant);
  const [row] = await findEdges(query, [edge_id]);
  if (!row || row.deleted_at !== null) return;
  await refuseUnreadableEdge(call, query, row.participants);
  await refuseLinking(call, row.edge_type, row.participants);
}

async function remove(call: Call, input: In<'edges.delete'>): Promise<void> {
  await refuseUnlinking(call, input.edge_id);
  await change(call, {
    input,
    work: async (work) => {
      const changes = new EdgeChanges();
      await removeEdge(work, input.edge_id, changes);
      journal(work, changes);
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

export async function batch(call: Call, input: In<'edges.batch'>): Promise<Out<'edges.batch'>> {
  if (input.atomic) return batchAtomic(call, input);
  const run = async (itemCall: Call, item: Item): Promise<Edge | null> => {
    if (item.operation === 'create') return create(itemCall, item.create);
    await remove(itemCall, { edge_id: item.edge_id });
    return null;
  };
  const about = (item: Item) => ({ changes: item.operation === 'create' ? item.create.edge_id : item.edge_id });
  return runEach(call, input, input.items, run, { stop_on_error: input.stop_on_error, noun: 'edge', about });
}

async function batchAtomic(call: Call, input: In<'edges.batch'>): Promise<Out<'edges.batch'>> {
  const prepared = input.items.map((item, i) =>
    item.operation === 'create' ? withItemIndex('items', i, () => prepare(call, item.create)) : item,
  );
  for (const [i, one] of prepared.entries())
    await withItemIndex('items', i, () =>
      'operation' in one ? refuseUnlinking(call, one.edge_id) : refuseLinking(call, one.edge_type, one.participants),
    );
  const created = prepared.filter((one): one is PreparedEdge => !('operation' in one));
  const edges = await change<(Edge | null)[]>(call, {
    input,
    bytes: totalBytes(created),
    work: async (work) => {
      const { tx } = work;
      const changes = new EdgeChanges();
      const readable = await readableAmong(
        work,
        created.flatMap(({ participants }) => participants),
      );
      // Always in this order, so that two batches cannot deadlock.
      for (const edge_type of ACYCLIC_TYPES)
        if (created.some((one) => one.edge_type === edge_type)) await lockGuard(tx, edge_type);
      const deleted = prepared.flatMap((one) => ('operation' in one ? [one.edge_id] : []));
      await lockEdges(tx, deleted);
      const answers: (Edge | null)[] = [];
      for (const [i, one] of prepared.entries()) {
        const run = async (): Promise<Edge | null> => {
          if (!('operation' in one)) return addEdge(tx, one, async () => readable, changes);
          await removeEdge(work, one.edge_id, changes);
          return null;
        };
        answers.push(await withItemIndex('items', i, run));
      }
      journal(work, changes);
      return answers;
    },
    remember: (answer) => answer.map((edge) => edge?.edge_id ?? null),
    again: (query, kept) =>
      Promise.all((kept as (string | null)[]).map((id) => (id === null ? null : readEdge(call, query, id)))),
  });
  return allSucceeded(edges);
}
