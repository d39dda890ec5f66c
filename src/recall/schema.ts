/** Tables of summarization policies, jobs, fact keys and manifests. */
import type { SchemaPart } from '../driver/index.js';

export const recallSchema: SchemaPart = {
  tables: [
    'summarization_policies',
    'policy_guards',
    'jobs',
    'fact_keys',
    'artifact_tallies',
    'manifests',
    'manifest_cards',
    'manifest_turns',
  ],
  statements: ({ id, origin, int, json, table, compact }) => [
    // attached: \`tenant\`, \`trajectory:<id>\` or \`scope:<id>\`. threshold is the percent or count of the trigger.
    `CREATE TABLE summarization_policies (
      tenant_id ${id} NOT NULL,
      policy_id ${id} NOT NULL,
      name ${id},
      agent_id ${id},
      attached ${id} NOT NULL,
      trajectory_id ${id},
      scope_id ${id},
      trigger_type TEXT NOT NULL,
      threshold ${int} NOT NULL,
      source_level TEXT NOT NULL,
      target_level TEXT NOT NULL,
      max_sources ${int} NOT NULL,
      max_tokens ${int} NOT NULL,
      create_edges ${int} NOT NULL,
      actions ${json} NOT NULL,
      enabled ${int} NOT NULL,
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      deleted_at ${int},
      PRIMARY KEY (tenant_id, policy_id)
    ) ${table}`,
    // Read by every turn; empty for a tenant without policies.
    'CREATE INDEX policies_attached ON summarization_policies (tenant_id, attached, trigger_type) WHERE deleted_at IS NULL',
    'CREATE INDEX policies_by_trajectory ON summarization_policies (tenant_id, trajectory_id) WHERE trajectory_id IS NOT NULL AND deleted_at IS NULL',

    // A row to lock while a policy of the whole tenant is added.
    `CREATE TABLE policy_guards (
      tenant_id ${id} NOT NULL PRIMARY KEY
    ) ${compact}`,

    // cause: policy, action, subject and crossing; unique. settings: those of the policy when it fired. pins: the holder
    // whose turns are kept until pinned_until, though it has ended. sources and result are ids, never content.
    `CREATE TABLE jobs (
      tenant_id ${id} NOT NULL,
      job_id ${id} NOT NULL,
      cause ${id} NOT NULL,
      policy_id ${id},
      action TEXT NOT NULL,
      trigger_type TEXT NOT NULL,
      trajectory_id ${id},
      scope_id ${id},
      settings ${json} NOT NULL,
      state TEXT NOT NULL,
      attempts ${int} NOT NULL,
      pins ${id},
      pinned_until ${int},
      sources ${json},
      result ${json},
      cost ${json},
      error TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      ended_at ${int},
      PRIMARY KEY (tenant_id, job_id)
    ) ${table}`,
    'CREATE UNIQUE INDEX jobs_once ON jobs (tenant_id, cause)',
    'CREATE INDEX jobs_open ON jobs (tenant_id, scope_id) WHERE ended_at IS NULL',
    'CREATE INDEX jobs_pinning ON jobs (tenant_id, pins) WHERE pins IS NOT NULL',
    'CREATE INDEX jobs_overdue ON jobs (tenant_id, pinned_until) WHERE pinned_until IS NOT NULL',
    'CREATE INDEX jobs_by_scope ON jobs (tenant_id, scope_id, job_id) WHERE scope_id IS NOT NULL',

    // fact_key: keyed hash of subject and slot, from which the fact cannot be guessed. memory_id: the memory that states it.
    `CREATE TABLE fact_keys (
      tenant_id ${id} NOT NULL,
      fact_key ${id} NOT NULL,
      memory_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, fact_key, memory_id)
    ) ${compact}`,

    // Artifacts of a level per place where a policy counts them: \`tenant\`, \`trajectory:<id>\` or \`scope:<id>\`.
    `CREATE TABLE artifact_tallies (
      tenant_id ${id} NOT NULL,
      counted_in ${id} NOT NULL,
      level TEXT NOT NULL,
      made ${int} NOT NULL,
      PRIMARY KEY (tenant_id, counted_in, level)
    ) ${compact}`,

    // kind: assembly, with its entries in the row, or packing, whose sealed box lists its cards. request_card_ids: texts of
    // the request, which end with the holder of the manifest. Only ids, numbers and keyed hashes, never content.
    `CREATE TABLE manifests (
      tenant_id ${id} NOT NULL,
      manifest_id ${id} NOT NULL,
      kind TEXT NOT NULL,
      trajectory_id ${id},
      scope_id ${id},
      agent_turn_id ${id},
      agent_id ${id},
      ${origin},
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
    // Manifests whose texts must be erased when their holder ends.
    'CREATE INDEX manifests_held ON manifests (tenant_id, held_by, manifest_id) WHERE held_by IS NOT NULL AND erased_at IS NULL',

    // Contexts by card, for the cards before the turns; the entries list the rest.
    `CREATE TABLE manifest_cards (
      tenant_id ${id} NOT NULL,
      card_id ${id} NOT NULL,
      manifest_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, card_id, manifest_id)
    ) ${compact}`,

    // Contexts by range of turns in the box of their scope: one row for hundreds of turns.
    `CREATE TABLE manifest_turns (
      tenant_id ${id} NOT NULL,
      box_id ${id} NOT NULL,
      last_position ${int} NOT NULL,
      first_position ${int} NOT NULL,
      manifest_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, box_id, last_position, first_position, manifest_id)
    ) ${compact}`,
  ],
};
