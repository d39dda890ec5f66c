/** API keys, agents and settings of tenants. */
import type { SchemaPart } from '../driver/index.js';

export const identitySchema: SchemaPart = {
  tables: ['api_keys', 'agents', 'tenant_settings'],
  // Read before the tenant is known, by the hash of the key.
  unprotected: ['api_keys'],
  statements: ({ id, origin, int, json, table, compact }) => [
    `CREATE TABLE api_keys (
      tenant_id ${id} NOT NULL,
      key_id ${id} NOT NULL,
      key_hash ${id} NOT NULL UNIQUE,
      agent_id ${id},
      user_id ${id},
      role TEXT NOT NULL,
      name TEXT,
      created_at ${int} NOT NULL,
      revoked_at ${int},
      PRIMARY KEY (tenant_id, key_id)
    ) ${compact}`,

    // memory_access and can_delegate_to: null means all, empty means none. made: 1 if a dispatch created it, 2 if it came
    // with its key and has not registered itself yet. typed: 0 if a restricted agent chose its type itself.
    `CREATE TABLE agents (
      tenant_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      agent_type ${id} NOT NULL,
      typed ${int} NOT NULL,
      capabilities ${json} NOT NULL,
      memory_access ${json},
      can_delegate_to ${json},
      status TEXT NOT NULL,
      current_trajectory_id ${id},
      profile_name ${id},
      parent_agent_id ${id},
      made ${int} NOT NULL,
      offline_after_ms ${int} NOT NULL,
      last_seen_at ${int} NOT NULL,
      metadata ${json},
      sent_hash TEXT,
      registered_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      unregistered_at ${int},
      ${origin},
      PRIMARY KEY (tenant_id, agent_id)
    ) ${table}`,
    'CREATE INDEX agents_by_type ON agents (tenant_id, agent_type, agent_id) WHERE unregistered_at IS NULL',

    // settings: only the members that were set. revision: as on the head row in tenants.
    `CREATE TABLE tenant_settings (
      tenant_id ${id} NOT NULL PRIMARY KEY,
      settings ${json} NOT NULL,
      revision ${id} NOT NULL,
      updated_at ${int} NOT NULL
    ) ${compact}`,
  ],
};
