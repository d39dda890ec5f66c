/** What can be searched, and the index over it, which the database itself keeps. Immutable once released. */
import type { Migration } from '../migrate.js';

/** What a row loses when its content goes; it leaves the index by that. */
const BLANK = 'terms = NULL, name = NULL, speaker = NULL, tags = NULL';

/** Clients choose ids: those of a card, a packet and a thought may be the same. */
const OF_CARD = "entity_type NOT IN ('packet', 'thought')";
const OF_PACKET = "entity_type = 'packet'";
const OF_THOUGHT = "entity_type = 'thought'";

/** How the content_id of a thought is made: with a character between that no id has. */
const ofThought = (row: string, mark: 'char' | 'chr') => `${row}.checkpoint_id || ${mark}(31) || ${row}.id`;

/** Whatever takes the content of a card, packet or thought away takes it out of the search as well: no code can forget to. */
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
  `CREATE TRIGGER search_card_gone AFTER UPDATE OF erased_at, deleted_at ON cards
    WHEN new.erased_at IS NOT NULL OR new.deleted_at IS NOT NULL BEGIN
    UPDATE search_docs SET ${BLANK}
      WHERE tenant_id = new.tenant_id AND content_id = new.card_id AND ${OF_CARD} AND terms IS NOT NULL;
  END`,
  `CREATE TRIGGER search_card_lifetime AFTER UPDATE OF expires_at, held_by ON cards BEGIN
    UPDATE search_docs SET expires_at = new.expires_at, held_by = new.held_by
      WHERE tenant_id = new.tenant_id AND content_id = new.card_id AND ${OF_CARD};
  END`,
  // Its card may stay, where a sealed box keeps it.
  `CREATE TRIGGER search_version_gone AFTER UPDATE OF erased_at ON memory_versions WHEN new.erased_at IS NOT NULL BEGIN
    UPDATE search_docs SET ${BLANK}
      WHERE tenant_id = new.tenant_id AND content_id = new.card_id AND ${OF_CARD} AND terms IS NOT NULL;
  END`,
  `CREATE TRIGGER search_packet_gone AFTER UPDATE OF erased_at ON packet_store WHEN new.erased_at IS NOT NULL BEGIN
    UPDATE search_docs SET ${BLANK}
      WHERE tenant_id = new.tenant_id AND content_id = new.packet_id AND ${OF_PACKET} AND terms IS NOT NULL;
  END`,
  `CREATE TRIGGER search_thought_emptied AFTER UPDATE OF body ON thoughts BEGIN
    UPDATE search_docs SET ${BLANK}
      WHERE tenant_id = old.tenant_id AND content_id = ${ofThought('old', 'char')} AND ${OF_THOUGHT}
        AND terms IS NOT NULL;
  END`,
  // By a prune it comes to count as brought by another checkpoint.
  `CREATE TRIGGER search_thought_moved AFTER UPDATE OF checkpoint_id ON thoughts BEGIN
    UPDATE search_docs SET content_id = ${ofThought('new', 'char')}
      WHERE tenant_id = old.tenant_id AND content_id = ${ofThought('old', 'char')} AND ${OF_THOUGHT};
  END`,
  `CREATE TRIGGER search_thought_deleted AFTER DELETE ON thoughts BEGIN
    UPDATE search_docs SET ${BLANK}
      WHERE tenant_id = old.tenant_id AND content_id = ${ofThought('old', 'char')} AND ${OF_THOUGHT}
        AND terms IS NOT NULL;
  END`,
];

