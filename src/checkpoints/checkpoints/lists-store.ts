/** Lists of checkpoints, thoughts and tool calls, by what they are and by what is in them. */
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
import type { Reach } from '../../engine/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { executionsWithin } from '../executions/reach.js';
import { ROOTS } from '../states/parts.js';
import { NEVER } from '../states/store.js';
import type { CheckpointReason } from './model.js';
import type { EntrySpan } from './pruning.js';
import type { CheckpointRow } from './store.js';

export interface ThoughtFilter {
  readonly thought_type?: string | undefined;
  readonly confidence_below?: number | undefined;
  readonly thought_text?: string | undefined;
}

export interface ToolFilter {
  readonly tool_id?: string | undefined;
  readonly tool_success?: boolean | undefined;
  readonly tool_slower_than_ms?: number | undefined;
}

export interface CheckpointFilter extends ThoughtFilter, ToolFilter {
  readonly execution_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly namespace?: string | undefined;
  readonly checkpoint_reason?: CheckpointReason | undefined;
  readonly name?: string | undefined;
  readonly labels?: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly taken_after?: number | undefined;
  readonly taken_before?: number | undefined;
  readonly before_id?: string | undefined;
  readonly inherited?: boolean | undefined;
  readonly reach?: Reach | undefined;
}

/** The tables of what is found in states. */
export const LISTED = ['thoughts', 'tool_calls'] as const;
type ListedTable = (typeof LISTED)[number];
const listed: Record<ListedTable, Sql> = { thoughts: sql`thoughts`, tool_calls: sql`tool_calls` };
const LIST_ROOTS = { thoughts: ROOTS.thoughts, tool_calls: ROOTS.tool_calls };

/** Letters A to Z in one case, and no others: the databases do not agree on those. */
export const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether a member of a JSON column, under the name t, has a text in it. */
const mentions = (member: 'content' | 'reasoning', text: string): Sql =>
  member === 'content'
    ? byDialect({
        sqlite: sql`instr(lower(json_extract(t.body, '$.content')), ${lower(text)}) > 0`,
        postgres: sql`strpos(lower((t.body ->> 'content') COLLATE "C"), ${lower(text)}) > 0`,
      })
    : byDialect({
        sqlite: sql`instr(lower(json_extract(t.body, '$.reasoning')), ${lower(text)}) > 0`,
        postgres: sql`strpos(lower((t.body ->> 'reasoning') COLLATE "C"), ${lower(text)}) > 0`,
      });

/** Of what was pruned, the rows are there for a moment after their content. */
const NOT_EMPTIED = sql`t.removed > 0`;

function thoughtConditions({ thought_type, confidence_below, thought_text }: ThoughtFilter): Sql[] {
  const conditions: Sql[] = [];
  if (thought_type !== undefined) conditions.push(sql`t.type = ${thought_type}`);
  if (confidence_below !== undefined) conditions.push(sql`t.confidence < ${confidence_below}`);
  if (thought_text !== undefined)
    conditions.push(sql`(${mentions('content', thought_text)} OR ${mentions('reasoning', thought_text)})`);
  return conditions;
}

function toolConditions({ tool_id, tool_success, tool_slower_than_ms }: ToolFilter): Sql[] {
  const conditions: Sql[] = [];
  if (tool_id !== undefined) conditions.push(sql`t.tool_id = ${tool_id}`);
  // As a literal, by which the index of failures can be used.
  if (tool_success !== undefined) conditions.push(tool_success ? sql`t.success = 1` : sql`t.success = 0`);
  if (tool_slower_than_ms !== undefined) conditions.push(sql`t.duration_ms > ${tool_slower_than_ms}`);
  return conditions;
}

/**
 * Where rows of thoughts or tool calls show: on a line, from `start` until before `until`. A line that branched off
 * meanwhile shows them as well, until it puts something else in that place, or nothing.
 */
