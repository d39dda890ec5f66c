/** The machinery of versions, which artifacts and notes share: making, changing and deleting them. */
import type { Tx } from '../../driver/index.js';
import type { Ttl } from '../../engine/contract.js';
import { type Call, event, lifetimeOf, type NewPacket, type Work } from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { insertCards, keyedHash, takeDeleteTime } from '../../facts/sql.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { countTokens } from '../../text/index.js';
import { deleteEdgesOf, insertEdges, type NewEdge, settleEdges } from '../edges/store.js';
import { momentFor } from '../entities/access.js';
import type { EntityRef } from '../entities/store.js';
import { triggers } from '../scopes/triggers.js';
import { derivedEdges, linksTo, memoryLinks, supersedingEdge } from './links.js';
import { memoryDoc } from './search-doc.js';
import { type FoundBy, foundBy, measuredAs } from './search-terms.js';
import { insertLearnedIn } from './sources.js';
import {
  changeLifetime,
  deleteCardsOf,
  endVersion,
  findMemory,
  findOrigin,
  insertVersion,
  lives,
  lockContents,
  lockMemory,
  type Origin,
  settleVersions,
  type VersionRow,
} from './store.js';
import {
  columnsOf,
  type Entered,
  erased,
  type Fields,
  fieldsOf,
  giveTimes,
  type Memory,
  type Noun,
  notFound,
  type Settling,
  showMemory,
} from './views.js';

/** Content checked, hashed and counted, before any transaction. */
export interface PreparedContent {
  readonly content: string;
  readonly content_hash: string;
  readonly token_count: number;
  /** For the name and metadata that it was prepared with. */
  readonly found_by: FoundBy;
}

/** Where a new entity belongs, once that was seen to be there. */
export interface Place {
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  /** The trajectory that the event is told in. */
  readonly thread_id: string | null;
  readonly held_by: string;
  readonly sources: readonly EntityRef[];
  /** What links it besides these. */
  readonly edges?: readonly NewEdge[];
}

export async function prepareContent(
  call: Call,
  value: Json,
  name: string | null,
  metadata: JsonObject = {},
): Promise<PreparedContent & { bytes: number }> {
  const content = canonical(value);
  const bytes = Buffer.byteLength(content) + Buffer.byteLength(canonical(metadata));
  const limit = call.limits.max_card_bytes;
  if (bytes > limit) {
    throw new CairnError('TOO_LARGE', `content and metadata are ${bytes} bytes, the limit is ${limit}`, {
      bytes,
      limit,
    });
  }
  const token_count = await countTokens(typeof value === 'string' ? value : content);
  const content_hash = sha256(content);
  const found_by = await foundBy(call, { content, content_hash, name, metadata });
  return { content, content_hash, token_count, found_by, bytes };
}

interface Written {
  readonly row: VersionRow;
  readonly edges: readonly NewEdge[];
  readonly thread_id: string | null;
  /** The trajectories that a note was learned in. */
  readonly learned_in: readonly string[];
  readonly found_by: FoundBy | undefined;
}

/** Writes a version and its card, and tells of it; the answer gets its times by the commit. */
async function writeVersion<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  { row, edges, thread_id, learned_in, found_by }: Written,
  answer: M,
): Promise<void> {
  const { call, tx, now } = work;
  await insertCards(tx, [
    {
      card_id: row.card_id,
      content: row.content!,
      tool_calls: null,
      tool_call_id: null,
      metadata: '{}',
      author_id: row.agent_id,
      subject_ids: [],
      derived_from: [],
      content_hash: row.content_hash,
      sent_hash: null,
      ttl_seconds: null,
      expires_at: row.expires_at,
      created_at: now,
      held_by: row.held_by,
      doc: memoryDoc(row, learned_in, measuredAs(call, row, found_by)),
    },
  ]);
  await insertVersion(tx, row);
  if (noun.kind === 'note' && row.version === 1) await insertLearnedIn(tx, row.memory_id, learned_in);
  await insertEdges(tx, edges);
  const facts = {
    version: row.version,
    card_id: row.card_id,
    content_hash: keyedHash(call.meta.erasure_key, row.content_hash),
  };
  const type = `cairn.${noun.kind}.${row.version === 1 ? 'created' : 'updated'}`;
  const packet = event(work, type, { type: noun.kind, id: row.memory_id }, facts, thread_id);
  const when_settled = [(recorded_at: number) => giveTimes(answer, row, recorded_at)];
  const settling: Settling = {
    ...packet,
    when_settled,
    settle: async (settled, recorded_at) => {
      await settleVersions(settled, row.memory_id, Math.max(1, row.version - 1), recorded_at);
      const edge_ids = edges.map(({ edge_id }) => edge_id);
      await settleEdges(settled, edge_ids, recorded_at);
      for (const tell of when_settled) tell(recorded_at);
    },
  };
  tx.journal(settling);
}

