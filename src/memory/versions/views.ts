/** Showing artifacts and notes: one, as it is or as it was; lists of them; all versions of one. */
import { atLength, type Query, sql, type Tx } from '../../driver/index.js';
import type { LifetimeClass, Ttl } from '../../engine/contract.js';
import {
  type Call,
  listPage,
  type NewPacket,
  type PageInput,
  settledMoment,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, type ErrorCode, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Artifact } from '../artifacts/model.js';
import { momentFor } from '../entities/access.js';
import type { Note } from '../notes/model.js';
import { accessCounts } from './access-counts.js';
import { type Links, memoryLinks } from './links.js';
import { countMemories, listMemories, type MemoryFilter } from './lists.js';
import {
  findLatest,
  findMemory,
  findVersion,
  listVersions,
  lives,
  type MemoryKind,
  type Origin,
  type VersionRow,
} from './store.js';

export type Memory = Artifact | Note;

/** What of an artifact or note a PATCH can change, in the words of the table. */
export interface Fields {
  readonly type: string;
  readonly name: string;
  readonly abstraction_level: string;
  readonly provenance: JsonObject;
  readonly metadata: JsonObject;
  readonly ttl: Ttl;
}

/** What a noun says to a change of one of its entities, after all that it needs is locked. */
export interface Entered {
  /** Refuses what the entity may not become, or that it changes at all. */
  readonly check: (next?: Fields) => void;
  /** What holds the entity with this lifetime; refuses one that it cannot have. */
  readonly holder: (lifetime: LifetimeClass) => string;
}

export interface Noun<M extends Memory> {
  readonly kind: MemoryKind;
  readonly entity_type: 'Artifact' | 'Note';
  readonly not_found: ErrorCode;
  readonly render: (call: Call, row: VersionRow, links: Links) => M;
  /** Locks what a change depends on, in the order of locks. */
  readonly enter: (work: Work, origin: Origin, ttl: Ttl | undefined) => Promise<Entered>;
}

/** A packet that tells others of the same commit the recorded time as well. */
export interface Settling extends NewPacket {
  readonly when_settled: ((recorded_at: number) => void)[];
}

const isSettling = (entry: object, memory_id: string): entry is Settling =>
  'when_settled' in entry && (entry as Settling).entity_id === memory_id;

/** Completes the answer on a version that was written by another change of the same commit. */
function completeLater(tx: Tx, row: VersionRow, answer: Memory): void {
  if (row.recorded_at !== PENDING) return;
  const packet = tx.journalled.findLast((entry) => isSettling(entry, row.memory_id)) as Settling;
  packet.when_settled.push((recorded_at) => giveTimes(answer, row, recorded_at));
}

export function giveTimes(answer: Memory, row: VersionRow, recorded_at: number): void {
  if (row.created_at === PENDING) answer.created_at = toIso(recorded_at);
  answer.updated_at = toIso(recorded_at);
}

/** An entity as it is shown, also to the writer of another change of the same commit. */
export async function showMemory<M extends Memory>({ call, tx }: Work, noun: Noun<M>, row: VersionRow): Promise<M> {
  const links = await memoryLinks(tx, [row.memory_id], momentFor(call));
  const answer = noun.render(call, row, links(row.memory_id));
  completeLater(tx, row, answer);
  return answer;
}

export const notFound = (call: Call, noun: Pick<Noun<Memory>, 'kind' | 'not_found'>, memory_id: string): CairnError =>
  new CairnError(noun.not_found, `there is no ${noun.kind} ${memory_id} in tenant ${call.tenant}`);

/** A request that refers to what is not there, or is gone. */
export const unknownEntity = (where: string, what: string, missing: readonly string[]): CairnError =>
  new CairnError(
    'UNKNOWN_ENTITY',
    `${where} names ${missing.length} ${what}(s) that do not exist or are gone: ${missing.slice(0, 3).join(', ')}`,
    { missing_ids: missing.slice(0, 100) },
  );

export const erased = (kind: MemoryKind, memory_id: string): CairnError =>
  new CairnError('CONTENT_ERASED', `${kind} ${memory_id} expired, or ended with what it belonged to`, {
    [`${kind}_ids`]: [memory_id],
  });

