/** checkpoints and execution_lines: one row per state, and how states follow each other. */
import { insertRows, join, type Query, type Sql, sql, TENANT, type Tx, tenantTable } from '../../driver/index.js';
import type { LineRow } from '../states/parts.js';
import type { CheckpointReason } from './model.js';

export interface CheckpointRow {
  readonly checkpoint_id: string;
  readonly execution_id: string;
  readonly agent_id: string;
  readonly line: number;
  readonly revision: number;
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
  bigint: ['line', 'revision', 'is_branch', 'step_number', 'tokens_used'],
  json: ['labels', 'rest', 'carried'],
  'double precision': ['total_steps_estimate', 'duration_ms', 'timestamp'],
});

export const insertCheckpoints = (tx: Tx, rows: readonly CheckpointRow[]): Promise<void> => insertRows(tx, table, rows);

export interface PlacedCheckpoint extends CheckpointRow {
  /** The line that its line branched off from. */
  readonly base_line: number | null;
}

/** The current checkpoint of an execution; undefined if it has none, or is deleted. */
export const findHead = (query: Query, execution_id: string): Promise<PlacedCheckpoint | undefined> =>
  query.get<PlacedCheckpoint>(
    sql`SELECT c.*, l.base_line FROM executions e
        JOIN checkpoints c ON c.tenant_id = e.tenant_id AND c.checkpoint_id = e.head_id
        JOIN execution_lines l ON l.tenant_id = c.tenant_id AND l.execution_id = c.execution_id AND l.line = c.line
        WHERE e.tenant_id = ${TENANT} AND e.execution_id = ${execution_id} AND e.deleted_at IS NULL`,
  );

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

export interface CheckpointPlace extends Pick<PlacedCheckpoint, 'line' | 'revision' | 'base_line'> {
  /** The revision of the last checkpoint on its line; null or outdated if the newest of the execution is on it. */
  readonly last: number | null;
}

const placeOf = (execution_id: string, checkpoint_id: string): Sql =>
  sql`SELECT 0 AS used, c.line, c.revision, l.base_line, l.last FROM checkpoints c
        JOIN execution_lines l ON l.tenant_id = c.tenant_id AND l.execution_id = c.execution_id AND l.line = c.line
        WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id} AND c.execution_id = ${execution_id}`;

/** Whether the id is in use (1), or was (2). */
const usesOf = (checkpoint_id: string): Sql =>
  sql`SELECT CASE WHEN e.deleted_at IS NULL THEN 1 ELSE 2 END AS used, 0 AS line, 0 AS revision, 0 AS base_line,
          0 AS last FROM checkpoints c
        JOIN executions e ON e.tenant_id = c.tenant_id AND e.execution_id = c.execution_id
        WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = ${checkpoint_id}
      UNION ALL
      SELECT 2, 0, 0, 0, 0 FROM checkpoints_gone WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}`;

export const findPlace = (
  query: Query,
  execution_id: string,
  checkpoint_id: string,
): Promise<CheckpointPlace | undefined> => query.get<CheckpointPlace>(placeOf(execution_id, checkpoint_id));

/** Undefined if the id was never in use. */
export async function findUsed(query: Query, checkpoint_id: string): Promise<{ readonly gone: boolean } | undefined> {
  const row = await query.get<{ used: number }>(usesOf(checkpoint_id));
  return row && { gone: row.used === 2 };
}

interface Surroundings {
  readonly parent: CheckpointPlace | undefined;
  /** How the id of the new checkpoint is used already. */
  readonly used: { readonly gone: boolean } | undefined;
}

/** What a new checkpoint needs to know of others, in one query. */
export async function findSurroundings(
  query: Query,
  execution_id: string,
  { checkpoint_id, parent_id }: { readonly checkpoint_id: string | undefined; readonly parent_id: string | null },
): Promise<Surroundings> {
  const asked = [
    ...(parent_id === null ? [] : [placeOf(execution_id, parent_id)]),
    ...(checkpoint_id === undefined ? [] : [usesOf(checkpoint_id)]),
  ];
  const rows =
    asked.length === 0 ? [] : await query.all<CheckpointPlace & { used: number }>(join(asked, ' UNION ALL '));
  const used = rows.find((row) => row.used > 0);
  return { parent: rows.find((row) => row.used === 0), used: used && { gone: used.used === 2 } };
}

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
  bigint: ['line', 'base_line', 'base_revision', 'last'],
});

export interface NewLine extends LineRow {
  readonly last: number | null;
}

export const insertLines = (tx: Tx, execution_id: string, lines: readonly NewLine[]): Promise<void> =>
  insertRows(
    tx,
    linesTable,
    lines.map((line) => ({ ...line, execution_id })),
  );

/** Notes where a line stands that the newest checkpoint of its execution is no longer on. */
export const leaveLine = (tx: Tx, execution_id: string, line: number, last: number): Promise<void> =>
  tx.send(
    sql`UPDATE execution_lines SET last = ${last}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND line = ${line}`,
  );