export interface NewMemory {
  /** Given by the client, or made. */
  readonly memory_id: string | undefined;
  readonly sent_hash: string | null;
  readonly agent_id: string | null;
  readonly fields: Fields;
  /** When it expires, as it was answered of what is posted back; default: as its ttl says. */
  readonly expires_at?: string | null | undefined;
  /** Whether an answer of what has the id says the same as the request. */
  readonly isAnswered?: (answer: Memory) => boolean;
  readonly prepared: PreparedContent;
  /** Sees that all it refers to is there, and locks it. */
  readonly place: (work: Work, memory_id: string) => Promise<Place>;
}

export async function createMemory<M extends Memory>(work: Work, noun: Noun<M>, memory: NewMemory): Promise<M> {
  const { call, tx, now } = work;
  if (memory.memory_id !== undefined) {
    const existing = await findOrigin(tx, memory.memory_id);
    if (existing) return sameMemory(work, noun, existing, memory);
  }
  const memory_id = memory.memory_id ?? newId();
  const { fields, agent_id } = memory;
  const { found_by, ...prepared } = memory.prepared;
  const place = await memory.place(work, memory_id);
  const row: VersionRow = {
    memory_id,
    version: 1,
    kind: noun.kind,
    card_id: newId(),
    agent_id,
    trajectory_id: place.trajectory_id,
    scope_id: place.scope_id,
    ...columnsOf(fields),
    ...prepared,
    ...lifetimeOf(fields.ttl, now, memory.expires_at),
    held_by: place.held_by,
    sent_hash: memory.sent_hash,
    ...NEW,
    created_at: PENDING,
  };
  const own = { entity_type: noun.entity_type, entity_id: memory_id };
  const edges = [...derivedEdges(own, place.sources, agent_id), ...(place.edges ?? [])];
  const links = linksTo(edges);
  const answer = noun.render(call, row, links);
  const learned_in = links.source_trajectory_ids;
  const { trajectory_id, thread_id } = place;
  await writeVersion(work, noun, { row, edges, thread_id, learned_in, found_by }, answer);
  if (trajectory_id !== null) await triggers.get('policies').onArtifact(work, { ...row, trajectory_id });
  return answer;
}

/** What a version has before its commit. */
const NEW = {
  recorded_at: PENDING,
  superseded_at: null,
  erased_at: null,
  ended_at: null,
  access_count: 0,
  accessed_at: null,
};

/** The entity that has this id already, if it came of the same request by the same agent; refuses if the id is taken or was used. */
async function sameMemory<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  origin: Origin,
  { sent_hash, agent_id, isAnswered = () => false }: NewMemory,
): Promise<M> {
  const { tx, now } = work;
  const current = await findMemory(tx, origin.memory_id);
  const what = `${origin.kind} ${origin.memory_id}`;
  if (!current || !lives(current, now)) {
    throw new CairnError('ENTITY_GONE', `${what} existed and is gone: an id is never used twice`);
  }
  const isOwn = origin.kind === noun.kind && origin.agent_id === agent_id;
  const shown = isOwn ? await showMemory(work, noun, current) : undefined;
  if (!shown || (origin.sent_hash !== sent_hash && !isAnswered(shown))) {
    throw new CairnError('ENTITY_ALREADY_EXISTS', `${what} exists and was made otherwise: use a new id, or PATCH`);
  }
  return shown;
}

/** The entity as a change finds it: locked, and readable. Deleted ones are undefined. */
async function enterMemory<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  memory_id: string,
  ttl: Ttl | undefined,
): Promise<{ current: VersionRow | undefined; entered: Entered }> {
  const { call, tx, now } = work;
  const origin = await findOrigin(tx, memory_id);
  if (!origin || origin.kind !== noun.kind) throw notFound(call, noun, memory_id);
  let entered = await noun.enter(work, origin, ttl);
  await lockMemory(tx, memory_id);
  let current = await findMemory(tx, memory_id);
  if (current && current.held_by !== origin.held_by) {
    // Another change gave it to another holder meanwhile, which must not end either until the commit.
    entered = await noun.enter(work, current, ttl);
    current = await findMemory(tx, memory_id);
  }
  if (current && !lives(current, now)) throw erased(noun.kind, memory_id);
  return { current, entered };
}

export interface Patch {
  readonly memory_id: string;
  /** The version that the change is meant for. */
  readonly version: number | undefined;
  /** The new state, from the one that there is. */
  readonly next: (current: Fields) => Fields;
  readonly ttl: Ttl | undefined;
  readonly prepared: Omit<PreparedContent, 'found_by'> | undefined;
  readonly found_by?: FoundBy | undefined;
}

/** What a PATCH gives, in the words of the table. */
interface PatchInput extends Partial<Omit<Undefined<Fields>, 'provenance'>> {
  readonly content?: Json | undefined;
  readonly confidence?: number | null | undefined;
  readonly version?: number | undefined;
}
type Undefined<T> = { readonly [K in keyof T]: T[K] | undefined };

