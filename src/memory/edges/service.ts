/** Use cases of edges, but for walking along them. */
import { atLength, DriverError, type Query, type Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  allDone,
  bytesOf,
  type Call,
  change,
  event,
  inItem,
  isAnswerOf,
  listPage,
  type NewPacket,
  runEach,
  type Work,
} from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { ownerOf } from '../../facts/index.js';
import { type Json, type JsonObject, newId, uuid } from '../../kernel/contract.js';
import { CairnError, invalid, toIso, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { momentFor, refuseLinking, refuseUnreadableEdge } from '../entities/access.js';
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
  type Participant,
  settleEdges,
  toEdge,
} from './store.js';
import { edgeThatCloses, lockGuard } from './walks-store.js';

type Item = In<'edges.batch'>['items'][number];

/** Types by which an entity may not lead back to itself. */
const WITHOUT_CYCLES: readonly EdgeType[] = ['DerivedFrom', 'Supersedes'];

/** An edge checked and hashed, before any transaction. */
interface PreparedEdge {
  readonly input: EdgeInput;
  readonly edge_id: string | undefined;
  readonly edge_type: EdgeType;
  readonly agent_id: string | null;
  readonly participants: readonly Participant[];
  readonly body: string;
  readonly sent_hash: string | null;
  readonly bytes: number;
}

/** The ids of all but cards are UUIDs, which are kept in lower case. */
export const idOf = (entity_id: string, entity_type: EntityType): string =>
  entity_type === 'Card' ? entity_id : entity_id.toLowerCase();

/** An id as it may be kept. Without a type it may be that of a card, which is kept as it was sent, or of anything else. */
function spellingsOf(entity_id: string, entity_type: EntityType | undefined): string[] {
  if (entity_type !== undefined) return [idOf(entity_id, entity_type)];
  const { data } = uuid.safeParse(entity_id);
  return [...new Set([entity_id, data ?? entity_id])];
}

function prepare(call: Call, input: EdgeInput): PreparedEdge {
  const { edge_id, edge_type, weight, provenance, metadata } = input;
  const agent_id = ownerOf(call, input.agent_id ?? undefined);
  const participants = input.participants.map(({ entity_type, entity_id, role }) => ({
    entity_type,
    entity_id: idOf(entity_id, entity_type),
    role: role ?? null,
  }));
  const seen = new Set<string>();
  for (const [i, one] of participants.entries()) {
    if (seen.has(entityKey(one))) {
      throw invalid(
        `participants[${i}]: ${one.entity_type} ${one.entity_id} takes part already: an edge links different entities`,
      );
    }
    seen.add(entityKey(one));
  }
  const body = canonical({
    weight: weight ?? null,
    provenance:
      provenance === undefined
        ? null
        : {
            source_turn: provenance.source_turn ?? null,
            extraction_method: provenance.extraction_method ?? null,
            confidence: provenance.confidence ?? null,
          },
    metadata: metadata ?? {},
  });
  return {
    input,
    edge_id,
    edge_type,
    agent_id,
    participants,
    body,
    bytes: body.length,
    // Only an id that the client chose can come again.
    sent_hash: edge_id === undefined ? null : sha256(canonical({ ...input, edge_id: null } as unknown as Json)),
  };
}

const notFound = (call: Call, edge_id: string) =>
  new CairnError('EDGE_NOT_FOUND', `there is no edge ${edge_id} in tenant ${call.tenant}`);

/** The edge as it is answered. One of the same commit has no time yet: what needs it is run again, behind the commit. */
function show(row: EdgeRow): Edge {
  if (row.created_at === PENDING)
    throw new DriverError('conflict', `edge ${row.edge_id} is being written by another call`);
  return toEdge(row);
}

async function readEdge(call: Call, query: Query, edge_id: string): Promise<Edge> {
  const [row] = await findEdges(query, [edge_id]);
  if (!row || row.deleted_at !== null) throw notFound(call, edge_id);
  return show(row);
}

/** Refuses an id that is taken by something else or was used; else it came of the same request. */
function requireSame(row: EdgeRow, prepared: PreparedEdge): void {
  if (row.deleted_at !== null)
    throw new CairnError('ENTITY_GONE', `edge ${row.edge_id} existed and is gone: an id is never used twice`);
  const isSame = row.sent_hash === prepared.sent_hash || isAnswerOf(edgeInput, show(row), prepared.input);
  if (!isSame || row.agent_id !== prepared.agent_id) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `edge ${row.edge_id} exists and was made otherwise: use a new edge_id`,
    );
  }
}

