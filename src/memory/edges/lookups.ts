/**
 * Participants of edges, looked up by lists of ids. On PostgreSQL each id is a subquery (driver/lookups.ts); SQLite has
 * no LATERAL and uses the named index, or the order of a CROSS JOIN. Callers repeat the conditions of each fragment.
 */
import { byDialect, eachId, type Sql, sql, TENANT } from '../../driver/index.js';

/** Participants p, by their entities. Without the hint SQLite scans the primary key. */
export const endsAmong = (entity_ids: readonly string[], more: Sql = sql``): Sql =>
  byDialect({
    sqlite: sql`edge_participants p INDEXED BY edge_participants_by_entity`,
    postgres: sql`${eachId(entity_ids)} CROSS JOIN LATERAL (SELECT * FROM edge_participants l
      WHERE l.tenant_id = ${TENANT} AND l.entity_id = i.id${more} OFFSET 0) p`,
  });

/** All participants o of the edge of a participant p. */
export const ENDS_OF_EDGE: Sql = byDialect({
  sqlite: sql`edge_participants o`,
  postgres: sql`LATERAL (SELECT * FROM edge_participants l
    WHERE l.tenant_id = p.tenant_id AND l.edge_id = p.edge_id OFFSET 0) o`,
});
