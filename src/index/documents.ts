/** search_docs: a row for each thing that can be found. The database takes it out again when the content goes. */
import { type Sql, sql, type Table, TENANT, type Tx } from '../driver/index.js';
import type { IndexedType } from '../kernel/index.js';
import type { MemoryCategory } from './categories.js';
import type { Measured } from './searchable.js';

/** What a thing is found by, besides what its card, packet or thought has anyway. */
export interface Doc {
  readonly entity_type: IndexedType;
  readonly entity_id: string;
  readonly type: string | null;
  readonly name: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  /** Of a turn: its place in the scope. */
  readonly position: number | null;
  readonly role: string | null;
  readonly abstraction_level: string;
  readonly category: MemoryCategory;
  readonly measured: Measured;
}

export interface NewDoc extends Doc {
  /** What has its content: a card, a packet, or a thought by its checkpoint. */
  readonly content_id: string;
  readonly agent_id: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

/** Columns that most things do not have. */
export const PLAIN_DOC = {
  type: null,
  name: null,
  trajectory_id: null,
  scope_id: null,
  position: null,
  role: null,
  abstraction_level: 'L0',
} as const;

/** With what its card or packet has anyway; none for what is not searched. */
export const newDoc = (
  doc: Doc | null | undefined,
  content_id: string,
  agent_id: string | null,
  created_at: number,
  expires_at: number | null,
  held_by: string | null,
): NewDoc[] => (doc ? [{ ...doc, content_id, agent_id, created_at, expires_at, held_by }] : []);

const columns = {
  entity_type: 'text',
  entity_id: 'text',
  content_id: 'text',
  type: 'text',
  name: 'text',
  trajectory_id: 'text',
  scope_id: 'text',
  position: 'bigint',
  role: 'text',
  speaker: 'text',
  agent_id: 'text',
  abstraction_level: 'text',
  category: 'text',
  tags: 'json',
  occurred_at: 'bigint',
  created_at: 'bigint',
  expires_at: 'bigint',
  held_by: 'text',
  length: 'bigint',
  flags: 'bigint',
  terms: 'text',
} as const satisfies Table['columns'];

const table: Table = { name: 'search_docs', columns: { tenant_id: 'text', ...columns } };

/** A row without its number and tenant. */
export type DocColumns = {
  readonly [C in keyof typeof columns]: ((typeof columns)[C] extends 'bigint' ? number : string) | null;
};

/** They are, of the table under the name d. */
export const DOC_COLUMNS: Sql = sql`d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags, d.occurred_at, d.created_at,
  d.expires_at, d.held_by, d.length, d.flags, d.terms`;

/** In the order of the table. */
export const columnsOf = (doc: NewDoc): DocColumns => ({
  entity_type: doc.entity_type,
  entity_id: doc.entity_id,
  content_id: doc.content_id,
  type: doc.type,
  name: doc.name,
  trajectory_id: doc.trajectory_id,
  scope_id: doc.scope_id,
  position: doc.position,
  role: doc.role,
  speaker: doc.measured.speaker,
  agent_id: doc.agent_id,
  abstraction_level: doc.abstraction_level,
  category: doc.category,
  tags: doc.measured.tags.length === 0 ? null : JSON.stringify(doc.measured.tags),
  occurred_at: doc.measured.occurred_at ?? doc.created_at,
  created_at: doc.created_at,
  expires_at: doc.expires_at,
  held_by: doc.held_by,
  length: doc.measured.length,
  flags: doc.measured.flags,
  terms: doc.measured.terms,
});

export async function insertDocs(tx: Tx, docs: readonly NewDoc[]): Promise<void> {
  await tx.insert(
    table,
    docs.map((doc) => [tx.tenant, ...Object.values(columnsOf(doc))]),
  );
}

/** A version that another one follows, or that was deleted, is no longer found; its content may stay. */
export async function forgetDoc(tx: Tx, content_id: string): Promise<void> {
  await tx.send(
    sql`UPDATE search_docs SET terms = NULL, name = NULL, speaker = NULL, tags = NULL
        WHERE tenant_id = ${TENANT} AND content_id = ${content_id} AND entity_type IN ('artifact', 'note')
          AND terms IS NOT NULL`,
  );
}

/** From how many rows of search_counts on those of connections that are gone are put together. */
const MANY_COUNTS = 100;

/** Adds up what connections counted that are gone, on PostgreSQL: on SQLite there is one row. What another sweep has at hand it leaves out. */
export async function foldCounts(tx: Tx): Promise<void> {
  const row = await tx.get<{ counts: number }>(
    sql`SELECT COUNT(*) AS counts FROM search_counts WHERE tenant_id = ${TENANT}`,
  );
  if (Number(row!.counts) <= MANY_COUNTS) return;
  await tx.send(
    sql`WITH gone AS (
          SELECT shard FROM search_counts WHERE tenant_id = ${TENANT} AND shard <> 0
            AND shard NOT IN (SELECT pid FROM pg_stat_activity WHERE pid IS NOT NULL) FOR UPDATE SKIP LOCKED
        ), folded AS (
          DELETE FROM search_counts c USING gone g WHERE c.tenant_id = ${TENANT} AND c.shard = g.shard RETURNING c.docs
        )
        INSERT INTO search_counts (tenant_id, shard, docs)
          SELECT ${TENANT}::text, 0, SUM(docs) FROM folded HAVING COUNT(*) > 0
          ON CONFLICT (tenant_id, shard) DO UPDATE SET docs = search_counts.docs + excluded.docs`,
  );
}
