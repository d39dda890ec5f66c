/** Vectors of search documents, for stores with an embedder. */
import type { SchemaPart } from '../../driver/index.js';

export const vectorSchema: SchemaPart = {
  tables: ['vectors', 'vector_docs', 'vector_progress'],
  statements: ({ dialect, id, int, table, compact }) => [
    // One row per text and model. content_hash: keyed, so that it confirms no guess. vector: a unit vector, as base64 of
    // 32-bit floats. vector_no: SQLite only appends to the table.
    `CREATE TABLE vectors (
      ${dialect === 'sqlite' ? 'vector_no INTEGER PRIMARY KEY AUTOINCREMENT,' : ''}
      tenant_id ${id} NOT NULL,
      model ${id} NOT NULL,
      content_hash ${id} NOT NULL,
      vector TEXT NOT NULL
      ${dialect === 'sqlite' ? '' : ', PRIMARY KEY (tenant_id, model, content_hash)'}
    ) ${table}`,
    // One row per document: its vector and sign bits, or the number of failed attempts and when to retry (null: never).
    // link_no rises, so that caches read new rows by it.
    `CREATE TABLE vector_docs (
      ${dialect === 'sqlite' ? 'link_no INTEGER PRIMARY KEY AUTOINCREMENT,' : ''}
      tenant_id ${id} NOT NULL,
      doc_no ${int} NOT NULL,
      model ${id} NOT NULL,
      content_hash ${id},
      dimensions ${int} NOT NULL,
      bits ${dialect === 'sqlite' ? 'TEXT' : 'BIT VARYING'},
      attempts ${int} NOT NULL,
      retry_at ${int}
      ${dialect === 'sqlite' ? '' : ', PRIMARY KEY (tenant_id, doc_no, model)'}
    ) ${table}`,
    ...(dialect === 'sqlite'
      ? [
          'CREATE UNIQUE INDEX vectors_by_hash ON vectors (tenant_id, model, content_hash)',
          'CREATE UNIQUE INDEX vector_docs_by_doc ON vector_docs (tenant_id, doc_no, model)',
        ]
      : []),
    `CREATE INDEX vector_docs_by_hash ON vector_docs (tenant_id, model, content_hash) WHERE content_hash IS NOT NULL`,
    'CREATE INDEX vector_docs_to_retry ON vector_docs (tenant_id, model, retry_at) WHERE retry_at IS NOT NULL',
    // Progress since the last reindexing, and the lease of the process that makes vectors. removed: the number of removed
    // vectors, for caches.
    `CREATE TABLE vector_progress (
      tenant_id ${id} NOT NULL,
      model ${id} NOT NULL,
      generation ${int} NOT NULL,
      position ${int} NOT NULL,
      holder TEXT,
      held_until ${int} NOT NULL,
      removed ${int} NOT NULL,
      PRIMARY KEY (tenant_id, model)
    ) ${compact}`,
  ],
};
