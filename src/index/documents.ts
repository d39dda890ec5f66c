/** search_docs: one row per searchable entity. Triggers blank it when its content is erased. */
import { insertRows, type Sql, sql, type Table, TENANT, type Tx } from '../driver/index.js';
import type { IndexedType } from '../kernel/index.js';
import type { MemoryCategory } from './contract.js';
import type { Measured } from './searchable.js';

/** The search document of an entity. */
export interface Doc {
  readonly entity_type: IndexedType;
  readonly entity_id: string;
  readonly type: string | null;
  readonly name: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  /** Of a turn: its sequence in the scope. */
  readonly position: number | null;
  readonly role: string | null;
  readonly abstraction_level: string;
  readonly category: MemoryCategory;
  readonly measured: Measured;
}

/** The columns that come from the row of the content: a card, a packet, or a thought of a checkpoint. */
interface ContentColumns {
  readonly content_id: string;
  readonly agent_id: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

export interface NewDoc extends Doc, ContentColumns {}

/** Defaults of columns that few entities have. */
export const PLAIN_DOC = {
  type: null,
  name: null,
  trajectory_id: null,
  scope_id: null,
  position: null,
  role: null,
  abstraction_level: 'L0',
} as const;

/** Completes a document; none for content that is not searched. */
export const newDoc = (
  doc: Doc | null | undefined,
  { content_id, agent_id, created_at, expires_at, held_by }: ContentColumns,
): NewDoc[] =>
  // The spread comes last: members that are added behind one are slow to define.
  doc ? [{ content_id, agent_id, created_at, expires_at, held_by, ...doc }] : [];

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

const table = { name: 'search_docs', columns: { tenant_id: 'text', ...columns } } as const satisfies Table;

/** A row without doc_no and tenant_id. */
export type DocColumns = {
  readonly [C in keyof typeof columns]: ((typeof columns)[C] extends 'bigint' ? number : string) | null;
};

/** The columns of DocColumns, of a table named d. */
export const DOC_COLUMNS: Sql = sql`d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags, d.occurred_at, d.created_at,
  d.expires_at, d.held_by, d.length, d.flags, d.terms`;

/** Member by member: on this hot path rest and spread are thirty times slower, and other members must not get in. */
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

export function insertDocs(tx: Tx, docs: readonly NewDoc[]): Promise<void> {
  return insertRows(tx, table, docs.map(columnsOf));
}

/** Takes a superseded or deleted version out of the search; its content may stay. */
export const forgetDoc = (tx: Tx, content_id: string): Promise<void> =>
  tx.send(
    sql`UPDATE search_docs SET terms = NULL, name = NULL, speaker = NULL, tags = NULL
        WHERE tenant_id = ${TENANT} AND content_id = ${content_id} AND entity_type IN ('artifact', 'note')
          AND terms IS NOT NULL`,
  );

/** Row count of search_counts above which rows of closed connections are folded. */
const MANY_COUNTS = 100;

/** Folds the counts of closed connections into row 0 (PostgreSQL only); skips rows that another sweep has locked. */
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
