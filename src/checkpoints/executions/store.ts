/** executions: one row a run. Its states are in checkpoints.ts and state-parts.ts. */
import {
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Times,
  type Tx,
  within,
} from '../../driver/index.js';
import type { Reach } from '../../engine/sql.js';
import type { ExecutionStatus } from './model.js';
import { executionsWithin } from './reach.js';

export interface ExecutionRow {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly name: string | null;
  readonly status: ExecutionStatus;
  readonly trajectory_id: string | null;
  readonly thread_id: string | null;
  readonly namespace: string;
  readonly metadata: string | null;
  /** Members of an imported bundle that Cairn does not know, as JSON. */
  readonly carried: string | null;
  /** The last that a checkpoint of it was given. */
  readonly revision: number;
  readonly checkpoints: number;
  /** The checkpoint that it stands at. */
  readonly head_id: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly finished_at: number | null;
  readonly deleted_at: number | null;
}

const table: Table = {
  name: 'executions',
  columns: {
    tenant_id: 'text',
    execution_id: 'text',
    agent_id: 'text',
    name: 'text',
    status: 'text',
    trajectory_id: 'text',
    thread_id: 'text',
    namespace: 'text',
    metadata: 'json',
    carried: 'json',
    revision: 'bigint',
    checkpoints: 'bigint',
    head_id: 'text',
    sent_hash: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
    finished_at: 'bigint',
  },
};

export async function insertExecution(tx: Tx, row: ExecutionRow): Promise<void> {
  await tx.insert(table, [
    [
      tx.tenant,
      row.execution_id,
      row.agent_id,
      row.name,
      row.status,
      row.trajectory_id,
      row.thread_id,
      row.namespace,
      row.metadata,
      row.carried,
      row.revision,
      row.checkpoints,
      row.head_id,
      row.sent_hash,
      row.created_at,
      row.updated_at,
      row.finished_at,
    ],
  ]);
}

/** Deleted ones included. */
export function findExecution(query: Query, execution_id: string): Promise<ExecutionRow | undefined> {
  return query.get<ExecutionRow>(
    sql`SELECT * FROM executions WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

/** The same, and nobody adds a checkpoint to it or removes one until the commit. */
export function lockExecution(tx: Tx, execution_id: string): Promise<ExecutionRow | undefined> {
  return tx.get<ExecutionRow>(
    sql`SELECT * FROM executions WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} FOR UPDATE`,
  );
}

export type ExecutionChange = Pick<
  ExecutionRow,
  'name' | 'status' | 'metadata' | 'head_id' | 'updated_at' | 'finished_at'
>;

export async function updateExecution(tx: Tx, execution_id: string, change: ExecutionChange): Promise<void> {
  await tx.send(
    sql`UPDATE executions SET name = ${change.name}, status = ${change.status}, metadata = ${change.metadata},
          head_id = ${change.head_id}, updated_at = ${change.updated_at}, finished_at = ${change.finished_at}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

/** After a checkpoint was added: how far it is, and where it stands. Sets nothing that has an index. */
export async function advanceExecution(
  tx: Tx,
  execution_id: string,
  to: Pick<ExecutionRow, 'revision' | 'head_id' | 'updated_at'>,
): Promise<void> {
  await tx.send(
    sql`UPDATE executions SET revision = ${to.revision}, head_id = ${to.head_id}, checkpoints = checkpoints + 1,
          updated_at = ${to.updated_at}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

export async function resumeExecution(tx: Tx, execution_id: string): Promise<void> {
  await tx.send(
    sql`UPDATE executions SET status = 'running', finished_at = NULL
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

export interface ExecutionFilter {
  readonly status?: ExecutionStatus | undefined;
  readonly agent_id?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly namespace?: string | undefined;
  readonly times: Times;
  readonly reach?: Reach | undefined;
}

function where(filter: ExecutionFilter): Sql {
  const { status, agent_id, trajectory_id, thread_id, namespace } = filter;
  const conditions: Sql[] = [sql`e.tenant_id = ${TENANT}`, sql`e.deleted_at IS NULL`];
  if (status !== undefined) conditions.push(sql`e.status = ${status}`);
  if (agent_id !== undefined) conditions.push(sql`e.agent_id = ${agent_id}`);
  if (trajectory_id !== undefined) conditions.push(sql`e.trajectory_id = ${trajectory_id}`);
  if (thread_id !== undefined) conditions.push(sql`e.thread_id = ${thread_id}`);
  if (namespace !== undefined) conditions.push(sql`e.namespace = ${namespace}`);
  conditions.push(...within(sql`e.created_at`, sql`e.updated_at`, filter.times));
  if (filter.reach) conditions.push(executionsWithin(filter.reach));
  return join(conditions, ' AND ');
}

export function listExecutions(query: Query, filter: ExecutionFilter, page: KeysetPage): Promise<ExecutionRow[]> {
  return query.all<ExecutionRow>(
    sql`SELECT e.* FROM executions e WHERE ${where(filter)}${keyset(sql`e.execution_id`, page)}`,
  );
}

export const countExecutions = (filter: ExecutionFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM executions e WHERE ${where(filter)}`;

/** Executions of these trajectories, locked, in the order of their ids. */
export function lockExecutionsOf(tx: Tx, trajectory_ids: readonly string[]): Promise<ExecutionRow[]> {
  return tx.all<ExecutionRow>(
    sql`SELECT * FROM executions WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})
          AND deleted_at IS NULL ORDER BY execution_id FOR UPDATE`,
  );
}

/** Leaves of executions their ids, which stay taken. */
export async function clearExecutions(tx: Tx, execution_ids: readonly string[], now: number): Promise<void> {
  await tx.send(
    sql`UPDATE executions SET deleted_at = ${now}, name = NULL, metadata = NULL, thread_id = NULL, namespace = '',
          head_id = NULL, sent_hash = NULL, carried = NULL
        WHERE tenant_id = ${TENANT} AND execution_id = ANY(${execution_ids})`,
  );
}
