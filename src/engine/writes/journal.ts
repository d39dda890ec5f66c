/** packet_store and packet_index: the journal of a tenant. */
import {
  type BoundParam,
  DriverError,
  type Journal,
  type JournalEntry,
  listToText,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import type { EventColumns } from './event-format.js';
import { type LateCounts, lateWriters, SEARCH_TAIL } from './late-rows.js';

/** A write rests on cached settings of this revision. Another one on the head row makes it run again. */
export interface AssumedRevision {
  /** Null if the tenant has never changed its settings. */
  readonly revision: string | null;
  /** Removes the outdated copy from the cache. */
  readonly drop: () => void;
}

/** A packet before the commit gives it seq and recorded_at. */
export interface NewPacket extends JournalEntry {
  readonly packet_id: string;
  readonly packet_type: string;
  readonly timestamp: number;
  readonly thread_id: string | null;
  readonly agent: string | null;
  /** Null in a packet of a user. */
  readonly format: number | null;
  /** Writes rows that carry the recorded time, after the head row is locked and before the commit. */
  readonly settle?: (tx: Tx, recorded_at: number, seq: number) => Promise<void>;
  /** The revision that this change gives to the settings of the tenant. */
  readonly revises?: string;
  readonly assumes?: AssumedRevision | undefined;
}

/** An event of Cairn itself (event-format.ts). */
export interface OwnEvent extends NewPacket, EventColumns {
  readonly format: number;
  readonly checksum: number;
  /** Of the user that caused it, as the column. */
  readonly subject_ids: string | null;
}

/** A packet that a user wrote. */
export interface UserPacket extends NewPacket {
  readonly format: null;
  readonly source: string | null;
  readonly envelope: string;
  /** The sent packet, as its difference from the envelope. */
  readonly original: string | null;
  readonly content_hash: string;
  readonly sent_hash: string | null;
  readonly expires_at: number | null;
  readonly generation: number;
  readonly root_packet_id: string;
  readonly parent_ids: readonly string[];
  readonly subject_ids: readonly string[];
  /** Kinds and values by which it is found besides its columns. */
  readonly index: readonly (readonly [IndexKind, string])[];
}

const isOwn = (packet: NewPacket): packet is OwnEvent => packet.format !== null;

const inEveryPacket = {
  tenant_id: 'text',
  seq: 'bigint',
  packet_id: 'text',
  packet_type: 'text',
  timestamp: 'bigint',
  recorded_at: 'bigint',
  thread_id: 'text',
  agent: 'text',
} as const;

const ownEvents: Table = {
  name: 'packet_store',
  columns: {
    ...inEveryPacket,
    key_id: 'text',
    entity_type: 'text',
    entity_id: 'text',
    facts: 'text',
    format: 'bigint',
    checksum: 'bigint',
    subject_ids: 'text',
  },
};

const userPackets: Table = {
  name: 'packet_store',
  columns: {
    ...inEveryPacket,
    source: 'text',
    envelope: 'json',
    original: 'json',
    content_hash: 'text',
    sent_hash: 'text',
    expires_at: 'bigint',
    generation: 'bigint',
    root_packet_id: 'text',
    parent_ids: 'json',
    subject_ids: 'text',
  },
};

const packetIndex: Table = {
  name: 'packet_index',
  columns: { tenant_id: 'text', kind: 'text', value: 'text', seq: 'bigint' },
};

interface Head {
  readonly seq: number;
  readonly recorded_at: number;
  readonly settings_revision: string | null;
  readonly doc_no: number;
  readonly folded_doc: number;
}

const NO_COUNTS: LateCounts = { documents: 0, changes: 0 };

/** Makes the group run again, with settings that are read anew, if one of its writes used an outdated copy. */
function refuseOutdated(packets: readonly NewPacket[], { settings_revision }: Head): void {
  const outdated = packets.flatMap(({ assumes }) =>
    assumes !== undefined && assumes.revision !== settings_revision ? [assumes] : [],
  );
  for (const { drop } of outdated) drop();
  if (outdated.length > 0) throw new DriverError('conflict', 'the settings of the tenant changed meanwhile');
}

export function packetJournal(now: () => number, max_tail = SEARCH_TAIL): Journal {
  return {
    async append(tx, entries, late) {
      const packets = entries as readonly NewPacket[];
      const lateWriter = late.length === 0 ? undefined : lateWriters.get('documents');
      const { documents, changes } = lateWriter?.count(late) ?? NO_COUNTS;
      const moment = now();
      // recorded_at never falls, whatever the servers' clocks say, so that it rises with seq.
      const revised = packets.findLast(({ revises }) => revises !== undefined)?.revises ?? null;
      const [head] = await tx.returning<Head>(
        sql`UPDATE tenants SET seq = seq + ${packets.length},
              recorded_at = CASE WHEN recorded_at > ${moment} THEN recorded_at ELSE ${moment} END,
              settings_revision = COALESCE(${revised}, settings_revision),
              doc_no = doc_no + ${documents}, doc_changes = doc_changes + ${changes}
            WHERE tenant_id = ${TENANT} RETURNING seq, recorded_at, settings_revision, doc_no, folded_doc`,
      );
      if (!head) throw new Error(`tenant ${tx.tenant} has no head row`);
      refuseOutdated(packets, head);
      const first = head.seq - packets.length + 1;
      for (const [i, packet] of packets.entries()) await packet.settle?.(tx, head.recorded_at, first + i);
      const own: BoundParam[][] = [];
      const users: BoundParam[][] = [];
      const index: BoundParam[][] = [];
      for (const [i, p] of packets.entries()) {
        const seq = first + i;
        const { packet_id, packet_type, timestamp, thread_id, agent } = p;
        const row = [tx.tenant, seq, packet_id, packet_type, timestamp, head.recorded_at, thread_id, agent];
        if (isOwn(p)) {
          row.push(p.key_id, p.entity_type, p.entity_id, p.facts, p.format, p.checksum, p.subject_ids);
          own.push(row);
          continue;
        }
        const u = p as UserPacket;
        row.push(u.source, u.envelope, u.original, u.content_hash, u.sent_hash, u.expires_at);
        // A packet without parents is its own root.
        const root = u.root_packet_id === packet_id ? null : u.root_packet_id;
        row.push(u.generation, root, listToText(u.parent_ids), listToText(u.subject_ids));
        users.push(row);
        for (const [kind, value] of u.index) index.push([tx.tenant, kind, value, seq]);
      }
      await tx.insert(ownEvents, own);
      await tx.insert(userPackets, users);
      await tx.insert(packetIndex, index);
      const numbers = { first: head.doc_no - documents + 1, folded: head.folded_doc, max_tail, now: moment };
      await lateWriter?.write(tx, late, numbers);
    },

    async landed(tx, entries) {
      // Waits for a commit under way, which holds the head row.
      await tx.get(sql`SELECT seq FROM tenants WHERE tenant_id = ${TENANT} FOR UPDATE`);
      const packets = entries as readonly NewPacket[];
      const rows = await tx.all<{ packet_id: string; content_hash: string | null; checksum: number | null }>(
        sql`SELECT packet_id, content_hash, checksum FROM packet_store
            WHERE tenant_id = ${TENANT} AND packet_id = ANY(${packets.map(({ packet_id }) => packet_id)})`,
      );
      // Compares hashes too: another server may have written a packet with the same client-chosen id since.
      const hashes = new Map(rows.map((row) => [row.packet_id, row.content_hash ?? row.checksum]));
      return packets.every((one) => hashes.has(one.packet_id) && hashes.get(one.packet_id) === hashOf(one));
    },
  };
}

const hashOf = (packet: NewPacket) => (isOwn(packet) ? packet.checksum : (packet as UserPacket).content_hash);

export type IndexKind = 'tag' | 'parent' | 'subject' | 'routing';

export const SCHEMA_VERSION = '1.1.0';
