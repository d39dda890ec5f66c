/** checkpoint_items, thoughts, tool_calls: the parts that states are made of, each stored once for all that share it. */
import type { StoredPart } from '../domain/state-assembly.js';
import { containerNumber, type Edit, emptied, type Part, ROOTS, type Stamp } from '../domain/state-parts.js';
import type { Query, Table, Tx } from '../driver/driver.js';
import { byDialect, type Param, type Sql, sql } from '../driver/sql.js';
import type { Thought, ToolCall } from '../model/checkpoint.js';

/** Where a part that shows to this day ends. */
export const NEVER = Number.MAX_SAFE_INTEGER;

const placed = {
  execution_id: 'text',
  line: 'bigint',
  added: 'bigint',
  ordinal: 'bigint',
  removed: 'bigint',
} as const;

const items: Table = {
  name: 'checkpoint_items',
  columns: {
    tenant_id: 'text',
    ...placed,
    parent: 'bigint',
    key: 'text',
    position: 'bigint',
    kind: 'text',
    child: 'bigint',
    value: 'json',
  },
};

const thoughts: Table = {
  name: 'thoughts',
  columns: {
    tenant_id: 'text',
    checkpoint_id: 'text',
    id: 'text',
    ...placed,
    position: 'bigint',
    type: 'text',
    confidence: 'double precision',
    body: 'json',
  },
};

const toolCalls: Table = {
  name: 'tool_calls',
  columns: {
    tenant_id: 'text',
    checkpoint_id: 'text',
    id: 'text',
    ...placed,
    position: 'bigint',
    tool_id: 'text',
    success: 'bigint',
    duration_ms: 'double precision',
    body: 'json',
  },
};

/** Which checkpoint an edit belongs to. */
export interface Owner {
  readonly execution_id: string;
  readonly checkpoint_id: string;
  /** Whether its line branched off another. */
  readonly has_base: boolean;
  /** The ids of the tool calls of its state, in their order. */
  readonly toolCallId: (call: ToolCall) => string;
}

/** Rows by the table that they go into. */
export interface PartRows {
  readonly items: Param[][];
  readonly thoughts: Param[][];
  readonly tool_calls: Param[][];
}

/** The rows of an edit whose stamp is filled in; all of them show to this day. */
export function rowsOf(tenant: string, owner: Owner, edit: Edit, stamp: Stamp): PartRows {
  const rows: PartRows = { items: [], thoughts: [], tool_calls: [] };
  const { execution_id, checkpoint_id } = owner;
  const { line, revision } = stamp;
  for (const part of edit.added) {
    const place = [execution_id, line, revision, part.ref.ordinal, NEVER];
    if (part.parent === ROOTS.thoughts) {
      const thought = elementOf<Thought>(part);
      const { id, type, confidence } = thought;
      rows.thoughts.push([tenant, checkpoint_id, id, ...place, part.position, type, confidence, body(part)]);
    } else if (part.parent === ROOTS.tool_calls) {
      const call = elementOf<ToolCall>(part);
      const { tool_id, success, duration_ms } = call;
      const found = [tool_id, success ? 1 : 0, duration_ms, body(part)];
      rows.tool_calls.push([
        tenant,
        checkpoint_id,
        owner.toolCallId(call),
        ...place,
        part.position,
        ...found,
      ]);
    } else {
      const child = part.child === null ? null : containerNumber(part.child);
      const slot = [containerNumber(part.parent), part.key, part.position];
      rows.items.push([tenant, ...place, ...slot, part.kind, child, part.text]);
    }
  }
  if (owner.has_base) {
    let ordinal = edit.added.length;
    for (const { parent, key, position } of emptied(edit)) {
      const place = [execution_id, line, revision, ordinal++, NEVER];
      rows.items.push([tenant, ...place, containerNumber(parent), key, position, 'gone', null, null]);
    }
  }
  return rows;
}

const elementOf = <T>(part: Part): T => (part.value as unknown as [T])[0];

/** Without the brackets of the list that it is alone in. */
const body = (part: Part): string => part.text!.slice(1, -1);

/** Where the ordinal of a row stands; the revision at which it ends is behind it. */
const ORDINAL = { items: 4, thoughts: 6, tool_calls: 6 } as const;

/** The rows of one edit by their ordinals, to end them before they are stored. */
export function endable(rows: PartRows): ReadonlyMap<number, (revision: number) => void> {
  const ends = new Map<number, (revision: number) => void>();
  for (const [name, ordinal] of Object.entries(ORDINAL) as [keyof PartRows, number][]) {
    for (const row of rows[name])
      ends.set(row[ordinal] as number, (revision) => void (row[ordinal + 1] = revision));
  }
  return ends;
}

