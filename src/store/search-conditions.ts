/** Conditions on search_docs under the name d: what can be read, what the caller reaches, what the filters let through. */
import { acrossTenants, byDialect, join, type Sql, sql } from '../driver/sql.js';
import { asMoment, type Comparison, type Filter } from '../model/search.js';
import { visibleBox } from './boxes.js';
import { type CardReach, isMine, notesLearnedWithin, type Reach } from './reach.js';

/** How far an agent reaches, by what is found; absent where it reaches all of it. */
export interface Viewer {
  readonly agent_id: string;
  readonly turn?: Reach | undefined;
  readonly artifact?: Reach | undefined;
  readonly note?: Reach | undefined;
  readonly packet?: Reach | undefined;
  readonly thought?: Reach | undefined;
  readonly card?: CardReach | undefined;
}

const NEVER = sql`1 = 0`;

/**
 * What holds it has not ended; or it is a turn of a scope that another, still open, was restored from. By the holder's
 * row alone: most have none.
 */
const notEnded = (tenant: string): Sql =>
  sql`(d.held_by IS NULL
    OR (SELECT x.ended_at FROM endings x WHERE x.tenant_id = ${tenant} AND x.holder = d.held_by) IS NULL
    OR (d.position IS NOT NULL AND EXISTS (SELECT 1 FROM scopes r
      WHERE r.tenant_id = ${tenant} AND r.restored_from = d.scope_id AND r.closed_at IS NULL AND r.deleted_at IS NULL)))`;

export const canBeRead = (tenant: string, now: number): Sql =>
  sql`d.terms IS NOT NULL AND (d.expires_at IS NULL OR d.expires_at > ${now}) AND ${notEnded(tenant)}`;

function inReach(tenant: string, reach: Reach): Sql {
  if (reach.extent === 'none') return NEVER;
  if (reach.extent === 'own') return sql`d.agent_id = ${reach.agent_id}`;
  return sql`(d.agent_id = ${reach.agent_id} OR ${isMine(tenant, reach, sql`d.trajectory_id`)})`;
}

/** Whoever said it, or in whose scope it was said. */
function turnInReach(tenant: string, reach: Reach): Sql {
  if (reach.extent === 'none') return NEVER;
  return sql`(${inReach(tenant, reach)} OR EXISTS (SELECT 1 FROM scopes o
    WHERE o.tenant_id = ${tenant} AND o.scope_id = d.scope_id AND o.agent_id = ${reach.agent_id}))`;
}

function noteInReach(tenant: string, reach: Reach): Sql {
  if (reach.extent !== 'own_trajectory') return inReach(tenant, reach);
  return sql`(d.agent_id = ${reach.agent_id} OR ${notesLearnedWithin(tenant, reach, sql`d.entity_id`)})`;
}

function cardInReach({ loose, held, agent_id }: CardReach): Sql {
  const by = (extent: string): Sql =>
    extent === 'all' ? sql`1 = 1` : extent === 'none' ? NEVER : sql`d.agent_id = ${agent_id}`;
  return sql`((d.held_by IS NULL AND ${by(loose)}) OR (d.held_by IS NOT NULL AND ${by(held)}))`;
}

/** Cards of agent_turns are for those who may see a box that has them. */
const shownCard = (tenant: string, agent_id: string): Sql =>
  sql`(d.held_by IS NULL OR SUBSTR(d.held_by, 1, 11) <> 'agent_turn:'
    OR EXISTS (SELECT 1 FROM box_entries seen CROSS JOIN boxes b
      WHERE seen.tenant_id = ${tenant} AND seen.card_id = d.content_id AND b.tenant_id = ${tenant}
        AND b.box_id = seen.box_id AND ${visibleBox(tenant, agent_id)}))`;

