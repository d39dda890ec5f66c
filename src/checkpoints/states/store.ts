/** checkpoint_items, thoughts, tool_calls: the parts of states, each stored once for all states that share it. */
import {
  type BoundParam,
  byDialect,
  join,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { addDocs } from '../../index/sql.js';
import type { Json } from '../../kernel/contract.js';
import { groupBy } from '../../kernel/index.js';
import type { Thought, ToolCall } from '../checkpoints/model.js';
import type { PlacedCheckpoint } from '../checkpoints/store.js';
import type { StoredPart } from './assembly.js';
import { containerNumber, type Edit, type End, type Part, ROOTS, type Stamp, vacatedSlots } from './parts.js';
import { type ThoughtExecution, thoughtDoc } from './thought-docs.js';

/** `removed` of a part that is still visible. */
export const NEVER = Number.MAX_SAFE_INTEGER;

const placed = { execution_id: 'text', line: 'bigint', added: 'bigint', ordinal: 'bigint', removed: 'bigint' } as const;
const entry = { tenant_id: 'text', checkpoint_id: 'text', id: 'text', ...placed, position: 'bigint' } as const;

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
  columns: { ...entry, type: 'text', confidence: 'double precision', body: 'json' },
};
const toolCalls: Table = {
  name: 'tool_calls',
  columns: { ...entry, tool_id: 'text', success: 'bigint', duration_ms: 'double precision', body: 'json' },
};

const tables = { items: sql`checkpoint_items`, thoughts: sql`thoughts`, tool_calls: sql`tool_calls` };
type PartKind = keyof typeof tables;
export const PART_KINDS = ['items', 'thoughts', 'tool_calls'] as const;

/** The checkpoint that an edit belongs to. */
export interface Owner {
  readonly execution_id: string;
  readonly checkpoint_id: string;
  /** Whether its line branched off another. */
  readonly has_base: boolean;
  readonly toolCallId: (call: ToolCall) => string;
}

/** Rows by table. */
export type PartRows = Readonly<Record<PartKind, BoundParam[][]>>;

/** The rows of an edit, all still visible. */
export function rowsOf(tenant: string, owner: Owner, edit: Edit, { line, revision }: Stamp): PartRows {
  const rows: PartRows = { items: [], thoughts: [], tool_calls: [] };
  const { execution_id, checkpoint_id } = owner;
  for (const part of edit.added) {
    const place = [execution_id, line, revision, part.ref.ordinal, NEVER];
    if (part.parent === ROOTS.thoughts) {
      const { id, type, confidence } = elementOf<Thought>(part);
      rows.thoughts.push([tenant, checkpoint_id, id, ...place, part.position, type, confidence, body(part)]);
    } else if (part.parent === ROOTS.tool_calls) {
      const call = elementOf<ToolCall>(part);
      const content = [call.tool_id, call.success ? 1 : 0, call.duration_ms, body(part)];
      rows.tool_calls.push([tenant, checkpoint_id, owner.toolCallId(call), ...place, part.position, ...content]);
    } else {
      const child = part.child === null ? null : containerNumber(part.child);
      const slot = [containerNumber(part.parent), part.key, part.position];
      rows.items.push([tenant, ...place, ...slot, part.kind, child, part.text]);
    }
  }
  if (owner.has_base)
    for (const [i, { parent, key, position }] of vacatedSlots(edit).entries()) {
      const place = [execution_id, line, revision, edit.added.length + i, NEVER];
      rows.items.push([tenant, ...place, containerNumber(parent), key, position, 'gone', null, null]);
    }
  return rows;
}

const elementOf = <T>(part: Part): T => (part.value as unknown as [T])[0];

/** The only element of the part, without the brackets of its list. */
const body = (part: Part): string => part.text!.slice(1, -1);

export const storedText = (part: Part): string =>
  part.parent === ROOTS.thoughts || part.parent === ROOTS.tool_calls ? body(part) : (part.text ?? '');

/** Index of `ordinal` in a row; `removed` follows it. */
const ORDINAL = { items: 4, thoughts: 6, tool_calls: 6 } as const;

