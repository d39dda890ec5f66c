/** Removes checkpoints, and the parts of states that no checkpoint shows any more. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { hideDocs } from '../../index/sql.js';
import type { LineRow } from '../states/parts.js';
import { thoughtContentId } from '../states/thought-docs.js';
import type { Holder, Override, Overrides, VisiblePart } from '../states/visibility.js';
import type { PrunedNode } from './pruning.js';

/** The checkpoints of an execution with a revision above `after`, in the order of their revisions. */
export const nodesOf = (query: Query, execution_id: string, after = 0): Promise<PrunedNode[]> =>
  query.all<PrunedNode>(
    sql`SELECT checkpoint_id, parent_id, line, revision, name, timestamp FROM checkpoints
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND revision > ${after} ORDER BY revision`,
  );

export const linesOf = (query: Query, execution_id: string): Promise<LineRow[]> =>
  query.all<LineRow>(
    sql`SELECT line, base_line, base_revision FROM execution_lines
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );

/**
 * Their ids stay taken. The rows stay as well, empty and without an execution, until everything that is erased with
 * them is empty: a DELETE moves neighbours within the file, and would leave copies of their content behind.
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

/** Ids of removed checkpoints whose rows remain. */
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

/** A root is no branch. */
export function setParent(tx: Tx, checkpoint_id: string, parent_id: string | null): Promise<void> {
  const root = parent_id === null ? sql`, is_branch = 0, branch_reason = NULL` : sql``;
  return tx.send(
    sql`UPDATE checkpoints SET parent_id = ${parent_id}${root}
        WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}`,
  );
}

export const subtractCheckpoints = (tx: Tx, execution_id: string, removed: number): Promise<void> =>
  tx.send(
    sql`UPDATE executions SET checkpoints = checkpoints - ${removed}
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );

export const deleteLines = (tx: Tx, execution_id: string, lines: readonly number[]): Promise<void> =>
  tx.send(
    sql`DELETE FROM execution_lines
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND line = ANY(${lines})`,
  );

/** Thoughts and tool calls are in the containers 1 and 2. */
const tables = {
  checkpoint_items: {
    name: sql`checkpoint_items`,
    content: sql`p.value`,
    slot: sql`p.parent, p.key, p.position`,
    emptied: sql`value = NULL, key = NULL`,
  },
  thoughts: {
    name: sql`thoughts`,
    content: sql`p.body`,
    slot: sql`1 AS parent, NULL AS key, p.position`,
    emptied: sql`body = '{}'`,
  },
  tool_calls: {
    name: sql`tool_calls`,
    content: sql`p.body`,
    slot: sql`2 AS parent, NULL AS key, p.position`,
    emptied: sql`body = '{}'`,
  },
};
export type PartTable = keyof typeof tables;
export const PART_TABLES = ['checkpoint_items', 'thoughts', 'tool_calls'] as const;

/** A part with its key and its size. */
export interface PartPlace extends VisiblePart {
  readonly ordinal: number;
  readonly bytes: number;
}

/** The slots that branches override. */
export async function overridesOf(query: Query, execution_id: string): Promise<Overrides> {
  const overrides: Override[] = [];
  for (const table of PART_TABLES) {
    const { name, slot } = tables[table];
    const rows = await query.all<Override>(
      sql`SELECT x.line, x.parent, x.key, x.position, MIN(x.added) AS added
          FROM (SELECT p.line, p.added, ${slot} FROM execution_lines l CROSS JOIN ${name} p
                WHERE l.tenant_id = ${TENANT} AND l.execution_id = ${execution_id} AND l.base_line IS NOT NULL
                  AND p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.line = l.line) x
          GROUP BY x.line, x.parent, x.key, x.position`,
    );
    for (const row of rows) overrides.push(row);
  }
  if (overrides.length === 0) return { overrides, holders: [] };
  const holders = await query.all<Holder>(
    sql`SELECT parent, key, position, child, removed FROM checkpoint_items
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND child IS NOT NULL`,
  );
  return { overrides, holders };
}

/** Parts of an execution up to a revision, by keyset. Erasing them moves them behind the cursor. */
export function partsAfter(
  query: Query,
  table: PartTable,
  { execution_id, revision }: { readonly execution_id: string; readonly revision: number },
  after: Pick<PartPlace, 'line' | 'removed' | 'added' | 'ordinal'>,
  limit: number,
): Promise<PartPlace[]> {
  const { name, slot, content } = tables[table];
  return query.all<PartPlace>(
    sql`SELECT p.line, p.added, p.ordinal, p.removed, ${slot},
          COALESCE(OCTET_LENGTH(CAST(${content} AS text)), 0) AS bytes
        FROM ${name} p WHERE p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id}
          AND p.added <= ${revision}
          AND (p.line, p.removed, p.added, p.ordinal) >
            (${after.line}, ${after.removed}, ${after.added}, ${after.ordinal})
        ORDER BY p.line, p.removed, p.added, p.ordinal LIMIT ${limit}`,
  );
}

type PartChange = (tx: Tx, table: PartTable, execution_id: string, part: PartPlace) => Promise<void>;

const isPart = (execution_id: string, { line, removed, added, ordinal }: PartPlace): Sql =>
  sql`execution_id = ${execution_id} AND line = ${line} AND removed = ${removed} AND added = ${added}
        AND ordinal = ${ordinal}`;

/** Erases the content of a part, which is visible nowhere from then on. */
export const emptyPart: PartChange = (tx, table, execution_id, part) =>
  change(
    tx,
    table,
    sql`UPDATE ${tables[table].name} SET ${tables[table].emptied}, removed = 0
        WHERE tenant_id = ${TENANT} AND ${isPart(execution_id, part)}`,
  );

export const deletePart: PartChange = (tx, table, execution_id, part) =>
  change(
    tx,
    table,
    sql`DELETE FROM ${tables[table].name} WHERE tenant_id = ${TENANT} AND ${isPart(execution_id, part)}`,
  );

/** A thought also leaves the search. */
async function change(tx: Tx, table: PartTable, statement: Sql): Promise<void> {
  if (table !== 'thoughts') return tx.send(statement);
  const rows = await tx.returning<{ checkpoint_id: string; id: string }>(sql`${statement} RETURNING checkpoint_id, id`);
  hideDocs(
    tx,
    'thought',
    rows.map(({ checkpoint_id, id }) => thoughtContentId(checkpoint_id, id)),
  );
}
