/** Reads packet_store and packet_index: packets, lists, lineage, the stream. */
import {
  join,
  type KeysetPage,
  keyset,
  listToText,
  type Query,
  type Sql,
  sql,
  startsWith,
  TENANT,
  type Tx,
  textToList,
} from '../../driver/index.js';
import { type IndexKind, type NewPacket, reachesSubjects, type UserPacket } from '../../engine/index.js';
import { type EventColumns, NOTHING, renderEvent } from '../../engine/sql.js';
import { timePrefix } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import type { Ancestor } from './lineage.js';
import type { Packet } from './model.js';
import { type PacketViewer, visibleTo } from './visibility.js';

type OwnColumn = 'entity_type' | 'entity_id' | 'facts' | 'format';

/** What the envelope of a packet is made of: its text, or the columns of an own event. */
export interface StoredPacket
  extends Omit<EventColumns, OwnColumn>,
    Readonly<Record<Exclude<OwnColumn, 'format'>, string | null>> {
  readonly format: number | null;
  readonly envelope: string | null;
}

export const STORED = sql`p.packet_id, p.packet_type, p.timestamp, p.thread_id, p.agent, p.key_id, p.entity_type, p.entity_id,
  p.facts, p.format, p.envelope`;

/** The canonical JSON of a packet; null if it was erased. */
export const envelopeOf = (row: StoredPacket): string | null =>
  row.format === null ? row.envelope : renderEvent(row as EventColumns);

export interface PacketRow extends Ancestor, StoredPacket {
  readonly packet_id: string;
  readonly seq: number;
  readonly recorded_at: number;
  readonly content_hash: string | null;
  readonly expires_at: number | null;
  readonly parent_ids: string | null;
  readonly erased_at: number | null;
}

/** Generation and root of a packet p; absent ones are those of a packet without parents. */
const ANCESTRY = sql`COALESCE(p.generation, 0) AS generation, COALESCE(p.root_packet_id, p.packet_id) AS root_packet_id`;

const COLUMNS = sql`${STORED}, ${ANCESTRY}, p.seq, p.recorded_at, p.content_hash, p.expires_at, p.parent_ids, p.erased_at`;

export const isGone = (row: { erased_at: number | null; expires_at: number | null }, now: number): boolean =>
  row.erased_at !== null || (row.expires_at !== null && row.expires_at <= now);

/** An expired or erased packet keeps only its place in stream and lineage. */
export function toPacket(row: PacketRow, now: number): Packet {
  const envelope = isGone(row, now) ? null : envelopeOf(row);
  const content_hash = row.content_hash ?? sha256(envelope!);
  const placed = { seq: row.seq, recorded_at: toIso(row.recorded_at), content_hash };
  if (envelope === null) {
    return {
      packet_id: row.packet_id,
      packet_type: row.packet_type,
      timestamp: toIso(row.timestamp),
      ...(row.thread_id === null ? {} : { thread_id: row.thread_id }),
      lineage: {
        parent_ids: textToList(row.parent_ids),
        generation: row.generation,
        root_packet_id: row.root_packet_id,
      },
      ...placed,
      erased: true,
    };
  }
  return { ...(JSON.parse(envelope) as Packet), ...placed };
}

/** Restricts a statement to the packets that a viewer sees; follows other conditions. */
const andVisible = (viewer: PacketViewer | null): Sql => (viewer === null ? sql`` : sql` AND ${visibleTo(viewer)}`);

export const findPacket = (query: Query, id: string, viewer: PacketViewer | null): Promise<PacketRow | undefined> =>
  query.get(
    sql`SELECT ${COLUMNS} FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.packet_id = ${id}${andVisible(viewer)}`,
  );

type SentPacket = StoredPacket &
  Pick<PacketRow, 'erased_at' | 'expires_at'> &
  Pick<UserPacket, 'sent_hash'> & { readonly subject_ids: string | null };

