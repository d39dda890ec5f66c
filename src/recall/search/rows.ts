/** Rows of search_docs as results show them. */
import { byDialect, type Query, type Sql, sql } from '../../driver/index.js';
import type { MemoryCategory } from '../../index/contract.js';
import { DOCS_BY_CONTENT, type DocColumns } from '../../index/sql.js';
import type { IndexedType } from '../../kernel/index.js';
import { type DocQuery, isReadable, visibleTo } from './conditions.js';

type NullableColumn =
  | 'type'
  | 'name'
  | 'trajectory_id'
  | 'scope_id'
  | 'position'
  | 'role'
  | 'speaker'
  | 'agent_id'
  | 'tags';

export interface DocRow extends Pick<DocColumns, NullableColumn> {
  readonly doc_no: number;
  readonly entity_type: IndexedType;
  readonly entity_id: string;
  readonly content_id: string;
  readonly abstraction_level: string;
  readonly category: MemoryCategory;
  readonly occurred_at: number;
  readonly created_at: number;
}

const COLUMNS: Sql = sql`d.doc_no, d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags, d.occurred_at, d.created_at`;

/** Tags as text on PostgreSQL: as JSON they would be parsed with the list. */
const TEXTS: Sql = sql`d.doc_no, d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags::text, d.occurred_at, d.created_at`;

/** In the order of the columns. */
const NAMES = COLUMNS.parts.join('').match(/(?<=d\.)\w+/g) as (keyof DocRow)[];

function rowOf(values: readonly unknown[]): DocRow {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < NAMES.length; i++) row[NAMES[i]!] = values[i];
  return row as unknown as DocRow;
}

/** Readable documents by number; read as one JSON text, which is faster than rows. */
export async function readDocs(
  query: Query,
  { tenant, now }: DocQuery,
  doc_nos: readonly number[],
): Promise<Map<number, DocRow>> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${COLUMNS})) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = i.value AND ${isReadable(now)}`,
      postgres: sql`SELECT json_agg(json_build_array(${TEXTS}))::text AS list FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos}) AND ${isReadable(now)}`,
    }),
  );
  const rows = (JSON.parse(row?.list ?? '[]') as unknown[][]).map(rowOf);
  return new Map(rows.map((doc) => [doc.doc_no, doc]));
}

/** Readable documents by the content that they index. */
export const docsOf = (
  query: Query,
  { tenant, now, viewer }: DocQuery,
  content_ids: readonly string[],
): Promise<DocRow[]> =>
  query.all<DocRow>(
    sql`SELECT ${COLUMNS} FROM ${DOCS_BY_CONTENT}
        WHERE d.tenant_id = ${tenant} AND d.content_id = ANY(${content_ids}) AND ${isReadable(now)}
          AND ${visibleTo(viewer)}`,
  );
