/** Selects what a filter or a user names, in pages, so that a selection can be continued after a crash. */
import { byDialect, join, type Query, type Sql, sql, TENANT, textToList } from '../../driver/index.js';
import type { Forgettable } from '../../engine/index.js';
import { cardsAbout } from '../../facts/index.js';
import { toMs } from '../../kernel/index.js';
import { placesOf } from '../../memory/index.js';
import type { ErasureFilter } from './model.js';

/** What is still to be selected. */
export interface Selection {
  readonly from: 'trajectories' | 'scopes' | 'executions' | 'memories' | 'turns' | 'cards' | 'packets';
  /** The last id of the page before. */
  readonly after: string;
  readonly filter?: ErasureFilter;
  readonly user?: string;
}

interface Selected extends Forgettable {
  /** Whether it is about several subjects. */
  readonly shared: boolean;
}

interface Page {
  readonly items: readonly Selected[];
  readonly next: Selection | null;
}

const PAGE = 500;

export const selectionOf = ({ filter, user }: Pick<Selection, 'filter' | 'user'>): Selection =>
  user === undefined ? { from: 'memories', after: '', filter: filter! } : { from: 'trajectories', after: '', user };

const steps = (selection: Selection): readonly Selection['from'][] =>
  selection.user === undefined
    ? ['memories', 'turns', 'cards', 'packets']
    : ['trajectories', 'scopes', 'executions', 'cards', 'packets'];

/** The page after this one, or the start of the next step. */
function following(selection: Selection, last: string | undefined, isFull: boolean): Selection | null {
  if (isFull) return { ...selection, after: last! };
  const order = steps(selection);
  const next = order[order.indexOf(selection.from) + 1];
  return next === undefined ? null : { ...selection, from: next, after: '' };
}

export async function selectPage(query: Query, selection: Selection): Promise<Page> {
  const { items, last, full } =
    selection.user === undefined ? await byFilter(query, selection) : await byUser(query, selection);
  return { items, next: following(selection, last, full) };
}

interface Read {
  readonly items: readonly Selected[];
  readonly last: string | undefined;
  readonly full: boolean;
}

const readOf = (items: readonly Selected[], ids: readonly string[]): Read => ({
  items,
  last: ids.at(-1),
  full: ids.length === PAGE,
});

const CONTAINERS = {
  trajectories: { kind: 'trajectory', table: sql`trajectories`, column: sql`trajectory_id` },
  scopes: { kind: 'scope', table: sql`scopes`, column: sql`scope_id` },
  executions: { kind: 'execution', table: sql`executions`, column: sql`execution_id` },
} as const;

/** Few rows: they have no index by subject. */
async function containersAbout(
  query: Query,
  from: keyof typeof CONTAINERS,
  { after, user }: Pick<Selection, 'after' | 'user'>,
): Promise<Read> {
  const { kind, table, column } = CONTAINERS[from];
  const listed = JSON.stringify(user);
  const isAbout = byDialect({
    sqlite: sql`INSTR(subject_ids, ${listed}) > 0`,
    postgres: sql`STRPOS(subject_ids, ${listed}) > 0`,
  });
  const rows = await query.all<{ id: string; subject_ids: string }>(
    sql`SELECT ${column} AS id, subject_ids FROM ${table}
        WHERE tenant_id = ${TENANT} AND subject_ids IS NOT NULL AND ${isAbout} AND ${column} > ${after}
        ORDER BY ${column} LIMIT ${PAGE}`,
  );
  const items = rows.map(({ id, subject_ids }) => ({ kind, id, shared: textToList(subject_ids).length > 1 }));
  return readOf(
    items,
    rows.map(({ id }) => id),
  );
}

async function byUser(query: Query, { from, after, user }: Selection): Promise<Read> {
  if (from === 'trajectories' || from === 'scopes' || from === 'executions')
    return containersAbout(query, from, { after, user: user! });
  if (from === 'cards') {
    const rows = await cardsAbout(query, user!, after, PAGE);
    const places = await placesOf(query, rows);
    const items = places.map((place, i) => ({ ...place, shared: textToList(rows[i]!.subject_ids).length > 1 }));
    return readOf(
      items,
      rows.map(({ card_id }) => card_id),
    );
  }
  const rows = await query.all<{ packet_id: string; subject_ids: string | null }>(
    sql`SELECT p.packet_id, p.subject_ids FROM packet_index i
          JOIN packet_store p ON p.tenant_id = i.tenant_id AND p.seq = i.seq
        WHERE i.tenant_id = ${TENANT} AND i.kind = 'subject' AND i.value = ${user!} AND p.packet_id > ${after}
        ORDER BY p.packet_id LIMIT ${PAGE}`,
  );
  const items = rows.map(({ packet_id: id, subject_ids }) => ({
    kind: 'packet' as const,
    id,
    shared: textToList(subject_ids).length > 1,
  }));
  return readOf(
    items,
    rows.map(({ packet_id }) => packet_id),
  );
}

