/** memory_versions: artifacts and notes, one row a version; how they are written and found. */
import { type KeysetPage, keyset, type Query, type Sql, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import type { LifetimeClass } from '../../engine/contract.js';
import { PENDING, VERSION_ENDED } from '../../engine/sql.js';
import { eraseCards } from '../../facts/sql.js';
import { forgetDoc } from '../../index/sql.js';
import { BESIDE_VERSIONS, versionsAmong } from './lookups.js';

export type MemoryKind = 'artifact' | 'note';

export interface NewVersion {
  readonly memory_id: string;
  readonly version: number;
  readonly kind: MemoryKind;
  readonly type: string;
  readonly name: string | null;
  readonly card_id: string;
  readonly agent_id: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly abstraction_level: string;
  readonly token_count: number;
  readonly provenance: string | null;
  readonly metadata: string | null;
  readonly ttl: string;
  readonly lifetime: LifetimeClass;
  readonly expires_at: number | null;
  readonly held_by: string | null;
  /** Of the first version: what was sent, if the client chose the id. */
  readonly sent_hash: string | null;
  readonly created_at: number;
}

/** A version with the content of its card and the counters of its entity. */
export interface VersionRow extends NewVersion {
  readonly recorded_at: number;
  readonly superseded_at: number | null;
  readonly erased_at: number | null;
  /** When what holds it ended. */
  readonly ended_at: number | null;
  /** Null when the card was erased. */
  readonly content: string | null;
  readonly content_hash: string;
  readonly access_count: number;
  readonly accessed_at: number | null;
}

const versionsTable: Table = {
  name: 'memory_versions',
  columns: {
    tenant_id: 'text',
    memory_id: 'text',
    version: 'bigint',
    kind: 'text',
    type: 'text',
    name: 'text',
    card_id: 'text',
    agent_id: 'text',
    trajectory_id: 'text',
    scope_id: 'text',
    abstraction_level: 'text',
    token_count: 'bigint',
    provenance: 'json',
    metadata: 'json',
    ttl: 'json',
    lifetime: 'text',
    expires_at: 'bigint',
    held_by: 'text',
    sent_hash: 'text',
    created_at: 'bigint',
    recorded_at: 'bigint',
  },
};

/** Writes a version that holds from the recorded time of the commit on: see PENDING. */
export async function insertVersion(tx: Tx, row: NewVersion): Promise<void> {
  await tx.insert(versionsTable, [
    [
      tx.tenant,
      row.memory_id,
      row.version,
      row.kind,
      row.type,
      row.name,
      row.card_id,
      row.agent_id,
      row.trajectory_id,
      row.scope_id,
      row.abstraction_level,
      row.token_count,
      row.provenance,
      row.metadata,
      row.ttl,
      row.lifetime,
      row.expires_at,
      row.held_by,
      row.sent_hash,
      row.created_at,
      PENDING,
    ],
  ]);
}

/** Ends the current version at the recorded time of the commit: another follows it, or it was deleted. */
export async function endVersion(
  tx: Tx,
  { memory_id, version, card_id }: Pick<VersionRow, 'memory_id' | 'version' | 'card_id'>,
): Promise<void> {
  await forgetDoc(tx, card_id);
  await tx.send(
    sql`UPDATE memory_versions SET superseded_at = ${PENDING}
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = ${version}`,
  );
}

/** Gives what was written in this commit its recorded time: the versions of an entity from this one on. */
export async function settleVersions(tx: Tx, memory_id: string, from: number, recorded_at: number): Promise<void> {
  await tx.send(
    sql`UPDATE memory_versions SET
          recorded_at = CASE WHEN recorded_at = ${PENDING} THEN ${recorded_at} ELSE recorded_at END,
          created_at = CASE WHEN created_at = ${PENDING} THEN ${recorded_at} ELSE created_at END,
          superseded_at = CASE WHEN superseded_at = ${PENDING} THEN ${recorded_at} ELSE superseded_at END
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version >= ${from}`,
  );
}

export const VERSION_COLUMNS: Sql = sql`v.memory_id, v.version, v.kind, v.type, v.name, v.card_id, v.agent_id,
  v.trajectory_id, v.scope_id, v.abstraction_level, v.token_count, v.provenance, v.metadata, v.ttl, v.lifetime,
  v.expires_at, v.held_by, v.sent_hash, v.created_at, v.recorded_at, v.superseded_at, v.erased_at,
  ${VERSION_ENDED} AS ended_at, c.content, c.content_hash, COALESCE(a.access_count, 0) AS access_count, a.accessed_at`;

/** Versions with what belongs to them. */
export const VERSIONS: Sql = sql`memory_versions v ${BESIDE_VERSIONS}`;

/** The versions that held at a moment; those that hold now, unless it is given. */
export const heldAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`v.superseded_at IS NULL`
    : sql`v.recorded_at <= ${as_of} AND (v.superseded_at IS NULL OR v.superseded_at > ${as_of})`;

/** Whether a version has neither expired nor ended with what holds it. */
export const livesAt = (now: number): Sql =>
  sql`v.erased_at IS NULL AND (v.expires_at IS NULL OR v.expires_at > ${now})
      AND (v.held_by IS NULL OR ${VERSION_ENDED} IS NULL)`;

type Lifetime = Pick<VersionRow, 'erased_at' | 'expires_at' | 'ended_at' | 'content'>;

/** Whether the content of a version can still be read; that it was deleted is another matter. */
export const lives = (row: Lifetime, now: number): boolean =>
  row.erased_at === null &&
  row.ended_at === null &&
  row.content !== null &&
  (row.expires_at === null || row.expires_at > now);

/** The version that holds now, or held at a moment. By the newest up to then, so that those before are not walked over. */
export async function findMemory(query: Query, memory_id: string, as_of = PENDING): Promise<VersionRow | undefined> {
  const row = await query.get<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id} AND v.recorded_at <= ${as_of}
        ORDER BY v.version DESC LIMIT 1`,
  );
  const over = row && row.superseded_at !== null && row.superseded_at <= as_of;
  return over ? undefined : row;
}

export function findVersion(query: Query, memory_id: string, version: number): Promise<VersionRow | undefined> {
  return query.get<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id} AND v.version = ${version}`,
  );
}

