/** Search documents, the index over their terms, and vectors. Triggers maintain the index. */
import { composed, type SchemaPart, triggerFunction } from '../driver/index.js';
import { vectorSchema } from './vectors/schema.js';

/** Trigger statement that blanks the documents of some content. `which`: ids of other tables may be the same. */
export const blankDocs = (row: 'old' | 'new' | 'OLD', content_id: string, which: string): string =>
  `UPDATE search_docs SET terms = NULL, name = NULL, speaker = NULL, tags = NULL
      WHERE tenant_id = ${row}.tenant_id AND content_id = ${content_id} AND ${which} AND terms IS NOT NULL`;

const DOCS_OF_PACKET = "entity_type = 'packet'";

const SQLITE = [
  `CREATE VIRTUAL TABLE search_index USING fts5(terms, content='', columnsize=0, detail=none, tokenize='ascii')`,
  `INSERT INTO search_index(search_index, rank) VALUES ('secure-delete', 1)`,
  `CREATE TRIGGER search_docs_added AFTER INSERT ON search_docs WHEN new.terms IS NOT NULL BEGIN
    INSERT INTO search_index(rowid, terms) VALUES (new.doc_no, new.terms);
    INSERT INTO search_counts(tenant_id, shard, docs) VALUES (new.tenant_id, 0, 1)
      ON CONFLICT (tenant_id, shard) DO UPDATE SET docs = docs + 1;
  END`,
  `CREATE TRIGGER search_docs_blanked AFTER UPDATE OF terms ON search_docs
    WHEN old.terms IS NOT NULL AND old.terms IS NOT new.terms BEGIN
    INSERT INTO search_index(search_index, rowid, terms) VALUES ('delete', old.doc_no, old.terms);
    UPDATE search_counts SET docs = docs - 1 WHERE tenant_id = old.tenant_id;
  END`,
  `CREATE TRIGGER search_docs_changed AFTER UPDATE OF terms ON search_docs
    WHEN new.terms IS NOT NULL AND old.terms IS NOT new.terms BEGIN
    INSERT INTO search_index(rowid, terms) VALUES (new.doc_no, new.terms);
    UPDATE search_counts SET docs = docs + 1 WHERE tenant_id = new.tenant_id;
  END`,
  // A trigger, so that no code that erases a packet can forget its search document.
  `CREATE TRIGGER search_packet_gone AFTER UPDATE OF erased_at ON packet_store WHEN new.erased_at IS NOT NULL BEGIN
    ${blankDocs('new', 'new.packet_id', DOCS_OF_PACKET)};
  END`,
];

/** Term codes are separated by characters that encode their frequency (term-codes.ts). */
const lexemesOf = (terms: string): string =>
  `array_to_tsvector(array_remove(string_to_array(translate(${terms}, '!"#$%&''()*+,-./', '               '), ' '), ''))`;