/** The packet that has this id, also one of the same commit. */
export async function findSent(tx: Tx, packet_id: string): Promise<SentPacket | undefined> {
  const stored = await tx.get<SentPacket>(
    sql`SELECT ${STORED}, p.sent_hash, p.subject_ids, p.erased_at, p.expires_at FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.packet_id = ${packet_id}`,
  );
  const waiting = waitingPackets(tx).find((packet) => packet.packet_id === packet_id);
  return (
    stored ?? (waiting && { ...waiting, ...NO_EVENT, subject_ids: listToText(waiting.subject_ids), erased_at: null })
  );
}

const NO_EVENT = { key_id: null, entity_type: null, entity_id: null, facts: null };

/** The packets of users in the same commit. Nobody knows the id of an own event before it is committed. */
const waitingPackets = (tx: Tx): UserPacket[] =>
  (tx.journalled as readonly NewPacket[]).filter((packet): packet is UserPacket => packet.format === null);

interface Parent extends Ancestor {
  readonly subject_ids: readonly string[];
}

/** The existing parents, also of the same commit. An agent finds only readable ones: a child inherits their subjects. */
export async function findParents(
  tx: Tx,
  ids: readonly string[],
  now: number,
  viewer: PacketViewer | null,
): Promise<Map<string, Parent>> {
  const found = new Map<string, Parent>();
  const wanted = new Set(ids);
  for (const packet of waitingPackets(tx)) {
    // Packets of others in the same commit are not readable yet.
    const own = reachesSubjects(viewer?.reach?.user, listToText(packet.subject_ids));
    const isReadable = viewer === null || (packet.agent === viewer.agent && own);
    if (wanted.has(packet.packet_id) && isReadable) found.set(packet.packet_id, packet);
  }
  const ofAgent = viewer?.reach?.user ? NOTHING : sql`p.agent = ${viewer?.agent ?? null}`;
  const readable = viewer === null ? sql`` : sql` AND (${ofAgent} OR ${visibleTo(viewer)})`;
  const rest = ids.filter((id) => !found.has(id));
  if (rest.length === 0) return found;
  // An expired packet still counts as a parent, but its subjects are not inherited, swept or not.
  const rows = await tx.all<Ancestor & { subject_ids: string | null }>(
    sql`SELECT p.packet_id, ${ANCESTRY},
          CASE WHEN p.expires_at <= ${now} THEN NULL ELSE p.subject_ids END AS subject_ids FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${rest})${readable}`,
  );
  for (const row of rows) found.set(row.packet_id, { ...row, subject_ids: textToList(row.subject_ids) });
  return found;
}

/** The source in the envelope of an own event, which has none in its row. Users may give it too. */
const OWN_SOURCE = 'cairn';

export interface PacketFilter {
  readonly packet_type?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly agent?: string | undefined;
  readonly source?: string | undefined;
  readonly written_by?: 'users' | 'cairn' | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly index: readonly (readonly [IndexKind, string])[];
  readonly now: number;
  readonly viewer: PacketViewer | null;
}

/** Own events have their timestamp in their id, and are not in the index by time. */
function inTime(since: number | undefined, until: number | undefined): Sql {
  const users = [sql`p.tenant_id = ${TENANT} AND p.format IS NULL`];
  const own = [sql`p.tenant_id = ${TENANT} AND p.format IS NOT NULL`];
  if (since !== undefined) {
    users.push(sql`p.timestamp >= ${since}`);
    own.push(sql`p.packet_id >= ${timePrefix(since)}`);
  }
  if (until !== undefined) {
    users.push(sql`p.timestamp < ${until}`);
    own.push(sql`p.packet_id < ${timePrefix(until)}`);
  }
  return sql`(${join(users, ' AND ')} OR ${join(own, ' AND ')})`;
}

