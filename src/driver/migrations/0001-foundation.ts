/** Tenants, keys, cards, boxes, packets. Immutable once released: a change is the next migration. */
import type { Migration } from '../migrate.js';

export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  // Tables that hold an index or a hash but no content, and are read before the tenant is known, are outside.
  protect: [
    'cards',
    'card_subjects',
    'boxes',
    'box_entries',
    'box_grants',
    'packet_store',
    'packet_index',
    'requests',
    'sweeps',
    'clock_overlaps',
  ],
  statements: ({ id, int, json, table, compact }) => [
    `CREATE TABLE tenants (
      tenant_id ${id} NOT NULL PRIMARY KEY,
      seq ${int} NOT NULL,
      recorded_at ${int} NOT NULL,
      created_at ${int} NOT NULL
    ) ${compact}`,

    // Times that were recorded twice, since a clock was ahead; seq is the first packet at the true time.
    `CREATE TABLE clock_overlaps (
      tenant_id ${id} NOT NULL,
      seq ${int} NOT NULL,
      from_at ${int} NOT NULL,
      until_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, seq)
    ) ${compact}`,

    `CREATE TABLE api_keys (
      tenant_id ${id} NOT NULL,
      key_id ${id} NOT NULL,
      key_hash ${id} NOT NULL UNIQUE,
      agent_id ${id},
      role TEXT NOT NULL,
      name TEXT,
      created_at ${int} NOT NULL,
      revoked_at ${int},
      PRIMARY KEY (tenant_id, key_id)
    ) ${compact}`,

    `CREATE TABLE cards (
      tenant_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      content ${json},
      tool_calls ${json},
      tool_call_id ${id},
      metadata ${json},
      author_id ${id},
      subject_ids ${json},
      derived_from ${json},
      content_hash TEXT NOT NULL,
      sent_hash TEXT,
      ttl_seconds ${int},
      expires_at ${int},
      created_at ${int} NOT NULL,
      deleted_at ${int},
      erased_at ${int},
      kept_at ${int},
      PRIMARY KEY (tenant_id, card_id)
    ) ${table}`,
    // Without those that a sweep found pinned, or every sweep would examine them anew.
    'CREATE INDEX cards_expiring ON cards (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND erased_at IS NULL AND kept_at IS NULL',

    `CREATE TABLE card_subjects (
      tenant_id ${id} NOT NULL,
      subject_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, subject_id, card_id)
    ) ${compact}`,

    // A fork starts with what base_box_id held at base_revision, until base_until (its own revision) if a save cut it
    // off. The base's own part of it is between the positions base_first and base_position, and with what comes before
    // it base_length long: so nothing that the base got later, or dropped before, is ever walked over.
    // The base is not forked_box_id where that box had no entry of its own: chains have no empty links.
    // first_position is where the newest revision's own entries start: what saves removed before it is not read.
    `CREATE TABLE boxes (
      tenant_id ${id} NOT NULL,
      box_id ${id} NOT NULL,
      agent_id ${id},
      revision ${int} NOT NULL,
      length ${int} NOT NULL,
      first_position ${int} NOT NULL,
      next_position ${int} NOT NULL,
      base_box_id ${id},
      base_revision ${int},
      base_first ${int},
      base_position ${int},
      base_length ${int},
      base_until ${int},
      forked_box_id ${id},
      forked_revision ${int},
      sealed_at ${int},
      metadata ${json} NOT NULL,
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, box_id)
    ) ${table}`,
    'CREATE INDEX boxes_by_agent ON boxes (tenant_id, agent_id, box_id) WHERE agent_id IS NOT NULL',
    'CREATE INDEX boxes_by_base ON boxes (tenant_id, base_box_id, box_id) WHERE base_box_id IS NOT NULL',

    // ordinal is the place in the whole list, from 1: an entry that a save keeps keeps it, so in every revision they
    // are consecutive, and the last one is the length.
    `CREATE TABLE box_entries (
      tenant_id ${id} NOT NULL,
      box_id ${id} NOT NULL,
      position ${int} NOT NULL,
      card_id ${id} NOT NULL,
      ordinal ${int} NOT NULL,
      added_revision ${int} NOT NULL,
      removed_revision ${int},
      PRIMARY KEY (tenant_id, box_id, position)
    ) ${compact}`,
    // By card first: UUIDv7 card ids append here, and "which boxes hold this card" is what pins ask.
    // It ends with what is asked of an entry, so that it answers alone: SQLite would else rather scan the whole box, or all boxes.
    'CREATE INDEX box_entries_by_card ON box_entries (tenant_id, card_id, box_id, removed_revision, added_revision)',

    `CREATE TABLE box_grants (
      tenant_id ${id} NOT NULL,
      box_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      access TEXT NOT NULL,
      granted_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, box_id, agent_id)
    ) ${compact}`,
    'CREATE INDEX box_grants_by_agent ON box_grants (tenant_id, agent_id, box_id)',

    `CREATE TABLE packet_store (
      tenant_id ${id} NOT NULL,
      seq ${int} NOT NULL,
      packet_id ${id} NOT NULL,
      packet_type ${id} NOT NULL,
      timestamp ${int} NOT NULL,
      recorded_at ${int} NOT NULL,
      thread_id ${id},
      agent ${id},
      source ${id},
      entity_type TEXT,
      entity_id ${id},
      envelope ${json},
      original ${json},
      content_hash TEXT NOT NULL,
      sent_hash TEXT,
      expires_at ${int},
      generation ${int} NOT NULL,
      root_packet_id ${id} NOT NULL,
      parent_ids ${json},
      subject_ids ${json},
      erased_at ${int},
      PRIMARY KEY (tenant_id, seq)
    ) ${table}`,
    'CREATE UNIQUE INDEX packet_store_by_id ON packet_store (tenant_id, packet_id)',
    'CREATE INDEX packet_store_by_type ON packet_store (tenant_id, packet_type, seq)',
    'CREATE INDEX packet_store_by_time ON packet_store (tenant_id, timestamp, seq)',
    'CREATE INDEX packet_store_by_thread ON packet_store (tenant_id, thread_id, seq) WHERE thread_id IS NOT NULL',
    'CREATE INDEX packet_store_by_agent ON packet_store (tenant_id, agent, seq) WHERE agent IS NOT NULL',
    'CREATE INDEX packet_store_by_source ON packet_store (tenant_id, source, seq) WHERE source IS NOT NULL',
    'CREATE INDEX packet_store_expiring ON packet_store (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND erased_at IS NULL',

    // kind is tag, parent, subject or routing: what a packet has several of.
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

    `CREATE TABLE sweeps (
      tenant_id ${id} NOT NULL PRIMARY KEY,
      swept_at ${int} NOT NULL,
      sealed_at ${int} NOT NULL
    ) ${compact}`,
  ],
};
