/** What was remembered more than once: notes and artifacts that say the same of the same, whoever asks is told once. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';

/** What tells one from another, beside its text: what it is called, who said it, and when it was, where that was said. */
const SAID: Sql = sql`d.doc_no, d.entity_type, d.type, d.name, d.speaker,
  CASE WHEN d.occurred_at = d.created_at THEN NULL ELSE d.occurred_at END AS occurred_at, c.content_hash`;
const IS_MEMORY: Sql = sql`d.entity_type IN ('note', 'artifact')`;

interface Said {
  readonly doc_no: number;
  readonly entity_type: string;
  readonly type: string;
  readonly name: string;
  readonly speaker: string | null;
  readonly occurred_at: number | null;
  readonly content_hash: string;
}

/** Of the notes and artifacts among these, what each says: a text that is the same for those that say the same. */
export async function whatTheySay(query: Query, doc_nos: readonly number[]): Promise<Map<number, string>> {
  const rows = await query.all<Said>(
    byDialect({
      sqlite: sql`SELECT ${SAID} FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d CROSS JOIN cards c
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = i.value AND ${IS_MEMORY}
          AND c.tenant_id = ${TENANT} AND c.card_id = d.content_id`,
      postgres: sql`SELECT ${SAID} FROM search_docs d JOIN cards c ON c.tenant_id = d.tenant_id AND c.card_id = d.content_id
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND ${IS_MEMORY}`,
    }),
  );
  return new Map(rows.map(({ doc_no, ...said }) => [Number(doc_no), JSON.stringify(Object.values(said).map(String))]));
}
