/** memory_versions: artifacts and notes, one row per version. */
import {
  insertRows,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
  tenantTable,
} from '../../driver/index.js';
import type { LifetimeClass } from '../../engine/contract.js';
import type { ErasedContent } from '../../engine/index.js';
import { PENDING, VERSION_ENDED } from '../../engine/sql.js';
import { eraseCards, forgetCards } from '../../facts/sql.js';
import { changeDocLifetime, hideDocs } from '../../index/sql.js';
import { BESIDE_VERSIONS, versionsAmong } from '../lookups.js';
import { selectIds } from '../rows.js';

export type MemoryKind = 'artifact' | 'note';

export interface NewVersion {
  readonly memory_id: string;
  readonly version: number;
  readonly kind: MemoryKind;
  readonly type: string;
  readonly name: string | null;
  readonly card_id: string;
  readonly agent_id: string | null;
  readonly subject_ids: string | null;
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
  /** Hash of the create request, if the client chose the id; only of the first version. */
  readonly sent_hash: string | null;
  readonly created_at: number;
}

/** A version with the content of its card and the counters of its entity. */
export interface VersionRow extends NewVersion {
  readonly recorded_at: number;
  readonly superseded_at: number | null;
  readonly erased_at: number | null;
  /** When its holder ended. */
  readonly ended_at: number | null;
  /** Null when the card was erased. */
  readonly content: string | null;
  readonly content_hash: string;
  readonly access_count: number;
  readonly accessed_at: number | null;
}

const versionsTable = tenantTable('memory_versions', {
  text: [
    'memory_id',
    'kind',
    'type',
    'name',
    'card_id',
    'agent_id',
    'subject_ids',
    'trajectory_id',
    'scope_id',
    'abstraction_level',
    'lifetime',
    'held_by',
    'sent_hash',
  ],
  bigint: ['version', 'token_count', 'expires_at', 'created_at', 'recorded_at'],
  json: ['provenance', 'metadata', 'ttl'],
});

/** Inserts a version that is valid from the recorded time of the commit: see PENDING. */
export const insertVersion = (tx: Tx, row: NewVersion): Promise<void> =>
  insertRows(tx, versionsTable, [{ ...row, recorded_at: PENDING }]);

/** Ends the current version at the recorded time of the commit, for its successor or a deletion. */
export async function endVersion(
  tx: Tx,
  { memory_id, version, card_id }: Pick<VersionRow, 'memory_id' | 'version' | 'card_id'>,
): Promise<void> {
  hideDocs(tx, 'card', [card_id]);
  await tx.send(
    sql`UPDATE memory_versions SET superseded_at = ${PENDING}
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = ${version}`,
  );
}

/** Sets the recorded time of versions of an entity that this commit wrote, from this version on. */
export const settleVersions = (tx: Tx, memory_id: string, from: number, recorded_at: number): Promise<void> =>
  tx.send(
    sql`UPDATE memory_versions SET
          recorded_at = CASE WHEN recorded_at = ${PENDING} THEN ${recorded_at} ELSE recorded_at END,
          created_at = CASE WHEN created_at = ${PENDING} THEN ${recorded_at} ELSE created_at END,
          superseded_at = CASE WHEN superseded_at = ${PENDING} THEN ${recorded_at} ELSE superseded_at END
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version >= ${from}`,
  );

export const VERSION_COLUMNS: Sql = sql`v.memory_id, v.version, v.kind, v.type, v.name, v.card_id, v.agent_id,
  v.subject_ids, v.trajectory_id, v.scope_id, v.abstraction_level, v.token_count, v.provenance, v.metadata, v.ttl, v.lifetime,
  v.expires_at, v.held_by, v.sent_hash, v.created_at, v.recorded_at, v.superseded_at, v.erased_at,
  ${VERSION_ENDED} AS ended_at, c.content, c.content_hash, COALESCE(a.access_count, 0) AS access_count, a.accessed_at`;

/** Versions v with their cards c and counters a. */
export const VERSIONS: Sql = sql`memory_versions v ${BESIDE_VERSIONS}`;

/** Whether version v was current at a moment; default: now. */
export const currentAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`v.superseded_at IS NULL`
    : sql`v.recorded_at <= ${as_of} AND (v.superseded_at IS NULL OR v.superseded_at > ${as_of})`;

