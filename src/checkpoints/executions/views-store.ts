/** What is asked of an execution as a whole: all its checkpoints, figures of its thoughts and tool calls, how it moved. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CheckpointRow } from '../checkpoints/store.js';
import { segments } from '../states/store.js';

export type TreeRow = Pick<
  CheckpointRow,
  | 'checkpoint_id'
  | 'parent_id'
  | 'is_branch'
  | 'branch_reason'
  | 'name'
  | 'step_number'
  | 'checkpoint_reason'
  | 'tokens_used'
  | 'timestamp'
>;

/** The checkpoints of an execution in the order in which they came, at most so many. */
export function treeRows(query: Query, execution_id: string, limit: number): Promise<TreeRow[]> {
  return query.all<TreeRow>(
    sql`SELECT checkpoint_id, parent_id, is_branch, branch_reason, name, step_number, checkpoint_reason, tokens_used,
          timestamp
        FROM checkpoints WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}
        ORDER BY revision LIMIT ${limit}`,
  );
}

/** An execution as it was when it had come to a revision: what is added while figures are read does not mix in. */
export interface Until {
  readonly execution_id: string;
  readonly revision: number;
}

export interface CheckpointFigures {
  readonly checkpoints: number;
  readonly branches: number;
}

export async function checkpointFigures(query: Query, { execution_id, revision }: Until): Promise<CheckpointFigures> {
  const row = await query.get<CheckpointFigures>(
    sql`SELECT COUNT(*) AS checkpoints, COUNT(CASE WHEN is_branch = 1 THEN 1 END) AS branches
        FROM checkpoints WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND revision <= ${revision}`,
  );
  return row!;
}

/** Each once: of one that was edited, or that came again on a branch, what was stored of it last. */
const lastOf = (table: Sql, columns: Sql, { execution_id, revision }: Until): Sql =>
  sql`(SELECT ${columns}, ROW_NUMBER() OVER (PARTITION BY p.id ORDER BY p.added DESC, p.ordinal DESC) AS recency
       FROM ${table} p
       WHERE p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.added <= ${revision} AND p.removed > 0)`;

export interface ToolFigures {
  readonly tool_id: string;
  readonly calls: number;
  readonly failures: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

/** The tools that were called most. A percentile is by nearest rank: the shortest time that so many calls kept within. */
export function toolFigures(query: Query, until: Until, limit: number): Promise<ToolFigures[]> {
  return query.all<ToolFigures>(
    sql`SELECT tool_id, COUNT(*) AS calls, COUNT(CASE WHEN success = 0 THEN 1 END) AS failures,
          MIN(CASE WHEN place * 100 >= of_tool * 50 THEN duration_ms END) AS p50_ms,
          MIN(CASE WHEN place * 100 >= of_tool * 95 THEN duration_ms END) AS p95_ms
        FROM (SELECT l.tool_id, l.success, l.duration_ms, COUNT(*) OVER (PARTITION BY l.tool_id) AS of_tool,
                ROW_NUMBER() OVER (PARTITION BY l.tool_id ORDER BY l.duration_ms) AS place
              FROM ${lastOf(sql`tool_calls`, sql`p.tool_id, p.success, p.duration_ms`, until)} l WHERE l.recency = 1) ranked
        GROUP BY tool_id ORDER BY calls DESC, tool_id LIMIT ${limit}`,
  );
}

export interface ThoughtFigures {
  readonly type: string;
  readonly thoughts: number;
  readonly mean: number;
  readonly lowest: number;
}

export function thoughtFigures(query: Query, until: Until): Promise<ThoughtFigures[]> {
  return query.all<ThoughtFigures>(
    sql`SELECT l.type, COUNT(*) AS thoughts, AVG(l.confidence) AS mean, MIN(l.confidence) AS lowest
        FROM ${lastOf(sql`thoughts`, sql`p.type, p.confidence`, until)} l WHERE l.recency = 1
        GROUP BY l.type ORDER BY l.type`,
  );
}

export interface StepRow {
  readonly checkpoint_id: string;
  readonly step_number: number;
  readonly tokens_used: number;
  readonly duration_ms: number;
  /** Of the thoughts that it brought; null when it brought none. */
  readonly mean_confidence: number | null;
}

/** The checkpoints that lead to one, and it, the last first. */
export function stepRows(
  query: Query,
  at: Pick<CheckpointRow, 'execution_id' | 'line' | 'revision'>,
  limit: number,
): Promise<StepRow[]> {
  const { execution_id, line, revision } = at;
  return query.all<StepRow>(
    sql`WITH RECURSIVE ${segments(execution_id, line, revision)}
        SELECT newest.checkpoint_id, newest.step_number, newest.tokens_used, newest.duration_ms,
          (SELECT AVG(t.confidence) FROM thoughts t
           WHERE t.tenant_id = ${TENANT} AND t.checkpoint_id = newest.checkpoint_id) AS mean_confidence
        FROM (SELECT c.checkpoint_id, c.step_number, c.tokens_used, c.duration_ms, c.revision FROM checkpoints c JOIN segments s ON c.line = s.line AND c.revision <= s.upto
              WHERE c.tenant_id = ${TENANT} AND c.execution_id = ${execution_id}
              ORDER BY c.revision DESC LIMIT ${limit}) newest
        ORDER BY newest.revision DESC`,
  );
}

/** An event by which an execution came to stand at a checkpoint, or may have. */
export interface Move {
  readonly seq: number;
  /** A run that stands elsewhere stays there when a checkpoint is brought in. */
  readonly imported: boolean;
  /** Null of one that is gone. */
  readonly checkpoint_id: string | null;
}

interface MoveRow {
  readonly seq: number;
  readonly packet_type: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly envelope: string | null;
}

/** How an execution moved, in order. Checkpoints that are gone are left out: nobody can read their state. */
export async function nextMoves(
  query: Query,
  execution_id: string,
  range: { readonly after: number; readonly until: number },
  limit: number,
): Promise<Move[]> {
  const rows = await query.all<MoveRow>(
    sql`SELECT p.seq, p.packet_type, p.entity_type, p.entity_id, p.envelope FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.seq > ${range.after} AND p.seq <= ${range.until}
          AND ((p.packet_type IN ('cairn.checkpoint.created', 'cairn.checkpoint.branched', 'cairn.checkpoint.imported')
                AND EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${TENANT} AND c.checkpoint_id = p.entity_id
                              AND c.execution_id = ${execution_id}))
            OR (p.packet_type = 'cairn.execution.restored' AND p.entity_id = ${execution_id}))
        ORDER BY p.seq LIMIT ${limit}`,
  );
  return rows.map(({ seq, packet_type, entity_type, entity_id, envelope }) => ({
    seq,
    imported: packet_type === 'cairn.checkpoint.imported',
    checkpoint_id: entity_type === 'checkpoint' ? entity_id : restoredTo(envelope),
  }));
}

/** Where it was put back to is a fact of the event. */
function restoredTo(envelope: string | null): string | null {
  if (envelope === null) return null;
  return (JSON.parse(envelope) as { payload: { checkpoint_id: string } }).payload.checkpoint_id;
}