/** Functions that end the rows of an edit before they are stored, by ordinal. */
export function endsByOrdinal(rows: PartRows): ReadonlyMap<number, (revision: number) => void> {
  const ends = new Map<number, (revision: number) => void>();
  for (const kind of PART_KINDS) {
    const ordinal = ORDINAL[kind];
    for (const row of rows[kind]) ends.set(row[ordinal] as number, (revision) => void (row[ordinal + 1] = revision));
  }
  return ends;
}

/** Indexes of columns in a row of thoughts. */
const THOUGHT = { checkpoint_id: 1, body: 11 } as const;

export async function insertParts(tx: Tx, execution: ThoughtExecution, rows: PartRows): Promise<void> {
  await tx.insert(items, rows.items);
  await tx.insert(thoughts, rows.thoughts);
  const docs = rows.thoughts.map((row) => {
    const body = row[THOUGHT.body] as string;
    return thoughtDoc(execution, { checkpoint_id: row[THOUGHT.checkpoint_id] as string, body });
  });
  addDocs(tx, docs);
  await tx.insert(toolCalls, rows.tool_calls);
}

/** Ends the parts that an edit replaces or removes. Parts of another line stay: other checkpoints show them. */
export async function endParts(tx: Tx, execution_id: string, edit: Edit, { line, revision }: Stamp): Promise<void> {
  const own = edit.ended.filter(({ ref }) => ref.stamp.line === line);
  const kindOf = ({ parent }: End): PartKind =>
    parent === ROOTS.thoughts ? 'thoughts' : parent === ROOTS.tool_calls ? 'tool_calls' : 'items';
  for (const [kind, ends] of groupBy(own, kindOf))
    for (const [added, together] of groupBy(ends, ({ ref }) => ref.stamp.revision)) {
      const ordinals = together.map(({ ref }) => ref.ordinal);
      await tx.send(
        sql`UPDATE ${tables[kind]} SET removed = ${revision} WHERE tenant_id = ${TENANT}
              AND execution_id = ${execution_id} AND line = ${line} AND removed = ${NEVER} AND added = ${added}
              AND ordinal = ANY(${ordinals})`,
      );
    }
}

/** A line up to a revision, and its bases, each up to where the next line branched off. */
export const segments = (execution_id: string, line: number, revision: number): Sql =>
  sql`segments(line, upto, depth) AS (
        SELECT CAST(${line} AS bigint), CAST(${revision} AS bigint), 0
        UNION ALL
        SELECT l.base_line, l.base_revision, s.depth + 1 FROM segments s CROSS JOIN execution_lines l
          WHERE l.tenant_id = ${TENANT} AND l.execution_id = ${execution_id} AND l.line = s.line
            AND l.base_line IS NOT NULL
      )`;

const allColumns = (name: PartKind, depth: Sql): Sql =>
  name === 'items'
    ? sql`${depth} AS depth, p.line, p.added, p.ordinal, p.parent, p.key, p.position, p.kind, p.child, p.value`
    : sql`${depth} AS depth, p.line, p.added, p.ordinal, ${ROOT[name]} AS parent, NULL AS key, p.position,
        'element' AS kind, NULL AS child, p.body AS value`;

/** The columns that a state of one line needs. Rare values are packed into one column: each column costs read time. */
const slimColumns = (name: PartKind): Sql =>
  name === 'items'
    ? sql`p.parent, p.position, ${PACKED} AS packed, CAST(p.value AS text) AS value`
    : sql`${ROOT[name]} AS parent, p.position, NULL AS packed, CAST(p.body AS text) AS value`;

const PACKED: Sql = byDialect({
  sqlite: sql`CASE WHEN p.key IS NULL AND p.kind = 'value' THEN NULL ELSE json_array(p.key, p.kind, p.child) END`,
  postgres: sql`CASE WHEN p.key IS NULL AND p.kind = 'value' THEN NULL
    ELSE json_build_array(p.key, p.kind, p.child)::text END`,
});

/** Short runs of elements: reading each as a row would cost more than its content. In bytes: SQLite counts them unread. */
const SHORT: Sql = byDialect({
  sqlite: sql`(p.key IS NULL AND p.kind = 'value' AND octet_length(p.value) <= 512)`,
  postgres: sql`(p.key IS NULL AND p.kind = 'value' AND octet_length(p.value::text) <= 512)`,
});