export async function insertParts(tx: Tx, rows: PartRows): Promise<void> {
  await tx.insert(items, rows.items);
  await tx.insert(thoughts, rows.thoughts);
  await tx.insert(toolCalls, rows.tool_calls);
}

/** Ends what an edit replaces or takes out. What is of another line stays: others see it. */
export async function endParts(
  tx: Tx,
  tenant: string,
  execution_id: string,
  edit: Edit,
  { line, revision }: Stamp,
): Promise<void> {
  for (const { parent, ref } of edit.ended) {
    if (ref.stamp.line !== line) continue;
    const at = sql`SET removed = ${revision} WHERE tenant_id = ${tenant} AND execution_id = ${execution_id}
      AND line = ${line} AND added = ${ref.stamp.revision} AND ordinal = ${ref.ordinal}`;
    if (parent === ROOTS.thoughts) await tx.send(sql`UPDATE thoughts ${at}`);
    else if (parent === ROOTS.tool_calls) await tx.send(sql`UPDATE tool_calls ${at}`);
    else await tx.send(sql`UPDATE checkpoint_items ${at}`);
  }
}

/** The line of a checkpoint and those that it goes back to, each up to the revision at which it was branched off. */
export const segments = (tenant: string, execution_id: string, line: number, revision: number): Sql =>
  sql`segments(line, upto, depth) AS (
        SELECT CAST(${line} AS bigint), CAST(${revision} AS bigint), 0
        UNION ALL
        SELECT l.base_line, l.base_revision, s.depth + 1 FROM segments s CROSS JOIN execution_lines l
          WHERE l.tenant_id = ${tenant} AND l.execution_id = ${execution_id} AND l.line = s.line
            AND l.base_line IS NOT NULL
      )`;

/**
 * Which parts of a line show at a revision. Both bounds can be looked up; the one that leaves less is: near the tip, the
 * parts that end later are few besides those that show, and near the start those that came before are.
 */
const shows = (nearTip: boolean): Sql =>
  nearTip
    ? sql`p.added + 0 <= s.upto AND p.removed > s.upto`
    : sql`p.added <= s.upto AND p.removed + 0 > s.upto`;

/** The parts of one table along the segments. PostgreSQL without statistics would rather read all of the table. */
const along = (table: Sql, tenant: string, execution_id: string, bounds: Sql): Sql => {
  const condition = sql`p.tenant_id = ${tenant} AND p.execution_id = ${execution_id} AND p.line = s.line AND ${bounds}`;
  return byDialect({
    sqlite: sql`FROM segments s CROSS JOIN ${table} p WHERE ${condition}`,
    postgres: sql`FROM segments s CROSS JOIN LATERAL (SELECT * FROM ${table} p WHERE ${condition} OFFSET 0) p`,
  });
};

/** All parts of the state of a checkpoint, in one query. */
export function readParts(
  query: Query,
  tenant: string,
  at: {
    readonly execution_id: string;
    readonly line: number;
    readonly revision: number;
    readonly tip: number;
  },
): Promise<StoredPart[]> {
  const { execution_id, line, revision, tip } = at;
  const bounds = shows(revision * 2 > tip + line);
  // Thoughts and tool calls are rarely taken back, so that their tables have one order alone.
  const listed = sql`p.added <= s.upto AND p.removed > s.upto`;
  return query.all<StoredPart>(
    sql`WITH RECURSIVE ${segments(tenant, execution_id, line, revision)}
        SELECT s.depth, p.line, p.added, p.ordinal, p.parent, p.key, p.position, p.kind, p.child, p.value
          ${along(sql`checkpoint_items`, tenant, execution_id, bounds)}
        UNION ALL
        SELECT s.depth, p.line, p.added, p.ordinal, ${ROOT_OF_THOUGHTS}, NULL, p.position, 'element', NULL, p.body
          ${along(sql`thoughts`, tenant, execution_id, listed)}
        UNION ALL
        SELECT s.depth, p.line, p.added, p.ordinal, ${ROOT_OF_TOOL_CALLS}, NULL, p.position, 'element', NULL, p.body
          ${along(sql`tool_calls`, tenant, execution_id, listed)}`,
  );
}

const ROOT_OF_THOUGHTS = sql`1`;
const ROOT_OF_TOOL_CALLS = sql`2`;