/** What an entity is known by before it is locked, whether it is still there or not. Only its holder may change. */
export interface Origin {
  readonly memory_id: string;
  readonly agent_id: string | null;
  readonly kind: MemoryKind;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly held_by: string | null;
  readonly sent_hash: string | null;
}

export function findOrigin(query: Query, memory_id: string): Promise<Origin | undefined> {
  return query.get<Origin>(
    sql`SELECT memory_id, agent_id, kind, trajectory_id, scope_id, held_by, sent_hash FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = 1`,
  );
}

/**
 * Nobody else changes the entity until the commit. It is the first version that is locked, since that one stays: whoever
 * waited for the current one would find it superseded, and not see the one that took its place.
 */
/** The cards of all versions of an artifact or note. */
export async function cardsOfMemory(query: Query, memory_id: string): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT card_id FROM memory_versions WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id}`,
  );
  return rows.map(({ card_id }) => card_id);
}

export async function lockMemory(tx: Tx, memory_id: string): Promise<void> {
  await tx.get(
    sql`SELECT version FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = 1 FOR UPDATE`,
  );
}

/** Versions of an entity in their order, behind one of them. */
export function listVersions(query: Query, memory_id: string, page: KeysetPage<number>): Promise<VersionRow[]> {
  return query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id}${keyset(sql`v.version`, page)}`,
  );
}

