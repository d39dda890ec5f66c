/**
 * Tables to be looked up by lists of ids. PostgreSQL without statistics takes what a tenant has for little, and would
 * rather read all of it than look for each id; so each lookup is a query of its own there. SQLite, which has no LATERAL,
 * keeps to the index that is named or to the order of a CROSS JOIN. The conditions that a fragment stands for are
 * still to be written beside it.
 */
import { byDialect, type Sql, sql } from './sql.js';

const eachOf = (ids: readonly string[]): Sql => sql`(SELECT DISTINCT unnest(${ids}::text[]) AS id) i`;

/** Ends of edges under the name p, by their entities. SQLite would rather scan all ends by their primary key. */
export const endsAmong = (tenant: string, entity_ids: readonly string[], more: Sql = sql``): Sql =>
  byDialect({
    sqlite: sql`edge_participants p INDEXED BY edge_participants_by_entity`,
    postgres: sql`${eachOf(entity_ids)} CROSS JOIN LATERAL (SELECT * FROM edge_participants l
      WHERE l.tenant_id = ${tenant} AND l.entity_id = i.id${more} OFFSET 0) p`,
  });

/** All ends, under the name o, of the edge of an end p. */
export const ENDS_OF_EDGE: Sql = byDialect({
  sqlite: sql`edge_participants o`,
  postgres: sql`LATERAL (SELECT * FROM edge_participants l
    WHERE l.tenant_id = p.tenant_id AND l.edge_id = p.edge_id OFFSET 0) o`,
});

/** Versions of artifacts and notes under the name v: of each of these the newest, or the newest up to a moment. */
export const versionsAmong = (tenant: string, memory_ids: readonly string[], as_of?: number): Sql =>
  byDialect({
    sqlite: sql`memory_versions v`,
    postgres: sql`${eachOf(memory_ids)} CROSS JOIN LATERAL (SELECT * FROM memory_versions l
      WHERE l.tenant_id = ${tenant} AND l.memory_id = i.id${as_of === undefined ? sql`` : sql` AND l.recorded_at <= ${as_of}`}
      ORDER BY l.version DESC LIMIT 1) v`,
  });

/** The newest version, under the name v, of the artifact or note at an end o. */
export const VERSION_OF_END: Sql = byDialect({
  sqlite: sql`memory_versions v`,
  postgres: sql`LATERAL (SELECT * FROM memory_versions l
    WHERE l.tenant_id = o.tenant_id AND l.memory_id = o.entity_id ORDER BY l.version DESC LIMIT 1) v`,
});

/** Versions of the artifacts of these trajectories, under the name v. */
export const artifactsAmong = (tenant: string, trajectory_ids: readonly string[]): Sql =>
  byDialect({
    sqlite: sql`memory_versions v`,
    postgres: sql`${eachOf(trajectory_ids)} CROSS JOIN LATERAL (SELECT * FROM memory_versions l
      WHERE l.tenant_id = ${tenant} AND l.trajectory_id = i.id AND l.kind = 'artifact' OFFSET 0) v`,
  });

/**
 * The card c and the counters a of each version v. In a list PostgreSQL takes what a condition costs for so much that
 * reading all cards for each version looks as good as looking one up.
 */
export const BESIDE_VERSIONS: Sql = byDialect({
  sqlite: sql`JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
    LEFT JOIN memory_access a ON a.tenant_id = v.tenant_id AND a.memory_id = v.memory_id`,
  postgres: sql`CROSS JOIN LATERAL (SELECT l.content, l.content_hash FROM cards l
      WHERE l.tenant_id = v.tenant_id AND l.card_id = v.card_id OFFSET 0) c
    LEFT JOIN LATERAL (SELECT l.access_count, l.accessed_at FROM memory_access l
      WHERE l.tenant_id = v.tenant_id AND l.memory_id = v.memory_id OFFSET 0) a ON TRUE`,
});
