/** Trajectories, scopes, artifacts, notes and edges. */
import type { SchemaPart } from '../driver/index.js';

export const memorySchema: SchemaPart = {
  tables: [
    'trajectories',
    'scopes',
    'scope_checkpoints',
    'memory_versions',
    'memory_access',
    'awaited_turns',
    'learned_in',
    'edges',
    'edge_participants',
    'edge_guards',
    'former_owners',
  ],
  // Comments inside a statement are part of its checksum: they must not change.
  statements: ({ id, origin, int, json, table, compact }) => [
    `CREATE TABLE trajectories (
      tenant_id ${id} NOT NULL,
      trajectory_id ${id} NOT NULL,
      parent_trajectory_id ${id},
      agent_id ${id},
      name ${id} NOT NULL,
      description TEXT,
      ${origin},
      status TEXT NOT NULL,
      metadata ${json},
      outcome ${json},
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      finished_at ${int},
      deleted_at ${int},
      PRIMARY KEY (tenant_id, trajectory_id)
    ) ${table}`,
    'CREATE INDEX trajectories_by_parent ON trajectories (tenant_id, parent_trajectory_id, trajectory_id) WHERE parent_trajectory_id IS NOT NULL',
    'CREATE INDEX trajectories_by_agent ON trajectories (tenant_id, agent_id, trajectory_id) WHERE agent_id IS NOT NULL',
    'CREATE INDEX trajectories_by_status ON trajectories (tenant_id, status, trajectory_id)',

    // threshold: percent of the budget; threshold_at: when it fired.
    `CREATE TABLE scopes (
      tenant_id ${id} NOT NULL,
      scope_id ${id} NOT NULL,
      trajectory_id ${id} NOT NULL,
      parent_scope_id ${id},
      box_id ${id} NOT NULL,
      agent_id ${id},
      name ${id} NOT NULL,
      purpose TEXT,
      token_budget ${int} NOT NULL,
      tokens_used ${int} NOT NULL,
      threshold ${int} NOT NULL,
      threshold_at ${int},
      enforce ${int} NOT NULL,
      restored_from ${id},
      ${origin},
      -- What closing leaves; null: as the settings of the tenant say.
      retain TEXT,
      -- The highest sequence that an artifact named as its source before the turn was there.
      awaited_turn ${int},
      metadata ${json},
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      closed_at ${int},
      deleted_at ${int},
      -- Up to which turn it was summarised, and facts were extracted from it.
      summarized_turns ${int} NOT NULL DEFAULT 0,
      extracted_turns ${int} NOT NULL DEFAULT 0,
      -- How many of its turns were forgotten: they keep their sequence, and count no more.
      forgotten_turns ${int} NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant_id, scope_id)
    ) ${table}`,
    'CREATE INDEX scopes_by_trajectory ON scopes (tenant_id, trajectory_id, scope_id)',
    'CREATE INDEX scopes_by_parent ON scopes (tenant_id, parent_scope_id, scope_id) WHERE parent_scope_id IS NOT NULL',
    'CREATE UNIQUE INDEX scopes_by_box ON scopes (tenant_id, box_id)',
    // A restored scope still shows the turns of a closed one.
    'CREATE INDEX scopes_by_origin ON scopes (tenant_id, restored_from) WHERE restored_from IS NOT NULL',
    'CREATE INDEX scopes_open ON scopes (tenant_id, trajectory_id, created_at, scope_id) WHERE closed_at IS NULL',

    // Apart from scopes, whose rows are rewritten with every turn and must stay small. box_id: a sealed fork of the
    // scope's box, which keeps its turns; null if the checkpoint is not recoverable. The subjects are those of the scope.
    `CREATE TABLE scope_checkpoints (
      tenant_id ${id} NOT NULL,
      scope_id ${id} NOT NULL,
      box_id ${id},
      context_state TEXT,
      tokens_used ${int} NOT NULL,
      turns ${int} NOT NULL,
      created_at ${int} NOT NULL,
      forgotten_turns ${int} NOT NULL DEFAULT 0,
      ${origin},
      PRIMARY KEY (tenant_id, scope_id)
    ) ${table}`,

    // Artifacts and notes, one row per version, valid from recorded_at until superseded_at. The current version has no
    // superseded_at; a deleted entity has no current version. All versions of an entity have the same lifetime.
    `CREATE TABLE memory_versions (
      tenant_id ${id} NOT NULL,
      memory_id ${id} NOT NULL,
      version ${int} NOT NULL,
      kind TEXT NOT NULL,
      type ${id} NOT NULL,
      name ${id},
      card_id ${id} NOT NULL,
      agent_id ${id},
      trajectory_id ${id},
      scope_id ${id},
      abstraction_level TEXT NOT NULL,
      token_count ${int} NOT NULL,
      provenance ${json},
      metadata ${json},
      ttl ${json} NOT NULL,
      lifetime TEXT NOT NULL,
      expires_at ${int},
      held_by ${id},
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      recorded_at ${int} NOT NULL,
      superseded_at ${int},
      erased_at ${int},
      -- The job that made a summary or principle of this version of an artifact.
      summarized_by ${id},
      ${origin},
      PRIMARY KEY (tenant_id, memory_id, version)
    ) ${table}`,
    'CREATE INDEX memory_current ON memory_versions (tenant_id, kind, memory_id) WHERE superseded_at IS NULL',
    'CREATE INDEX memory_by_type ON memory_versions (tenant_id, kind, type, memory_id) WHERE superseded_at IS NULL',
    'CREATE INDEX memory_by_trajectory ON memory_versions (tenant_id, trajectory_id, kind, memory_id) WHERE trajectory_id IS NOT NULL',
    'CREATE INDEX memory_by_scope ON memory_versions (tenant_id, scope_id, kind, memory_id) WHERE scope_id IS NOT NULL',
    'CREATE INDEX memory_expiring ON memory_versions (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND erased_at IS NULL',
    'CREATE INDEX memory_held ON memory_versions (tenant_id, held_by, memory_id) WHERE held_by IS NOT NULL AND erased_at IS NULL',
    // Principles and summaries of a trajectory, newest first.
    `CREATE INDEX memory_abstracted ON memory_versions (tenant_id, kind, abstraction_level, trajectory_id, recorded_at)
      WHERE superseded_at IS NULL AND abstraction_level <> 'L0'`,
    // Summaries that are not abstracted to principles yet: few, and read across all trajectories.
    `CREATE INDEX memory_unsummarized ON memory_versions (tenant_id, memory_id)
      WHERE kind = 'artifact' AND abstraction_level = 'L1' AND superseded_at IS NULL AND summarized_by IS NULL`,

    // Apart from versions, so that a read does not rewrite them.
    `CREATE TABLE memory_access (
      tenant_id ${id} NOT NULL,
      memory_id ${id} NOT NULL,
      access_count ${int} NOT NULL,
      accessed_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, memory_id)
    ) ${compact}`,

    // Artifacts of open scopes whose source turn has not been added yet.
    `CREATE TABLE awaited_turns (
      tenant_id ${id} NOT NULL,
      scope_id ${id} NOT NULL,
      sequence ${int} NOT NULL,
      memory_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, scope_id, sequence, memory_id)
    ) ${compact}`,

    // The trajectories in which a note was learned: they decide its reach.
    `CREATE TABLE learned_in (
      tenant_id ${id} NOT NULL,
      note_id ${id} NOT NULL,
      trajectory_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, note_id, trajectory_id)
    ) ${compact}`,
    'CREATE INDEX learned_in_by_trajectory ON learned_in (tenant_id, trajectory_id, note_id)',

    // The subjects of an edge are those of its participants: subject_ids stays null.
    `CREATE TABLE edges (
      tenant_id ${id} NOT NULL,
      edge_id ${id} NOT NULL,
      edge_type ${id} NOT NULL,
      agent_id ${id},
      body ${json} NOT NULL,
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      deleted_at ${int},
      ${origin},
      PRIMARY KEY (tenant_id, edge_id)
    ) ${table}`,
    'CREATE INDEX edges_by_type ON edges (tenant_id, edge_type, edge_id) WHERE deleted_at IS NULL',

    // Position 1 is A: it supports, supersedes or was derived from the others.
    `CREATE TABLE edge_participants (
      tenant_id ${id} NOT NULL,
      edge_id ${id} NOT NULL,
      position ${int} NOT NULL,
      edge_type ${id} NOT NULL,
      entity_type ${id} NOT NULL,
      entity_id ${id} NOT NULL,
      role ${id},
      created_at ${int} NOT NULL,
      deleted_at ${int},
      PRIMARY KEY (tenant_id, edge_id, position)
    ) ${compact}`,
    'CREATE INDEX edge_participants_by_entity ON edge_participants (tenant_id, entity_id, edge_type, position, edge_id)',
    'CREATE INDEX edge_participants_in_order ON edge_participants (tenant_id, entity_id, edge_id) WHERE deleted_at IS NULL',
    // Most tenants have none.
    `CREATE INDEX edge_participants_superseded ON edge_participants (tenant_id)
      WHERE edge_type = 'Supersedes' AND position > 1 AND deleted_at IS NULL`,

    // Locked for the cycle check of an edge type.
    `CREATE TABLE edge_guards (
      tenant_id ${id} NOT NULL,
      edge_type ${id} NOT NULL,
      PRIMARY KEY (tenant_id, edge_type)
    ) ${compact}`,

    // Agents that handed a trajectory off, and may no longer write in it.
    `CREATE TABLE former_owners (
      tenant_id ${id} NOT NULL,
      trajectory_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      handoff_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, trajectory_id, agent_id)
    ) ${compact}`,
  ],
};