export function findLatest(query: Query, memory_id: string): Promise<VersionRow | undefined> {
  return query.get<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id} ORDER BY v.version DESC LIMIT 1`,
  );
}

export interface NewLifetime {
  readonly ttl: string;
  readonly lifetime: LifetimeClass;
  readonly expires_at: number | null;
  readonly held_by: string;
}

const cardsOf = (memory_id: string): Sql =>
  sql`SELECT v.card_id FROM memory_versions v WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id}`;

/** Keeps what all versions say from being erased until the commit, and says of how many it still was there. */
export async function lockContents(tx: Tx, memory_id: string): Promise<number> {
  const rows = await tx.all(
    sql`SELECT v.version FROM memory_versions v JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id} AND v.erased_at IS NULL AND c.erased_at IS NULL
        ORDER BY v.version FOR UPDATE`,
  );
  return rows.length;
}

/** The lifetime is the entity's: all its versions and their cards get it. */
export async function changeLifetime(
  tx: Tx,
  memory_id: string,
  { ttl, lifetime, expires_at, held_by }: NewLifetime,
): Promise<void> {
  await tx.send(
    sql`UPDATE memory_versions SET ttl = ${ttl}, lifetime = ${lifetime}, expires_at = ${expires_at}, held_by = ${held_by}
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id}`,
  );
  // A sweep may have noted one of them as kept: with another end, it is looked at anew.
  await tx.send(
    sql`UPDATE cards SET expires_at = ${expires_at}, held_by = ${held_by}, kept_at = NULL
        WHERE tenant_id = ${TENANT} AND card_id IN (${cardsOf(memory_id)})`,
  );
}

/** The cards of a deleted entity go with it, as cards that are deleted do. */
export async function deleteCardsOf(tx: Tx, memory_id: string, moment: number): Promise<void> {
  await tx.send(
    sql`UPDATE cards SET deleted_at = ${moment}
        WHERE tenant_id = ${TENANT} AND card_id IN (${cardsOf(memory_id)}) AND deleted_at IS NULL`,
  );
}

/** Which of these are artifacts or notes that can be read now, or could at a moment and were not erased since. */
export async function knownMemories(
  query: Query,
  ids: readonly string[],
  now: number,
  options: { readonly kind?: MemoryKind; readonly as_of?: number | undefined } = {},
): Promise<Set<string>> {
  const { kind, as_of } = options;
  if (ids.length === 0) return new Set();
  const ofKind = kind === undefined ? sql`` : sql` AND v.kind = ${kind}`;
  const rows = await query.all<{ memory_id: string }>(
    sql`SELECT v.memory_id FROM ${versionsAmong(ids, as_of)}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids})${ofKind} AND ${heldAt(as_of)} AND ${livesAt(now)}`,
  );
  return new Set(rows.map(({ memory_id }) => memory_id));
}

/** A version whose time is over. */
export interface OverVersion {
  readonly memory_id: string;
  readonly version: number;
}

/** Versions that have expired and still say something, in the order in which their time ended. */
export function expiredVersions(query: Query, now: number, limit: number): Promise<OverVersion[]> {
  return query.all<OverVersion>(
    sql`SELECT memory_id, version FROM memory_versions
        WHERE tenant_id = ${TENANT} AND expires_at IS NOT NULL AND erased_at IS NULL AND expires_at <= ${now}
        ORDER BY expires_at LIMIT ${limit}`,
  );
}

/** Erases what versions say of themselves that are still expired, and says of how many. Their cards are another matter. */
export const eraseExpired = (tx: Tx, versions: readonly OverVersion[], now: number): Promise<number> =>
  eraseVersions(tx, versions, now, sql` AND expires_at <= ${now}`);

async function eraseVersions(tx: Tx, versions: readonly OverVersion[], now: number, still: Sql): Promise<number> {
  let erased = 0;
  for (const { memory_id, version } of versions) {
    erased += await tx.run(
      sql`UPDATE memory_versions SET name = NULL, metadata = NULL, provenance = NULL, sent_hash = NULL, erased_at = ${now}
          WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = ${version} AND erased_at IS NULL${still}`,
    );
  }
  return erased;
}

/**
 * Erases some versions that an ended holder held, with their cards, but for those cards that something pins. Fewer
 * versions than the limit are the last ones.
 */
export async function eraseMemories(tx: Tx, holder: string, limit: number, key: string, now: number): Promise<number> {
  const held = await tx.all<OverVersion & { card_id: string }>(
    sql`SELECT memory_id, version, card_id FROM memory_versions
        WHERE tenant_id = ${TENANT} AND held_by = ${holder} AND erased_at IS NULL
        ORDER BY memory_id, version LIMIT ${limit}`,
  );
  const cards = held.map(({ card_id }) => card_id);
  await eraseCards(tx, cards, key, now);
  await eraseVersions(tx, held, now, sql``);
  return held.length;
}
