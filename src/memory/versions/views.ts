/** Reads of artifacts and notes: one, now or at a moment; lists; histories. */
import type { z } from 'zod';
import { longQuery, type Query, sql, type Tx, textToList } from '../../driver/index.js';
import type { In, LifetimeClass, Ttl } from '../../engine/contract.js';
import {
  type Call,
  listPage,
  type OwnEvent,
  type Page,
  type PageInput,
  resolveAsOf,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, notFound as entityNotFound, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Artifact } from '../artifacts/model.js';
import { momentFor } from '../entities/access.js';
import type { Note } from '../notes/model.js';
import { isoOrNull } from '../rows.js';
import { accessCounts } from './access-counts.js';
import { type Links, memoryLinks } from './links.js';
import { countMemories, listMemories, type MemoryFilter } from './lists.js';
import {
  findLatest,
  findMemory,
  findVersion,
  isVersionLive,
  listVersions,
  type MemoryKind,
  type Origin,
  type VersionRow,
} from './store.js';

export type Memory = Artifact | Note;

/** The state of an artifact or note that an update can change, by the names of its columns. */
export interface Fields {
  readonly type: string;
  readonly name: string;
  readonly abstraction_level: string;
  readonly provenance: JsonObject;
  readonly metadata: JsonObject;
  readonly ttl: Ttl;
}

/** The rules for a change of an entity, with everything that they depend on locked. */
export interface ChangeRules {
  /** Refuses the new state, or the change as such. */
  readonly check: (next?: Fields) => void;
  /** The holder of the entity with this lifetime; refuses a lifetime that it cannot have. */
  readonly holder: (lifetime: LifetimeClass) => string;
}

/** What distinguishes artifacts from notes. */
export interface Noun<M extends Memory> {
  readonly kind: MemoryKind;
  readonly entity_type: 'Artifact' | 'Note';
  readonly id: 'artifact_id' | 'note_id';
  readonly input: z.ZodObject;
  readonly render: (call: Call, row: VersionRow, links: Links) => M;
  /** Locks the rows that a change depends on, in lock order. */
  readonly lockForChange: (work: Work, origin: Origin, ttl: Ttl | undefined) => Promise<ChangeRules>;
}

/** A packet that also passes the recorded time to other changes of the same commit. */
export interface SettlingPacket extends OwnEvent {
  readonly when_settled: ((recorded_at: number) => void)[];
}

const isSettling = (entry: object, memory_id: string): entry is SettlingPacket =>
  'when_settled' in entry && (entry as SettlingPacket).entity_id === memory_id;

/** Completes the answer at the commit if another change of the same commit wrote the version. */
function completeLater(tx: Tx, row: VersionRow, answer: Memory): void {
  if (row.recorded_at !== PENDING) return;
  const packet = tx.journalled.findLast((entry) => isSettling(entry, row.memory_id)) as SettlingPacket;
  packet.when_settled.push((recorded_at) => setTimes(answer, row, recorded_at));
}

export function setTimes(answer: Memory, row: VersionRow, recorded_at: number): void {
  if (row.created_at === PENDING) answer.created_at = toIso(recorded_at);
  answer.updated_at = toIso(recorded_at);
}

/** Renders an entity in a transaction, whose version another change of the same commit may have written. */
export async function showMemory<M extends Memory>({ call, tx }: Work, noun: Noun<M>, row: VersionRow): Promise<M> {
  const links = await memoryLinks(tx, [row.memory_id], momentFor(call));
  const answer = noun.render(call, row, links(row.memory_id));
  completeLater(tx, row, answer);
  return answer;
}

export const memoryNotFound = (call: Call, { kind }: { readonly kind: MemoryKind }, memory_id: string): CairnError =>
  entityNotFound(call, kind, memory_id);

export const contentErased = (kind: MemoryKind, memory_id: string): CairnError =>
  new CairnError('CONTENT_ERASED', `${kind} ${memory_id} has expired, or was erased with its holder`, {
    [`${kind}_ids`]: [memory_id],
  });

export function sharedFields(call: Call, row: VersionRow, links: Links) {
  const pending = accessCounts.of(call).pending(call.tenant, row.memory_id);
  const accessed_at = Math.max(row.accessed_at ?? 0, pending?.accessed_at ?? 0);
  return {
    content: JSON.parse(row.content ?? 'null') as Json,
    card_id: row.card_id,
    content_hash: row.content_hash,
    token_count: row.token_count,
    abstraction_level: row.abstraction_level as Memory['abstraction_level'],
    agent_id: row.agent_id,
    subject_ids: textToList(row.subject_ids),
    version: row.version,
    ttl: JSON.parse(row.ttl) as Ttl,
    lifetime: row.lifetime,
    expires_at: isoOrNull(row.expires_at),
    access_count: row.access_count + (pending?.count ?? 0),
    accessed_at: accessed_at === 0 ? null : toIso(accessed_at),
    superseded_by: [...links.superseded_by],
    contradicted_by: [...links.contradicted_by],
    metadata: JSON.parse(row.metadata ?? '{}') as JsonObject,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.recorded_at),
  };
}