/** What artifacts and notes show alike. */
export function sharedFields(call: Call, row: VersionRow, links: Links) {
  const waiting = accessCounts.of(call).pending(call.tenant, row.memory_id);
  const accessed_at = Math.max(row.accessed_at ?? 0, waiting?.accessed_at ?? 0);
  return {
    content: (row.content === null ? null : JSON.parse(row.content)) as Json,
    card_id: row.card_id,
    content_hash: row.content_hash,
    token_count: row.token_count,
    abstraction_level: row.abstraction_level as Memory['abstraction_level'],
    agent_id: row.agent_id,
    version: row.version,
    ttl: JSON.parse(row.ttl) as Ttl,
    lifetime: row.lifetime,
    expires_at: row.expires_at === null ? null : toIso(row.expires_at),
    access_count: row.access_count + (waiting?.count ?? 0),
    accessed_at: accessed_at === 0 ? null : toIso(accessed_at),
    superseded_by: [...links.superseded_by],
    contradicted_by: [...links.contradicted_by],
    metadata: JSON.parse(row.metadata ?? '{}') as JsonObject,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.recorded_at),
  };
}

/** Reads an entity, or what it was at a moment. */
export async function readMemory<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  memory_id: string,
  as_of: string | undefined,
): Promise<M> {
  const { driver, tenant } = call;
  const moment = await settledMoment(call, as_of);
  const query = driver.at(tenant);
  const now = driver.now();
  const row = await findMemory(query, memory_id, moment);
  if (!row || row.kind !== noun.kind) throw notFound(call, noun, memory_id);
  if (!lives(row, now)) throw erased(noun.kind, memory_id);
  const links = await memoryLinks(query, [memory_id], momentFor(call, moment));
  // What was is no use of what is.
  if (moment === undefined) accessCounts.of(call).touch(tenant, [memory_id]);
  return noun.render(call, row, links(memory_id));
}

/** Gives the answer of a change again: the version that it made, as long as the entity is there. */
export async function readVersion<M extends Memory>(
  work: Work,
  noun: Noun<M>,
  memory_id: string,
  version: number,
): Promise<M> {
  const { call, tx } = work;
  const current = await findMemory(tx, memory_id);
  const row = await findVersion(tx, memory_id, version);
  if (!current || !row) throw notFound(call, noun, memory_id);
  if (!lives(row, call.driver.now())) throw erased(noun.kind, memory_id);
  return showMemory(work, noun, row);
}

const sizeOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text));
const versionBytes = (row: VersionRow): number => sizeOf(row.content) + sizeOf(row.metadata);

/** The filters that lists of artifacts and of notes share, as they are sent. */
export interface SharedFilters {
  readonly agent_id?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly abstraction_level?: string | undefined;
  readonly lifetime?: string | undefined;
  readonly include_superseded?: boolean | undefined;
  readonly as_of?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  readonly updated_after?: string | undefined;
  readonly updated_before?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly offset?: number | undefined;
}

export async function listOf<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  input: SharedFilters,
  own: Omit<MemoryFilter, 'kind' | 'include_superseded' | 'times'>,
): Promise<{ memories: M[]; next_cursor: string | null; total: number | null }> {
  const { driver, tenant } = call;
  const as_of = await settledMoment(call, input.as_of);
  const filter: MemoryFilter = {
    kind: noun.kind,
    agent_id: input.agent_id,
    abstraction_level: input.abstraction_level,
    lifetime: input.lifetime,
    times: timesOf(input),
    include_superseded: input.include_superseded ?? false,
    as_of,
    ...own,
  };
  const now = driver.now();
  const query = atLength(driver, tenant);
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

export interface History<M> {
  versions: (M & { superseded_at: string | null })[];
  deleted_at: string | null;
  next_cursor: string | null;
  total: number | null;
}

/** All versions of an entity, also of one that was deleted. */
export async function historyOf<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  memory_id: string,
  input: PageInput,
): Promise<History<M>> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const latest = await findLatest(query, memory_id);
  if (!latest || latest.kind !== noun.kind) throw notFound(call, noun, memory_id);
  if (!lives(latest, driver.now())) throw erased(noun.kind, memory_id);
  const { rows, ...page } = await listPage<VersionRow, number>(call, {
    input,
    filters: { memory_id },
    key: 'number',
    keyOf: (row) => row.version,
    read: (request) => listVersions(query, memory_id, request),
    bytesOf: versionBytes,
    count: sql`SELECT COUNT(*) AS total FROM memory_versions v WHERE v.tenant_id = ${tenant} AND v.memory_id = ${memory_id}`,
  });
  // Its links went with what was deleted; it is shown with those that it had until then.
  const until = latest.superseded_at === null ? undefined : latest.superseded_at - 1;
  const shown = await renderAll(call, query, noun, rows, until);
  const ended = (at: number | null) => (at === null ? null : toIso(at));
  return {
    versions: shown.map((one, i) => ({ ...one, superseded_at: ended(rows[i]!.superseded_at) })),
    deleted_at: ended(latest.superseded_at),
    ...page,
  };
}

/** A state as it is stored. */
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
