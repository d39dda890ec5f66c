/** Lists of checkpoints, thoughts and tool calls, and their filters. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import type { Reach } from '../../engine/sql.js';
import { moveDoc } from '../../index/sql.js';
import { canonical } from '../../kernel/node.js';
import { executionsWithin } from '../executions/store.js';
import { ROOTS } from '../states/parts.js';
import { NEVER } from '../states/store.js';
import { thoughtContentId } from '../states/thought-docs.js';
import type { EntrySpan } from './pruning.js';
import type { CheckpointRow } from './store.js';

type ListInput = In<'checkpoints.list'>;
type ThoughtMember = 'thought_type' | 'confidence_below' | 'thought_text';
type ToolMember = 'tool_id' | 'tool_success' | 'tool_slower_than_ms';

/** A filter of thoughts or tool calls. */
export interface EntryFilter extends Pick<ListInput, 'execution_id' | 'agent_id' | ThoughtMember | ToolMember> {
  readonly reach?: Reach | undefined;
}

interface CheckpointFilter extends EntryFilter, Omit<ListInput, keyof EntryFilter | `taken_${string}`> {
  /** Epoch milliseconds. */
  readonly taken_after?: number | undefined;
  readonly taken_before?: number | undefined;
}

export const ENTRY_TABLES = ['thoughts', 'tool_calls'] as const;
export type EntryTable = (typeof ENTRY_TABLES)[number];
const tables: Record<EntryTable, Sql> = { thoughts: sql`thoughts`, tool_calls: sql`tool_calls` };

/** Lowers A to Z only: the databases do not agree on other letters. */
export const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether a member of the JSON column t.body contains a text. */
const contains = (member: Sql, text: string): Sql =>
  byDialect({
    sqlite: sql`instr(lower(t.body ->> ${member}), ${lower(text)}) > 0`,
    postgres: sql`strpos(lower((t.body ->> ${member}) COLLATE "C"), ${lower(text)}) > 0`,
  });

/** Rows of pruned entries remain for a moment after their content is erased. */
const NOT_EMPTIED = sql`t.removed > 0`;

const conditionsOf: Record<EntryTable, (filter: EntryFilter) => Sql[]> = {
  thoughts: ({ thought_type, confidence_below, thought_text }) => {
    const conditions: Sql[] = [];
    if (thought_type !== undefined) conditions.push(sql`t.type = ${thought_type}`);
    if (confidence_below !== undefined) conditions.push(sql`t.confidence < ${confidence_below}`);
    if (thought_text !== undefined)
      conditions.push(sql`(${contains(sql`'content'`, thought_text)} OR ${contains(sql`'reasoning'`, thought_text)})`);
    return conditions;
  },
  tool_calls: ({ tool_id, tool_success, tool_slower_than_ms }) => {
    const conditions: Sql[] = [];
    if (tool_id !== undefined) conditions.push(sql`t.tool_id = ${tool_id}`);
    // A literal, so that the index of failures can be used.
    if (tool_success !== undefined) conditions.push(tool_success ? sql`t.success = 1` : sql`t.success = 0`);
    if (tool_slower_than_ms !== undefined) conditions.push(sql`t.duration_ms > ${tool_slower_than_ms}`);
    return conditions;
  },
};

const which = (conditions: readonly Sql[]): Sql =>
  join([sql`t.tenant_id = ${TENANT}`, NOT_EMPTIED, ...conditions], ' AND ');

/**
 * Where entries are visible: on a line, from `start` to before `until`. A line that branched off in between shows them
 * as well, until it fills or empties their slot itself.
 */
function spans(name: EntryTable, conditions: readonly Sql[]): Sql {
  const table = tables[name];
  const overridden = sql`COALESCE((SELECT MIN(h.added) FROM (
      SELECT x.added FROM ${table} x WHERE x.tenant_id = ${TENANT} AND x.execution_id = r.execution_id
        AND x.line = l.line AND x.position = r.position
      UNION ALL
      SELECT x.added FROM checkpoint_items x WHERE x.tenant_id = ${TENANT} AND x.execution_id = r.execution_id
        AND x.line = l.line AND x.parent = ${ROOTS[name]} AND x.position = r.position) h), ${NEVER})`;
  return sql`reach(execution_id, checkpoint_id, id, line, start, until, position) AS (
      SELECT t.execution_id, t.checkpoint_id, t.id, t.line, t.added, t.removed, t.position FROM ${table} t
        WHERE ${which(conditions)}
      UNION
      SELECT r.execution_id, r.checkpoint_id, r.id, l.line, l.line, ${overridden}, r.position
        FROM reach r JOIN execution_lines l ON l.tenant_id = ${TENANT} AND l.execution_id = r.execution_id
          AND l.base_line = r.line AND l.base_revision >= r.start AND l.base_revision < r.until
    )`;
}

