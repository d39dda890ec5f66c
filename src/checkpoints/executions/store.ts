/** executions: one row per run, and which of them an agent reaches. */
import {
  insertRows,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type TimeRange,
  type Tx,
  tenantTable,
  timeConditions,
} from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Reach, within as withinReach } from '../../engine/sql.js';
import type { ExecutionStatus } from './model.js';

export interface ExecutionRow {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly name: string | null;
  readonly status: ExecutionStatus;
  readonly trajectory_id: string | null;
  readonly thread_id: string | null;
  readonly namespace: string;
  readonly subject_ids: string | null;
  readonly metadata: string | null;
  /** Unknown members of an imported bundle, as JSON. */
  readonly carried: string | null;
  /** The revision of its newest checkpoint, and the line that it is on. */
  readonly revision: number;
  readonly line: number;
  readonly checkpoints: number;
  /** The current checkpoint. */
  readonly head_id: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly finished_at: number | null;
  readonly deleted_at: number | null;
}

const table = tenantTable('executions', {
  text: [
    'execution_id',
    'agent_id',
    'name',
    'status',
    'trajectory_id',
    'thread_id',
    'namespace',
    'subject_ids',
    'head_id',
    'sent_hash',
  ],
  json: ['metadata', 'carried'],
  bigint: ['revision', 'line', 'checkpoints', 'created_at', 'updated_at', 'finished_at'],
});

export const insertExecution = (tx: Tx, row: ExecutionRow): Promise<void> => insertRows(tx, table, [row]);

/** Finds deleted executions as well. */
export const findExecution = (query: Query, execution_id: string): Promise<ExecutionRow | undefined> =>
  query.get<ExecutionRow>(sql`SELECT * FROM executions WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`);

/** Locks the row: no other call adds or removes a checkpoint until the commit. */
export const lockExecution = (tx: Tx, execution_id: string): Promise<ExecutionRow | undefined> =>
  tx.get<ExecutionRow>(
    sql`SELECT * FROM executions WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} FOR UPDATE`,
  );

export const updateExecution = (
  tx: Tx,
  execution_id: string,
  change: Pick<ExecutionRow, 'name' | 'status' | 'metadata' | 'head_id' | 'updated_at' | 'finished_at'>,
): Promise<void> =>
  tx.send(
    sql`UPDATE executions SET name = ${change.name}, status = ${change.status}, metadata = ${change.metadata},
          head_id = ${change.head_id}, updated_at = ${change.updated_at}, finished_at = ${change.finished_at}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );

/** Counts an added checkpoint. Sets no indexed column. */
export const advanceExecution = (
  tx: Tx,
  execution_id: string,
  to: Pick<ExecutionRow, 'revision' | 'line' | 'head_id' | 'updated_at'>,
): Promise<void> =>
  tx.send(
    sql`UPDATE executions SET revision = ${to.revision}, line = ${to.line}, head_id = ${to.head_id},
          checkpoints = checkpoints + 1, updated_at = ${to.updated_at}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );

export const resumeExecution = (tx: Tx, execution_id: string): Promise<void> =>
  tx.send(
    sql`UPDATE executions SET status = 'running', finished_at = NULL
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );

/** Condition on executions e. */
export const executionsWithin = (reach: Reach): Sql =>
  withinReach(reach, { owner: sql`e.agent_id`, trajectory: sql`e.trajectory_id`, subjects: sql`e.subject_ids` });

type ListInput = In<'executions.list'>;

interface ExecutionFilter extends Pick<ListInput, 'status' | 'agent_id' | 'trajectory_id' | 'thread_id' | 'namespace'> {
  readonly times: TimeRange;
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
  conditions.push(...timeConditions(sql`e.created_at`, sql`e.updated_at`, filter.times));
  if (filter.reach) conditions.push(executionsWithin(filter.reach));
  return join(conditions, ' AND ');
}

export const listExecutions = (query: Query, filter: ExecutionFilter, page: KeysetPage): Promise<ExecutionRow[]> =>
  query.all<ExecutionRow>(sql`SELECT e.* FROM executions e WHERE ${where(filter)}${keyset(sql`e.execution_id`, page)}`);

export const countExecutions = (filter: ExecutionFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM executions e WHERE ${where(filter)}`;

/** Locks the executions of these trajectories, in the order of their ids. */
export const lockExecutionsOf = (tx: Tx, trajectory_ids: readonly string[]): Promise<ExecutionRow[]> =>
  tx.all<ExecutionRow>(
    sql`SELECT * FROM executions WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})
          AND deleted_at IS NULL ORDER BY execution_id FOR UPDATE`,
  );

/** Leaves a tombstone with the id, which is never reused. */
export const clearExecutions = (tx: Tx, execution_ids: readonly string[], now: number): Promise<void> =>
  tx.send(
    sql`UPDATE executions SET deleted_at = ${now}, name = NULL, metadata = NULL, thread_id = NULL, namespace = '',
          head_id = NULL, sent_hash = NULL, carried = NULL
        WHERE tenant_id = ${TENANT} AND execution_id = ANY(${execution_ids})`,
  );
