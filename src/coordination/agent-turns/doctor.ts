/** Doctor checks of agent_turns, their delegations, batches and boxes. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const turnChecks: readonly Check[] = [
  {
    name: 'a running or suspended agent_turn has a lease of its epoch, unless it waits for an answer; any other has none',
    broken: () =>
      sql`SELECT 'agent_turn ' || t.agent_turn_id || ' is ' || t.status AS what FROM agent_turns t
            LEFT JOIN leases l ON l.tenant_id = t.tenant_id AND l.kind = 'agent_turn' AND l.subject_id = t.agent_turn_id
            WHERE t.tenant_id = ${TENANT} AND ((t.status = 'running' OR (t.status = 'suspended' AND NOT EXISTS (SELECT 1 FROM pauses p
                WHERE p.tenant_id = t.tenant_id AND p.agent_turn_id = t.agent_turn_id AND p.status = 'open')))
                <> (l.token IS NOT NULL)
              OR l.token <> t.turn_epoch)
          UNION ALL
          SELECT 'a lease of agent_turn ' || l.subject_id AS what FROM leases l
            LEFT JOIN agent_turns t ON t.tenant_id = l.tenant_id AND t.agent_turn_id = l.subject_id
            WHERE l.tenant_id = ${TENANT} AND l.kind = 'agent_turn' AND t.agent_turn_id IS NULL
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'an agent_turn has ended_at exactly if it has ended, and its deliverable is in its output box',
    broken: () =>
      sql`SELECT 'agent_turn ' || t.agent_turn_id || ' is ' || t.status AS what FROM agent_turns t
            WHERE t.tenant_id = ${TENANT}
              AND (t.ended_at IS NULL) <> (t.status = 'dispatched' OR t.status = 'running' OR t.status = 'suspended')
          UNION ALL
          SELECT 'agent_turn ' || t.agent_turn_id || ' has no deliverable' AS what FROM agent_turns t
            LEFT JOIN box_entries e ON e.tenant_id = t.tenant_id AND e.box_id = t.output_box_id
              AND e.card_id = t.deliverable_card_id
            WHERE t.tenant_id = ${TENANT} AND t.status = 'completed' AND e.card_id IS NULL
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a delegation and its agent_turn agree',
    broken: () =>
      sql`SELECT 'delegation ' || d.delegation_id || ' is ' || d.status || ', its agent_turn ' || t.status AS what
          FROM delegations d
          JOIN agent_turns t ON t.tenant_id = d.tenant_id AND t.agent_turn_id = d.agent_turn_id
          WHERE d.tenant_id = ${TENANT} AND ((d.ended_at IS NULL) <> (t.ended_at IS NULL)
            OR (d.status = 'Completed') <> (t.status = 'completed')
            OR (d.status = 'Cancelled') <> (t.status = 'stopped')) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a batch has ended exactly if all its agent_turns have',
    broken: () =>
      sql`SELECT 'batch ' || b.batch_id || ' is ' || b.status || ' with ' || x.open || ' unfinished' AS what
          FROM turn_batches b JOIN (
            SELECT t.batch_id, COUNT(*) AS tasks, COUNT(CASE WHEN t.ended_at IS NULL THEN 1 END) AS open FROM agent_turns t
            WHERE t.tenant_id = ${TENANT} AND t.batch_id IS NOT NULL GROUP BY t.batch_id) x ON x.batch_id = b.batch_id
          WHERE b.tenant_id = ${TENANT} AND ((b.ended_at IS NULL) <> (x.open > 0) OR x.tasks <> b.task_count) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'the context of an agent_turn is sealed, and its boxes are held by it',
    broken: () =>
      sql`SELECT 'box ' || b.box_id || ' of agent_turn ' || t.agent_turn_id AS what FROM agent_turns t
          JOIN boxes b ON b.tenant_id = t.tenant_id
            AND (b.box_id = t.context_box_id OR b.box_id = t.output_box_id OR b.box_id = t.record_box_id)
          WHERE t.tenant_id = ${TENANT} AND (b.held_by IS NULL OR b.held_by <> 'agent_turn:' || b.box_id
            OR (b.box_id = t.context_box_id) <> (b.sealed_at IS NOT NULL)) LIMIT ${MAX_EXAMPLES}`,
  },
];
