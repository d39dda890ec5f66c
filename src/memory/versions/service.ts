/** Creates, updates and deletes artifacts and notes in a transaction. */

import { listToText, textToList } from '../../driver/index.js';
import type { Ttl } from '../../engine/contract.js';
import {
  type AssumedRevision,
  type Call,
  event,
  lifetimeOf,
  type NewPacket,
  type Subjects,
  subjectsOf,
  type Work,
} from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { insertCards, keyedHash, takeDeleteTime } from '../../facts/sql.js';
import { isForeign, seesAll } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { countTokens } from '../../text/index.js';
import { deleteEdgesOf, insertEdges, type NewEdge, settleEdges } from '../edges/store.js';
import { momentFor } from '../entities/access.js';
import { idReused, idTaken } from '../entities/errors.js';
import type { EntityRef } from '../entities/store.js';
import { triggers } from '../scopes/triggers.js';
import { type LifetimeBounds, ttlOf } from './lifetimes.js';
import { linksTo, memoryLinks } from './links.js';
import { derivedEdges, edgeBetween } from './new-edges.js';
import { memoryDoc } from './search-doc.js';
import { insertLearnedIn } from './sources.js';
import {
  changeLifetime,
  deleteCardsOf,
  endVersion,
  findMemory,
  findOrigin,
  insertVersion,
  isVersionLive,
  lockContents,
  lockMemory,
  type Origin,
  settleVersions,
  type VersionRow,
} from './store.js';
import {
  type ChangeRules,
  columnsOf,
  contentErased,
  type Fields,
  fieldsOf,
  type Memory,
  memoryNotFound,
  type Noun,
  type SettlingPacket,
  setTimes,
  showMemory,
} from './views.js';

/** Content, validated, hashed and counted before the transaction. */
export interface PreparedContent {
  readonly content: string;
  readonly content_hash: string;
  readonly token_count: number;
}

/** Where a new entity belongs; checked and locked. */
export interface Placement {
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly thread_id: string | null;
  readonly bounds: LifetimeBounds;
  readonly sources: readonly EntityRef[];
  /** Of its containers and sources. */
  readonly subjects: readonly Subjects[];
  /** Edges besides those to the sources. */
  readonly edges?: readonly NewEdge[];
}

export async function prepareContent(
  call: Call,
  value: Json,
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
  return { content, content_hash: sha256(content), token_count, bytes };
}

interface VersionWrite {
  readonly row: VersionRow;
  readonly edges: readonly NewEdge[];
  readonly thread_id: string | null;
  /** The trajectories in which a note was learned. */
  readonly learned_in: readonly string[];
  /** The settings that its lifetime rests on. */
  readonly assumes?: AssumedRevision | undefined;
}

/** Writes a version, its card and its event; the answer gets its times at the commit. */
async function writeVersion(
  work: Work,
  { row, edges, thread_id, learned_in, assumes }: VersionWrite,
  answer: Memory,
): Promise<void> {
  const { kind } = row;
  const { call, tx, now } = work;
  await insertCards(tx, [
    {
      card_id: row.card_id,
      content: row.content!,
      tool_calls: null,
      tool_call_id: null,
      metadata: '{}',
      author_id: row.agent_id,
      subject_ids: textToList(row.subject_ids),
      derived_from: [],
      content_hash: row.content_hash,
      sent_hash: null,
      ttl_seconds: null,
      expires_at: row.expires_at,
      created_at: now,
      held_by: row.held_by,
      doc: memoryDoc(row, learned_in),
    },
  ]);
  await insertVersion(tx, row);
  if (kind === 'note' && row.version === 1) await insertLearnedIn(tx, row.memory_id, learned_in);
  await insertEdges(tx, edges);
  const facts = {
    version: row.version,
    card_id: row.card_id,
    content_hash: keyedHash(call.meta.erasure_key, row.content_hash),
  };
  const type = `cairn.${kind}.${row.version === 1 ? 'created' : 'updated'}`;
  const when_settled = [(recorded_at: number) => setTimes(answer, row, recorded_at)];
  const packet: SettlingPacket = {
    ...event(work, type, { type: kind, id: row.memory_id }, facts, thread_id),
    assumes,
    when_settled,
    settle: async (settling, recorded_at) => {
      await settleVersions(settling, row.memory_id, Math.max(1, row.version - 1), recorded_at);
      const edge_ids = edges.map(({ edge_id }) => edge_id);
      await settleEdges(settling, edge_ids, recorded_at);
      for (const setTime of when_settled) setTime(recorded_at);
    },
  };
  tx.journal(packet);
}

type NewFields = Omit<Fields, 'ttl'> & { readonly ttl: Ttl | undefined };

