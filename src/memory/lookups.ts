/**
 * Participants of edges and versions of artifacts and notes, looked up by lists of ids. On PostgreSQL each id is a
 * subquery (`idsToJoin`); SQLite has no LATERAL and uses the named index, or the order of a CROSS JOIN. Callers
 * repeat the conditions of each fragment.
 */
import { byDialect, idsToJoin, type Sql, sql, TENANT } from '../driver/index.js';

/** Participants p, found by entity. SQLite keeps no statistics and would scan the primary key of the tenant. */
export const ENDS_BY_ENTITY: Sql = byDialect({
  sqlite: sql`edge_participants p INDEXED BY edge_participants_by_entity`,
  postgres: sql`edge_participants p`,
});
/** Participants p of edges that are not deleted, found by entity in the order of the edges. */
export const ENDS_IN_ORDER: Sql = byDialect({
  sqlite: sql`edge_participants p INDEXED BY edge_participants_in_order`,
  postgres: sql`edge_participants p`,
});

/** Participants p, by their entities. Without the hint SQLite scans the primary key. */
export const participantsAmong = (entity_ids: readonly string[], more: Sql = sql``): Sql =>
  byDialect({
    sqlite: sql`edge_participants p INDEXED BY edge_participants_by_entity`,
    postgres: sql`${idsToJoin(entity_ids)} CROSS JOIN LATERAL (SELECT * FROM edge_participants l
      WHERE l.tenant_id = ${TENANT} AND l.entity_id = i.id${more} OFFSET 0) p`,
  });

/** All participants o of the edge of a participant p. */
export const PARTICIPANTS_OF_EDGE: Sql = byDialect({
  sqlite: sql`edge_participants o`,
  postgres: sql`LATERAL (SELECT * FROM edge_participants l
    WHERE l.tenant_id = p.tenant_id AND l.edge_id = p.edge_id OFFSET 0) o`,
});

/** Versions v of these artifacts and notes; on PostgreSQL only the newest of each, or the newest up to a moment. */
export const versionsAmong = (memory_ids: readonly string[], as_of?: number): Sql =>
  byDialect({
    sqlite: sql`memory_versions v`,
    postgres: sql`${idsToJoin(memory_ids)} CROSS JOIN LATERAL (SELECT * FROM memory_versions l
      WHERE l.tenant_id = ${TENANT} AND l.memory_id = i.id${as_of === undefined ? sql`` : sql` AND l.recorded_at <= ${as_of}`}
      ORDER BY l.version DESC LIMIT 1) v`,
  });

/** Versions v of the artifact or note of a participant o; on PostgreSQL only the newest. */
export const VERSION_OF_END: Sql = byDialect({
  sqlite: sql`memory_versions v`,
  postgres: sql`LATERAL (SELECT * FROM memory_versions l
    WHERE l.tenant_id = o.tenant_id AND l.memory_id = o.entity_id ORDER BY l.version DESC LIMIT 1) v`,
});

/** Versions v of the artifacts of these trajectories. */
export const artifactsAmong = (trajectory_ids: readonly string[]): Sql =>
  byDialect({
    sqlite: sql`memory_versions v`,
    postgres: sql`${idsToJoin(trajectory_ids)} CROSS JOIN LATERAL (SELECT * FROM memory_versions l
      WHERE l.tenant_id = ${TENANT} AND l.trajectory_id = i.id AND l.kind = 'artifact' OFFSET 0) v`,
  });

/** The card c and counters a of each version v. PostgreSQL overestimates conditions of lists, and would scan all cards. */
export const BESIDE_VERSIONS: Sql = byDialect({
  sqlite: sql`JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
    LEFT JOIN memory_access a ON a.tenant_id = v.tenant_id AND a.memory_id = v.memory_id`,
  postgres: sql`CROSS JOIN LATERAL (SELECT l.content, l.content_hash FROM cards l
      WHERE l.tenant_id = v.tenant_id AND l.card_id = v.card_id OFFSET 0) c
    LEFT JOIN LATERAL (SELECT l.access_count, l.accessed_at FROM memory_access l
      WHERE l.tenant_id = v.tenant_id AND l.memory_id = v.memory_id OFFSET 0) a ON TRUE`,
});
