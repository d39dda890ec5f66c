/** checkpoint_items, thoughts, tool_calls: the parts that states are made of, each stored once for all that share it. */
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
import type { Json } from '../../kernel/contract.js';
import type { Thought, ToolCall } from '../checkpoints/model.js';
import type { StoredPart } from './assembly.js';
import { containerNumber, type Edit, emptied, type Part, ROOTS, type Stamp } from './parts.js';
import { insertThoughtDocs, type ThinkingExecution, type ThoughtMeasures } from './thought-docs.js';

/** Where a part that shows to this day ends; an index names the same number. */
export const NEVER = Number.MAX_SAFE_INTEGER;

const placed = { execution_id: 'text', line: 'bigint', added: 'bigint', ordinal: 'bigint', removed: 'bigint' } as const;

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
  readonly items: BoundParam[][];
  readonly thoughts: BoundParam[][];
  readonly tool_calls: BoundParam[][];
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
      rows.tool_calls.push([tenant, checkpoint_id, owner.toolCallId(call), ...place, part.position, ...found]);
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

/** What a part takes where it is stored. */
export const storedText = (part: Part): string =>
  part.parent === ROOTS.thoughts || part.parent === ROOTS.tool_calls ? body(part) : (part.text ?? '');

/** Where the ordinal of a row stands; the revision at which it ends is behind it. */
const ORDINAL = { items: 4, thoughts: 6, tool_calls: 6 } as const;

/** The rows of one edit by their ordinals, to end them before they are stored. */
export function endable(rows: PartRows): ReadonlyMap<number, (revision: number) => void> {
  const ends = new Map<number, (revision: number) => void>();
  for (const [name, ordinal] of Object.entries(ORDINAL) as [keyof PartRows, number][]) {
    for (const row of rows[name]) ends.set(row[ordinal] as number, (revision) => void (row[ordinal + 1] = revision));
  }
  return ends;
}

/** Where a row of thoughts has its checkpoint and its body. */
const THOUGHT = { checkpoint_id: 1, body: 11 } as const;

/** The thoughts among these, as they are stored. */
export const thoughtBodies = ({ thoughts: rows }: PartRows): string[] => rows.map((row) => row[THOUGHT.body] as string);

/** The thoughts that an edit adds, as they will be stored. */
export const addedThoughts = ({ added }: Pick<Edit, 'added'>): string[] =>
  added.filter(({ parent }) => parent === ROOTS.thoughts).map(body);

export async function insertParts(
  tx: Tx,
  execution: ThinkingExecution,
  rows: PartRows,
  measures: ThoughtMeasures,
): Promise<void> {
  await tx.insert(items, rows.items);
  await tx.insert(thoughts, rows.thoughts);
  const said = rows.thoughts.map((row) => ({
    checkpoint_id: row[THOUGHT.checkpoint_id] as string,
    body: row[THOUGHT.body] as string,
  }));
  await insertThoughtDocs(tx, execution, said, measures);
  await tx.insert(toolCalls, rows.tool_calls);
}

/** Ends what an edit replaces or takes out. What is of another line stays: others see it. */
export async function endParts(tx: Tx, execution_id: string, edit: Edit, { line, revision }: Stamp): Promise<void> {
  for (const { parent, ref } of edit.ended) {
    if (ref.stamp.line !== line) continue;
    const at = sql`SET removed = ${revision} WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}
      AND line = ${line} AND added = ${ref.stamp.revision} AND ordinal = ${ref.ordinal}`;
    if (parent === ROOTS.thoughts) await tx.send(sql`UPDATE thoughts ${at}`);
    else if (parent === ROOTS.tool_calls) await tx.send(sql`UPDATE tool_calls ${at}`);
    else await tx.send(sql`UPDATE checkpoint_items ${at}`);
  }
}

/** A line up to a revision, and those that it goes back to, each up to where it was branched off. */
export const segments = (execution_id: string, line: number, revision: number): Sql =>
  sql`segments(line, upto, depth) AS (
        SELECT CAST(${line} AS bigint), CAST(${revision} AS bigint), 0
        UNION ALL
        SELECT l.base_line, l.base_revision, s.depth + 1 FROM segments s CROSS JOIN execution_lines l
          WHERE l.tenant_id = ${TENANT} AND l.execution_id = ${execution_id} AND l.line = s.line
            AND l.base_line IS NOT NULL
      )`;

/** All that is known of a part. */
const everything = (name: keyof typeof tables, depth: Sql): Sql =>
  name === 'items'
    ? sql`${depth} AS depth, p.line, p.added, p.ordinal, p.parent, p.key, p.position, p.kind, p.child, p.value`
    : sql`${depth} AS depth, p.line, p.added, p.ordinal, ${ROOT[name]} AS parent, NULL AS key, p.position,
        'element' AS kind, NULL AS child, p.body AS value`;

/** What it takes to put a state of one line together. What most parts do not have is packed: to read a column costs more. */
const enough = (name: keyof typeof tables): Sql =>
  name === 'items'
    ? sql`p.parent, p.position, ${RARE} AS packed, CAST(p.value AS text) AS value`
    : sql`${ROOT[name]} AS parent, p.position, NULL AS packed, CAST(p.body AS text) AS value`;

