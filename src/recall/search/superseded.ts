/** Which of what was found is not to be shown: what something else supersedes, by the same rule as lists, or was found before. */
import { byDialect, type Query, sql, TENANT } from '../../driver/index.js';
import { cardNotSuperseded, packetNotSuperseded, versionNotSuperseded } from '../../memory/sql.js';
import { IS_FEW } from './lead.js';
import type { DocRow } from './rows.js';

type Entity = Pick<DocRow, 'doc_no' | 'entity_type' | 'entity_id'>;
type Doubtful = Entity & { readonly held_by: string | null };

/**
 * In the order in which they were found. A thought that a later checkpoint has in other words is there several times:
 * `seen` has those that were found before.
 */
export async function hiddenAmong(
  query: Query,
  asked: { readonly tenant: string; readonly now: number },
  doc_nos: readonly number[],
  seen: Set<string>,
): Promise<Set<number>> {
  const { tenant } = asked;
  const doubtful = sql`(d.entity_type = 'thought' OR EXISTS (SELECT 1 FROM edge_participants y
    WHERE y.tenant_id = ${tenant} AND y.entity_id = d.entity_id AND y.edge_type = 'Supersedes' AND y.position > 1
      AND y.deleted_at IS NULL))`;
  const rows = await query.all<Doubtful>(
    byDialect({
      sqlite: sql`SELECT d.doc_no, d.entity_type, d.entity_id, d.held_by
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = i.value AND ${doubtful}`,
      postgres: sql`SELECT d.doc_no, d.entity_type, d.entity_id, d.held_by FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos}) AND ${doubtful}`,
    }),
  );
  if (rows.length === 0) return new Set();
  const byNumber = new Map(rows.map((row) => [Number(row.doc_no), { ...row, doc_no: Number(row.doc_no) }]));
  const hidden = await supersededAmong(query, asked, [...byNumber.values()].filter(isNoThought));
  for (const doc_no of doc_nos) {
    const row = byNumber.get(doc_no);
    if (!row || isNoThought(row)) continue;
    const name = `${row.held_by} ${row.entity_id}`;
    if (seen.has(name)) hidden.add(doc_no);
    seen.add(name);
  }
  return hidden;
}

/** Whether a tenant has anything at all that hides, or hides itself: few have, and that is known at once. */
export async function mayHide(query: Query): Promise<boolean> {
  const row = await query.get<{ hides: number }>(
    sql`SELECT 1 AS hides WHERE EXISTS (SELECT 1 FROM edge_participants
          WHERE tenant_id = ${TENANT} AND edge_type = 'Supersedes' AND position > 1 AND deleted_at IS NULL)
        OR EXISTS (SELECT 1 FROM search_docs d
          WHERE d.tenant_id = ${TENANT} AND d.entity_type = 'thought' AND ${IS_FEW})`,
  );
  return row !== undefined;
}

const isNoThought = ({ entity_type }: Entity): boolean => entity_type !== 'thought';

export async function supersededAmong(
  query: Query,
  { tenant, now }: { readonly tenant: string; readonly now: number },
  entities: readonly Entity[],
): Promise<Set<number>> {
  const ids = entities.map(({ entity_id }) => entity_id);
  if (ids.length === 0) return new Set();
  // Few have such an edge at all: whether what supersedes them can still be read is asked for those alone.
  const ends = await query.all<{ entity_type: string; entity_id: string }>(
    sql`SELECT DISTINCT entity_type, entity_id FROM edge_participants
        WHERE tenant_id = ${tenant} AND entity_id = ANY(${ids}) AND edge_type = 'Supersedes' AND position > 1
          AND deleted_at IS NULL`,
  );
  if (ends.length === 0) return new Set();
  const some = ends.map(({ entity_id }) => entity_id);
  const stay = await query.all<{ kind: string; id: string }>(
    sql`SELECT 'card' AS kind, c.card_id AS id FROM cards c
          WHERE c.tenant_id = ${tenant} AND c.card_id = ANY(${some}) AND ${cardNotSuperseded(now)}
        UNION ALL
        SELECT 'packet' AS kind, p.packet_id AS id FROM packet_store p
          WHERE p.tenant_id = ${tenant} AND p.packet_id = ANY(${some}) AND ${packetNotSuperseded(now)}
        UNION ALL
        SELECT 'memory' AS kind, v.memory_id AS id FROM memory_versions v
          WHERE v.tenant_id = ${tenant} AND v.memory_id = ANY(${some}) AND v.superseded_at IS NULL
            AND ${versionNotSuperseded(now)}`,
  );
  const standing = new Set(stay.map(({ kind, id }) => `${kind} ${id}`));
  const asked = new Set(ends.map(nameOf));
  return new Set(
    entities.filter((entity) => asked.has(nameOf(entity)) && !standing.has(nameOf(entity))).map(({ doc_no }) => doc_no),
  );
}

/** What has ids of its own: the same id may be that of a card, a packet, and an artifact or note. */
const KINDS: Readonly<Record<string, string>> = { turn: 'card', artifact: 'memory', note: 'memory' };

const nameOf = ({ entity_type, entity_id }: { entity_type: string; entity_id: string }): string => {
  const type = entity_type.toLowerCase();
  return `${KINDS[type] ?? type} ${entity_id}`;
};
