/** Tables of the engine: tenant heads, packets, idempotency records, leases, endings. */
import type { SchemaPart } from '../driver/index.js';

export const engineSchema: SchemaPart = {
  tables: ['tenants', 'clock_overlaps', 'packet_store', 'packet_index', 'requests', 'leases', 'endings'],
  // Read before the tenant is known.
  unprotected: ['tenants'],
  statements: ({ id, int, json, table, compact }) => [
    // settings_revision: that of the tenant's settings, of which every process has a cached copy. doc_no: of the newest
    // search document. doc_changes: counts changes of earlier documents, for caches. folded_doc: the newest document in
    // the index. index_revision: counts changes of the index.
    `CREATE TABLE tenants (
      tenant_id ${id} NOT NULL PRIMARY KEY,
      seq ${int} NOT NULL,
      recorded_at ${int} NOT NULL,
      created_at ${int} NOT NULL,
      settings_revision ${id},
      doc_no ${int} NOT NULL DEFAULT 0,
      doc_changes ${int} NOT NULL DEFAULT 0,
      folded_doc ${int} NOT NULL DEFAULT 0,
      index_revision ${int} NOT NULL DEFAULT 0
    ) ${compact}`,

    // Periods that were recorded twice after a clock ran ahead; seq is the first packet at the true time.
    `CREATE TABLE clock_overlaps (
      tenant_id ${id} NOT NULL,
      seq ${int} NOT NULL,
      from_at ${int} NOT NULL,
      until_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, seq)
    ) ${compact}`,

    // Cairn's own events have a format, and no envelope: it is rendered from their columns (writes/event-format.ts).
    // checksum: of these columns. root_packet_id: NULL in a packet that is its own root. original: the difference
    // between the envelope and the packet as sent (facts/packets/envelope.ts).
    `CREATE TABLE packet_store (
      tenant_id ${id} NOT NULL,
      seq ${int} NOT NULL,
      packet_id ${id} NOT NULL,
      packet_type ${id} NOT NULL,
      timestamp ${int} NOT NULL,
      recorded_at ${int} NOT NULL,
      thread_id ${id},
      agent ${id},
      format ${int},
      entity_type TEXT,
      entity_id ${id},
      facts TEXT,
      checksum ${int},
      key_id ${id},
      source ${id},
      envelope ${json},
      original ${json},
      content_hash TEXT,
      sent_hash TEXT,
      expires_at ${int},
      generation ${int},
      root_packet_id ${id},
      parent_ids ${json},
      subject_ids TEXT,
      erased_at ${int},
      source_class TEXT,
      PRIMARY KEY (tenant_id, seq)
    ) ${table}`,
    'CREATE UNIQUE INDEX packet_store_by_id ON packet_store (tenant_id, packet_id)',
    'CREATE INDEX packet_store_by_type ON packet_store (tenant_id, packet_type, seq)',
    // The ids of own events have their timestamps in them: the index by id serves these.
    'CREATE INDEX packet_store_by_time ON packet_store (tenant_id, timestamp, seq) WHERE format IS NULL',
    'CREATE INDEX packet_store_by_thread ON packet_store (tenant_id, thread_id, seq) WHERE thread_id IS NOT NULL',
    'CREATE INDEX packet_store_by_agent ON packet_store (tenant_id, agent, seq) WHERE agent IS NOT NULL',
    'CREATE INDEX packet_store_expiring ON packet_store (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND erased_at IS NULL',
    'CREATE INDEX packet_store_by_source ON packet_store (tenant_id, source, seq) WHERE source IS NOT NULL',

    // The multi-valued properties of packets; kind is tag, parent, subject or routing.
    `CREATE TABLE packet_index (
      tenant_id ${id} NOT NULL,
      kind TEXT NOT NULL,
      value ${id} NOT NULL,
      seq ${int} NOT NULL,
      PRIMARY KEY (tenant_id, kind, value, seq)
    ) ${compact}`,

    // The idempotency record of a packet: ids and a hash of the request, never a body.
    `CREATE TABLE requests (
      tenant_id ${id} NOT NULL,
      idempotency_key ${id} NOT NULL,
      request_hash TEXT NOT NULL,
      packet_id ${id} NOT NULL,
      replay ${json} NOT NULL,
      recorded_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, idempotency_key)
    ) ${compact}`,
    'CREATE INDEX requests_by_age ON requests (tenant_id, recorded_at)',

    // Locks and their waiters, agent_turns, deliveries, presence, deadlines. token rises with every new holder of the
    // subject; a lease is over at expires_at, noticed or not.
    `CREATE TABLE leases (
      tenant_id ${id} NOT NULL,
      kind TEXT NOT NULL,
      subject_id ${id} NOT NULL,
      holder ${id},
      token ${int} NOT NULL,
      expires_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, kind, subject_id)
    ) ${compact}`,
    'CREATE INDEX leases_due ON leases (tenant_id, expires_at)',
    // Deliveries to an agent, released when it goes offline.
    `CREATE INDEX leases_of_readers ON leases (tenant_id, holder) WHERE kind = 'message'`,

    // One row ends all content of its holder; erasure follows in small batches, from position until done_at. box_id is
    // the box whose cards are erased, if any; erased and kept count them, versions counts artifacts and notes.
    `CREATE TABLE endings (
      tenant_id ${id} NOT NULL,
      holder ${id} NOT NULL,
      ended_at ${int} NOT NULL,
      thread_id ${id},
      box_id ${id},
      position ${int} NOT NULL,
      erased ${int} NOT NULL,
      kept ${int} NOT NULL,
      versions ${int} NOT NULL,
      done_at ${int},
      PRIMARY KEY (tenant_id, holder)
    ) ${compact}`,
    'CREATE INDEX endings_under_way ON endings (tenant_id, ended_at, holder) WHERE done_at IS NULL',
  ],
};
