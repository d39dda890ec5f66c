/** Doctor checks of artifacts and notes. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';
import { PENDING, VERSION_ENDED } from '../../engine/sql.js';

export const memoryChecks: readonly Check[] = [
  {
    name: 'versions are numbered from 1 without gaps, and at most one is current',
    broken: () =>
      sql`SELECT v.kind || ' ' || v.memory_id || ' has ' || COUNT(*) || ' versions up to ' || MAX(v.version) AS what
          FROM memory_versions v WHERE v.tenant_id = ${TENANT} GROUP BY v.kind, v.memory_id
          HAVING MIN(v.version) <> 1 OR MAX(v.version) <> COUNT(*) OR COUNT(*) - COUNT(v.superseded_at) > 1 LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a version is valid until the next one was recorded, and recorded times are settled',
    broken: () =>
      sql`SELECT v.kind || ' ' || v.memory_id || ' version ' || v.version AS what FROM memory_versions v
          JOIN memory_versions f ON f.tenant_id = v.tenant_id AND f.memory_id = v.memory_id AND f.version = 1
          LEFT JOIN memory_versions n ON n.tenant_id = v.tenant_id AND n.memory_id = v.memory_id AND n.version = v.version + 1
          WHERE v.tenant_id = ${TENANT} AND (v.recorded_at >= ${PENDING} OR v.created_at <> f.recorded_at
            OR v.superseded_at >= ${PENDING} OR (v.superseded_at < v.recorded_at AND NOT EXISTS (
              SELECT 1 FROM clock_overlaps o WHERE o.tenant_id = v.tenant_id AND v.superseded_at >= o.from_at
                AND v.recorded_at <= o.until_at))
            OR (n.version IS NOT NULL AND (v.superseded_at IS NULL OR v.superseded_at <> n.recorded_at))) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every version has its card, and all versions and cards of an entity have the same lifetime',
    broken: () =>
      sql`SELECT v.kind || ' ' || v.memory_id || ' version ' || v.version AS what FROM memory_versions v
          JOIN memory_versions f ON f.tenant_id = v.tenant_id AND f.memory_id = v.memory_id AND f.version = 1
          LEFT JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
          WHERE v.tenant_id = ${TENANT} AND (c.card_id IS NULL OR v.lifetime <> f.lifetime
            OR CAST(v.ttl AS TEXT) <> CAST(f.ttl AS TEXT)
            OR COALESCE(v.expires_at, -1) <> COALESCE(f.expires_at, -1) OR COALESCE(v.held_by, '') <> COALESCE(f.held_by, '')
            OR COALESCE(c.expires_at, -1) <> COALESCE(v.expires_at, -1) OR COALESCE(c.held_by, '') <> COALESCE(v.held_by, ''))
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'versions that have neither expired nor ended have their content',
    broken: () =>
      sql`SELECT v.kind || ' ' || v.memory_id || ' version ' || v.version AS what FROM memory_versions v
          JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
          WHERE v.tenant_id = ${TENANT} AND v.erased_at IS NULL AND c.erased_at IS NOT NULL
            AND (v.expires_at IS NULL OR v.expires_at > c.erased_at) AND ${VERSION_ENDED} IS NULL LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'an erased version holds no text',
    broken: () =>
      sql`SELECT v.kind || ' ' || v.memory_id || ' version ' || v.version AS what FROM memory_versions v
          WHERE v.tenant_id = ${TENANT} AND v.erased_at IS NOT NULL
            AND (v.name IS NOT NULL OR v.metadata IS NOT NULL OR v.provenance IS NOT NULL OR v.sent_hash IS NOT NULL) LIMIT ${MAX_EXAMPLES}`,
  },
];
