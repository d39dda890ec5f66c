/** Reads an execution as a whole: its tree, its statistics, and the moves of its current checkpoint. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { factsOf } from '../../engine/sql.js';
import type { CheckpointRow } from '../checkpoints/store.js';
import { segments } from '../states/store.js';
import type { ExecutionStats, ExecutionTreeNode } from './model.js';

export type TreeRow = Omit<ExecutionTreeNode, 'parent_checkpoint_id' | 'is_branch' | 'children'> &
  Pick<CheckpointRow, 'parent_id' | 'is_branch'>;

/** In the order of creation. */
export const treeRows = (query: Query, execution_id: string, limit: number): Promise<TreeRow[]> =>
  query.all<TreeRow>(
    sql`SELECT checkpoint_id, parent_id, is_branch, branch_reason, name, step_number, checkpoint_reason, tokens_used,
          timestamp
        FROM checkpoints WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}
        ORDER BY revision LIMIT ${limit}`,
  );

/** An execution up to a revision: checkpoints added while statistics are read do not count. */
interface Until {
  readonly execution_id: string;
  readonly revision: number;
}

export async function checkpointStats(query: Query, { execution_id, revision }: Until) {
  const row = await query.get<Pick<ExecutionStats, 'checkpoints' | 'branches'>>(
    sql`SELECT COUNT(*) AS checkpoints, COUNT(CASE WHEN is_branch = 1 THEN 1 END) AS branches
        FROM checkpoints WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND revision <= ${revision}`,
  );
  return row!;
}

/** Each id once: of an entry that was edited, or stored again on a branch, the last row. */
const lastOf = (table: Sql, columns: Sql, { execution_id, revision }: Until): Sql =>
  sql`(SELECT ${columns}, ROW_NUMBER() OVER (PARTITION BY p.id ORDER BY p.added DESC, p.ordinal DESC) AS recency
       FROM ${table} p
       WHERE p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.added <= ${revision}
         AND p.removed > 0)`;

/** The tools called most. Percentiles are by nearest rank. */
export const toolStats = (query: Query, until: Until, limit: number): Promise<ExecutionStats['tools']> =>
  query.all(
    sql`SELECT tool_id, COUNT(*) AS calls, COUNT(CASE WHEN success = 0 THEN 1 END) AS failures,
          MIN(CASE WHEN place * 100 >= of_tool * 50 THEN duration_ms END) AS p50_ms,
          MIN(CASE WHEN place * 100 >= of_tool * 95 THEN duration_ms END) AS p95_ms
        FROM (SELECT l.tool_id, l.success, l.duration_ms, COUNT(*) OVER (PARTITION BY l.tool_id) AS of_tool,
                ROW_NUMBER() OVER (PARTITION BY l.tool_id ORDER BY l.duration_ms) AS place
              FROM ${lastOf(sql`tool_calls`, sql`p.tool_id, p.success, p.duration_ms`, until)} l
              WHERE l.recency = 1) ranked
        GROUP BY tool_id ORDER BY calls DESC, tool_id LIMIT ${limit}`,
  );

export interface ThoughtStats {
  readonly type: string;
  readonly thoughts: number;
  readonly mean: number;
  readonly lowest: number;
}

export const thoughtStats = (query: Query, until: Until): Promise<ThoughtStats[]> =>
  query.all<ThoughtStats>(
    sql`SELECT l.type, COUNT(*) AS thoughts, AVG(l.confidence) AS mean, MIN(l.confidence) AS lowest
        FROM ${lastOf(sql`thoughts`, sql`p.type, p.confidence`, until)} l WHERE l.recency = 1
        GROUP BY l.type ORDER BY l.type`,
  );

/** The checkpoints from the first to this one, newest first. */
export const stepRows = (
  query: Query,
  { execution_id, line, revision }: Pick<CheckpointRow, 'execution_id' | 'line' | 'revision'>,
  limit: number,
): Promise<ExecutionStats['steps']> =>
  query.all(
    sql`WITH RECURSIVE ${segments(execution_id, line, revision)}
        SELECT newest.checkpoint_id, newest.step_number, newest.tokens_used,
          (SELECT AVG(t.confidence) FROM thoughts t
           WHERE t.tenant_id = ${TENANT} AND t.checkpoint_id = newest.checkpoint_id) AS mean_confidence
        FROM (SELECT c.checkpoint_id, c.step_number, c.tokens_used, c.revision
              FROM checkpoints c JOIN segments s ON c.line = s.line AND c.revision <= s.upto
              WHERE c.tenant_id = ${TENANT} AND c.execution_id = ${execution_id}
              ORDER BY c.revision DESC LIMIT ${limit}) newest
        ORDER BY newest.revision DESC`,
  );

/** An event that may have changed the current checkpoint. */
interface Move {
  readonly seq: number;
  /** An imported checkpoint becomes the current one only if it follows it. */
  readonly imported: boolean;
  /** Null if the event was erased. */
  readonly checkpoint_id: string | null;
}

type MoveRow = Record<'packet_type' | 'entity_type' | 'entity_id', string> & { seq: number; facts: string };

/** In order, without checkpoints that were removed: their states cannot be read. */
export async function nextMoves(
  query: Query,
  execution_id: string,
  range: { readonly after: number; readonly until: number },
  limit: number,
): Promise<Move[]> {
  const rows = await query.all<MoveRow>(
    sql`SELECT p.seq, p.packet_type, p.entity_type, p.entity_id, p.facts FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.seq > ${range.after} AND p.seq <= ${range.until}
          AND ((p.packet_type IN ('cairn.checkpoint.created', 'cairn.checkpoint.branched', 'cairn.checkpoint.imported')
                AND EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = p.entity_id
                              AND c.execution_id = ${execution_id}))
            OR (p.packet_type = 'cairn.execution.restored' AND p.entity_id = ${execution_id}))
        ORDER BY p.seq LIMIT ${limit}`,
  );
  return rows.map(({ seq, packet_type, entity_type, entity_id, facts }) => ({
    seq,
    imported: packet_type === 'cairn.checkpoint.imported',
    checkpoint_id: entity_type === 'checkpoint' ? entity_id : restoredTo(facts),
  }));
}

/** The checkpoint in the facts of a restore event. */
const restoredTo = (facts: string): string | null => (factsOf({ facts }) as { checkpoint_id: string }).checkpoint_id;
