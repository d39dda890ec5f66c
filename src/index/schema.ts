/** Search documents, the segments of the index over their terms, and vectors. */
import { composed, type SchemaPart } from '../driver/index.js';
import { vectorSchema } from './vectors/schema.js';

const searchSchema: SchemaPart = {
  tables: ['search_docs', 'search_segments', 'search_blocks', 'search_dead'],
  statements: ({ dialect, id, origin, int, json, bytes, table, compact }) => [
    // One row per searchable entity, numbered in the order of the commits. content_id: the card, the packet, or checkpoint
    // and id of a thought. position: the sequence of a turn. gone: 1 once the content is erased, deleted or superseded.
    `CREATE TABLE search_docs (
      tenant_id ${id} NOT NULL,
      doc_no ${int} NOT NULL,
      entity_type TEXT NOT NULL,
      entity_id ${id} NOT NULL,
      content_id ${id} NOT NULL,
      type ${id},
      name TEXT,
      trajectory_id ${id},
      scope_id ${id},
      position ${int},
      role TEXT,
      speaker TEXT,
      agent_id ${id},
      abstraction_level TEXT NOT NULL,
      category TEXT NOT NULL,
      tags ${json},
      occurred_at ${int} NOT NULL,
      created_at ${int} NOT NULL,
      expires_at ${int},
      held_by ${id},
      gone ${int},
      ${origin},
      PRIMARY KEY (tenant_id, doc_no)
    ) ${compact}`,
    'CREATE INDEX search_docs_by_content ON search_docs (tenant_id, content_id)',
    'CREATE INDEX search_docs_by_scope ON search_docs (tenant_id, scope_id, position) WHERE scope_id IS NOT NULL',
    'CREATE INDEX search_docs_by_trajectory ON search_docs (tenant_id, trajectory_id, doc_no) WHERE trajectory_id IS NOT NULL',
    // Without turns, cards and packets: there are so many that the term index is faster.
    `CREATE INDEX search_docs_by_type ON search_docs (tenant_id, entity_type, doc_no)
      WHERE entity_type IN ('artifact', 'note', 'thought') AND gone IS NULL`,

    // A part of the index: the documents from first_doc to last_doc but for those that were hidden before, in `blocks`
    // blocks. docs: how many it has, without purged ones. revision: that of the index when it was changed last.
    `CREATE TABLE search_segments (
      tenant_id ${id} NOT NULL,
      segment ${int} NOT NULL,
      first_doc ${int} NOT NULL,
      last_doc ${int} NOT NULL,
      docs ${int} NOT NULL,
      blocks ${int} NOT NULL,
      revision ${int} NOT NULL,
      header ${bytes} NOT NULL,
      PRIMARY KEY (tenant_id, segment)
    ) ${table}`,
    `CREATE TABLE search_blocks (
      tenant_id ${id} NOT NULL,
      segment ${int} NOT NULL,
      block ${int} NOT NULL,
      data ${bytes} NOT NULL,
      PRIMARY KEY (tenant_id, segment, block)
    ) ${table}`,
    // Random bytes do not compress.
    ...(dialect === 'postgres' ? ['ALTER TABLE search_blocks ALTER COLUMN data SET STORAGE EXTERNAL'] : []),
    // Hidden documents that the index may still have.
    `CREATE TABLE search_dead (
      tenant_id ${id} NOT NULL,
      doc_no ${int} NOT NULL,
      PRIMARY KEY (tenant_id, doc_no)
    ) ${compact}`,
  ],
};

export const indexSchema: SchemaPart = composed([searchSchema, vectorSchema]);
