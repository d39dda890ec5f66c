/** Vectors of search documents, for stores with an embedder. */
import type { SchemaPart } from '../../driver/index.js';

/** No code that erases content can forget its vector: triggers delete it with the terms of its last document. */
const SQLITE = [
  // Overwritten before it is deleted: a page merge copies deleted content along.
  `CREATE TRIGGER vector_doc_gone AFTER UPDATE OF terms ON search_docs
    WHEN old.terms IS NOT NULL AND new.terms IS NULL BEGIN
    UPDATE vector_docs SET bits = hex(zeroblob(length(bits) / 2))
      WHERE tenant_id = new.tenant_id AND doc_no = new.doc_no AND bits IS NOT NULL;
    DELETE FROM vector_docs WHERE tenant_id = new.tenant_id AND doc_no = new.doc_no;
  END`,
  `CREATE TRIGGER vector_unused AFTER DELETE ON vector_docs WHEN old.content_hash IS NOT NULL BEGIN
    UPDATE vectors SET vector = hex(zeroblob(length(vector) / 2))
      WHERE tenant_id = old.tenant_id AND model = old.model AND content_hash = old.content_hash
        AND NOT EXISTS (SELECT 1 FROM vector_docs o
          WHERE o.tenant_id = old.tenant_id AND o.model = old.model AND o.content_hash = old.content_hash);
    DELETE FROM vectors
      WHERE tenant_id = old.tenant_id AND model = old.model AND content_hash = old.content_hash
        AND NOT EXISTS (SELECT 1 FROM vector_docs o
          WHERE o.tenant_id = old.tenant_id AND o.model = old.model AND o.content_hash = old.content_hash);
    UPDATE vector_progress SET removed = removed + 1 WHERE tenant_id = old.tenant_id AND model = old.model;
  END`,
];

const POSTGRES = [
  // Locks the vector before the check for other links: writers of links lock it too, so that the check, a statement of
  // its own, sees their links.
  `CREATE FUNCTION vector_doc_gone() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    gone record;
  BEGIN
    FOR gone IN DELETE FROM vector_docs WHERE tenant_id = NEW.tenant_id AND doc_no = NEW.doc_no
      RETURNING model, content_hash LOOP
      IF gone.content_hash IS NOT NULL THEN
        PERFORM 1 FROM vectors WHERE tenant_id = NEW.tenant_id AND model = gone.model
          AND content_hash = gone.content_hash FOR UPDATE;
        DELETE FROM vectors WHERE tenant_id = NEW.tenant_id AND model = gone.model AND content_hash = gone.content_hash
          AND NOT EXISTS (SELECT 1 FROM vector_docs o WHERE o.tenant_id = NEW.tenant_id AND o.model = gone.model
            AND o.content_hash = gone.content_hash);
      END IF;
    END LOOP;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER vector_doc_gone AFTER UPDATE OF terms ON search_docs FOR EACH ROW
    WHEN (OLD.terms IS NOT NULL AND NEW.terms IS NULL) EXECUTE FUNCTION vector_doc_gone()`,
];

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
    ...(dialect === 'sqlite' ? SQLITE : POSTGRES),
  ],
};
