/** Tables of cards, boxes and profiles. */
import type { SchemaPart } from '../driver/index.js';

export const factsSchema: SchemaPart = {
  tables: ['cards', 'card_subjects', 'card_sources', 'boxes', 'box_entries', 'box_grants', 'profiles', 'sweeps'],
  statements: ({ id, origin, int, json, table, compact }) => [
    // held_by: the holder of a card or box: `scope:<id>`, `session:<trajectory_id>`, `trajectory:<id>`,
    // `checkpoint:<box_id>` or `note:<id>`. Once the holder is in `endings`, the card or box is unreadable.
    `CREATE TABLE cards (
      tenant_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      content ${json},
      tool_calls ${json},
      tool_call_id ${id},
      metadata ${json},
      author_id ${id},
      subject_ids TEXT,
      derived_from ${json},
      content_hash TEXT NOT NULL,
      sent_hash TEXT,
      ttl_seconds ${int},
      expires_at ${int},
      created_at ${int} NOT NULL,
      deleted_at ${int},
      erased_at ${int},
      kept_at ${int},
      held_by ${id},
      source_class TEXT,
      PRIMARY KEY (tenant_id, card_id)
    ) ${table}`,
    // Without cards that a sweep found pinned: otherwise every sweep would examine them again.
    'CREATE INDEX cards_expiring ON cards (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND erased_at IS NULL AND kept_at IS NULL',
    // Serves the check that a tool call has only one result in a box.
    'CREATE INDEX cards_by_tool_call ON cards (tenant_id, tool_call_id) WHERE tool_call_id IS NOT NULL',

    `CREATE TABLE card_subjects (
      tenant_id ${id} NOT NULL,
      subject_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, subject_id, card_id)
    ) ${compact}`,

    // The derived_from of cards, by source: forgetting a source forgets what was derived from it.
    `CREATE TABLE card_sources (
      tenant_id ${id} NOT NULL,
      source_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, source_id, card_id)
    ) ${compact}`,

    // A fork starts with the entries of base_box_id at base_revision, until its own revision base_until if a save cut
    // the base off. base_first ≤ position < base_position are the base's own entries in it, base_length is its length:
    // reads never scan entries that the base got later or removed before.
    // If forked_box_id had no own entry, the base is an older box: chains have no empty links.
    // first_position: start of the newest revision's own entries; reads skip entries that saves removed before it.
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
      ${origin},
      metadata ${json} NOT NULL,
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      held_by ${id},
      PRIMARY KEY (tenant_id, box_id)
    ) ${table}`,
    'CREATE INDEX boxes_by_agent ON boxes (tenant_id, agent_id, box_id) WHERE agent_id IS NOT NULL',
    'CREATE INDEX boxes_by_base ON boxes (tenant_id, base_box_id, box_id) WHERE base_box_id IS NOT NULL',

    // ordinal: the place in the whole list, from 1. Saves do not change it, so in every revision the ordinals are
    // consecutive, and the last one is the length.
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
    // By card first: UUIDv7 card ids append here, and pins ask which boxes hold a card. Covering: otherwise SQLite
    // prefers to scan the whole box, or all boxes.
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

    // A profile is a box whose last card is its sys.profile card.
    `CREATE TABLE profiles (
      tenant_id ${id} NOT NULL,
      name ${id} NOT NULL,
      box_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, name)
    ) ${table}`,

    `CREATE TABLE sweeps (
      tenant_id ${id} NOT NULL PRIMARY KEY,
      swept_at ${int} NOT NULL,
      sealed_at ${int} NOT NULL
    ) ${compact}`,
  ],
};
