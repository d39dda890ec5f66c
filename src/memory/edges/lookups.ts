/**
 * Ends of edges, looked up by lists of ids. On PostgreSQL each id is a query of its own (driver/lookups.ts); SQLite, which has
 * no LATERAL, keeps to the named index or to the order of a CROSS JOIN. The conditions that a fragment stands for are still
 * to be written beside it.
 */
import { byDialect, eachId, type Sql, sql, TENANT } from '../../driver/index.js';

/** Ends of edges under the name p, by their entities. SQLite would rather scan all ends by their primary key. */
export const endsAmong = (entity_ids: readonly string[], more: Sql = sql``): Sql =>
  byDialect({
    sqlite: sql`edge_participants p INDEXED BY edge_participants_by_entity`,
    postgres: sql`${eachId(entity_ids)} CROSS JOIN LATERAL (SELECT * FROM edge_participants l
      WHERE l.tenant_id = ${TENANT} AND l.entity_id = i.id${more} OFFSET 0) p`,
  });

/** All ends, under the name o, of the edge of an end p. */
export const ENDS_OF_EDGE: Sql = byDialect({
  sqlite: sql`edge_participants o`,
  postgres: sql`LATERAL (SELECT * FROM edge_participants l
    WHERE l.tenant_id = p.tenant_id AND l.edge_id = p.edge_id OFFSET 0) o`,
});