const blanking = (name: string, content_id: string, of: string) =>
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE search_docs SET ${BLANK}
      WHERE tenant_id = OLD.tenant_id AND content_id = ${content_id} AND ${of} AND terms IS NOT NULL;
    RETURN NULL;
  END $$`;

/** The codes of terms are parted by characters that say how often each occurs. */
const lexemesOf = (terms: string): string =>
  `array_to_tsvector(array_remove(string_to_array(translate(${terms}, '!"#$%&''()*+,-./', '               '), ' '), ''))`;

const POSTGRES = [
  // Outside of row-level security, which would keep the operator off its index: it holds codes, and no content.
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
  // By the statement: a row that is counted up for each document of a batch would get slower with every one.
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
  blanking('search_card_gone', 'OLD.card_id', OF_CARD),
  `CREATE TRIGGER search_card_gone AFTER UPDATE OF erased_at, deleted_at ON cards FOR EACH ROW
    WHEN (NEW.erased_at IS NOT NULL OR NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION search_card_gone()`,
  `CREATE FUNCTION search_card_lifetime() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE search_docs SET expires_at = NEW.expires_at, held_by = NEW.held_by
      WHERE tenant_id = NEW.tenant_id AND content_id = NEW.card_id AND ${OF_CARD};
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER search_card_lifetime AFTER UPDATE OF expires_at, held_by ON cards FOR EACH ROW
    EXECUTE FUNCTION search_card_lifetime()`,
  `CREATE TRIGGER search_version_gone AFTER UPDATE OF erased_at ON memory_versions FOR EACH ROW
    WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION search_card_gone()`,
  blanking('search_packet_gone', 'OLD.packet_id', OF_PACKET),
  `CREATE TRIGGER search_packet_gone AFTER UPDATE OF erased_at ON packet_store FOR EACH ROW
    WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION search_packet_gone()`,
  blanking('search_thought_gone', ofThought('OLD', 'chr'), OF_THOUGHT),
  'CREATE TRIGGER search_thought_emptied AFTER UPDATE OF body ON thoughts FOR EACH ROW EXECUTE FUNCTION search_thought_gone()',
  `CREATE FUNCTION search_thought_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE search_docs SET content_id = ${ofThought('NEW', 'chr')}
      WHERE tenant_id = OLD.tenant_id AND content_id = ${ofThought('OLD', 'chr')} AND ${OF_THOUGHT};
    RETURN NULL;
  END $$`,
  'CREATE TRIGGER search_thought_moved AFTER UPDATE OF checkpoint_id ON thoughts FOR EACH ROW EXECUTE FUNCTION search_thought_moved()',
  'CREATE TRIGGER search_thought_deleted AFTER DELETE ON thoughts FOR EACH ROW EXECUTE FUNCTION search_thought_gone()',
];

export const search: Migration = {
  version: 5,
  name: 'search',
  protect: ['search_docs', 'search_counts'],
  statements: ({ dialect, id, int, json, compact }) => [
    // One row for each thing that can be found. content_id: the card, the packet, or checkpoint and id of
    // a thought.
    // position is the place of a turn in its scope. terms: the codes of its words (domain/term-codes.ts); null once its
    // content is gone, or a newer version took its place. length: of how many words it was. flags: domain/ranking.ts.
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
    `CREATE INDEX search_docs_by_scope ON search_docs (tenant_id, scope_id, position) WHERE scope_id IS NOT NULL`,
    'CREATE INDEX search_docs_by_trajectory ON search_docs (tenant_id, trajectory_id, doc_no) WHERE trajectory_id IS NOT NULL',
    // Of turns, cards and packets there are so many that the index is the shorter way to them.
    `CREATE INDEX search_docs_by_type ON search_docs (tenant_id, entity_type, doc_no)
      WHERE entity_type IN ('artifact', 'note', 'thought') AND terms IS NOT NULL`,
    // Most tenants have none.
    `CREATE INDEX edge_participants_superseded ON edge_participants (tenant_id)
      WHERE edge_type = 'Supersedes' AND position > 1 AND deleted_at IS NULL`,
    // How many documents a tenant has: the sum of its rows, of which each connection has one to itself, so that no writer
    // waits for another here. The sweep adds those of connections that are gone to row 0.
    `CREATE TABLE search_counts (
      tenant_id ${id} NOT NULL,
      shard ${int} NOT NULL,
      docs ${int} NOT NULL,
      PRIMARY KEY (tenant_id, shard)
    ) ${compact}`,
    // What a scope was restored from shows its turns as long as that is open.
    'CREATE INDEX scopes_by_origin ON scopes (tenant_id, restored_from) WHERE restored_from IS NOT NULL',
    ...(dialect === 'sqlite' ? SQLITE : POSTGRES),
  ],
};
