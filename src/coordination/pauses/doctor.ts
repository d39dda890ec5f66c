/** Doctor checks of pauses, against their runs and deadlines. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const pauseChecks: readonly Check[] = [
  {
    name: 'an open pause belongs to a suspended agent_turn or an unfinished execution',
    broken: () =>
      sql`SELECT 'pause ' || p.pause_id || ' is open' AS what FROM pauses p
          LEFT JOIN agent_turns t ON t.tenant_id = p.tenant_id AND t.agent_turn_id = p.agent_turn_id
          LEFT JOIN executions e ON e.tenant_id = p.tenant_id AND e.execution_id = p.execution_id
          WHERE p.tenant_id = ${TENANT} AND p.status = 'open'
            AND NOT (COALESCE(t.status, '') = 'suspended'
              OR (e.execution_id IS NOT NULL AND e.finished_at IS NULL AND e.deleted_at IS NULL)) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'an agent_turn has at most one open pause',
    broken: () =>
      sql`SELECT 'agent_turn ' || p.agent_turn_id || ' has ' || COUNT(*) || ' open pauses' AS what FROM pauses p
          WHERE p.tenant_id = ${TENANT} AND p.status = 'open' AND p.agent_turn_id IS NOT NULL
          GROUP BY p.agent_turn_id HAVING COUNT(*) > 1 LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'an open pause with a deadline has a lease that ends then, any other has none',
    broken: () =>
      sql`SELECT 'pause ' || p.pause_id || ' is ' || p.status AS what FROM pauses p
            LEFT JOIN leases l ON l.tenant_id = p.tenant_id AND l.kind = 'pause' AND l.subject_id = p.pause_id
            WHERE p.tenant_id = ${TENANT}
              AND ((p.status = 'open' AND p.deadline_at IS NOT NULL) <> (l.expires_at IS NOT NULL)
                OR l.expires_at <> p.deadline_at)
          UNION ALL
          SELECT 'a lease of pause ' || l.subject_id AS what FROM leases l
            LEFT JOIN pauses p ON p.tenant_id = l.tenant_id AND p.pause_id = l.subject_id
            WHERE l.tenant_id = ${TENANT} AND l.kind = 'pause' AND p.pause_id IS NULL
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a pause is answered exactly if it has an answer and its time, unless it was erased',
    broken: () =>
      sql`SELECT 'pause ' || p.pause_id || ' is ' || p.status AS what FROM pauses p
          WHERE p.tenant_id = ${TENANT} AND ((p.status = 'answered') <> (p.answered_at IS NOT NULL)
            OR (p.erased_at IS NULL AND (p.answer IS NOT NULL) <> (p.status = 'answered'))
            OR (p.erased_at IS NOT NULL AND (p.question IS NOT NULL OR p.details IS NOT NULL OR p.answer IS NOT NULL)))
          LIMIT ${MAX_EXAMPLES}`,
  },
];
