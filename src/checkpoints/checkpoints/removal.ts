/** Removing checkpoints, and the parts of states that no checkpoint sees any more. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { Cover, Covering, Holder, LineBase, ShownPart } from '../states/views.js';
import type { PrunedNode } from './pruning.js';

/** All checkpoints of an execution, in the order of their revisions. */
export function nodesOf(query: Query, execution_id: string): Promise<PrunedNode[]> {
  return query.all<PrunedNode>(
    sql`SELECT checkpoint_id, parent_id, line, revision, name, timestamp FROM checkpoints
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} ORDER BY revision`,
  );
}

/** Those that came after a revision. */
export function nodesSince(query: Query, execution_id: string, revision: number): Promise<PrunedNode[]> {
  return query.all<PrunedNode>(
    sql`SELECT checkpoint_id, parent_id, line, revision, name, timestamp FROM checkpoints
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND revision > ${revision}`,
  );
}

export function linesOf(query: Query, execution_id: string): Promise<LineBase[]> {
  return query.all<LineBase>(
    sql`SELECT line, base_line, base_revision FROM execution_lines
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

/**
 * Their ids stay taken. The rows stay as well, empty and of no execution, until nothing that is erased with them has any
 * content: deleting moves neighbours within the file, and what they held would be left where they were.
 */
export async function removeCheckpoints(tx: Tx, checkpoint_ids: readonly string[]): Promise<void> {
  await tx.send(
    sql`INSERT INTO checkpoints_gone (tenant_id, checkpoint_id)
        SELECT tenant_id, checkpoint_id FROM checkpoints
          WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})
        ON CONFLICT DO NOTHING`,
  );
  await tx.send(
    sql`UPDATE checkpoint_writes SET channel = '', value = 'null'
        WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})`,
  );
  await tx.send(
    sql`UPDATE checkpoints SET execution_id = '', parent_id = NULL, branch_reason = NULL, name = NULL,
          description = NULL, labels = NULL, rest = '{}', carried = NULL
        WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})`,
  );
}

/** Some of those that were removed. */
export async function removedCheckpoints(query: Query, limit: number): Promise<string[]> {
  const rows = await query.all<{ checkpoint_id: string }>(
    sql`SELECT checkpoint_id FROM checkpoints WHERE tenant_id = ${TENANT} AND execution_id = '' LIMIT ${limit}`,
  );
  return rows.map(({ checkpoint_id }) => checkpoint_id);
}

export async function deleteRemoved(tx: Tx, checkpoint_ids: readonly string[]): Promise<void> {
  await tx.send(
    sql`DELETE FROM checkpoint_writes WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})`,
  );
  await tx.send(sql`DELETE FROM checkpoints WHERE tenant_id = ${TENANT} AND checkpoint_id = ANY(${checkpoint_ids})`);
}

/** A root branches off from nothing. */
export async function setParent(tx: Tx, checkpoint_id: string, parent_id: string | null): Promise<void> {
  const root = parent_id === null ? sql`, is_branch = 0, branch_reason = NULL` : sql``;
  await tx.send(
    sql`UPDATE checkpoints SET parent_id = ${parent_id}${root}
        WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}`,
  );
}

export async function countDown(tx: Tx, execution_id: string, removed: number): Promise<void> {
  await tx.send(
    sql`UPDATE executions SET checkpoints = checkpoints - ${removed}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
}

export async function deleteLines(tx: Tx, execution_id: string, lines: readonly number[]): Promise<void> {
  await tx.send(
    sql`DELETE FROM execution_lines
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND line = ANY(${lines})`,
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

/** Where in its container a part stands; thoughts and tool calls are in the lists with these numbers. */
const places: Record<PartTable, Sql> = {
  checkpoint_items: sql`p.parent, p.key, p.position`,
  thoughts: sql`1 AS parent, NULL AS key, p.position`,
  tool_calls: sql`2 AS parent, NULL AS key, p.position`,
};

/** Where a part is stored, how long it shows, and what it takes. */
export interface PartPlace extends ShownPart {
  readonly ordinal: number;
  readonly bytes: number;
}

/** What lines that branched off have put in the place of what they branched off from. */
export async function coveringOf(query: Query, execution_id: string): Promise<Covering> {
  const covers: Cover[] = [];
  for (const table of PART_TABLES) {
    const found = await query.all<Cover>(
      sql`SELECT x.line, x.parent, x.key, x.position, MIN(x.added) AS added
          FROM (SELECT p.line, p.added, ${places[table]} FROM execution_lines l CROSS JOIN ${tables[table]} p
                WHERE l.tenant_id = ${TENANT} AND l.execution_id = ${execution_id} AND l.base_line IS NOT NULL
                  AND p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.line = l.line) x
          GROUP BY x.line, x.parent, x.key, x.position`,
    );
    for (const cover of found) covers.push(cover);
  }
  // Without a branch nothing covers anything.
  if (covers.length === 0) return { covers, holders: [] };
  const holders = await query.all<Holder>(
    sql`SELECT parent, key, position, child, removed FROM checkpoint_items
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND child IS NOT NULL`,
  );
  return { covers, holders };
}

/** The parts of an execution in one table up to a revision, in their order, behind a place. */
export function partsAfter(
  query: Query,
  table: PartTable,
  execution_id: string,
  until: number,
  after: Pick<PartPlace, 'line' | 'added' | 'ordinal'>,
  limit: number,
): Promise<PartPlace[]> {
  return query.all<PartPlace>(
    sql`SELECT p.line, p.added, p.ordinal, p.removed, ${places[table]},
          COALESCE(OCTET_LENGTH(CAST(${contents[table]} AS text)), 0) AS bytes
        FROM ${tables[table]} p WHERE p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id}
          AND p.added <= ${until} AND (p.line, p.added, p.ordinal) > (${after.line}, ${after.added}, ${after.ordinal})
        ORDER BY p.line, p.added, p.ordinal LIMIT ${limit}`,
  );
}

/** Takes the content out of a part, which shows nowhere from then on. */
const emptied: Record<PartTable, Sql> = {
  checkpoint_items: sql`SET value = NULL, key = NULL, removed = 0`,
  thoughts: sql`SET body = '{}', removed = 0`,
  tool_calls: sql`SET body = '{}', removed = 0`,
};

export async function emptyPart(
  tx: Tx,
  table: PartTable,
  execution_id: string,
  { line, added, ordinal }: PartPlace,
): Promise<void> {
  await tx.send(
    sql`UPDATE ${tables[table]} ${emptied[table]} WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}
          AND line = ${line} AND added = ${added} AND ordinal = ${ordinal}`,
  );
}

export async function deletePart(
  tx: Tx,
  table: PartTable,
  execution_id: string,
  { line, added, ordinal }: PartPlace,
): Promise<void> {
  await tx.send(
    sql`DELETE FROM ${tables[table]} WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}
          AND line = ${line} AND added = ${added} AND ordinal = ${ordinal}`,
  );
}