export interface NewMemory {
  /** Chosen by the client. */
  readonly memory_id: string | undefined;
  readonly sent_hash: string | null;
  readonly agent_id: string | null;
  /** Besides those of its containers and sources. */
  readonly subject_ids?: readonly string[] | undefined;
  /** Default of ttl: that of the tenant for the type. */
  readonly fields: NewFields;
  /** Of an answer that is posted back; default: computed from ttl. */
  readonly expires_at?: string | null | undefined;
  /** Whether the existing entity of the id, as answered, equals the request. */
  readonly isAnswered?: (answer: Memory) => boolean;
  readonly prepared: PreparedContent;
  /** Checks and locks everything that it refers to. */
  readonly place: (work: Work, memory_id: string) => Promise<Placement>;
}

export async function createMemory<M extends Memory>(work: Work, noun: Noun<M>, memory: NewMemory): Promise<M> {
  const { call, tx, now } = work;
  if (memory.memory_id !== undefined) {
    const existing = await findOrigin(tx, memory.memory_id);
    if (existing) return sameMemory(work, noun, existing, memory);
  }
  const memory_id = memory.memory_id ?? newId();
  const { agent_id } = memory;
  const place = await memory.place(work, memory_id);
  const { ttl, assumes } = await ttlOf(work, noun.kind, memory.fields, place.bounds);
  const lifetime = lifetimeOf(ttl, now, memory.expires_at);
  const row: VersionRow = {
    memory_id,
    version: 1,
    kind: noun.kind,
    card_id: newId(),
    agent_id,
    subject_ids: listToText(subjectsOf(call, memory.subject_ids, ...place.subjects)),
    trajectory_id: place.trajectory_id,
    scope_id: place.scope_id,
    ...columnsOf({ ...memory.fields, ttl }),
    ...memory.prepared,
    ...lifetime,
    held_by: place.bounds.holder(lifetime.lifetime),
    sent_hash: memory.sent_hash,
    ...UNSETTLED,
    created_at: PENDING,
  };
  const self = { entity_type: noun.entity_type, entity_id: memory_id };
  const edges = [...derivedEdges(self, place.sources, agent_id), ...(place.edges ?? [])];
  const links = linksTo(edges);
  const answer = noun.render(call, row, links);
  const learned_in = links.source_trajectory_ids;
  const { trajectory_id, thread_id } = place;
  await writeVersion(work, { row, edges, thread_id, learned_in, assumes }, answer);
  if (trajectory_id !== null) await triggers.get('policies').onArtifact(work, { ...row, trajectory_id });
  return answer;
}

/** A version before its commit. */
const UNSETTLED = {
  recorded_at: PENDING,
  superseded_at: null,
  erased_at: null,
  ended_at: null,
  access_count: 0,
  accessed_at: null,
};

/** The existing entity of an id, if it came from the same request by the same agent. */
async function sameMemory<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  origin: Origin,
  { sent_hash, agent_id, isAnswered = () => false }: NewMemory,
): Promise<M> {
  const { tx, now } = work;
  const current = await findMemory(tx, origin.memory_id);
  const what = `${origin.kind} ${origin.memory_id}`;
  if (!current || !isVersionLive(current, now)) throw idReused(what);
  const isOwn = origin.kind === noun.kind && origin.agent_id === agent_id && !isForeign(work.call, current);
  const shown = isOwn ? await showMemory(work, noun, current) : undefined;
  if (!shown || (origin.sent_hash !== sent_hash && !isAnswered(shown)))
    throw idTaken(what, 'use a new id, or PATCH it');
  return shown;
}

/** Locks an entity for a change. `current` is undefined if it was deleted. */
async function lockForChange<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  memory_id: string,
  ttl: Ttl | undefined,
): Promise<{ current: VersionRow | undefined; rules: ChangeRules }> {
  const { call, tx, now } = work;
  const origin = await findOrigin(tx, memory_id);
  if (!origin || origin.kind !== noun.kind) throw memoryNotFound(call, noun, memory_id);
  let rules = await noun.lockForChange(work, origin, ttl);
  await lockMemory(tx, memory_id);
  let current = await findMemory(tx, memory_id);
  if (current && current.held_by !== origin.held_by) {
    // Another change has moved it to another holder, which must not end before the commit either.
    rules = await noun.lockForChange(work, current, ttl);
    current = await findMemory(tx, memory_id);
  }
  if (current && !isVersionLive(current, now)) throw contentErased(noun.kind, memory_id);
  return { current, rules };
}

interface Patch {
  readonly memory_id: string;
  /** The expected current version. */
  readonly version: number | undefined;
  readonly next: (current: Fields) => Fields;
  readonly ttl: Ttl | undefined;
  readonly prepared: PreparedContent | undefined;
}