function reach(table: Sql, root: number, conditions: readonly Sql[]): Sql {
  const which = join([sql`t.tenant_id = ${TENANT}`, NOT_EMPTIED, ...conditions], ' AND ');
  const hidden = sql`COALESCE((SELECT MIN(h.added) FROM (
      SELECT x.added FROM ${table} x WHERE x.tenant_id = ${TENANT} AND x.execution_id = r.execution_id
        AND x.line = l.line AND x.position = r.position
      UNION ALL
      SELECT x.added FROM checkpoint_items x WHERE x.tenant_id = ${TENANT} AND x.execution_id = r.execution_id
        AND x.line = l.line AND x.parent = ${root} AND x.position = r.position) h), ${NEVER})`;
  return sql`reach(execution_id, checkpoint_id, id, line, start, until, position) AS (
      SELECT t.execution_id, t.checkpoint_id, t.id, t.line, t.added, t.removed, t.position FROM ${table} t WHERE ${which}
      UNION
      SELECT r.execution_id, r.checkpoint_id, r.id, l.line, l.line, ${hidden}, r.position
        FROM reach r JOIN execution_lines l ON l.tenant_id = ${TENANT} AND l.execution_id = r.execution_id
          AND l.base_line = r.line AND l.base_revision >= r.start AND l.base_revision < r.until
    )`;
}

/** Which checkpoints brought, or also inherited, one of the rows of a table that these conditions hold for. */
function having(table: Sql, root: number, conditions: readonly Sql[], inherited: boolean): Sql {
  const which = join([sql`t.tenant_id = ${TENANT}`, NOT_EMPTIED, ...conditions], ' AND ');
  if (!inherited) return sql`c.checkpoint_id IN (SELECT t.checkpoint_id FROM ${table} t WHERE ${which})`;
  return sql`c.checkpoint_id IN (
    WITH RECURSIVE ${reach(table, root, conditions)}
    SELECT k.checkpoint_id FROM reach r JOIN checkpoints k ON k.tenant_id = ${TENANT}
      AND k.execution_id = r.execution_id AND k.line = r.line AND k.revision >= r.start AND k.revision < r.until)`;
}

/** Where what these checkpoints brought shows. */
export function spansOf(query: Query, table: ListedTable, checkpoint_ids: readonly string[]): Promise<EntrySpan[]> {
  const brought = [sql`t.checkpoint_id = ANY(${checkpoint_ids})`];
  return query.all<EntrySpan>(
    sql`WITH RECURSIVE ${reach(listed[table], LIST_ROOTS[table], brought)}
        SELECT r.checkpoint_id, r.id, r.line, r.start, r.until FROM reach r`,
  );
}

/** From now on an entry counts as brought by another checkpoint, unless that has one of the same id. */
export async function passOn(
  tx: Tx,
  table: ListedTable,
  { checkpoint_id, id }: Pick<EntrySpan, 'checkpoint_id' | 'id'>,
  heir: string,
): Promise<void> {
  await tx.send(
    sql`UPDATE ${listed[table]} SET checkpoint_id = ${heir}
        WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id} AND id = ${id}
          AND NOT EXISTS (SELECT 1 FROM ${listed[table]} o
            WHERE o.tenant_id = ${TENANT} AND o.checkpoint_id = ${heir} AND o.id = ${id})`,
  );
}

/** Whether labels have a member of this value: both are canonical JSON, so equal values are equal texts. */
const labelled = (name: string, value: string): Sql =>
  byDialect({
    sqlite: sql`EXISTS (SELECT 1 FROM json_each(c.labels) j WHERE j.key = ${name} AND (c.labels -> j.fullkey) = ${value})`,
    postgres: sql`(c.labels -> ${name})::text = ${value}`,
  });

/** Reasons that are rare have an index, which is used where the statement names them. */
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
  for (const [member, value] of Object.entries(labels ?? {})) conditions.push(labelled(member, canonical(value)));
  if (filter.taken_after !== undefined) conditions.push(sql`c.timestamp >= ${filter.taken_after}`);
  if (filter.taken_before !== undefined) conditions.push(sql`c.timestamp < ${filter.taken_before}`);
  if (filter.before_id !== undefined) conditions.push(sql`c.checkpoint_id < ${filter.before_id}`);
  const inherited = filter.inherited === true;
  const thoughts = thoughtConditions(filter);
  if (thoughts.length > 0)
    conditions.push(having(listed.thoughts, ROOTS.thoughts, within(filter, thoughts), inherited));
  const tools = toolConditions(filter);
  if (tools.length > 0) conditions.push(having(listed.tool_calls, ROOTS.tool_calls, within(filter, tools), inherited));
  return join(conditions, ' AND ');
}

