/** Doctor checks of messages and their deliveries. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const messageChecks: readonly Check[] = [
  {
    name: 'every delivery is of a message with content',
    broken: () =>
      sql`SELECT 'message ' || d.message_id || ' in ' || d.mailbox AS what FROM deliveries d
          LEFT JOIN messages m ON m.tenant_id = d.tenant_id AND m.message_id = d.message_id
          WHERE d.tenant_id = ${TENANT} AND (m.message_id IS NULL OR m.erased_at IS NOT NULL) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a message counts its deliveries and acknowledgements',
    broken: () =>
      sql`SELECT 'message ' || m.message_id || ' counts ' || m.acknowledged || ' of ' || m.recipients || ', there are '
            || COUNT(d.acknowledged_at) || ' of ' || COUNT(d.mailbox) AS what FROM messages m
          LEFT JOIN deliveries d ON d.tenant_id = m.tenant_id AND d.message_id = m.message_id
          WHERE m.tenant_id = ${TENANT} AND m.erased_at IS NULL
          GROUP BY m.message_id, m.acknowledged, m.recipients
          HAVING COUNT(d.acknowledged_at) <> m.acknowledged OR COUNT(d.mailbox) <> m.recipients LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every message lease is of an open delivery',
    broken: () =>
      sql`SELECT 'a lease of message ' || l.subject_id AS what FROM leases l
          WHERE l.tenant_id = ${TENANT} AND l.kind = 'message' AND l.subject_id NOT IN (
            SELECT d.mailbox || ' ' || d.seq FROM deliveries d
            WHERE d.tenant_id = ${TENANT} AND d.acknowledged_at IS NULL) LIMIT ${MAX_EXAMPLES}`,
  },
];
