/** checkpoints and execution_lines: one row per state, and how states follow each other. */
import { insertRows, type Query, sql, TENANT, type Tx, tenantTable } from '../../driver/index.js';
import type { LineRow } from '../states/parts.js';
import type { CheckpointReason } from './model.js';

export interface CheckpointRow {
  readonly checkpoint_id: string;
  readonly execution_id: string;
  readonly agent_id: string;
  readonly line: number;
  readonly revision: number;
  /** 1 if another checkpoint follows it on its line. */
  readonly followed: number;
  readonly parent_id: string | null;
  readonly is_branch: number;
  readonly branch_reason: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly labels: string | null;
  readonly step_number: number;
  readonly total_steps_estimate: number | null;
  readonly tokens_used: number;
  readonly duration_ms: number;
  readonly checkpoint_reason: CheckpointReason;
  readonly timestamp: number;
  /** Members of the snapshot outside of the lists, as JSON. */
  readonly rest: string;
  /** Members of an imported document without a column, as JSON. */
  readonly carried: string | null;
}

const table = tenantTable('checkpoints', {
  text: [
    'checkpoint_id',
    'execution_id',
    'agent_id',
    'parent_id',
    'branch_reason',
    'name',
    'description',
    'checkpoint_reason',
  ],
  bigint: ['line', 'revision', 'followed', 'is_branch', 'step_number', 'tokens_used'],
  json: ['labels', 'rest', 'carried'],
  'double precision': ['total_steps_estimate', 'duration_ms', 'timestamp'],
});

export const insertCheckpoints = (tx: Tx, rows: readonly CheckpointRow[]): Promise<void> => insertRows(tx, table, rows);

export interface PlacedCheckpoint extends CheckpointRow {
  /** The line that its line branched off from. */
  readonly base_line: number | null;
}

/** Undefined if its execution is deleted. */
export const findCheckpoint = (query: Query, checkpoint_id: string): Promise<PlacedCheckpoint | undefined> =>
  query.get<PlacedCheckpoint>(
    sql`SELECT c.*, l.base_line FROM checkpoints c
        JOIN execution_lines l ON l.tenant_id = c.tenant_id AND l.execution_id = c.execution_id AND l.line = c.line
        JOIN executions e ON e.tenant_id = c.tenant_id AND e.execution_id = c.execution_id
        WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id} AND e.deleted_at IS NULL`,
  );

/** Whether a checkpoint descends from another. The ancestor need not exist in this store. */
export async function descendsFrom(
  query: Query,
  { checkpoint_id, execution_id }: Pick<CheckpointRow, 'checkpoint_id' | 'execution_id'>,
  ancestor_id: string,
): Promise<boolean> {
  const row = await query.get(
    sql`WITH RECURSIVE above(id) AS (
          SELECT c.checkpoint_id FROM checkpoints c
            WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id}
          UNION
          SELECT c.parent_id FROM above a CROSS JOIN checkpoints c
            WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = a.id AND c.execution_id = ${execution_id}
              AND c.parent_id IS NOT NULL
        )
        SELECT 1 AS found FROM above WHERE id = ${ancestor_id} LIMIT 1`,
  );
  return row !== undefined;
}

export const hasChild = async (query: Query, execution_id: string, checkpoint_id: string): Promise<boolean> =>
  (await query.get(
    sql`SELECT 1 AS child FROM checkpoints
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND parent_id = ${checkpoint_id} LIMIT 1`,
  )) !== undefined;

export type CheckpointPlace = Pick<PlacedCheckpoint, 'checkpoint_id' | 'line' | 'revision' | 'followed' | 'base_line'>;

export const findPlace = (
  query: Query,
  execution_id: string,
  checkpoint_id: string,
): Promise<CheckpointPlace | undefined> =>
  query.get<CheckpointPlace>(
    sql`SELECT c.checkpoint_id, c.line, c.revision, c.followed, l.base_line FROM checkpoints c
        JOIN execution_lines l ON l.tenant_id = c.tenant_id AND l.execution_id = c.execution_id AND l.line = c.line
        WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id} AND c.execution_id = ${execution_id}`,
  );

/** Whether the id is in use, or was. */
export const findUsed = (query: Query, checkpoint_id: string): Promise<{ gone: number } | undefined> =>
  query.get(
    sql`SELECT CASE WHEN e.deleted_at IS NULL THEN 0 ELSE 1 END AS gone FROM checkpoints c
          JOIN executions e ON e.tenant_id = c.tenant_id AND e.execution_id = c.execution_id
          WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id}
        UNION ALL
        SELECT 1 AS gone FROM checkpoints_gone WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}`,
  );

/** The ids that are in use, or were. */
export async function usedIds(query: Query, checkpoint_ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ checkpoint_id: string }>(
    sql`SELECT checkpoint_id FROM checkpoints WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})
        UNION
        SELECT checkpoint_id FROM checkpoints_gone
          WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})`,
  );
  return rows.map(({ checkpoint_id }) => checkpoint_id);
}

const linesTable = tenantTable('execution_lines', {
  text: ['execution_id'],
  bigint: ['line', 'base_line', 'base_revision'],
});

export const insertLines = (tx: Tx, execution_id: string, lines: readonly LineRow[]): Promise<void> =>
  insertRows(
    tx,
    linesTable,
    lines.map((line) => ({ ...line, execution_id })),
  );

export const markFollowed = (tx: Tx, checkpoint_id: string): Promise<void> =>
  tx.send(sql`UPDATE checkpoints SET followed = 1 WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}`);