const within = ({ execution_id }: CheckpointFilter, conditions: readonly Sql[]): Sql[] =>
  execution_id === undefined ? [...conditions] : [...conditions, sql`t.execution_id = ${execution_id}`];

export function listCheckpoints(query: Query, filter: CheckpointFilter, page: KeysetPage): Promise<CheckpointRow[]> {
  return query.all<CheckpointRow>(
    sql`SELECT c.* FROM checkpoints c WHERE ${where(filter)}${keyset(sql`c.checkpoint_id`, page)}`,
  );
}

export const countCheckpoints = (filter: CheckpointFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM checkpoints c WHERE ${where(filter)}`;

/** A thought or tool call, and the checkpoint that brought it. */
export interface FoundRow {
  readonly checkpoint_id: string;
  readonly id: string;
  readonly execution_id: string;
  readonly body: string;
}

export interface EntryFilter {
  readonly execution_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly reach?: Reach | undefined;
}

function entryConditions(filter: EntryFilter, conditions: readonly Sql[]): Sql {
  const { execution_id, agent_id } = filter;
  const all: Sql[] = [sql`t.tenant_id = ${TENANT}`, NOT_EMPTIED, ...conditions];
  if (execution_id !== undefined) all.push(sql`t.execution_id = ${execution_id}`);
  const reached = filter.reach ? sql` AND ${executionsWithin(filter.reach)}` : sql``;
  const live = sql`e.tenant_id = ${TENANT} AND e.deleted_at IS NULL${reached}`;
  all.push(
    agent_id === undefined
      ? sql`EXISTS (SELECT 1 FROM executions e WHERE e.execution_id = t.execution_id AND ${live})`
      : sql`t.execution_id IN (SELECT e.execution_id FROM executions e WHERE ${live} AND e.agent_id = ${agent_id})`,
  );
  // Of a checkpoint that was pruned there may be entries that a branch put something else in the place of.
  all.push(sql`EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${TENANT}
    AND c.checkpoint_id = t.checkpoint_id AND c.execution_id = t.execution_id)`);
  return join(all, ' AND ');
}

/** A place in such a list: that of a checkpoint, and of the entry among what it brought. */
export type EntryKey = readonly [checkpoint_id: string, id: string];

interface EntryPage extends Omit<KeysetPage, 'after'> {
  readonly after: EntryKey | undefined;
}

function listEntries(query: Query, table: Sql, which: Sql, page: EntryPage): Promise<FoundRow[]> {
  const { after, limit, offset = 0 } = page;
  const descending = page.order === 'desc';
  const key = sql`(t.checkpoint_id, t.id)`;
  const behind =
    after && (descending ? sql`AND ${key} < (${after[0]}, ${after[1]})` : sql`AND ${key} > (${after[0]}, ${after[1]})`);
  const order = descending ? sql`t.checkpoint_id DESC, t.id DESC` : sql`t.checkpoint_id, t.id`;
  return query.all<FoundRow>(
    // tenant_id is among the conditions.
    sql`SELECT t.checkpoint_id, t.id, t.execution_id, t.body FROM ${table} t WHERE ${which} ${behind ?? sql``}
        ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`,
  );
}

export const listThoughts = (query: Query, filter: EntryFilter & ThoughtFilter, page: EntryPage): Promise<FoundRow[]> =>
  listEntries(query, sql`thoughts`, entryConditions(filter, thoughtConditions(filter)), page);

export const listToolCalls = (query: Query, filter: EntryFilter & ToolFilter, page: EntryPage): Promise<FoundRow[]> =>
  listEntries(query, sql`tool_calls`, entryConditions(filter, toolConditions(filter)), page);

export const countThoughts = (filter: EntryFilter & ThoughtFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM thoughts t
      WHERE t.tenant_id = ${TENANT} AND ${entryConditions(filter, thoughtConditions(filter))}`;

export const countToolCalls = (filter: EntryFilter & ToolFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM tool_calls t
      WHERE t.tenant_id = ${TENANT} AND ${entryConditions(filter, toolConditions(filter))}`;
