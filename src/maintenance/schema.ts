/** Tables of erasures: the receipts of what was forgotten. */
import type { SchemaPart } from '../driver/index.js';

export const maintenanceSchema: SchemaPart = {
  tables: ['erasures', 'erasure_items', 'erasure_marks'],
  statements: ({ id, int, json, table, compact }) => [
    // selected_by: ids, filter, user or tenant. request_hash: keyed, of the request. selection: what is still to be selected, with
    // the position reached; null once everything is selected. Holds no content; a user id is kept keyed alone.
    `CREATE TABLE erasures (
      tenant_id ${id} NOT NULL,
      erasure_id ${id} NOT NULL,
      selected_by TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      selection ${json},
      shared ${int} NOT NULL,
      copies ${int} NOT NULL,
      agent_id ${id},
      key_id ${id},
      created_at ${int} NOT NULL,
      erased_at ${int},
      verified_at ${int},
      PRIMARY KEY (tenant_id, erasure_id)
    ) ${table}`,

    // entity_type: a kind of entity, or version for the card of one. origin: named, derived, contained, or copy.
    // state: 0 to be erased, 1 erased, 2 kept because it is about several subjects, 3 an independent copy, only listed.
    // contents: how many contents were erased with it.
    `CREATE TABLE erasure_items (
      tenant_id ${id} NOT NULL,
      erasure_id ${id} NOT NULL,
      entity_type TEXT NOT NULL,
      entity_id ${id} NOT NULL,
      origin TEXT NOT NULL,
      state ${int} NOT NULL,
      contents ${int} NOT NULL,
      PRIMARY KEY (tenant_id, erasure_id, entity_type, entity_id)
    ) ${compact}`,
    'CREATE INDEX erasure_items_to_do ON erasure_items (tenant_id, erasure_id, entity_type, entity_id) WHERE state = 0',
    // For reads of what was forgotten, which answer with the receipt.
    'CREATE INDEX erasure_items_by_entity ON erasure_items (tenant_id, entity_id, erasure_id) WHERE state <= 1',

    // Keyed hashes of parts of erased texts: \`erasures verify --bytes\` looks for them in the file.
    `CREATE TABLE erasure_marks (
      tenant_id ${id} NOT NULL,
      erasure_id ${id} NOT NULL,
      mark ${id} NOT NULL,
      PRIMARY KEY (tenant_id, erasure_id, mark)
    ) ${compact}`,
  ],
};