export async function preparePatch(
  call: Call,
  memory_id: string,
  patch: PatchInput,
): Promise<Patch & { bytes: number }> {
  const { content, confidence, version, ttl } = patch;
  // As it most likely is when the change comes to it; the transaction sees whether it was.
  const current = await findMemory(call.driver.at(call.tenant), memory_id);
  const name = patch.name ?? current?.name ?? null;
  const metadata = patch.metadata ?? (current?.metadata ? (JSON.parse(current.metadata) as JsonObject) : {});
  const prepared = content === undefined ? undefined : await prepareContent(call, content, name, metadata);
  const next = (current: Fields): Fields => ({
    type: patch.type ?? current.type,
    name: patch.name ?? current.name,
    abstraction_level: patch.abstraction_level ?? current.abstraction_level,
    provenance: confidence === undefined ? current.provenance : { ...current.provenance, confidence },
    metadata: patch.metadata ?? current.metadata,
    ttl: ttl ?? current.ttl,
  });
  const found_by =
    prepared?.found_by ??
    (current?.content ? await foundBy(call, { ...current, content: current.content, name, metadata }) : undefined);
  return { memory_id, version, next, ttl, prepared, found_by, bytes: prepared?.bytes ?? 0 };
}

export async function updateMemory<M extends Memory>(work: Work, noun: Noun<M>, patch: Patch): Promise<M> {
  const { call, tx, now } = work;
  const { memory_id } = patch;
  const { current, entered } = await enterMemory(work, noun, memory_id, patch.ttl);
  if (!current) throw notFound(call, noun, memory_id);
  if (patch.version !== undefined && patch.version !== current.version) {
    throw new CairnError(
      'CONCURRENT_MODIFICATION',
      `${noun.kind} ${memory_id} is at version ${current.version}, not ${patch.version}: read it again`,
      { version: current.version },
    );
  }
  const next = patch.next(fieldsOf(current));
  entered.check(next);
  const columns = columnsOf(next);
  const { content, content_hash, token_count } = patch.prepared ?? current;
  const prepared = { content, content_hash, token_count };
  const same =
    prepared.content_hash === current.content_hash &&
    Object.entries(columns).every(([name, value]) => current[name as keyof typeof columns] === value);
  if (same) return showMemory(work, noun, current);
  const renewed = columns.ttl === current.ttl ? undefined : lifetimeOf(next.ttl, now);
  const lifetime = renewed && { ...renewed, held_by: entered.holder(renewed.lifetime) };
  // A sweep by a clock that is ahead may have erased a part of it already, which cannot be given a longer life.
  if (lifetime && (await lockContents(tx, memory_id)) < current.version) throw erased(noun.kind, memory_id);
  const row: VersionRow = {
    ...current,
    version: current.version + 1,
    card_id: newId(),
    ...columns,
    ...prepared,
    ...lifetime,
    sent_hash: null,
    recorded_at: PENDING,
  };
  const links = (await memoryLinks(tx, [memory_id], { now, agent: null }))(memory_id);
  // What the version was learned in stays whole, whoever writes it; the answer has the links that the writer can read.
  const shown =
    call.caller.agent_id === null ? links : (await memoryLinks(tx, [memory_id], momentFor(call)))(memory_id);
  const answer = noun.render(call, row, shown);
  await endVersion(tx, current);
  if (lifetime) await changeLifetime(tx, memory_id, { ttl: columns.ttl, ...lifetime });
  const edges = [supersedingEdge(row.card_id, current.card_id, current.agent_id)];
  const learned_in = links.source_trajectory_ids;
  const written = { row, edges, thread_id: row.trajectory_id, learned_in, found_by: patch.found_by };
  await writeVersion(work, noun, written, answer);
  return answer;
}

export async function deleteMemory<M extends Memory>(work: Work, noun: Noun<M>, memory_id: string): Promise<null> {
  const { tx, now } = work;
  const { current, entered } = await enterMemory(work, noun, memory_id, undefined);
  if (!current) return null;
  entered.check();
  const moment = await takeDeleteTime(tx, now);
  await deleteCardsOf(tx, memory_id, moment);
  await endVersion(tx, current);
  // What supersedes no longer does once it is gone; an earlier as_of still sees the edges.
  const edge_ids = await deleteEdgesOf(tx, [memory_id]);
  const facts = { version: current.version };
  tx.journal({
    ...event(work, `cairn.${noun.kind}.deleted`, { type: noun.kind, id: memory_id }, facts, current.trajectory_id),
    settle: async (settled: Tx, recorded_at: number) => {
      await settleVersions(settled, memory_id, current.version, recorded_at);
      await settleEdges(settled, edge_ids, recorded_at);
    },
  } as NewPacket);
  return null;
}