interface Columns {
  readonly agent: Sql;
  readonly created_at: Sql;
}

function written({ agent_id, created_after, created_before }: ErasureFilter, { agent, created_at }: Columns): Sql {
  const conditions: Sql[] = [sql`1 = 1`];
  if (agent_id !== undefined) conditions.push(sql`${agent} = ${agent_id}`);
  if (created_after !== undefined) conditions.push(sql`${created_at} >= ${toMs(created_after)}`);
  if (created_before !== undefined) conditions.push(sql`${created_at} < ${toMs(created_before)}`);
  return join(conditions, ' AND ');
}

interface Named {
  readonly kind: Forgettable['kind'];
  readonly id: string;
}

function statementOf({ from, after, filter }: Selection): Sql | undefined {
  const { trajectory_id, scope_id } = filter!;
  if (from === 'memories') {
    const conditions = [written(filter!, { agent: sql`v.agent_id`, created_at: sql`v.created_at` })];
    if (scope_id !== undefined) conditions.push(sql`v.scope_id = ${scope_id}`);
    if (trajectory_id !== undefined)
      conditions.push(
        sql`(v.trajectory_id = ${trajectory_id} OR EXISTS (SELECT 1 FROM learned_in l WHERE l.tenant_id = ${TENANT}
              AND l.note_id = v.memory_id AND l.trajectory_id = ${trajectory_id}))`,
      );
    return sql`SELECT v.kind, v.memory_id AS id FROM memory_versions v
      WHERE v.tenant_id = ${TENANT} AND v.version = 1 AND v.memory_id > ${after} AND ${join(conditions, ' AND ')}
      ORDER BY v.memory_id LIMIT ${PAGE}`;
  }
  if (from === 'turns') {
    const conditions = [written(filter!, { agent: sql`c.author_id`, created_at: sql`c.created_at` })];
    if (scope_id !== undefined) conditions.push(sql`s.scope_id = ${scope_id}`);
    if (trajectory_id !== undefined) conditions.push(sql`s.trajectory_id = ${trajectory_id}`);
    return sql`SELECT DISTINCT 'turn' AS kind, c.card_id AS id FROM scopes s
        JOIN box_entries e ON e.tenant_id = s.tenant_id AND e.box_id = s.box_id
        JOIN cards c ON c.tenant_id = e.tenant_id AND c.card_id = e.card_id
      WHERE s.tenant_id = ${TENANT} AND c.card_id > ${after} AND ${join(conditions, ' AND ')}
      ORDER BY id LIMIT ${PAGE}`;
  }
  if (from === 'cards') {
    // A card of its own is in no scope or trajectory.
    if (scope_id !== undefined || trajectory_id !== undefined) return undefined;
    return sql`SELECT 'card' AS kind, c.card_id AS id FROM cards c
      WHERE c.tenant_id = ${TENANT} AND c.held_by IS NULL AND c.card_id > ${after}
        AND ${written(filter!, { agent: sql`c.author_id`, created_at: sql`c.created_at` })}
      ORDER BY c.card_id LIMIT ${PAGE}`;
  }
  if (scope_id !== undefined) return undefined;
  const thread = trajectory_id === undefined ? sql`1 = 1` : sql`p.thread_id = ${trajectory_id}`;
  return sql`SELECT 'packet' AS kind, p.packet_id AS id FROM packet_store p
    WHERE p.tenant_id = ${TENANT} AND p.format IS NULL AND p.packet_id > ${after} AND ${thread}
      AND ${written(filter!, { agent: sql`p.agent`, created_at: sql`p.timestamp` })}
    ORDER BY p.packet_id LIMIT ${PAGE}`;
}

async function byFilter(query: Query, selection: Selection): Promise<Read> {
  const statement = statementOf(selection);
  const rows = statement ? await query.all<Named>(statement) : [];
  const items = rows.map((row) => ({ ...row, shared: false }));
  return readOf(
    items,
    rows.map(({ id }) => id),
  );
}
