/** agent_turns and delegations of deleted trajectories: a fixed number of statements for any number of rows. */
import { byDialect, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { turnBoxHolder } from '../../engine/sql.js';

/** INDEXED BY: SQLite would otherwise scan all agent_turns of the tenant. */
const turnsByTrajectory: Sql = byDialect({
  sqlite: sql`agent_turns t INDEXED BY agent_turns_by_trajectory`,
  postgres: sql`agent_turns t`,
});

/** Ids of the unfinished agent_turns of these trajectories. */
export async function unfinishedTurnsIn(query: Query, trajectory_ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ agent_turn_id: string }>(
    sql`SELECT t.agent_turn_id FROM ${turnsByTrajectory} WHERE t.tenant_id = ${TENANT}
          AND t.trajectory_id = ANY(${trajectory_ids}) AND t.ended_at IS NULL ORDER BY t.agent_turn_id`,
  );
  return rows.map((row) => row.agent_turn_id);
}

const replacedOf: Sql = byDialect({
  sqlite: sql`CROSS JOIN json_each(t.replaced_box_ids)`,
  postgres: sql`CROSS JOIN LATERAL json_array_elements_text(t.replaced_box_ids) AS r(value)`,
});

/**
 * Adds the endings of the boxes of agent_turns: contexts, outputs, records and replaced boxes. An output box that a
 * reused agent shares with a task of an existing trajectory stays.
 */
export function endTurnBoxes(tx: Tx, trajectory_ids: readonly string[], ended_at: number): Promise<void> {
  const ours = sql`t.tenant_id = ${TENANT} AND t.trajectory_id = ANY(${trajectory_ids})`;
  return tx.send(
    sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, box_id, position, erased, kept, versions)
        SELECT b.tenant_id, ${turnBoxHolder('')} || b.box_id, CAST(${ended_at} AS BIGINT), b.trajectory_id, b.box_id,
          0, 0, 0, 0
        FROM (
          SELECT t.tenant_id, t.trajectory_id, t.context_box_id AS box_id FROM ${turnsByTrajectory} WHERE ${ours}
          UNION ALL
          SELECT t.tenant_id, t.trajectory_id, t.record_box_id FROM ${turnsByTrajectory}
            WHERE ${ours} AND t.record_box_id IS NOT NULL
          UNION ALL
          SELECT t.tenant_id, t.trajectory_id, value FROM ${turnsByTrajectory} ${replacedOf}
            WHERE ${ours} AND t.replaced_box_ids IS NOT NULL
          UNION ALL
          SELECT t.tenant_id, t.trajectory_id, t.output_box_id FROM ${turnsByTrajectory}
            WHERE ${ours} AND NOT EXISTS (
              SELECT 1 FROM agent_turns o CROSS JOIN trajectories p
              WHERE o.tenant_id = ${TENANT} AND o.agent_id = t.agent_id AND o.output_box_id = t.output_box_id
                AND NOT o.trajectory_id = ANY(${trajectory_ids})
                AND p.tenant_id = ${TENANT} AND p.trajectory_id = o.trajectory_id AND p.deleted_at IS NULL)
        ) b WHERE b.tenant_id = ${TENANT}
        ON CONFLICT (tenant_id, holder) DO NOTHING`,
  );
}

/** Clears the texts of agent_turns and delegations; ids, states and times stay. */
export async function clearTasks(tx: Tx, trajectory_ids: readonly string[], now: number): Promise<void> {
  await tx.send(
    sql`UPDATE agent_turns SET summary = NULL, error = NULL, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})`,
  );
  for (const column of [sql`trajectory_id`, sql`child_trajectory_id`]) {
    await tx.send(
      sql`UPDATE delegations SET task_description = NULL, context = NULL, handover = NULL, result = NULL, reason = NULL,
            sent_hash = NULL, updated_at = ${now}
          WHERE tenant_id = ${TENANT} AND ${column} = ANY(${trajectory_ids})`,
    );
  }
}
