/** packet_store and packet_index: the journal of a tenant. */
import {
  DriverError,
  type Journal,
  type JournalEntry,
  listToText,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';

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
  readonly source: string | null;
  readonly entity_type: string | null;
  readonly entity_id: string | null;
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
  /** Writes rows that carry the recorded time, after the head row is locked and before the commit. */
  readonly settle?: (tx: Tx, recorded_at: number, seq: number) => Promise<void>;
  /** The revision that this change gives to the settings of the tenant. */
  readonly revises?: string;
  readonly assumes?: AssumedRevision | undefined;
}

const packetStore: Table = {
  name: 'packet_store',
  columns: {
    tenant_id: 'text',
    seq: 'bigint',
    packet_id: 'text',
    packet_type: 'text',
    timestamp: 'bigint',
    recorded_at: 'bigint',
    thread_id: 'text',
    agent: 'text',
    source: 'text',
    entity_type: 'text',
    entity_id: 'text',
    envelope: 'json',
    original: 'json',
    content_hash: 'text',
    sent_hash: 'text',
    expires_at: 'bigint',
    generation: 'bigint',
    root_packet_id: 'text',
    parent_ids: 'json',
    subject_ids: 'json',
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
}

/** Makes the group run again, with settings that are read anew, if one of its writes used an outdated copy. */
function refuseOutdated(packets: readonly NewPacket[], { settings_revision }: Head): void {
  const outdated = packets.flatMap(({ assumes }) =>
    assumes !== undefined && assumes.revision !== settings_revision ? [assumes] : [],
  );
  for (const { drop } of outdated) drop();
  if (outdated.length > 0) throw new DriverError('conflict', 'the settings of the tenant changed meanwhile');
}

export function packetJournal(now: () => number): Journal {
  return {
    async append(tx, entries) {
      const packets = entries as readonly NewPacket[];
      const moment = now();
      // recorded_at never falls, whatever the servers' clocks say, so that it rises with seq.
      const revised = packets.findLast(({ revises }) => revises !== undefined)?.revises ?? null;
      const [head] = await tx.returning<Head>(
        sql`UPDATE tenants SET seq = seq + ${packets.length},
              recorded_at = CASE WHEN recorded_at > ${moment} THEN recorded_at ELSE ${moment} END,
              settings_revision = COALESCE(${revised}, settings_revision)
            WHERE tenant_id = ${TENANT} RETURNING seq, recorded_at, settings_revision`,
      );
      if (!head) throw new Error(`tenant ${tx.tenant} has no head row`);
      refuseOutdated(packets, head);
      const first = head.seq - packets.length + 1;
      for (const [i, packet] of packets.entries()) await packet.settle?.(tx, head.recorded_at, first + i);
      await tx.insert(
        packetStore,
        packets.map((p, i) => [
          tx.tenant,
          first + i,
          p.packet_id,
          p.packet_type,
          p.timestamp,
          head.recorded_at,
          p.thread_id,
          p.agent,
          p.source,
          p.entity_type,
          p.entity_id,
          p.envelope,
          p.original,
          p.content_hash,
          p.sent_hash,
          p.expires_at,
          p.generation,
          p.root_packet_id,
          listToText(p.parent_ids),
          listToText(p.subject_ids),
        ]),
      );
      await tx.insert(
        packetIndex,
        packets.flatMap((p, i) => p.index.map(([kind, value]) => [tx.tenant, kind, value, first + i])),
      );
    },

    async landed(tx, entries) {
      // Waits for a commit under way, which holds the head row.
      await tx.get(sql`SELECT seq FROM tenants WHERE tenant_id = ${TENANT} FOR UPDATE`);
      const packets = entries as readonly NewPacket[];
      const rows = await tx.all<{ packet_id: string; content_hash: string }>(
        sql`SELECT packet_id, content_hash FROM packet_store
            WHERE tenant_id = ${TENANT} AND packet_id = ANY(${packets.map(({ packet_id }) => packet_id)})`,
      );
      // Compares hashes too: another server may have written a packet with the same client-chosen id since.
      const hashes = new Map(rows.map((row) => [row.packet_id, row.content_hash]));
      return packets.every((one) => hashes.has(one.packet_id) && hashes.get(one.packet_id) === one.content_hash);
    },
  };
}

export type IndexKind = 'tag' | 'parent' | 'subject' | 'routing';

export const SCHEMA_VERSION = '1.1.0';