function where(filter: PacketFilter): Sql {
  const { packet_type, thread_id, agent, source, written_by, since, until, now, viewer } = filter;
  const conditions: Sql[] = [
    sql`p.tenant_id = ${TENANT}`,
    sql`p.erased_at IS NULL`,
    sql`(p.expires_at IS NULL OR p.expires_at > ${now})`,
  ];
  if (packet_type !== undefined) conditions.push(sql`p.packet_type = ${packet_type}`);
  if (thread_id !== undefined) conditions.push(sql`p.thread_id = ${thread_id}`);
  if (agent !== undefined) conditions.push(sql`p.agent = ${agent}`);
  if (source === OWN_SOURCE) conditions.push(sql`(p.format IS NOT NULL OR p.source = ${source})`);
  else if (source !== undefined) conditions.push(sql`p.source = ${source}`);
  if (written_by === 'users') conditions.push(sql`p.format IS NULL`);
  else if (written_by === 'cairn') conditions.push(sql`p.format IS NOT NULL`);
  if (since !== undefined || until !== undefined) conditions.push(inTime(since, until));
  for (const [kind, value] of filter.index) {
    conditions.push(
      sql`p.seq IN (SELECT i.seq FROM packet_index i
                    WHERE i.tenant_id = ${TENANT} AND i.kind = ${kind} AND i.value = ${value})`,
    );
  }
  if (viewer !== null) conditions.push(visibleTo(viewer));
  return join(conditions, ' AND ');
}

export const listPackets = (query: Query, filter: PacketFilter, page: KeysetPage<number>): Promise<PacketRow[]> =>
  query.all(sql`SELECT ${COLUMNS} FROM packet_store p WHERE ${where(filter)}${keyset(sql`p.seq`, page)}`);

export const countPackets = (filter: PacketFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM packet_store p WHERE ${where(filter)}`;

export interface StreamFilter {
  readonly type?: string | undefined;
  readonly prefix?: string | undefined;
  readonly thread_id?: string | undefined;
}

/** The next packets of the stream. Expired and erased ones keep their place in it. */
export function nextPackets(
  query: Query,
  range: { readonly after: number; readonly until: number },
  limit: number,
  { type, prefix, thread_id }: StreamFilter,
  viewer: PacketViewer | null,
): Promise<PacketRow[]> {
  const conditions: Sql[] = [sql`p.tenant_id = ${TENANT}`, sql`p.seq > ${range.after} AND p.seq <= ${range.until}`];
  if (type !== undefined) conditions.push(sql`p.packet_type = ${type}`);
  if (prefix !== undefined) conditions.push(startsWith(sql`p.packet_type`, prefix));
  if (thread_id !== undefined) conditions.push(sql`p.thread_id = ${thread_id}`);
  if (viewer !== null) conditions.push(visibleTo(viewer));
  return query.all(
    sql`SELECT ${COLUMNS} FROM packet_store p WHERE ${join(conditions, ' AND ')} ORDER BY p.seq LIMIT ${limit}`,
  );
}

/** The seqs of the parents of some packets (given their ids), or of their children, in order. */
export async function relativeSeqs(
  query: Query,
  ids: readonly string[],
  direction: 'ancestors' | 'descendants',
  limit: number,
  viewer: PacketViewer | null,
): Promise<number[]> {
  const within = viewer?.reach
    ? sql` AND EXISTS (SELECT 1 FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.seq = i.seq AND ${visibleTo(viewer)})`
    : sql``;
  // Only a parent can be an event of a hidden box: Cairn writes these events, and they have no parents.
  const rows = await query.all<{ seq: number }>(
    direction === 'ancestors'
      ? sql`SELECT p.seq FROM packet_store p WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${ids})${andVisible(viewer)}
            ORDER BY p.seq LIMIT ${limit}`
      : sql`SELECT DISTINCT i.seq FROM packet_index i
            WHERE i.tenant_id = ${TENANT} AND i.kind = 'parent' AND i.value = ANY(${ids})${within} ORDER BY i.seq LIMIT ${limit}`,
  );
  return rows.map(({ seq }) => seq);
}

export const packetsAt = (query: Query, seqs: readonly number[], viewer: PacketViewer | null): Promise<PacketRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM packet_store p WHERE p.tenant_id = ${TENANT} AND p.seq = ANY(${seqs})${andVisible(viewer)}
        ORDER BY p.seq`,
  );

export async function findOriginal(query: Query, packet_id: string): Promise<string | null> {
  const row = await query.get<{ original: string | null }>(
    sql`SELECT original FROM packet_store WHERE tenant_id = ${TENANT} AND packet_id = ${packet_id}`,
  );
  return row?.original ?? null;
}
