/** Use cases of packets. A packet is never changed: it is written, read, and expires. */
import { listToText, longQuery, type Query, textToList } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  type Call,
  change,
  checkNamedAgent,
  equalsAnswer,
  type IndexKind,
  inChunks,
  listPage,
  packetBytes,
  SCHEMA_VERSION,
  subjectsOf,
  totalBytes,
  type UserPacket,
  type Work,
  withItemIndex,
} from '../../engine/index.js';
import { checkUses, isForeign } from '../../identity/index.js';
import { addDocs, newDoc } from '../../index/sql.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { afterYield, CairnError, invalid, notFound, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { alreadyExists, checkSize } from '../cards/rules.js';
import { packets as operations } from './contract.js';
import { completedTexts, differenceOf, type MemberTexts, memberTexts, originalOf, textOf, upcast } from './envelope.js';
import { indexEntries } from './index-entries.js';
import { descend, parentsOf } from './lineage.js';
import { type Packet, type PacketInput, packetInput, type WriteResult } from './model.js';
import { packetDoc, RESERVED_PREFIX } from './search-doc.js';
import {
  countPackets,
  envelopeOf,
  findOriginal,
  findPacket,
  findParents,
  findSent,
  isGone,
  listPackets,
  type PacketFilter,
  type PacketRow,
  packetsAt,
  relativeSeqs,
  toPacket,
} from './store.js';
import { viewerOf } from './viewer.js';

const LINEAGE_LIMIT = 1000;

/** A packet checked and measured before the transaction. */
interface PreparedPacket {
  readonly sent: PacketInput;
  readonly sent_texts: MemberTexts;
  /** With its metadata completed. */
  readonly packet: PacketInput;
  readonly metadata: string;
  readonly parents: readonly string[];
  readonly sent_hash: string | null;
  readonly bytes: number;
}

/** The key of an agent writes only as that agent. */
function asCaller(call: Call, packet: PacketInput): PacketInput {
  const agent = checkNamedAgent(call, packet.metadata?.agent, 'metadata.agent');
  return agent === null ? packet : { ...packet, metadata: { ...packet.metadata, agent } };
}

function prepare(call: Call, sent: PacketInput): PreparedPacket {
  if (sent.packet_type.toLowerCase().startsWith(RESERVED_PREFIX)) {
    throw new CairnError(
      'RESERVED_TYPE',
      `packet_type ${sent.packet_type}: the prefix "${RESERVED_PREFIX}" is reserved for Cairn, choose another`,
    );
  }
  const packet = asCaller(call, upcast(sent));
  const sent_texts = memberTexts(sent);
  const text = textOf(sent_texts);
  const bytes = Buffer.byteLength(text);
  checkSize('a packet', bytes, call.limits);
  const metadata = { ...packet.metadata, schema_version: SCHEMA_VERSION };
  return {
    sent,
    sent_texts,
    packet: { ...packet, metadata },
    metadata: canonical(metadata),
    parents: parentsOf(packet),
    bytes,
    sent_hash: sent.packet_id === undefined ? null : sha256(text),
  };
}

function expiry({ ttl }: PacketInput, now: number): number | null {
  const at = ttl === undefined ? null : toMs(ttl);
  if (at !== null && at <= now) throw invalid(`ttl must be in the future, and is ${ttl}`);
  return at;
}

const stringOrNull = (value: Json | undefined): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= 200 ? value : null;