/** Whether an agent may see it, by the same rules as lists and reads. */
export function seenBy(tenant: string, viewer: Viewer | null): Sql {
  if (viewer === null) return sql`1 = 1`;
  const { turn, artifact, note, packet, thought, card } = viewer;
  const others: Sql[] = [];
  const rule = (type: Sql, condition: Sql) => others.push(sql`(d.entity_type <> ${type} OR ${condition})`);
  if (turn) rule(sql`'turn'`, turnInReach(tenant, turn));
  if (artifact) rule(sql`'artifact'`, inReach(tenant, artifact));
  if (note) rule(sql`'note'`, noteInReach(tenant, note));
  if (packet) rule(sql`'packet'`, inReach(tenant, packet));
  if (thought) rule(sql`'thought'`, inReach(tenant, thought));
  if (card) rule(sql`'card'`, cardInReach(card));
  rule(sql`'card'`, shownCard(tenant, viewer.agent_id));
  return join(others, ' AND ');
}

const columns = {
  entity_type: sql`d.entity_type`,
  type: sql`d.type`,
  name: sql`d.name`,
  role: sql`d.role`,
  speaker: sql`d.speaker`,
  agent_id: sql`d.agent_id`,
  trajectory_id: sql`d.trajectory_id`,
  scope_id: sql`d.scope_id`,
  abstraction_level: sql`d.abstraction_level`,
  category: sql`d.category`,
  created_at: sql`d.created_at`,
  occurred_at: sql`d.occurred_at`,
  expires_at: sql`d.expires_at`,
} as const;

const hasTag = (tags: readonly string[]): Sql =>
  byDialect({
    sqlite: acrossTenants`EXISTS (SELECT 1 FROM json_each(d.tags) t WHERE t.value = ANY(${tags}))`,
    postgres: acrossTenants`EXISTS (SELECT 1 FROM json_array_elements_text(d.tags) t(value) WHERE t.value = ANY(${tags}))`,
  });

/** Without regard to case, as far as ASCII goes. */
const contains = (column: Sql, part: string): Sql =>
  byDialect({
    sqlite: sql`INSTR(LOWER(${column}), ${asciiLower(part)}) > 0`,
    postgres: sql`STRPOS(TRANSLATE(${column}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), ${asciiLower(part)}) > 0`,
  });

export const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function compare(one: Comparison): Sql {
  const { field, operator, value } = one;
  const values = Array.isArray(value) ? value : [value];
  if (field === 'tag') return operator === 'ne' ? sql`NOT ${hasTag(values)}` : hasTag(values);
  const column = columns[field];
  if (operator === 'in') return sql`${column} = ANY(${values})`;
  if (operator === 'contains') return contains(column, values[0]!);
  const isTime = field === 'created_at' || field === 'occurred_at' || field === 'expires_at';
  const other = isTime ? asMoment(one) : values[0]!;
  if (operator === 'eq') return sql`${column} = ${other}`;
  if (operator === 'ne') return sql`(${column} IS NULL OR ${column} <> ${other})`;
  if (operator === 'gt') return sql`${column} > ${other}`;
  if (operator === 'gte') return sql`${column} >= ${other}`;
  if (operator === 'lt') return sql`${column} < ${other}`;
  return sql`${column} <= ${other}`;
}

/** In two values: what is not known does not hold, so that its opposite does. */
function passes(one: Filter): Sql {
  if ('and' in one) return sql`(${join(one.and.map(passes), ' AND ')})`;
  if ('or' in one) return sql`(${join(one.or.map(passes), ' OR ')})`;
  if ('not' in one) return sql`(NOT ${passes(one.not)})`;
  return sql`(CASE WHEN ${compare(one)} THEN 1 ELSE 0 END = 1)`;
}

export interface Wanted {
  readonly entity_types?: readonly string[] | undefined;
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly filters?: readonly Filter[] | undefined;
}

/** Whether it is among what was asked for. */
export function isWanted({ entity_types, trajectory_id, scope_id, filters = [] }: Wanted): Sql {
  const conditions = filters.map(passes);
  if (entity_types) conditions.push(sql`d.entity_type = ANY(${entity_types})`);
  if (trajectory_id !== undefined) conditions.push(sql`d.trajectory_id = ${trajectory_id}`);
  if (scope_id !== undefined) conditions.push(sql`d.scope_id = ${scope_id}`);
  return conditions.length === 0 ? sql`1 = 1` : join(conditions, ' AND ');
}
