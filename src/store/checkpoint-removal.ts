/** Removing checkpoints, and the parts of states that no checkpoint sees any more. */
import type { LineBase, PrunedNode } from '../domain/checkpoint-pruning.js';
import type { Query, Tx } from '../driver/driver.js';
import { type Sql, sql } from '../driver/sql.js';

/** All checkpoints of an execution, in the order of their revisions. */
export function nodesOf(query: Query, tenant: string, execution_id: string): Promise<PrunedNode[]> {
  return query.all<PrunedNode>(
    sql`SELECT checkpoint_id, parent_id, line, revision, name, timestamp FROM checkpoints
        WHERE tenant_id = ${tenant} AND execution_id = ${execution_id} ORDER BY revision`,
  );
}

export function linesOf(query: Query, tenant: string, execution_id: string): Promise<LineBase[]> {
  return query.all<LineBase>(
    sql`SELECT line, base_line, base_revision FROM execution_lines
        WHERE tenant_id = ${tenant} AND execution_id = ${execution_id}`,
  );
}

/** Their ids stay taken. */
export async function deleteCheckpoints(
  tx: Tx,
  tenant: string,
  checkpoint_ids: readonly string[],
): Promise<void> {
  await tx.send(
    sql`INSERT INTO checkpoints_gone (tenant_id, checkpoint_id)
        SELECT tenant_id, checkpoint_id FROM checkpoints
          WHERE tenant_id = ${tenant} AND checkpoint_id = ANY(${checkpoint_ids})
        ON CONFLICT DO NOTHING`,
  );
  await tx.send(
    sql`DELETE FROM checkpoint_writes WHERE tenant_id = ${tenant} AND checkpoint_id = ANY(${checkpoint_ids})`,
  );
  await tx.send(
    sql`DELETE FROM checkpoints WHERE tenant_id = ${tenant} AND checkpoint_id = ANY(${checkpoint_ids})`,
  );
}

export async function setParent(
  tx: Tx,
  tenant: string,
  checkpoint_id: string,
  parent_id: string | null,
): Promise<void> {
  await tx.send(
    sql`UPDATE checkpoints SET parent_id = ${parent_id}
        WHERE tenant_id = ${tenant} AND checkpoint_id = ${checkpoint_id}`,
  );
}

export async function countDown(
  tx: Tx,
  tenant: string,
  execution_id: string,
  removed: number,
): Promise<void> {
  await tx.send(
    sql`UPDATE executions SET checkpoints = checkpoints - ${removed}
        WHERE tenant_id = ${tenant} AND execution_id = ${execution_id}`,
  );
}

export async function deleteLines(
  tx: Tx,
  tenant: string,
  execution_id: string,
  lines: readonly number[],
): Promise<void> {
  await tx.send(
    sql`DELETE FROM execution_lines
        WHERE tenant_id = ${tenant} AND execution_id = ${execution_id} AND line = ANY(${lines})`,
  );
}

export const PART_TABLES = ['checkpoint_items', 'thoughts', 'tool_calls'] as const;
export type PartTable = (typeof PART_TABLES)[number];

const tables: Record<PartTable, Sql> = {
  checkpoint_items: sql`checkpoint_items`,
  thoughts: sql`thoughts`,
  tool_calls: sql`tool_calls`,
};
const contents: Record<PartTable, Sql> = {
  checkpoint_items: sql`p.value`,
  thoughts: sql`p.body`,
  tool_calls: sql`p.body`,
};

/** Where a part is stored, how long it shows, and what it takes. */
export interface PartPlace {
  readonly line: number;
  readonly added: number;
  readonly ordinal: number;
  readonly removed: number;
  readonly bytes: number;
}

/** Before all parts. */
export const FIRST_PLACE: PartPlace = { line: 0, added: 0, ordinal: -1, removed: 0, bytes: 0 };

/** The parts of an execution in one table, behind a place. */
export function partsAfter(
  query: Query,
  table: PartTable,
  tenant: string,
  execution_id: string,
  after: PartPlace,
  limit: number,
): Promise<PartPlace[]> {
  return query.all<PartPlace>(
    sql`SELECT p.line, p.added, p.ordinal, p.removed, COALESCE(LENGTH(CAST(${contents[table]} AS text)), 0) AS bytes
        FROM ${tables[table]} p WHERE p.tenant_id = ${tenant} AND p.execution_id = ${execution_id}
          AND (p.line, p.added, p.ordinal) > (${after.line}, ${after.added}, ${after.ordinal})
        ORDER BY p.line, p.added, p.ordinal LIMIT ${limit}`,
  );
}

export async function deletePart(
  tx: Tx,
  table: PartTable,
  tenant: string,
  execution_id: string,
  { line, added, ordinal }: PartPlace,
): Promise<void> {
  await tx.send(
    sql`DELETE FROM ${tables[table]} WHERE tenant_id = ${tenant} AND execution_id = ${execution_id}
          AND line = ${line} AND added = ${added} AND ordinal = ${ordinal}`,
  );
}