const known = ({ call, tx }: Work, entities: readonly EntityRef[]): Promise<Set<string>> =>
  knownEntities(tx, entities, momentFor(call));

function requireKnown(participants: readonly EntityRef[], readable: ReadonlySet<string>): void {
  const missing = participants.filter((one) => !readable.has(nameOf(one)));
  if (missing.length === 0) return;
  const names = missing.map(({ entity_type, entity_id }) => `${entity_type} ${entity_id}`);
  throw new CairnError(
    'UNKNOWN_ENTITY',
    `participants names ${missing.length} that do not exist or are gone: ${names.slice(0, 3).join(', ')}`,
    { missing_entities: missing.map(({ entity_type, entity_id }) => ({ entity_type, entity_id })) },
  );
}

async function refuseCycle(tx: Tx, { edge_type, participants }: PreparedEdge): Promise<void> {
  if (!WITHOUT_CYCLES.includes(edge_type)) return;
  await lockGuard(tx, edge_type);
  const edge_id = await edgeThatCloses(tx, edge_type, participants);
  if (edge_id === undefined) return;
  const { entity_type, entity_id } = participants[0]!;
  throw new CairnError(
    'EDGE_CYCLE',
    `${edge_type} from ${entity_type} ${entity_id} would close a cycle, since edge ${edge_id} leads back to it: turn it around, or delete that one`,
    { edge_id },
  );
}

/** What a write made, to be answered once its commit has given it a time. */
interface Written {
  readonly made: Map<string, Edge>;
  readonly deleted: string[];
}

/** Adds an edge, or gives the one that is there. All checks come before the first change. */
async function addEdge(
  tx: Tx,
  prepared: PreparedEdge,
  readable: (participants: readonly EntityRef[]) => Promise<ReadonlySet<string>>,
  { made }: Written,
): Promise<Edge> {
  const { edge_type, agent_id, participants, body, sent_hash } = prepared;
  if (prepared.edge_id !== undefined) {
    const [existing] = await findEdges(tx, [prepared.edge_id]);
    if (existing) {
      requireSame(existing, prepared);
      return made.get(existing.edge_id) ?? show(existing);
    }
  }
  requireKnown(participants, await readable(participants));
  await refuseCycle(tx, prepared);
  const edge_id = prepared.edge_id ?? newId();
  const row = { edge_id, edge_type, agent_id, body, sent_hash, participants };
  await insertEdges(tx, [row]);
  const edge = toEdge({ ...row, created_at: PENDING, deleted_at: null });
  made.set(edge_id, edge);
  return edge;
}

/** The events of what was written, of which each settles its edges. */
function journal(work: Work, { made, deleted }: Written): void {
  const { tx } = work;
  const settle = (ids: readonly string[]) => async (settling: Tx, recorded_at: number) => {
    await settleEdges(settling, ids, recorded_at);
    for (const id of ids) {
      const edge = made.get(id);
      if (edge) edge.created_at = toIso(recorded_at);
    }
  };
  const tell = (packet_type: string, ids: readonly string[], alone: JsonObject) => {
    const facts: JsonObject = ids.length === 1 ? alone : { edge_ids: [...ids] };
    const told: NewPacket = { ...event(work, packet_type, { type: 'edge', id: ids[0]! }, facts), settle: settle(ids) };
    tx.journal(told);
  };
  if (made.size > 0) {
    const [{ edge_type, participants }] = [...made.values()] as [Edge];
    const ends = participants.map(({ entity_type, entity_id }) => ({ entity_type, entity_id }));
    tell('cairn.edge.created', [...made.keys()], { edge_type, participants: ends });
  }
  if (deleted.length > 0) tell('cairn.edge.deleted', deleted, {});
}

const nothing = (): Written => ({ made: new Map(), deleted: [] });

