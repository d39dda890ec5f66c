/** Manifests: what every context was made of. Immutable once released. */
import type { Migration } from '../migrate.js';

export const contexts: Migration = {
  version: 6,
  name: 'contexts',
  protect: ['manifests', 'manifest_cards', 'manifest_turns'],
  statements: ({ id, int, json, table, compact }) => [
    // kind: assembly, whose entries are in the row, or packing, whose sealed box is the list of what went in.
    // request_card_ids: the texts that the request brought, which end with what holds the manifest. Ids, numbers and
    // keyed hashes, never content.
    `CREATE TABLE manifests (
      tenant_id ${id} NOT NULL,
      manifest_id ${id} NOT NULL,
      kind TEXT NOT NULL,
      trajectory_id ${id},
      scope_id ${id},
      agent_turn_id ${id},
      agent_id ${id},
      box_id ${id},
      format TEXT,
      token_budget ${int},
      token_count ${int},
      truncated ${int},
      parameters ${json} NOT NULL,
      entries ${json},
      turn_ranges ${json},
      request_card_ids ${json},
      content_hash TEXT,
      held_by ${id},
      created_at ${int} NOT NULL,
      erased_at ${int},
      PRIMARY KEY (tenant_id, manifest_id)
    ) ${table}`,
    'CREATE INDEX manifests_by_trajectory ON manifests (tenant_id, trajectory_id, manifest_id) WHERE trajectory_id IS NOT NULL',
    'CREATE INDEX manifests_by_scope ON manifests (tenant_id, scope_id, manifest_id) WHERE scope_id IS NOT NULL',
    'CREATE INDEX manifests_by_agent_turn ON manifests (tenant_id, agent_turn_id, manifest_id) WHERE agent_turn_id IS NOT NULL',
    'CREATE INDEX manifests_by_box ON manifests (tenant_id, box_id, manifest_id) WHERE box_id IS NOT NULL',
    // Those whose texts are still to be erased when what holds them ends.
    'CREATE INDEX manifests_held ON manifests (tenant_id, held_by, manifest_id) WHERE held_by IS NOT NULL AND erased_at IS NULL',

    // Which contexts a card was in: of what stands before the turns, card by card. What else a context had, its entries say.
    `CREATE TABLE manifest_cards (
      tenant_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      manifest_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, card_id, manifest_id)
    ) ${compact}`,
    // The same of turns, which follow each other in the box of their scope: one row for hundreds.
    `CREATE TABLE manifest_turns (
      tenant_id ${id} NOT NULL,
      box_id ${id} NOT NULL,
      last_position ${int} NOT NULL,
      first_position ${int} NOT NULL,
      manifest_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, box_id, last_position, first_position, manifest_id)
    ) ${compact}`,

    // Principles, and the summaries of a trajectory, the newest first.
    `CREATE INDEX memory_abstracted ON memory_versions (tenant_id, kind, abstraction_level, trajectory_id, recorded_at)
      WHERE superseded_at IS NULL AND abstraction_level <> 'L0'`,
    'CREATE INDEX scopes_open ON scopes (tenant_id, trajectory_id, created_at, scope_id) WHERE closed_at IS NULL',
  ],
};
