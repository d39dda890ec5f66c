/** Results that are not shown: superseded entities, by the same rule as in lists, and repetitions. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { cardNotSuperseded, packetNotSuperseded, versionNotSuperseded } from '../../memory/sql.js';
import { DOCS_BY_TYPE, IS_RARE } from './narrow-search.js';
import type { DocRow } from './rows.js';

type Entity = Pick<DocRow, 'doc_no' | 'entity_type' | 'entity_id'>;

interface At {
  readonly tenant: string;
  readonly now: number;
}

/**
 * The hidden ones among results in their order. A thought that later checkpoints reworded has several documents: `seen`
 * carries the thoughts found so far.
 */
export async function hiddenAmong(
  query: Query,
  at: At,
  doc_nos: readonly number[],
  seen: Set<string>,
): Promise<Set<number>> {
  const { tenant } = at;
  const columns = sql`d.doc_no, d.entity_type, d.entity_id, d.held_by`;
  const mayBeHidden = sql`(d.entity_type = 'thought' OR EXISTS (SELECT 1 FROM edge_participants y
    WHERE y.tenant_id = ${tenant} AND y.entity_id = d.entity_id AND y.edge_type = 'Supersedes' AND y.position > 1
      AND y.deleted_at IS NULL))`;
  const rows = await query.all<Entity & { readonly held_by: string | null }>(
    byDialect({
      sqlite: sql`SELECT ${columns} FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = i.value AND ${mayBeHidden}`,
      postgres: sql`SELECT ${columns} FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos}) AND ${mayBeHidden}`,
    }),
  );
  if (rows.length === 0) return new Set();
  const byNumber = new Map(rows.map((row) => [Number(row.doc_no), { ...row, doc_no: Number(row.doc_no) }]));
  const others = [...byNumber.values()].filter(({ entity_type }) => entity_type !== 'thought');
  const hidden = await supersededAmong(query, at, others);
  for (const doc_no of doc_nos) {
    const row = byNumber.get(doc_no);
    if (row?.entity_type !== 'thought') continue;
    const key = `${row.held_by} ${row.entity_id}`;
    if (seen.has(key)) hidden.add(doc_no);
    seen.add(key);
  }
  return hidden;
}

/** Without statistics SQLite scans all edges of the tenant by their primary key. */
const supersededEnds: Sql = byDialect({
  sqlite: sql`edge_participants INDEXED BY edge_participants_superseded`,
  postgres: sql`edge_participants`,
});

/** Whether a tenant has any superseded entity or thought: few have, and this lookup is cheap. */
export async function mayHide(query: Query): Promise<boolean> {
  const row = await query.get<{ hides: number }>(
    sql`SELECT 1 AS hides WHERE EXISTS (SELECT 1 FROM ${supersededEnds}
          WHERE tenant_id = ${TENANT} AND edge_type = 'Supersedes' AND position > 1 AND deleted_at IS NULL)
        OR EXISTS (SELECT 1 FROM ${DOCS_BY_TYPE}
          WHERE d.tenant_id = ${TENANT} AND d.entity_type = 'thought' AND ${IS_RARE})`,
  );
  return row !== undefined;
}

export async function supersededAmong(
  query: Query,
  { tenant, now }: At,
  entities: readonly Entity[],
): Promise<Set<number>> {
  const ids = entities.map(({ entity_id }) => entity_id);
  if (ids.length === 0) return new Set();
  // Few entities have such an edge; only for those is it checked whether the superseding entity is readable.
  const ends = await query.all<{ entity_type: string; entity_id: string }>(
    sql`SELECT DISTINCT entity_type, entity_id FROM edge_participants
        WHERE tenant_id = ${tenant} AND entity_id = ANY(${ids}) AND edge_type = 'Supersedes' AND position > 1
          AND deleted_at IS NULL`,
  );
  if (ends.length === 0) return new Set();
  const end_ids = ends.map(({ entity_id }) => entity_id);
  const current = await query.all<{ kind: string; id: string }>(
    sql`SELECT 'card' AS kind, c.card_id AS id FROM cards c
          WHERE c.tenant_id = ${tenant} AND c.card_id = ANY(${end_ids}) AND ${cardNotSuperseded(now)}
        UNION ALL
        SELECT 'packet' AS kind, p.packet_id AS id FROM packet_store p
          WHERE p.tenant_id = ${tenant} AND p.packet_id = ANY(${end_ids}) AND ${packetNotSuperseded(now)}
        UNION ALL
        SELECT 'memory' AS kind, v.memory_id AS id FROM memory_versions v
          WHERE v.tenant_id = ${tenant} AND v.memory_id = ANY(${end_ids}) AND v.superseded_at IS NULL
            AND ${versionNotSuperseded(now)}`,
  );
  const superseded = new Set(ends.map(entityKey));
  for (const { kind, id } of current) superseded.delete(`${kind} ${id}`);
  return new Set(entities.filter((one) => superseded.has(entityKey(one))).map(({ doc_no }) => doc_no));
}

/** Namespaces of ids: a card, a packet and a memory may have the same id. */
const KINDS: Readonly<Record<string, string>> = { turn: 'card', artifact: 'memory', note: 'memory' };

const entityKey = ({ entity_type, entity_id }: { entity_type: string; entity_id: string }): string => {
  const type = entity_type.toLowerCase();
  return `${KINDS[type] ?? type} ${entity_id}`;
};

/** Notes and artifacts are repetitions if all of these are equal. */
const STATEMENT: Sql = sql`d.doc_no, d.entity_type, d.type, d.name, d.speaker,
  CASE WHEN d.occurred_at = d.created_at THEN NULL ELSE d.occurred_at END AS occurred_at, c.content_hash`;
const IS_MEMORY: Sql = sql`d.entity_type IN ('note', 'artifact')`;

/** For the notes and artifacts among the documents, a key that is equal for repetitions. */
export async function statementKeys(query: Query, doc_nos: readonly number[]): Promise<Map<number, string>> {
  const rows = await query.all<{ readonly doc_no: number }>(
    byDialect({
      sqlite: sql`SELECT ${STATEMENT} FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d CROSS JOIN cards c
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = i.value AND ${IS_MEMORY}
          AND c.tenant_id = ${TENANT} AND c.card_id = d.content_id`,
      postgres: sql`SELECT ${STATEMENT} FROM search_docs d JOIN cards c ON c.tenant_id = d.tenant_id AND c.card_id = d.content_id
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND ${IS_MEMORY}`,
    }),
  );
  return new Map(rows.map(({ doc_no, ...rest }) => [Number(doc_no), JSON.stringify(Object.values(rest).map(String))]));
}