/** Checkpoints that introduced, or with `inherited` also inherit, a matching entry. */
function having(name: EntryTable, conditions: readonly Sql[], inherited: boolean): Sql {
  if (!inherited)
    return sql`c.checkpoint_id IN (SELECT t.checkpoint_id FROM ${tables[name]} t WHERE ${which(conditions)})`;
  return sql`c.checkpoint_id IN (
    WITH RECURSIVE ${spans(name, conditions)}
    SELECT k.checkpoint_id FROM reach r JOIN checkpoints k ON k.tenant_id = ${TENANT}
      AND k.execution_id = r.execution_id AND k.line = r.line AND k.revision >= r.start AND k.revision < r.until)`;
}

/** Where the entries that these checkpoints introduced are visible. */
export const spansOf = (query: Query, name: EntryTable, checkpoint_ids: readonly string[]): Promise<EntrySpan[]> =>
  query.all<EntrySpan>(
    sql`WITH RECURSIVE ${spans(name, [sql`t.checkpoint_id = ANY(${checkpoint_ids})`])}
        SELECT r.checkpoint_id, r.id, r.line, r.start, r.until FROM reach r`,
  );

/** Moves an entry to another checkpoint, unless that has one with the same id. */
export async function moveEntry(
  tx: Tx,
  name: EntryTable,
  { checkpoint_id, id }: EntrySpan,
  owner_id: string,
): Promise<void> {
  const moved = await tx.run(
    sql`UPDATE ${tables[name]} SET checkpoint_id = ${owner_id}
        WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id} AND id = ${id}
          AND NOT EXISTS (SELECT 1 FROM ${tables[name]} o
            WHERE o.tenant_id = ${TENANT} AND o.checkpoint_id = ${owner_id} AND o.id = ${id})`,
  );
  if (moved > 0 && name === 'thoughts')
    moveDoc(tx, 'thought', thoughtContentId(checkpoint_id, id), thoughtContentId(owner_id, id));
}

/** Whether labels have a member of this value: both are canonical JSON, so equal values are equal texts. */
const hasLabel = (name: string, value: string): Sql =>
  byDialect({
    sqlite: sql`EXISTS (SELECT 1 FROM json_each(c.labels) j
      WHERE j.key = ${name} AND (c.labels -> j.fullkey) = ${value})`,
    postgres: sql`(c.labels -> ${name})::text = ${value}`,
  });

/** Rare reasons have a partial index, which is used if the statement repeats its condition. */
const RARE: ReadonlySet<string> = new Set(['manual', 'low_confidence', 'tool_error']);

