/**
 * Versions of artifacts and notes, looked up by lists of ids. On PostgreSQL each id is a query of its own (driver/lookups.ts); SQLite, which has
 * no LATERAL, keeps to the named index or to the order of a CROSS JOIN. The conditions that a fragment stands for are still
 * to be written beside it.
 */
import { byDialect, eachId, type Sql, sql, TENANT } from '../../driver/index.js';

/** Versions of artifacts and notes under the name v: of each of these the newest, or the newest up to a moment. */
export const versionsAmong = (memory_ids: readonly string[], as_of?: number): Sql =>
  byDialect({
    sqlite: sql`memory_versions v`,
    postgres: sql`${eachId(memory_ids)} CROSS JOIN LATERAL (SELECT * FROM memory_versions l
      WHERE l.tenant_id = ${TENANT} AND l.memory_id = i.id${as_of === undefined ? sql`` : sql` AND l.recorded_at <= ${as_of}`}
      ORDER BY l.version DESC LIMIT 1) v`,
  });

/** The newest version, under the name v, of the artifact or note at an end o. */
export const VERSION_OF_END: Sql = byDialect({
  sqlite: sql`memory_versions v`,
  postgres: sql`LATERAL (SELECT * FROM memory_versions l
    WHERE l.tenant_id = o.tenant_id AND l.memory_id = o.entity_id ORDER BY l.version DESC LIMIT 1) v`,
});

/** Versions of the artifacts of these trajectories, under the name v. */
export const artifactsAmong = (trajectory_ids: readonly string[]): Sql =>
  byDialect({
    sqlite: sql`memory_versions v`,
    postgres: sql`${eachId(trajectory_ids)} CROSS JOIN LATERAL (SELECT * FROM memory_versions l
      WHERE l.tenant_id = ${TENANT} AND l.trajectory_id = i.id AND l.kind = 'artifact' OFFSET 0) v`,
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