const POSTGRES = [
  `CREATE TABLE search_index (
    tenant_id TEXT COLLATE "C" NOT NULL,
    doc_no BIGINT NOT NULL,
    terms TSVECTOR NOT NULL,
    PRIMARY KEY (tenant_id, doc_no)
  )`,
  'CREATE INDEX search_index_terms ON search_index USING GIN (terms)',
  `CREATE FUNCTION search_keep_index() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    was boolean := false;
    change int;
  BEGIN
    IF TG_OP = 'UPDATE' THEN was := OLD.terms IS NOT NULL; END IF;
    IF NEW.terms IS NULL THEN
      DELETE FROM search_index WHERE tenant_id = NEW.tenant_id AND doc_no = NEW.doc_no;
    ELSE
      INSERT INTO search_index (tenant_id, doc_no, terms) VALUES (NEW.tenant_id, NEW.doc_no, ${lexemesOf('NEW.terms')})
        ON CONFLICT (tenant_id, doc_no) DO UPDATE SET terms = excluded.terms;
    END IF;
    change := (NEW.terms IS NOT NULL)::int - was::int;
    IF change <> 0 THEN
      INSERT INTO search_counts (tenant_id, shard, docs) VALUES (NEW.tenant_id, pg_backend_pid(), change)
        ON CONFLICT (tenant_id, shard) DO UPDATE SET docs = search_counts.docs + excluded.docs;
    END IF;
    RETURN NULL;
  END $$`,
  // Per statement: a count row updated for each document of a batch gets slower with every update.
  `CREATE FUNCTION search_add_index() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO search_index (tenant_id, doc_no, terms)
      SELECT a.tenant_id, a.doc_no, ${lexemesOf('a.terms')} FROM added a WHERE a.terms IS NOT NULL;
    INSERT INTO search_counts (tenant_id, shard, docs)
      SELECT a.tenant_id, pg_backend_pid(), COUNT(*) FROM added a WHERE a.terms IS NOT NULL GROUP BY a.tenant_id
      ON CONFLICT (tenant_id, shard) DO UPDATE SET docs = search_counts.docs + excluded.docs;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER search_docs_added AFTER INSERT ON search_docs REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION search_add_index()`,
  `CREATE TRIGGER search_docs_changed AFTER UPDATE OF terms ON search_docs FOR EACH ROW
    WHEN (OLD.terms IS DISTINCT FROM NEW.terms) EXECUTE FUNCTION search_keep_index()`,
  triggerFunction('search_packet_gone', blankDocs('OLD', 'OLD.packet_id', DOCS_OF_PACKET)),
  `CREATE TRIGGER search_packet_gone AFTER UPDATE OF erased_at ON packet_store FOR EACH ROW
    WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION search_packet_gone()`,
];

const searchSchema: SchemaPart = {
  tables: ['search_docs', 'search_index', 'search_counts'],
  // Row-level security would keep the @@ operator off its index; the table has codes, no content.
  unprotected: ['search_index'],
  statements: ({ dialect, id, int, json, compact }) => [
    // One row per searchable entity. content_id: the card, the packet, or checkpoint and id of a thought. position: the
    // sequence of a turn. terms: term codes (term-codes.ts); null once the content is erased or superseded. length: the
    // number of words. flags: text/search-text.ts.
    `CREATE TABLE search_docs (
      doc_no ${dialect === 'sqlite' ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'BIGINT GENERATED ALWAYS AS IDENTITY'},
      tenant_id ${id} NOT NULL,
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
      length ${int} NOT NULL,
      flags ${int} NOT NULL,
      terms TEXT${dialect === 'sqlite' ? '' : ', PRIMARY KEY (tenant_id, doc_no)'}
    ) ${dialect === 'sqlite' ? 'STRICT' : ''}`,
    'CREATE INDEX search_docs_by_content ON search_docs (tenant_id, content_id)',
    'CREATE INDEX search_docs_by_scope ON search_docs (tenant_id, scope_id, position) WHERE scope_id IS NOT NULL',
    'CREATE INDEX search_docs_by_trajectory ON search_docs (tenant_id, trajectory_id, doc_no) WHERE trajectory_id IS NOT NULL',
    // Without turns, cards and packets: there are so many that the term index is faster.
    `CREATE INDEX search_docs_by_type ON search_docs (tenant_id, entity_type, doc_no)
      WHERE entity_type IN ('artifact', 'note', 'thought') AND terms IS NOT NULL`,

    // The document count of a tenant is the sum of its rows: one per connection, so that writers do not wait for each
    // other. The sweep folds rows of closed connections into row 0.
    `CREATE TABLE search_counts (
      tenant_id ${id} NOT NULL,
      shard ${int} NOT NULL,
      docs ${int} NOT NULL,
      PRIMARY KEY (tenant_id, shard)
    ) ${compact}`,
    ...(dialect === 'sqlite' ? SQLITE : POSTGRES),
  ],
};

export const indexSchema: SchemaPart = composed([searchSchema, vectorSchema]);