export async function readMemory<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  memory_id: string,
  as_of: string | undefined,
): Promise<M> {
  const { driver, tenant } = call;
  const moment = await resolveAsOf(call, as_of);
  const query = driver.at(tenant);
  const now = driver.now();
  const row = await findMemory(query, memory_id, moment);
  if (!row || row.kind !== noun.kind) throw memoryNotFound(call, noun, memory_id);
  if (!isVersionLive(row, now)) throw contentErased(noun.kind, memory_id);
  const links = await memoryLinks(query, [memory_id], momentFor(call, moment));
  // Only reads of the current version count.
  if (moment === undefined) accessCounts.of(call).touch(tenant, [memory_id]);
  return noun.render(call, row, links(memory_id));
}

/** Replays the answer of a change: the version that it wrote, unless the entity was deleted. */
export async function readVersion<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  memory_id: string,
  version: number,
): Promise<M> {
  const { call, tx } = work;
  const current = await findMemory(tx, memory_id);
  const row = await findVersion(tx, memory_id, version);
  if (!current || !row) throw memoryNotFound(call, noun, memory_id);
  if (!isVersionLive(row, call.driver.now())) throw contentErased(noun.kind, memory_id);
  return showMemory(work, noun, row);
}

const versionBytes = ({ content, metadata }: VersionRow): number =>
  Buffer.byteLength(content ?? '') + Buffer.byteLength(metadata ?? '');

type SharedFilters = Omit<In<'artifacts.list'>, 'artifact_type' | 'name' | 'scope_id'>;

export async function listOf<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  input: SharedFilters,
  filters: Omit<MemoryFilter, 'kind' | 'include_superseded' | 'times'>,
): Promise<{ memories: M[] } & PageEnd> {
  const as_of = await resolveAsOf(call, input.as_of);
  const filter: MemoryFilter = {
    kind: noun.kind,
    agent_id: input.agent_id,
    subject_id: input.subject_id,
    abstraction_level: input.abstraction_level,
    lifetime: input.lifetime,
    times: timesOf(input),
    include_superseded: input.include_superseded ?? false,
    as_of,
    ...filters,
  };
  const now = call.driver.now();
  const query = longQuery(call.driver, call.tenant);
  const reached = { ...filter, reach: reachOf(call, noun.entity_type) };
  const { rows, ...page } = await listPage<VersionRow, string>(call, {
    input,
    filters: Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, value ?? null])) as Json,
    key: 'string',
    keyOf: (row) => row.memory_id,
    read: (request) => listMemories(query, reached, request, now),
    bytesOf: versionBytes,
    count: countMemories(reached, now),
  });
  return { memories: await renderAll(call, query, noun, rows, as_of), ...page };
}

type PageEnd = Omit<Page<never>, 'rows'>;

async function renderAll<M extends Memory>(
  call: Call,
  query: Query,
  noun: Noun<M>,
  rows: readonly VersionRow[],
  as_of?: number,
): Promise<M[]> {
  const ids = [...new Set(rows.map(({ memory_id }) => memory_id))];
  const links = await memoryLinks(query, ids, momentFor(call, as_of));
  return rows.map((row) => noun.render(call, row, links(row.memory_id)));
}

/** All versions of an entity, deleted or not. */
export async function historyOf<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  memory_id: string,
  input: PageInput,
): Promise<{ versions: (M & { superseded_at: string | null })[]; deleted_at: string | null } & PageEnd> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const latest = await findLatest(query, memory_id);
  if (!latest || latest.kind !== noun.kind) throw memoryNotFound(call, noun, memory_id);
  if (!isVersionLive(latest, driver.now())) throw contentErased(noun.kind, memory_id);
  const { rows, ...page } = await listPage<VersionRow, number>(call, {
    input,
    filters: { memory_id },
    key: 'number',
    keyOf: (row) => row.version,
    read: (request) => listVersions(query, memory_id, request),
    bytesOf: versionBytes,
    count: sql`SELECT COUNT(*) AS total FROM memory_versions v WHERE v.tenant_id = ${tenant} AND v.memory_id = ${memory_id}`,
  });
  // A deletion deletes the edges as well: show those that existed until then.
  const until = latest.superseded_at === null ? undefined : latest.superseded_at - 1;
  const shown = await renderAll(call, query, noun, rows, until);
  return {
    versions: shown.map((one, i) => ({ ...one, superseded_at: isoOrNull(rows[i]!.superseded_at) })),
    deleted_at: isoOrNull(latest.superseded_at),
    ...page,
  };
}

export const columnsOf = (fields: Fields) => ({
  type: fields.type,
  name: fields.name,
  abstraction_level: fields.abstraction_level,
  provenance: canonical(fields.provenance),
  metadata: canonical(fields.metadata),
  ttl: canonical(fields.ttl),
});

export const fieldsOf = (row: VersionRow): Fields => ({
  type: row.type,
  name: row.name!,
  abstraction_level: row.abstraction_level,
  provenance: JSON.parse(row.provenance!) as JsonObject,
  metadata: JSON.parse(row.metadata!) as JsonObject,
  ttl: JSON.parse(row.ttl) as Ttl,
});
