/** turn_batches: agent_turns that were dispatched together and are waited for together. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import type { BatchStatus } from './model.js';

export interface BatchRow {
  readonly batch_id: string;
  readonly source_agent_id: string | null;
  readonly parent_agent_turn_id: string | null;
  readonly channel_id: string | null;
  readonly fail_fast: number;
  readonly task_count: number;
  readonly status: BatchStatus;
  readonly deadline_at: number;
  readonly created_at: number;
  readonly ended_at: number | null;
}

export function insertBatch(tx: Tx, row: BatchRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO turn_batches (tenant_id, batch_id, source_agent_id, parent_agent_turn_id, channel_id, fail_fast,
          task_count, status, deadline_at, created_at)
        VALUES (${TENANT}, ${row.batch_id}, ${row.source_agent_id}, ${row.parent_agent_turn_id}, ${row.channel_id},
          ${row.fail_fast}, ${row.task_count}, ${row.status}, ${row.deadline_at}, ${row.created_at})`,
  );
}

export function findBatch(query: Query, batch_id: string): Promise<BatchRow | undefined> {
  return query.get<BatchRow>(sql`SELECT * FROM turn_batches WHERE tenant_id = ${TENANT} AND batch_id = ${batch_id}`);
}

/** Locked before any of its agent_turns, so that who ends the last of them ends the batch. */
export function lockBatch(tx: Tx, batch_id: string): Promise<BatchRow | undefined> {
  return tx.get<BatchRow>(
    sql`SELECT * FROM turn_batches WHERE tenant_id = ${TENANT} AND batch_id = ${batch_id} FOR UPDATE`,
  );
}

export function endBatch(tx: Tx, batch_id: string, status: BatchStatus, now: number): Promise<void> {
  return tx.send(
    sql`UPDATE turn_batches SET status = ${status}, ended_at = ${now}
        WHERE tenant_id = ${TENANT} AND batch_id = ${batch_id}`,
  );
}