function where(filter: CheckpointFilter): Sql {
  const conditions: Sql[] = [sql`c.tenant_id = ${TENANT}`];
  const { execution_id, agent_id, thread_id, namespace, checkpoint_reason, name, labels } = filter;
  const live = [sql`e.tenant_id = ${TENANT}`, sql`e.deleted_at IS NULL`];
  if (thread_id !== undefined) live.push(sql`e.thread_id = ${thread_id}`);
  if (namespace !== undefined) live.push(sql`e.namespace = ${namespace}`);
  if (agent_id !== undefined) live.push(sql`e.agent_id = ${agent_id}`);
  if (filter.reach) live.push(executionsWithin(filter.reach));
  if (execution_id !== undefined) conditions.push(sql`c.execution_id = ${execution_id}`);
  conditions.push(
    live.length > 2
      ? sql`c.execution_id IN (SELECT e.execution_id FROM executions e WHERE ${join(live, ' AND ')})`
      : sql`EXISTS (SELECT 1 FROM executions e WHERE e.execution_id = c.execution_id AND ${join(live, ' AND ')})`,
  );
  if (checkpoint_reason !== undefined) {
    conditions.push(sql`c.checkpoint_reason = ${checkpoint_reason}`);
    if (RARE.has(checkpoint_reason))
      conditions.push(sql`c.checkpoint_reason IN ('manual', 'low_confidence', 'tool_error')`);
  }
  if (name !== undefined) conditions.push(sql`c.name = ${name}`);
  for (const [member, value] of Object.entries(labels ?? {})) conditions.push(hasLabel(member, canonical(value)));
  if (filter.taken_after !== undefined) conditions.push(sql`c.timestamp >= ${filter.taken_after}`);
  if (filter.taken_before !== undefined) conditions.push(sql`c.timestamp < ${filter.taken_before}`);
  if (filter.before_id !== undefined) conditions.push(sql`c.checkpoint_id < ${filter.before_id}`);
  const ofExecution = execution_id === undefined ? [] : [sql`t.execution_id = ${execution_id}`];
  for (const table of ENTRY_TABLES) {
    const entries = conditionsOf[table](filter);
    if (entries.length > 0) conditions.push(having(table, [...entries, ...ofExecution], filter.inherited === true));
  }
  return join(conditions, ' AND ');
}

export const listCheckpoints = (query: Query, filter: CheckpointFilter, page: KeysetPage): Promise<CheckpointRow[]> =>
  query.all<CheckpointRow>(
    sql`SELECT c.* FROM checkpoints c WHERE ${where(filter)}${keyset(sql`c.checkpoint_id`, page)}`,
  );

export const countCheckpoints = (filter: CheckpointFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM checkpoints c WHERE ${where(filter)}`;

/** A thought or tool call, and the checkpoint that introduced it. */
export interface EntryRow {
  readonly checkpoint_id: string;
  readonly id: string;
  readonly execution_id: string;
  readonly body: string;
}

function entryConditions(table: EntryTable, filter: EntryFilter): Sql {
  const { execution_id, agent_id } = filter;
  const conditions = conditionsOf[table](filter);
  if (execution_id !== undefined) conditions.push(sql`t.execution_id = ${execution_id}`);
  const reached = filter.reach ? sql` AND ${executionsWithin(filter.reach)}` : sql``;
  const live = sql`e.tenant_id = ${TENANT} AND e.deleted_at IS NULL${reached}`;
  conditions.push(
    agent_id === undefined
      ? sql`EXISTS (SELECT 1 FROM executions e WHERE e.execution_id = t.execution_id AND ${live})`
      : sql`t.execution_id IN (SELECT e.execution_id FROM executions e WHERE ${live} AND e.agent_id = ${agent_id})`,
  );
  // A pruned checkpoint may leave entries that only a branch overrides.
  conditions.push(sql`EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${TENANT}
    AND c.checkpoint_id = t.checkpoint_id AND c.execution_id = t.execution_id)`);
  return which(conditions);
}

export type EntryKey = readonly [checkpoint_id: string, id: string];

interface EntryPage extends Omit<KeysetPage, 'after'> {
  readonly after: EntryKey | undefined;
}

export function listEntries(
  query: Query,
  table: EntryTable,
  filter: EntryFilter,
  page: EntryPage,
): Promise<EntryRow[]> {
  const { after, limit, offset = 0 } = page;
  const descending = page.order === 'desc';
  const key = sql`(t.checkpoint_id, t.id)`;
  const behind =
    after && (descending ? sql`AND ${key} < (${after[0]}, ${after[1]})` : sql`AND ${key} > (${after[0]}, ${after[1]})`);
  const order = descending ? sql`t.checkpoint_id DESC, t.id DESC` : sql`t.checkpoint_id, t.id`;
  return query.all<EntryRow>(
    // tenant_id is among the conditions.
    sql`SELECT t.checkpoint_id, t.id, t.execution_id, t.body FROM ${tables[table]} t
        WHERE ${entryConditions(table, filter)} ${behind ?? sql``}
        ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`,
  );
}

export const countEntries = (table: EntryTable, filter: EntryFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM ${tables[table]} t
      WHERE t.tenant_id = ${TENANT} AND ${entryConditions(table, filter)}`;
