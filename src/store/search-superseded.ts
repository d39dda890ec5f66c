/** Which of what was found something else supersedes, by the same rule as lists. */
import type { Query } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import type { DocRow } from './search-rows.js';
import { cardNotSuperseded, versionNotSuperseded } from './supersession.js';

type Entity = Pick<DocRow, 'doc_no' | 'entity_type' | 'entity_id'>;

export async function supersededAmong(
  query: Query,
  { tenant, now }: { readonly tenant: string; readonly now: number },
  entities: readonly Entity[],
): Promise<Set<number>> {
  const ids = entities.map(({ entity_id }) => entity_id);
  if (ids.length === 0) return new Set();
  // Few have such an edge at all: whether what supersedes them can still be read is asked for those alone.
  const ends = await query.all<{ entity_id: string }>(
    sql`SELECT DISTINCT entity_id FROM edge_participants
        WHERE tenant_id = ${tenant} AND entity_id = ANY(${ids}) AND edge_type = 'Supersedes' AND position > 1
          AND deleted_at IS NULL`,
  );
  if (ends.length === 0) return new Set();
  const some = ends.map(({ entity_id }) => entity_id);
  const stay = await query.all<{ id: string }>(
    sql`SELECT c.card_id AS id FROM cards c
          WHERE c.tenant_id = ${tenant} AND c.card_id = ANY(${some}) AND ${cardNotSuperseded(tenant, now)}
        UNION ALL
        SELECT v.memory_id AS id FROM memory_versions v
          WHERE v.tenant_id = ${tenant} AND v.memory_id = ANY(${some}) AND v.superseded_at IS NULL
            AND ${versionNotSuperseded(tenant, now)}`,
  );
  const standing = new Set(stay.map(({ id }) => id));
  const asked = new Set(some);
  return new Set(
    entities
      .filter(({ entity_id }) => asked.has(entity_id) && !standing.has(entity_id))
      .map(({ doc_no }) => doc_no),
  );
}
