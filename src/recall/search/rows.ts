/** Rows of search_docs as they are shown. */
import { byDialect, type Query, type Sql, sql } from '../../driver/index.js';
import type { MemoryCategory } from '../../index/contract.js';
import type { IndexedType } from '../../kernel/index.js';
import { type Asked, canBeRead, seenBy } from './conditions.js';

export interface DocRow {
  readonly doc_no: number;
  readonly entity_type: IndexedType;
  readonly entity_id: string;
  readonly content_id: string;
  readonly type: string | null;
  readonly name: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly position: number | null;
  readonly role: string | null;
  readonly speaker: string | null;
  readonly agent_id: string | null;
  readonly abstraction_level: string;
  readonly category: MemoryCategory;
  readonly tags: string | null;
  readonly occurred_at: number;
  readonly created_at: number;
}

const COLUMNS: Sql = sql`d.doc_no, d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags, d.occurred_at, d.created_at`;

/** The tags as text on PostgreSQL too, where they would else be read as a list. */
const TEXTS: Sql = sql`d.doc_no, d.entity_type, d.entity_id, d.content_id, d.type, d.name, d.trajectory_id, d.scope_id,
  d.position, d.role, d.speaker, d.agent_id, d.abstraction_level, d.category, d.tags::text, d.occurred_at, d.created_at`;

type Values = [
  doc_no: number,
  entity_type: IndexedType,
  entity_id: string,
  content_id: string,
  type: string | null,
  name: string | null,
  trajectory_id: string | null,
  scope_id: string | null,
  position: number | null,
  role: string | null,
  speaker: string | null,
  agent_id: string | null,
  abstraction_level: string,
  category: MemoryCategory,
  tags: string | null,
  occurred_at: number,
  created_at: number,
];

const rowOf = (values: Values): DocRow => ({
  doc_no: values[0],
  entity_type: values[1],
  entity_id: values[2],
  content_id: values[3],
  type: values[4],
  name: values[5],
  trajectory_id: values[6],
  scope_id: values[7],
  position: values[8],
  role: values[9],
  speaker: values[10],
  agent_id: values[11],
  abstraction_level: values[12],
  category: values[13],
  tags: values[14],
  occurred_at: values[15],
  created_at: values[16],
});

/** These documents by their numbers, as far as they are there; as one text, since that is read faster than rows. */
export async function readDocs(
  query: Query,
  { tenant, now }: Asked,
  doc_nos: readonly number[],
): Promise<Map<number, DocRow>> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${COLUMNS})) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = i.value AND ${canBeRead(now)}`,
      postgres: sql`SELECT json_agg(json_build_array(${TEXTS}))::text AS list FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos}) AND ${canBeRead(now)}`,
    }),
  );
  const rows = JSON.parse(row?.list ?? '[]') as Values[];
  return new Map(rows.map((values) => [values[0], rowOf(values)]));
}

/** Those that can be read, by what has their content. */
export const docsOf = (
  query: Query,
  { tenant, now, viewer }: Asked,
  content_ids: readonly string[],
): Promise<DocRow[]> =>
  query.all<DocRow>(
    sql`SELECT ${COLUMNS} FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.content_id = ANY(${content_ids}) AND ${canBeRead(now)}
          AND ${seenBy(viewer)}`,
  );
