/** Rows of search_docs as they are shown. */
import type { Query } from '../driver/driver.js';
import { byDialect, type Sql, sql } from '../driver/sql.js';
import type { MemoryCategory, SearchedType } from '../model/search.js';
import type { Asked } from './search-candidates.js';
import { canBeRead, seenBy } from './search-conditions.js';

export interface DocRow {
  readonly doc_no: number;
  readonly entity_type: SearchedType;
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

/** These documents by their numbers, as far as they are there. */
export async function readDocs(
  query: Query,
  { tenant }: Asked,
  doc_nos: readonly number[],
): Promise<Map<number, DocRow>> {
  const rows = await query.all<DocRow>(
    byDialect({
      sqlite: sql`SELECT ${COLUMNS} FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = i.value`,
      postgres: sql`SELECT ${COLUMNS} FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos})`,
    }),
  );
  return new Map(rows.map((row) => [Number(row.doc_no), { ...row }]));
}

/** Those that can be read, by what has their content. */
export const docsOf = (
  query: Query,
  { tenant, now, viewer }: Asked,
  content_ids: readonly string[],
): Promise<DocRow[]> =>
  query.all<DocRow>(
    sql`SELECT ${COLUMNS} FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.content_id = ANY(${content_ids}) AND ${canBeRead(tenant, now)}
          AND ${seenBy(tenant, viewer)}`,
  );