/** The short runs of one list in one row: their positions, and their values in the same order. */
const JOINED: Sql = byDialect({
  sqlite: sql`p.parent, NULL AS position, '[' || group_concat(p.position) || ']' AS packed,
    '[' || group_concat(p.value) || ']' AS value`,
  postgres: sql`p.parent, NULL::bigint AS position, '[' || string_agg(p.position::text, ',') || ']' AS packed,
    '[' || string_agg(p.value::text, ',') || ']' AS value`,
});

const ROOT = { thoughts: sql`1`, tool_calls: sql`2` } as const;

interface SlimRow {
  readonly parent: number;
  /** Null for joined runs. */
  readonly position: number | null;
  readonly packed: string | null;
  readonly value: string | null;
}

type Packed = readonly [key: string | null, kind: StoredPart['kind'], child: number | null];
const ELEMENT: Packed = [null, 'element', null];
const RUN: Packed = [null, 'value', null];

/** By name: spreading objects takes many times as long. */
const storedPart = (
  parent: number,
  position: number,
  [key, kind, child]: Packed,
  value: string | null,
  parsed?: Json,
): StoredPart => ({ depth: 0, line: 0, added: 0, ordinal: 0, parent, key, position, kind, child, value, parsed });

function unpack(rows: readonly SlimRow[]): StoredPart[] {
  const parts: StoredPart[] = [];
  for (const { parent, position, packed, value } of rows) {
    if (position === null) {
      const positions = JSON.parse(packed!) as number[];
      const values = JSON.parse(value!) as Json[];
      for (let i = 0; i < values.length; i++) parts.push(storedPart(parent, positions[i]!, RUN, null, values[i]));
    } else if (packed !== null) parts.push(storedPart(parent, position, JSON.parse(packed) as Packed, value));
    else {
      const isEntry = parent === ROOTS.thoughts || parent === ROOTS.tool_calls;
      parts.push(storedPart(parent, position, isEntry ? ELEMENT : RUN, value));
    }
  }
  return parts;
}

type StateAt = Pick<PlacedCheckpoint, 'execution_id' | 'line' | 'revision' | 'base_line'>;

/** Parts visible on the line itself. */
function onLine(name: PartKind, at: StateAt, columns: Sql): Sql {
  const line = sql`p.tenant_id = ${TENANT} AND p.execution_id = ${at.execution_id} AND p.line = ${at.line}`;
  const visible = sql`p.added <= ${at.revision} AND p.removed > ${at.revision}`;
  return sql`SELECT ${columns} FROM ${tables[name]} p WHERE ${line} AND ${visible}`;
}

/** Parts visible on the bases of the line. OFFSET 0: PostgreSQL without statistics would scan the whole table. */
function onBases(name: PartKind, execution_id: string): Sql {
  const visible = sql`p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.line = s.line
    AND p.added <= s.upto AND p.removed > s.upto AND s.depth > 0`;
  const selected = allColumns(name, sql`s.depth`);
  return byDialect({
    sqlite: sql`SELECT ${selected} FROM segments s CROSS JOIN ${tables[name]} p WHERE ${visible}`,
    postgres: sql`SELECT ${selected} FROM segments s
      CROSS JOIN LATERAL (SELECT * FROM ${tables[name]} p WHERE ${visible} OFFSET 0) p`,
  });
}

/** All parts of a checkpoint's state, in one query; with `retained` they have the columns needed to end them. */
export async function readParts(query: Query, at: StateAt, retained: boolean): Promise<StoredPart[]> {
  if (at.base_line === null && !retained) {
    const [rows, ...others] = PART_KINDS.map((name) => onLine(name, at, slimColumns(name)));
    const joined = sql`${onLine('items', at, JOINED)} AND ${SHORT} GROUP BY p.parent`;
    const slim = [joined, sql`${rows!} AND NOT ${SHORT}`, ...others];
    return unpack(await query.all<SlimRow>(join(slim, ' UNION ALL ')));
  }
  const own = PART_KINDS.map((name) => onLine(name, at, allColumns(name, sql`0`)));
  if (at.base_line === null) return query.all<StoredPart>(join(own, ' UNION ALL '));
  const bases = PART_KINDS.map((name) => onBases(name, at.execution_id));
  return query.all<StoredPart>(
    sql`WITH RECURSIVE ${segments(at.execution_id, at.line, at.revision)}
        ${join([...own, ...bases], ' UNION ALL ')}`,
  );
}
