/** Doctor checks of scopes, turns and their erasure. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';
import { pinned } from '../../facts/sql.js';

export const scopeChecks: readonly Check[] = [
  {
    name: 'tokens_used of an open scope is the sum of its turns',
    broken: () =>
      sql`SELECT 'scope ' || x.scope_id || ' says ' || x.tokens_used || ', its turns have ' || x.counted AS what FROM (
            SELECT s.scope_id, s.tokens_used,
              CAST(COALESCE(SUM(CAST(c.metadata ->> 'token_count' AS BIGINT)), 0) AS BIGINT) AS counted FROM scopes s
            LEFT JOIN box_entries e ON e.tenant_id = s.tenant_id AND e.box_id = s.box_id
            LEFT JOIN cards c ON c.tenant_id = e.tenant_id AND c.card_id = e.card_id
            WHERE s.tenant_id = ${TENANT} AND s.closed_at IS NULL AND s.restored_from IS NULL
            GROUP BY s.scope_id, s.tokens_used) x
          WHERE x.tokens_used <> x.counted LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a scope holds its box and cards, and has ended if and only if it is closed',
    broken: () =>
      sql`SELECT 'scope ' || s.scope_id || ' does not hold box ' || s.box_id AS what FROM scopes s
            LEFT JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id AND b.held_by = 'scope:' || s.scope_id
            WHERE s.tenant_id = ${TENANT} AND b.box_id IS NULL
          UNION ALL
          SELECT 'scope ' || s.scope_id || ' does not hold card ' || e.card_id AS what FROM scopes s
            JOIN box_entries e ON e.tenant_id = s.tenant_id AND e.box_id = s.box_id
            JOIN cards c ON c.tenant_id = e.tenant_id AND c.card_id = e.card_id
            WHERE s.tenant_id = ${TENANT} AND (c.held_by IS NULL OR c.held_by <> 'scope:' || s.scope_id)
          UNION ALL
          SELECT 'scope ' || s.scope_id || CASE WHEN x.holder IS NULL THEN ' is closed and has not ended'
              ELSE ' is open and has ended' END AS what FROM scopes s
            LEFT JOIN endings x ON x.tenant_id = s.tenant_id AND x.holder = 'scope:' || s.scope_id
            WHERE s.tenant_id = ${TENANT} AND (s.closed_at IS NULL) <> (x.holder IS NULL)
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    // Not while an erasure is running: its cards can be unpinned and not erased yet.
    name: 'ended content is erased, unless a pin keeps it',
    broken: () =>
      sql`SELECT 'card ' || c.card_id || ' of ' || x.holder AS what FROM endings x
          JOIN box_entries e ON e.tenant_id = x.tenant_id AND e.box_id = x.box_id
          JOIN cards c ON c.tenant_id = e.tenant_id AND c.card_id = e.card_id AND c.held_by = x.holder
          WHERE x.tenant_id = ${TENANT} AND x.done_at IS NOT NULL AND c.erased_at IS NULL AND NOT (${pinned(0)})
            AND NOT EXISTS (SELECT 1 FROM endings u WHERE u.tenant_id = x.tenant_id AND u.done_at IS NULL)
          LIMIT ${MAX_EXAMPLES}`,
  },
];