async function writePacket(work: Work, prepared: PreparedPacket): Promise<WriteResult> {
  const { call, tx, now } = work;
  const { packet, parents: parent_ids } = prepared;
  if (packet.packet_id !== undefined && (await writtenBefore(work, packet.packet_id, prepared))) {
    return { packet_id: packet.packet_id, status: 'ok', written_tables: [], error_message: null };
  }
  const packet_id = packet.packet_id ?? newId();
  const parents = parent_ids.length > 0 ? await findParents(tx, parent_ids, now, viewerOf(call)) : new Map();
  const missing = parent_ids.filter((id) => !parents.has(id));
  if (missing.length > 0) {
    const message = `these parents do not exist: ${missing.slice(0, 3).join(', ')}`;
    throw new CairnError('UNKNOWN_PARENT', message, { missing_packet_ids: missing });
  }
  const inOrder = parent_ids.map((id) => parents.get(id)!);
  const { generation, root_packet_id } = descend(packet_id, inOrder, packet.lineage);
  const subject_ids = [...subjectsOf(call, packet.subject_ids, ...inOrder.map((parent) => parent.subject_ids))];
  const timestamp = packet.timestamp === undefined ? now : toMs(packet.timestamp);
  const expires_at = expiry(packet, now);
  const texts = completedTexts({
    packet_id,
    metadata: prepared.metadata,
    timestamp,
    expires_at,
    parent_ids,
    derivation: packet.lineage?.derivation_type,
    generation,
    root_packet_id,
    subject_ids,
  });
  const envelope = textOf(prepared.sent_texts, texts);
  const row: UserPacket = {
    packet_id,
    packet_type: packet.packet_type,
    timestamp,
    thread_id: packet.thread_id ?? null,
    agent: stringOrNull(packet.metadata?.agent),
    source: stringOrNull(packet.provenance?.source),
    format: null,
    envelope,
    original: differenceOf(prepared.sent, prepared.sent_texts, packet, texts),
    content_hash: sha256(envelope),
    sent_hash: prepared.sent_hash,
    expires_at,
    generation,
    root_packet_id,
    parent_ids,
    subject_ids,
    index: [
      ...indexEntries({ tags: packet.tags, subject_ids, routing: packet.routing }),
      ...parent_ids.map((id) => ['parent', id] as const),
    ],
  };
  tx.journal(row);
  const content = { content_id: packet_id, agent_id: row.agent, subject_ids: listToText(subject_ids) };
  const times = { created_at: timestamp, expires_at, held_by: null };
  addDocs(tx, newDoc(packetDoc(row, packet), { ...content, ...times }));
  const written_tables = row.index.length > 0 ? ['packet_store', 'packet_index'] : ['packet_store'];
  return { packet_id, status: 'ok', written_tables, error_message: null };
}

/** True if the same packet was written before; refuses an id that is taken or was erased. */
async function writtenBefore(work: Work, packet_id: string, { sent, sent_hash }: PreparedPacket): Promise<boolean> {
  const existing = await findSent(work.tx, packet_id);
  if (!existing) return false;
  // Compares no content for another agent's packet: the answer would confirm a guess.
  const { agent_id } = work.call.caller;
  const isOther = agent_id !== null && existing.agent !== agent_id;
  if (isOther || isForeign(work.call, existing)) throw alreadyExists('packet', packet_id);
  if (isGone(existing, work.now)) {
    throw new CairnError('ENTITY_GONE', `packet ${packet_id} expired or was erased: ids are never reused`);
  }
  if (existing.sent_hash === sent_hash) return true;
  if (equalsAnswer(packetInput, JSON.parse(envelopeOf(existing)!) as object, sent)) return true;
  throw alreadyExists('packet', packet_id);
}

export async function write(call: Call, input: In<'packets.write'>): Promise<WriteResult> {
  const prepared = prepare(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: (work) => writePacket(work, prepared),
    remember: (answer) => answer,
    again: async (_query, kept) => kept as unknown as WriteResult,
  });
}

export async function write_batch(call: Call, input: In<'packets.write_batch'>): Promise<Out<'packets.write_batch'>> {
  const prepared: PreparedPacket[] = [];
  for (const [i, packet] of input.packets.entries()) {
    const check = async () => {
      await checkUses(call, operations.write.touches, packet);
      return prepare(call, packet);
    };
    prepared.push(await afterYield(() => withItemIndex('packets', i, check)));
  }
  return change(call, {
    input,
    bytes: totalBytes(prepared),
    work: async (work) => {
      const results: WriteResult[] = [];
      // One by one: a packet may have an earlier one of the batch as its parent.
      for (const [i, one] of prepared.entries()) {
        results.push(await withItemIndex('packets', i, () => writePacket(work, one)));
      }
      return { results };
    },
    remember: (answer) => answer,
    again: async (_query, kept) => kept as unknown as Out<'packets.write_batch'>,
  });
}

async function openPacket(call: Call, query: Query, packet_id: string): Promise<PacketRow> {
  const row = await findPacket(query, packet_id, viewerOf(call));
  if (!row) throw notFound(call, 'packet', packet_id);
  return row;
}

async function readRow(call: Call, query: Query, packet_id: string): Promise<PacketRow> {
  const row = await openPacket(call, query, packet_id);
  if (!isGone(row, call.driver.now())) return row;
  const message = `packet ${packet_id} expired or was erased; its seq in the stream is ${row.seq}`;
  throw new CairnError('CONTENT_ERASED', message, { packet_ids: [packet_id], seq: row.seq });
}