const RARE: Sql = byDialect({
  sqlite: sql`CASE WHEN p.key IS NULL AND p.kind = 'value' THEN NULL ELSE json_array(p.key, p.kind, p.child) END`,
  postgres: sql`CASE WHEN p.key IS NULL AND p.kind = 'value' THEN NULL
    ELSE json_build_array(p.key, p.kind, p.child)::text END`,
});

/** Stretches of lists that are short: to read each as a row would cost more than what is in it. */
const SHORT: Sql = sql`(p.key IS NULL AND p.kind = 'value' AND LENGTH(CAST(p.value AS text)) <= 512)`;

/** Those of one list in a row: their positions, and their values in the same order. */
const JOINED: Sql = byDialect({
  sqlite: sql`p.parent, NULL AS position, '[' || group_concat(p.position) || ']' AS packed,
    '[' || group_concat(p.value) || ']' AS value`,
  postgres: sql`p.parent, NULL::bigint AS position, '[' || string_agg(p.position::text, ',') || ']' AS packed,
    '[' || string_agg(p.value::text, ',') || ']' AS value`,
});

/** The roots of their lists. */
const ROOT = { thoughts: sql`1`, tool_calls: sql`2` } as const;

interface SlimRow {
  readonly parent: number;
  /** Null for several that are joined. */
  readonly position: number | null;
  readonly packed: string | null;
  readonly value: string | null;
}

/** By name: to spread objects takes many times as long. */
const shown = (
  parent: number,
  key: string | null,
  position: number,
  kind: StoredPart['kind'],
  child: number | null,
  value: string | null,
  parsed?: Json,
): StoredPart => ({ depth: 0, line: 0, added: 0, ordinal: 0, parent, key, position, kind, child, value, parsed });

function unpack(rows: readonly SlimRow[]): StoredPart[] {
  const parts: StoredPart[] = [];
  for (const { parent, position, packed, value } of rows) {
    if (position === null) {
      const positions = JSON.parse(packed!) as number[];
      const values = JSON.parse(value!) as Json[];
      for (let i = 0; i < values.length; i++)
        parts.push(shown(parent, null, positions[i]!, 'value', null, null, values[i]));
    } else if (packed !== null) {
      const [key, kind, child] = JSON.parse(packed) as [string | null, StoredPart['kind'], number | null];
      parts.push(shown(parent, key, position, kind, child, value));
    } else {
      const element = parent === ROOTS.thoughts || parent === ROOTS.tool_calls;
      parts.push(shown(parent, null, position, element ? 'element' : 'value', null, value));
    }
  }
  return parts;
}

const tables = { items: sql`checkpoint_items`, thoughts: sql`thoughts`, tool_calls: sql`tool_calls` };

/** Of which checkpoint the state is read. */
export interface StateAt {
  readonly execution_id: string;
  readonly line: number;
  readonly revision: number;
  readonly followed: number;
  readonly base_line: number | null;
}

/** What shows on the line itself. At its end nothing ended later, and an index has what shows there. */
function onLine(name: keyof typeof tables, at: StateAt, columns: Sql): Sql {
  const line = sql`p.tenant_id = ${TENANT} AND p.execution_id = ${at.execution_id} AND p.line = ${at.line}`;
  const shows =
    name === 'items' && at.followed === 0
      ? sql`p.removed = 9007199254740991`
      : sql`p.added <= ${at.revision} AND p.removed > ${at.revision}`;
  return sql`SELECT ${columns} FROM ${tables[name]} p WHERE ${line} AND ${shows}`;
}

/** What shows on the lines that it goes back to. PostgreSQL without statistics would rather read all of the table. */
function below(name: keyof typeof tables, execution_id: string): Sql {
  const shows = sql`p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.line = s.line
    AND p.added <= s.upto AND p.removed > s.upto AND s.depth > 0`;
  const selected = everything(name, sql`s.depth`);
  return byDialect({
    sqlite: sql`SELECT ${selected} FROM segments s CROSS JOIN ${tables[name]} p WHERE ${shows}`,
    postgres: sql`SELECT ${selected} FROM segments s
      CROSS JOIN LATERAL (SELECT * FROM ${tables[name]} p WHERE ${shows} OFFSET 0) p`,
  });
}

const NAMES = ['items', 'thoughts', 'tool_calls'] as const;

/** All parts of the state of a checkpoint, in one query; with `retained`, so that they can be ended. */
export async function readParts(query: Query, at: StateAt, retained: boolean): Promise<StoredPart[]> {
  if (at.base_line === null && !retained) {
    const [rows, ...others] = NAMES.map((name) => onLine(name, at, enough(name)));
    const joined = sql`${onLine('items', at, JOINED)} AND ${SHORT} GROUP BY p.parent`;
    const slim = [joined, sql`${rows!} AND NOT ${SHORT}`, ...others];
    return unpack(await query.all<SlimRow>(join(slim, ' UNION ALL ')));
  }
  const own = NAMES.map((name) => onLine(name, at, everything(name, sql`0`)));
  if (at.base_line === null) return query.all<StoredPart>(join(own, ' UNION ALL '));
  const bases = NAMES.map((name) => below(name, at.execution_id));
  return query.all<StoredPart>(
    sql`WITH RECURSIVE ${segments(at.execution_id, at.line, at.revision)}
        ${join([...own, ...bases], ' UNION ALL ')}`,
  );
}
