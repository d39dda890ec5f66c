/** Doctor checks of locks. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const lockChecks: readonly Check[] = [
  {
    name: 'an exclusive lock has one holder, and every open lock has a lease',
    broken: () =>
      sql`SELECT l.resource_type || ' ' || l.resource_id || ' is held by ' || COUNT(*) AS what FROM locks l
            WHERE l.tenant_id = ${TENANT} AND l.ended_at IS NULL AND l.state <> 'waiting'
            GROUP BY l.resource_type, l.resource_id HAVING COUNT(*) > 1 AND MIN(l.mode) = 'Exclusive'
          UNION ALL
          SELECT 'lock ' || l.lock_id || ' has no lease' AS what FROM locks l
            LEFT JOIN leases s ON s.tenant_id = l.tenant_id AND s.kind = 'lock' AND s.subject_id = l.lock_id
            WHERE l.tenant_id = ${TENANT} AND l.ended_at IS NULL AND s.subject_id IS NULL
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'the token of a resource is that of its last grant',
    broken: () =>
      sql`SELECT 'lock ' || l.lock_id || ' has token ' || l.token || ', the last one is ' || COALESCE(r.token, 0) AS what
          FROM locks l LEFT JOIN lock_resources r ON r.tenant_id = l.tenant_id AND r.resource_type = l.resource_type
            AND r.resource_id = l.resource_id
          WHERE l.tenant_id = ${TENANT} AND l.token > COALESCE(r.token, 0) LIMIT ${MAX_EXAMPLES}`,
  },
];