export const get = async (call: Call, input: In<'packets.get'>): Promise<Packet> =>
  toPacket(await readRow(call, call.driver.at(call.tenant), input.packet_id), call.driver.now());

export async function original(call: Call, input: In<'packets.original'>): Promise<JsonObject> {
  const query = call.driver.at(call.tenant);
  const row = await readRow(call, query, input.packet_id);
  return originalOf(envelopeOf(row)!, await findOriginal(query, input.packet_id));
}

function filterOf(call: Call, input: In<'packets.list'>): PacketFilter {
  const { tag, parent_id, subject_id, routing, since, until, ...columns } = input;
  if (routing !== undefined && !/^[^:]+:./.test(routing)) throw invalid('routing must be key:value');
  const index = Object.entries({ tag, parent: parent_id, subject: subject_id, routing }) as [IndexKind, string][];
  return {
    ...columns,
    since: since === undefined ? undefined : toMs(since),
    until: until === undefined ? undefined : toMs(until),
    index: index.filter(([, value]) => value !== undefined),
    now: call.driver.now(),
    viewer: viewerOf(call),
  };
}

async function page(call: Call, input: In<'packets.list'>, order: 'asc' | 'desc'): Promise<Out<'packets.list'>> {
  const { driver, tenant } = call;
  const filter = filterOf(call, input);
  // A page of an agent, of a time range, or of users among many events, may scan many packets.
  const { viewer, since, until, written_by } = filter;
  const long = viewer !== null || since !== undefined || until !== undefined || written_by !== undefined;
  const query = long ? longQuery(driver, tenant) : driver.at(tenant);
  const { limit, cursor, offset, order: _order, ...asked } = input;
  const { rows, ...rest } = await listPage<PacketRow, number>(call, {
    input: { limit, cursor, offset, order },
    filters: asked as unknown as Json,
    key: 'number',
    keyOf: ({ seq }) => seq,
    read: (request) => listPackets(query, filter, request),
    bytesOf: packetBytes,
    count: countPackets(filter),
  });
  return { packets: rows.map((row) => toPacket(row, filter.now)), ...rest };
}

export const list = (call: Call, input: In<'packets.list'>): Promise<Out<'packets.list'>> =>
  page(call, input, input.order ?? 'desc');

export const thread = (call: Call, input: In<'packets.thread'>): Promise<Out<'packets.thread'>> =>
  page(call, input, input.order ?? 'asc');

/** Walks level by level, so that it costs what it returns: reads the seqs of a level, then its packets in chunks. */
export function lineage(call: Call, input: In<'packets.lineage'>): Promise<Out<'packets.lineage'>> {
  const { direction = 'ancestors', max_depth = 10 } = input;
  const viewer = viewerOf(call);
  return call.driver.snapshot(call.tenant, async (query) => {
    const start = await openPacket(call, query, input.packet_id);
    const now = call.driver.now();
    const seen = new Set([start.seq]);
    const packets: Out<'packets.lineage'>['packets'] = [];
    let bytes = 0;
    let level: Pick<PacketRow, 'packet_id' | 'parent_ids'>[] = [start];
    for (let depth = 1; level.length > 0; depth++) {
      const ids = level.flatMap((row) => (direction === 'ancestors' ? textToList(row.parent_ids) : row.packet_id));
      if (ids.length === 0) break;
      const room = LINEAGE_LIMIT - packets.length;
      // Packets already met on a shorter path come again, and must not displace new ones.
      const limit = room + 1 + seen.size;
      const seqs = await relativeSeqs(query, [...new Set(ids)], direction, limit, viewer);
      const fresh = seqs.filter((seq) => !seen.has(seq));
      if (fresh.length > 0 && (depth > max_depth || room === 0)) return { packets, truncated: true };
      level = [];
      const read = (seqs: readonly number[]) => packetsAt(query, seqs, viewer);
      for await (const rows of inChunks(fresh.slice(0, room), read, packetBytes)) {
        for (const row of rows) {
          bytes += isGone(row, now) ? 0 : packetBytes(row);
          if (bytes > call.limits.max_answer_bytes && packets.length > 0) return { packets, truncated: true };
          seen.add(row.seq);
          packets.push({ ...toPacket(row, now), depth });
          level.push({ packet_id: row.packet_id, parent_ids: row.parent_ids });
        }
      }
      if (fresh.length > room) return { packets, truncated: true };
    }
    return { packets, truncated: false };
  });
}
