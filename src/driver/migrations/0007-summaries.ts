/** Policies of summarising and extracting, the jobs that they cause, and how far each scope has come. Immutable once released. */
import type { Migration } from '../migrate.js';

export const summaries: Migration = {
  version: 7,
  name: 'summaries',
  protect: ['summarization_policies', 'jobs', 'artifact_tallies', 'fact_keys'],
  statements: ({ id, int, json, table, compact }) => [
    // Up to which turn a scope was summarised, and facts were got out of it.
    `ALTER TABLE scopes ADD COLUMN summarized_turns ${int} NOT NULL DEFAULT 0`,
    `ALTER TABLE scopes ADD COLUMN extracted_turns ${int} NOT NULL DEFAULT 0`,
    // The job that made a summary or principle of this version of an artifact.
    `ALTER TABLE memory_versions ADD COLUMN summarized_by ${id}`,
    // What is to become principles: few, and looked for across all trajectories.
    `CREATE INDEX memory_unsummarized ON memory_versions (tenant_id, memory_id)
      WHERE kind = 'artifact' AND abstraction_level = 'L1' AND superseded_at IS NULL AND summarized_by IS NULL`,

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
    // Asked for by every turn: nothing is found where there is no policy.
    'CREATE INDEX policies_attached ON summarization_policies (tenant_id, attached, trigger_type) WHERE deleted_at IS NULL',
    'CREATE INDEX policies_by_trajectory ON summarization_policies (tenant_id, trajectory_id) WHERE trajectory_id IS NOT NULL AND deleted_at IS NULL',

    // What fired. cause: policy, subject and crossing, once each. settings: those of the policy when it fired. pins: the
    // holder whose turns stay until pinned_until, though it has ended. sources and result are ids, never content.
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

    // How many artifacts of a level were made where a policy counts them: \`tenant\`, \`trajectory:<id>\`, \`scope:<id>\`.
    `CREATE TABLE artifact_tallies (
      tenant_id ${id} NOT NULL,
      counted_in ${id} NOT NULL,
      level TEXT NOT NULL,
      made ${int} NOT NULL,
      PRIMARY KEY (tenant_id, counted_in, level)
    ) ${compact}`,

    // What a fact is about, as a keyed hash from which it cannot be guessed, and where it is kept.
    `CREATE TABLE fact_keys (
      tenant_id ${id} NOT NULL,
      fact_key ${id} NOT NULL,
      memory_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, fact_key, memory_id)
    ) ${compact}`,
  ],
};