/** Whether version v has neither expired nor ended with its holder. */
export const liveAt = (now: number): Sql =>
  sql`v.erased_at IS NULL AND (v.expires_at IS NULL OR v.expires_at > ${now})
      AND (v.held_by IS NULL OR ${VERSION_ENDED} IS NULL)`;

/** Whether the content of a version can be read, apart from deletion. */
export const isVersionLive = (
  row: Pick<VersionRow, 'erased_at' | 'expires_at' | 'ended_at' | 'content'>,
  now: number,
): boolean =>
  row.erased_at === null &&
  row.ended_at === null &&
  row.content !== null &&
  (row.expires_at === null || row.expires_at > now);

const versionsOf = (memory_id: string): Sql =>
  sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS} WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id}`;

/** The current version, or that of a moment. Reads the newest up to then, so that older versions are not scanned. */
export async function findMemory(query: Query, memory_id: string, as_of = PENDING): Promise<VersionRow | undefined> {
  const row = await query.get<VersionRow>(
    sql`${versionsOf(memory_id)} AND v.recorded_at <= ${as_of} ORDER BY v.version DESC LIMIT 1`,
  );
  return row && (row.superseded_at === null || row.superseded_at > as_of) ? row : undefined;
}

export const findVersion = (query: Query, memory_id: string, version: number): Promise<VersionRow | undefined> =>
  query.get<VersionRow>(sql`${versionsOf(memory_id)} AND v.version = ${version}`);

export const findLatest = (query: Query, memory_id: string): Promise<VersionRow | undefined> =>
  query.get<VersionRow>(sql`${versionsOf(memory_id)} ORDER BY v.version DESC LIMIT 1`);

export const listVersions = (query: Query, memory_id: string, page: KeysetPage<number>): Promise<VersionRow[]> =>
  query.all<VersionRow>(sql`${versionsOf(memory_id)}${keyset(sql`v.version`, page)}`);

/** The first version of an entity, deleted or not, before it is locked. Only its holder can change. */
export type Origin = Pick<
  NewVersion,
  'memory_id' | 'agent_id' | 'kind' | 'trajectory_id' | 'scope_id' | 'held_by' | 'sent_hash'
>;

export const findOrigin = (query: Query, memory_id: string): Promise<Origin | undefined> =>
  query.get<Origin>(
    sql`SELECT memory_id, agent_id, kind, trajectory_id, scope_id, held_by, sent_hash FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = 1`,
  );

const cardsOf = (memory_id: string): Sql =>
  sql`SELECT v.card_id AS id FROM memory_versions v WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id}`;

/** The cards of all versions of an artifact or note. */
export const cardsOfMemory = (query: Query, memory_id: string): Promise<string[]> =>
  selectIds(query, cardsOf(memory_id));

/**
 * Locks an entity by its first version, which always exists: a transaction that waited for the current version would
 * find it superseded, and would not see its successor.
 */
export async function lockMemory(tx: Tx, memory_id: string): Promise<void> {
  await tx.get(
    sql`SELECT version FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = 1 FOR UPDATE`,
  );
}

/** Locks the content of all versions against erasure, and returns how many are not erased. */
export async function lockContents(tx: Tx, memory_id: string): Promise<number> {
  const rows = await tx.all(
    sql`SELECT v.version FROM memory_versions v JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ${memory_id} AND v.erased_at IS NULL AND c.erased_at IS NULL
        ORDER BY v.version FOR UPDATE`,
  );
  return rows.length;
}

/** The lifetime belongs to the entity: all its versions and their cards get it. */
export async function changeLifetime(
  tx: Tx,
  memory_id: string,
  { ttl, lifetime, expires_at, held_by }: Pick<NewVersion, 'ttl' | 'lifetime' | 'expires_at' | 'held_by'>,
): Promise<void> {
  await tx.send(
    sql`UPDATE memory_versions SET ttl = ${ttl}, lifetime = ${lifetime}, expires_at = ${expires_at}, held_by = ${held_by}
        WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id}`,
  );
  // A sweep may have marked a card as kept: the new lifetime must be checked again.
  const card_ids = await cardsOfMemory(tx, memory_id);
  await tx.send(
    sql`UPDATE cards SET expires_at = ${expires_at}, held_by = ${held_by}, kept_at = NULL
        WHERE tenant_id = ${TENANT} AND card_id = ANY(${card_ids})`,
  );
  changeDocLifetime(tx, card_ids, { expires_at, held_by });
}

/** Deletes the cards of a deleted entity. */
export async function deleteCardsOf(tx: Tx, memory_id: string, moment: number): Promise<void> {
  const card_ids = await cardsOfMemory(tx, memory_id);
  hideDocs(tx, 'card', card_ids);
  await tx.send(
    sql`UPDATE cards SET deleted_at = ${moment}
        WHERE tenant_id = ${TENANT} AND card_id = ANY(${card_ids}) AND deleted_at IS NULL`,
  );
}

/** Artifacts and notes that exist now, or existed at a moment and were not erased since: their subjects by id. */
export async function existingMemories(
  query: Query,
  ids: readonly string[],
  now: number,
  options: { readonly kind?: MemoryKind; readonly as_of?: number | undefined } = {},
): Promise<Map<string, string | null>> {
  const { kind, as_of } = options;
  if (ids.length === 0) return new Map();
  const ofKind = kind === undefined ? sql`` : sql` AND v.kind = ${kind}`;
  const found = await query.all<Pick<NewVersion, 'memory_id' | 'subject_ids'>>(
    sql`SELECT v.memory_id, v.subject_ids FROM ${versionsAmong(ids, as_of)}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids})${ofKind} AND ${currentAt(as_of)} AND ${liveAt(now)}`,
  );
  return new Map(found.map(({ memory_id, subject_ids }) => [memory_id, subject_ids]));
}

type VersionKey = Pick<NewVersion, 'memory_id' | 'version' | 'card_id'>;

/** Expired versions that are not erased, in the order of their expiry. */
export const expiredVersions = (query: Query, now: number, limit: number): Promise<VersionKey[]> =>
  query.all<VersionKey>(
    sql`SELECT memory_id, version, card_id FROM memory_versions
        WHERE tenant_id = ${TENANT} AND expires_at IS NOT NULL AND erased_at IS NULL AND expires_at <= ${now}
        ORDER BY expires_at LIMIT ${limit}`,
  );

/** Erases the texts of these versions if they are still expired, without their cards. Returns the number erased. */
export const eraseExpired = (tx: Tx, versions: readonly VersionKey[], now: number): Promise<number> =>
  eraseVersions(tx, versions, now, sql` AND expires_at <= ${now}`);

async function eraseVersions(tx: Tx, versions: readonly VersionKey[], now: number, still: Sql): Promise<number> {
  const gone: string[] = [];
  for (const { memory_id, version, card_id } of versions) {
    const erased = await tx.run(
      sql`UPDATE memory_versions SET name = NULL, metadata = NULL, provenance = NULL, sent_hash = NULL, erased_at = ${now}
          WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id} AND version = ${version} AND erased_at IS NULL${still}`,
    );
    if (erased > 0) gone.push(card_id);
  }
  // A sealed box can keep the card of an erased version.
  hideDocs(tx, 'card', gone);
  return gone.length;
}

/** Erases versions of these entities with their cards, whatever pins them. Fewer cards than `limit`: the last ones. */
export async function forgetVersions(
  tx: Tx,
  memory_ids: readonly string[],
  limit: number,
  key: string,
  now: number,
): Promise<ErasedContent[]> {
  const held = await tx.all<VersionKey & { name: string | null }>(
    sql`SELECT v.memory_id, v.version, v.card_id, v.name FROM memory_versions v
          JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids})
          AND (v.erased_at IS NULL OR c.erased_at IS NULL)
        ORDER BY v.memory_id, v.version LIMIT ${limit}`,
  );
  const card_ids = held.map(({ card_id }) => card_id);
  const cards = new Map((await forgetCards(tx, card_ids, key, now)).map((card) => [card.card_id, card]));
  await eraseVersions(tx, held, now, sql``);
  return held.map(({ memory_id, card_id, name }) => ({
    of: memory_id,
    content_id: card_id,
    texts: [name, cards.get(card_id)?.content ?? null],
  }));
}

/** Erases versions of an ended holder and those of their cards that nothing pins. Fewer than `limit`: the last ones. */
export async function eraseMemories(tx: Tx, holder: string, limit: number, key: string, now: number): Promise<number> {
  const held = await tx.all<VersionKey>(
    sql`SELECT memory_id, version, card_id FROM memory_versions
        WHERE tenant_id = ${TENANT} AND held_by = ${holder} AND erased_at IS NULL
        ORDER BY memory_id, version LIMIT ${limit}`,
  );
  const card_ids = held.map(({ card_id }) => card_id);
  await eraseCards(tx, card_ids, key, now);
  await eraseVersions(tx, held, now, sql``);
  return held.length;
}
