/**
 * search_docs: one row per searchable entity. A document gets its number with the commit, behind all earlier ones. It is
 * never deleted: what hides it empties the row.
 */
import { byDialect, insertRows, type LateRows, type Sql, sql, type Table, type Tx } from '../driver/index.js';
import type { IndexedType } from '../kernel/index.js';
import type { MemoryCategory } from './contract.js';
import type { Described } from './searchable.js';

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
  readonly described: Described;
}

/** The columns that come from the row of the content: a card, a packet, or a thought of a checkpoint. */
interface ContentColumns {
  readonly content_id: string;
  readonly agent_id: string | null;
  readonly subject_ids: string | null;
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
  { content_id, agent_id, subject_ids, created_at, expires_at, held_by }: ContentColumns,
): NewDoc[] =>
  // The spread comes last: members that are added behind one are slow to define.
  doc ? [{ content_id, agent_id, subject_ids, created_at, expires_at, held_by, ...doc }] : [];

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
  subject_ids: 'text',
  abstraction_level: 'text',
  category: 'text',
  tags: 'json',
  occurred_at: 'bigint',
  created_at: 'bigint',
  expires_at: 'bigint',
  held_by: 'text',
} as const satisfies Table['columns'];

const table = {
  name: 'search_docs',
  columns: { tenant_id: 'text', doc_no: 'bigint', ...columns },
} as const satisfies Table;

/** A row without doc_no and tenant_id. */
export type DocColumns = {
  readonly [C in keyof typeof columns]: ((typeof columns)[C] extends 'bigint' ? number : string) | null;
};

/** The columns of DocColumns, of a table named d. */
export const DOC_COLUMNS: Sql = sql`d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.subject_ids, d.abstraction_level, d.category, d.tags, d.occurred_at,
  d.created_at, d.expires_at, d.held_by`;

/** The table d for lookups of several contents: SQLite would rather scan all documents of the tenant. */
export const DOCS_BY_CONTENT: Sql = byDialect({
  sqlite: sql`search_docs d INDEXED BY search_docs_by_content`,
  postgres: sql`search_docs d`,
});

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
  speaker: doc.described.speaker,
  agent_id: doc.agent_id,
  subject_ids: doc.subject_ids,
  abstraction_level: doc.abstraction_level,
  category: doc.category,
  tags: doc.described.tags.length === 0 ? null : JSON.stringify(doc.described.tags),
  occurred_at: doc.described.occurred_at ?? doc.created_at,
  created_at: doc.created_at,
  expires_at: doc.expires_at,
  held_by: doc.held_by,
});

/** Documents that a commit adds. */
export interface AddedDocs extends LateRows {
  readonly kind: 'added';
  readonly docs: readonly NewDoc[];
}

/** Adds documents with the commit. */
export function addDocs(tx: Tx, docs: readonly NewDoc[]): void {
  if (docs.length === 0) return;
  const rows: AddedDocs = { kind: 'added', docs };
  tx.late(rows);
}

export const insertDocs = (tx: Tx, docs: readonly NewDoc[], first: number): Promise<void> =>
  insertRows(
    tx,
    table,
    docs.map((doc, i) => ({ doc_no: first + i, ...columnsOf(doc) })),
  );