export async function create(call: Call, input: EdgeInput): Promise<Edge> {
  const prepared = prepare(call, input);
  await refuseLinking(call, prepared.edge_type, prepared.participants);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const { tx } = work;
      const written = nothing();
      const edge = await addEdge(tx, prepared, (ends) => known(work, ends), written);
      journal(work, written);
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

function filterOf(input: In<'edges.list'>): EdgeFilter {
  const { edge_type, entity_id, entity_type, created_after, created_before } = input;
  if (entity_type !== undefined && entity_id === undefined) {
    throw invalid('entity_type says what entity_id is: give both, or neither');
  }
  return {
    edge_type,
    entity_type,
    entity_ids: entity_id === undefined ? undefined : spellingsOf(entity_id, entity_type),
    created_after: created_after === undefined ? undefined : toMs(created_after),
    created_before: created_before === undefined ? undefined : toMs(created_before),
  };
}

export async function list(call: Call, input: In<'edges.list'>): Promise<Out<'edges.list'>> {
  const { driver, tenant } = call;
  const filter = filterOf(input);
  const query = atLength(driver, tenant);
  const seen = { ...filter, viewer: call.caller.agent_id === null ? undefined : momentFor(call) };
  const { rows, ...page } = await listPage<EdgeRow, string>(call, {
    input,
    filters: {
      edge_type: filter.edge_type ?? null,
      entity_id: filter.entity_ids ? [...filter.entity_ids] : null,
      entity_type: filter.entity_type ?? null,
      created_after: filter.created_after ?? null,
      created_before: filter.created_before ?? null,
    },
    key: 'string',
    keyOf: ({ edge_id }) => edge_id,
    read: (request) => listEdges(query, seen, request),
    bytesOf: edgeBytes,
    count: countEdges(seen),
  });
  // What was deleted while they were read says nothing any more.
  return { edges: rows.filter(({ deleted_at }) => deleted_at === null).map(toEdge), ...page };
}

/** Deletes an edge, unless it was deleted before. */
async function removeEdge({ call, tx }: Work, edge_id: string, { deleted }: Written): Promise<void> {
  const ids = await deleteEdges(tx, [edge_id]);
  if (ids.length > 0) deleted.push(...ids);
  else if ((await findEdges(tx, [edge_id])).length === 0) throw notFound(call, edge_id);
}

/** Deleting an edge takes what making it took. An edge never changes, so this may be asked before it is locked. */
async function refuseUnlinking(call: Call, edge_id: string): Promise<void> {
  if (call.caller.agent_id === null) return;
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
      const { tx } = work;
      const [row] = await findEdges(tx, [input.edge_id]);
      if (!row) throw notFound(call, input.edge_id);
      if (row.deleted_at !== null) return null;
      const written = nothing();
      await removeEdge(work, input.edge_id, written);
      journal(work, written);
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

export async function batch(call: Call, input: In<'edges.batch'>): Promise<Out<'edges.batch'>> {
  if (input.atomic) return together(call, input);
  const { stop_on_error } = input;
  const run = async (one: Call, item: Item): Promise<Edge | null> => {
    if (item.operation === 'create') return create(one, item.create);
    await remove(one, { edge_id: item.edge_id });
    return null;
  };
  const about = (item: Item) => ({ changes: item.operation === 'create' ? item.create.edge_id : item.edge_id });
  return runEach(call, input, input.items, run, { stop_on_error, noun: 'edge', about });
}

async function together(call: Call, input: In<'edges.batch'>): Promise<Out<'edges.batch'>> {
  const prepared = input.items.map((item, i) =>
    item.operation === 'create' ? inItem('items', i, () => prepare(call, item.create)) : item,
  );
  for (const [i, one] of prepared.entries())
    await inItem('items', i, () =>
      'operation' in one ? refuseUnlinking(call, one.edge_id) : refuseLinking(call, one.edge_type, one.participants),
    );
  const fresh = prepared.filter((one): one is PreparedEdge => !('operation' in one));
  const edges = await change<(Edge | null)[]>(call, {
    input,
    bytes: bytesOf(fresh),
    work: async (work) => {
      const { tx } = work;
      const written = nothing();
      const ends = fresh.flatMap(({ participants }) => participants);
      const readable = await known(work, ends);
      // In one order for all, so that no two wait for each other.
      for (const edge_type of WITHOUT_CYCLES)
        if (fresh.some((one) => one.edge_type === edge_type)) await lockGuard(tx, edge_type);
      const going = prepared.flatMap((one) => ('operation' in one ? [one.edge_id] : []));
      await lockEdges(tx, going);
      const answers: (Edge | null)[] = [];
      for (const [i, one] of prepared.entries()) {
        const run = async (): Promise<Edge | null> => {
          if (!('operation' in one)) return addEdge(tx, one, async () => readable, written);
          await removeEdge(work, one.edge_id, written);
          return null;
        };
        answers.push(await inItem('items', i, run));
      }
      journal(work, written);
      return answers;
    },
    remember: (answer) => answer.map((edge) => edge?.edge_id ?? null),
    again: (query, kept) =>
      Promise.all((kept as (string | null)[]).map((id) => (id === null ? null : readEdge(call, query, id)))),
  });
  return allDone(edges);
}