/** The input of an update, by the names of the columns. */
export interface PatchInput extends OptionalFields {
  readonly content?: Json | undefined;
  readonly confidence?: number | null | undefined;
  readonly version?: number | undefined;
}
type OptionalFields = { readonly [K in Exclude<keyof Fields, 'provenance'>]?: Fields[K] | undefined };

export async function preparePatch(
  call: Call,
  memory_id: string,
  patch: PatchInput,
): Promise<Patch & { bytes: number }> {
  const { content, confidence, version, ttl } = patch;
  const prepared = content === undefined ? undefined : await prepareContent(call, content, patch.metadata);
  const next = (current: Fields): Fields => ({
    type: patch.type ?? current.type,
    name: patch.name ?? current.name,
    abstraction_level: patch.abstraction_level ?? current.abstraction_level,
    provenance: confidence === undefined ? current.provenance : { ...current.provenance, confidence },
    metadata: patch.metadata ?? current.metadata,
    ttl: ttl ?? current.ttl,
  });
  return { memory_id, version, next, ttl, prepared, bytes: prepared?.bytes ?? 0 };
}

export async function updateMemory<M extends Memory>(work: Work, noun: Noun<M>, patch: Patch): Promise<M> {
  const { call, tx, now } = work;
  const { memory_id } = patch;
  const { current, rules } = await lockForChange(work, noun, memory_id, patch.ttl);
  if (!current) throw memoryNotFound(call, noun, memory_id);
  if (patch.version !== undefined && patch.version !== current.version) {
    throw new CairnError(
      'CONCURRENT_MODIFICATION',
      `${noun.kind} ${memory_id} is at version ${current.version}, not ${patch.version}: read it again`,
      { version: current.version },
    );
  }
  const next = patch.next(fieldsOf(current));
  rules.check(next);
  const columns = columnsOf(next);
  const { content, content_hash, token_count } = patch.prepared ?? current;
  const isSame =
    content_hash === current.content_hash &&
    Object.entries(columns).every(([name, value]) => current[name as keyof typeof columns] === value);
  if (isSame) return showMemory(work, noun, current);
  const renewed = columns.ttl === current.ttl ? undefined : lifetimeOf(next.ttl, now);
  const lifetime = renewed && { ...renewed, held_by: rules.holder(renewed.lifetime) };
  // A sweep whose clock is ahead may have erased some versions, whose lifetime cannot be extended.
  if (lifetime && (await lockContents(tx, memory_id)) < current.version) throw contentErased(noun.kind, memory_id);
  const row: VersionRow = {
    ...current,
    version: current.version + 1,
    card_id: newId(),
    ...columns,
    content,
    content_hash,
    token_count,
    ...lifetime,
    sent_hash: null,
    recorded_at: PENDING,
  };
  const links = (await memoryLinks(tx, [memory_id], { now, agent: null }))(memory_id);
  // The version keeps all its sources; the answer has only the links that the caller can read.
  const shown = seesAll(call) ? links : (await memoryLinks(tx, [memory_id], momentFor(call)))(memory_id);
  const answer = noun.render(call, row, shown);
  await endVersion(tx, current);
  if (lifetime) await changeLifetime(tx, memory_id, { ttl: columns.ttl, ...lifetime });
  const [card, old] = [row, current].map((one) => ({ entity_type: 'Card', entity_id: one.card_id }) as const);
  const edges = [edgeBetween('Supersedes', card!, old!, current.agent_id)];
  const learned_in = links.source_trajectory_ids;
  await writeVersion(work, { row, edges, thread_id: row.trajectory_id, learned_in }, answer);
  return answer;
}

export async function deleteMemory<M extends Memory>(work: Work, noun: Noun<M>, memory_id: string): Promise<null> {
  const { tx, now } = work;
  const { current, rules } = await lockForChange(work, noun, memory_id, undefined);
  if (!current) return null;
  rules.check();
  const moment = await takeDeleteTime(tx, now);
  await deleteCardsOf(tx, memory_id, moment);
  await endVersion(tx, current);
  // A deleted entity supersedes nothing; an earlier as_of still sees the edges.
  const edge_ids = await deleteEdgesOf(tx, [memory_id]);
  const { version, trajectory_id } = current;
  const packet: NewPacket = {
    ...event(work, `cairn.${noun.kind}.deleted`, { type: noun.kind, id: memory_id }, { version }, trajectory_id),
    settle: async (settling, recorded_at) => {
      await settleVersions(settling, memory_id, version, recorded_at);
      await settleEdges(settling, edge_ids, recorded_at);
    },
  };
  tx.journal(packet);
  return null;
}
