/** Conditions on search_docs under the name d: what can be read, what the caller reaches, what the filters let through. */
import { acrossTenants, byDialect, join, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import type { Reach } from '../../engine/sql.js';
import { visibleBox } from '../../facts/sql.js';
import { toMs } from '../../kernel/index.js';
import { artifactsWithin, isMine, type MemoryColumns, notesWithin } from '../../memory/sql.js';
import type { Comparison, Filter } from './model.js';

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

/** Whether an open scope that was restored from that of a turn, under the name d, has it: by the same way as turns.get. */
const isRestored = (): Sql =>
  sql`EXISTS (
    WITH RECURSIVE held(box_id, position) AS (
      SELECT e.box_id, e.position FROM box_entries e
        WHERE e.tenant_id = ${TENANT} AND e.card_id = d.content_id AND e.removed_revision IS NULL
      UNION
      SELECT f.box_id, h.position FROM held h CROSS JOIN boxes f
        WHERE f.tenant_id = ${TENANT} AND f.base_box_id = h.box_id AND h.position < f.base_position
    )
    SELECT 1 FROM held h CROSS JOIN scopes s
      WHERE s.tenant_id = ${TENANT} AND s.box_id = h.box_id AND s.closed_at IS NULL)`;

/**
 * What holds it has not ended; or it is a turn of a scope that another, still open, was restored from. By the holder's
 * row alone: most have none.
 */
const notEnded = (): Sql =>
  sql`(d.held_by IS NULL
    OR (SELECT x.ended_at FROM endings x WHERE x.tenant_id = ${TENANT} AND x.holder = d.held_by) IS NULL
    OR (d.position IS NOT NULL AND ${isRestored()}))`;

export const canBeRead = (now: number): Sql =>
  sql`d.terms IS NOT NULL AND (d.expires_at IS NULL OR d.expires_at > ${now}) AND ${notEnded()}`;

function inReach(reach: Reach): Sql {
  if (reach.extent === 'none') return NEVER;
  if (reach.extent === 'own') return sql`d.agent_id = ${reach.agent_id}`;
  return sql`(d.agent_id = ${reach.agent_id} OR ${isMine(reach, sql`d.trajectory_id`)})`;
}

/** Whoever said it, or in whose scope it was said. */
function turnInReach(reach: Reach): Sql {
  if (reach.extent === 'none') return NEVER;
  return sql`(${inReach(reach)} OR EXISTS (SELECT 1 FROM scopes o
    WHERE o.tenant_id = ${TENANT} AND o.scope_id = d.scope_id AND o.agent_id = ${reach.agent_id}))`;
}

const found: MemoryColumns = {
  id: sql`d.entity_id`,
  owner: sql`d.agent_id`,
  trajectory: sql`d.trajectory_id`,
  type: sql`d.type`,
  level: sql`d.abstraction_level`,
};

function cardInReach({ loose, held, agent_id }: CardReach): Sql {
  const by = (extent: string): Sql =>
    extent === 'all' ? sql`1 = 1` : extent === 'none' ? NEVER : sql`d.agent_id = ${agent_id}`;
  return sql`((d.held_by IS NULL AND ${by(loose)}) OR (d.held_by IS NOT NULL AND ${by(held)}))`;
}

/** Cards of agent_turns are for those who may see a box that has them. */
const shownCard = (agent_id: string): Sql =>
  sql`(d.held_by IS NULL OR SUBSTR(d.held_by, 1, 11) <> 'agent_turn:'
    OR EXISTS (SELECT 1 FROM box_entries seen CROSS JOIN boxes b
      WHERE seen.tenant_id = ${TENANT} AND seen.card_id = d.content_id AND b.tenant_id = ${TENANT}
        AND b.box_id = seen.box_id AND ${visibleBox(agent_id)}))`;

/** Whether an agent may see it, by the same rules as lists and reads. */
export function seenBy(viewer: Viewer | null): Sql {
  if (viewer === null) return sql`1 = 1`;
  const { turn, artifact, note, packet, thought, card } = viewer;
  const others: Sql[] = [];
  const rule = (type: Sql, condition: Sql) => others.push(sql`(d.entity_type <> ${type} OR ${condition})`);
  if (turn) rule(sql`'turn'`, turnInReach(turn));
  if (artifact) rule(sql`'artifact'`, artifactsWithin(artifact, found));
  if (note) rule(sql`'note'`, notesWithin(note, found));
  if (packet) rule(sql`'packet'`, inReach(packet));
  if (thought) rule(sql`'thought'`, inReach(thought));
  if (card) rule(sql`'card'`, cardInReach(card));
  rule(sql`'card'`, shownCard(viewer.agent_id));
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

/** Whether it was written in one of these trajectories; of a note, whether it was learned there. */
const isIn = (trajectory_ids: readonly string[]): Sql =>
  sql`(d.trajectory_id = ANY(${trajectory_ids}) OR (d.entity_type = 'note' AND EXISTS (SELECT 1
    FROM edge_participants learned CROSS JOIN edge_participants source
    WHERE learned.tenant_id = ${TENANT} AND learned.entity_id = d.entity_id AND learned.edge_type = 'DerivedFrom'
      AND learned.position = 1 AND learned.deleted_at IS NULL
      AND source.tenant_id = ${TENANT} AND source.edge_id = learned.edge_id AND source.position > 1
      AND source.entity_type = 'Trajectory' AND source.entity_id = ANY(${trajectory_ids}))))`;

/** What only entities of one type have. */
const ofOneType = {
  artifact_type: { type: 'artifact', column: sql`d.type` },
  note_type: { type: 'note', column: sql`d.type` },
  title: { type: 'note', column: sql`d.name` },
} as const;

/** Whether its trajectory has one of these states. */
const inState = (states: readonly string[]): Sql =>
  sql`EXISTS (SELECT 1 FROM trajectories t WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = d.trajectory_id
    AND t.status = ANY(${states}))`;

/** Kept in lower case, and taken in any. */
const LOWER: readonly string[] = ['role', 'entity_type'];

function compare(one: Comparison): Sql {
  const { field, operator } = one;
  const given = Array.isArray(one.value) ? one.value : [one.value];
  const values = LOWER.includes(field) ? given.map(asciiLower) : given;
  if (field === 'artifact_type' || field === 'note_type' || field === 'title') {
    const { type, column } = ofOneType[field];
    const isIt = operator === 'contains' ? contains(column, values[0]!) : sql`COALESCE(${column}, '') = ANY(${values})`;
    const has = sql`(d.entity_type = ${type} AND ${isIt})`;
    return operator === 'ne' ? sql`NOT ${has}` : has;
  }
  if (field === 'status') return operator === 'ne' ? sql`NOT ${inState(values)}` : inState(values);
  if (field === 'tag') return operator === 'ne' ? sql`NOT ${hasTag(values)}` : hasTag(values);
  if (field === 'trajectory_id' && operator !== 'contains')
    return sql`CASE WHEN ${isIn(values)} THEN 1 ELSE 0 END = ${operator === 'ne' ? 0 : 1}`;
  const column = columns[field];
  if (operator === 'in') return sql`${column} = ANY(${values})`;
  if (operator === 'contains') return contains(column, values[0]!);
  const isTime = field === 'created_at' || field === 'occurred_at' || field === 'expires_at';
  const other = isTime ? toMs(one.value as string) : values[0]!;
  if (operator === 'eq') return sql`${column} = ${other}`;
  if (operator === 'ne') return sql`(${column} IS NULL OR ${column} <> ${other})`;
  if (operator === 'gt') return sql`${column} > ${other}`;
  if (operator === 'gte') return sql`${column} >= ${other}`;
  if (operator === 'lt') return sql`${column} < ${other}`;
  return sql`${column} <= ${other}`;
}

/** In two values: what is not known does not hold, so that its opposite does. */
function passes(one: Filter): Sql {
  const all = (parts: readonly Filter[]) => parts.map((part) => passes(part));
  if ('and' in one) return sql`(${join(all(one.and), ' AND ')})`;
  if ('or' in one) return sql`(${join(all(one.or), ' OR ')})`;
  if ('not' in one) return sql`(NOT ${passes(one.not)})`;
  return sql`(CASE WHEN ${compare(one)} THEN 1 ELSE 0 END = 1)`;
}

/** A scope whose turns are wanted, up to a place. */
export interface WantedScope {
  readonly scope_id: string;
  /** Excluded; null for all. */
  readonly until: number | null;
}

export interface Wanted {
  readonly tenant: string;
  readonly entity_types?: readonly string[] | undefined;
  readonly trajectory_id?: string | undefined;
  readonly scopes?: readonly WantedScope[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}

/** Who asks, and for what. */
export interface Asked extends Wanted {
  readonly tenant: string;
  readonly now: number;
  readonly viewer: Viewer | null;
}

/** Whether it is among what was asked for. */
export function isWanted({ entity_types, trajectory_id, scopes, filters = [] }: Wanted): Sql {
  const conditions = filters.map((one) => passes(one));
  if (entity_types) conditions.push(sql`d.entity_type = ANY(${entity_types})`);
  if (trajectory_id !== undefined) conditions.push(isIn([trajectory_id]));
  if (scopes) conditions.push(sql`(${join(scopes.map(isOfScope), ' OR ')})`);
  return conditions.length === 0 ? sql`1 = 1` : join(conditions, ' AND ');
}

const isOfScope = ({ scope_id, until }: WantedScope): Sql =>
  until === null ? sql`d.scope_id = ${scope_id}` : sql`(d.scope_id = ${scope_id} AND d.position < ${until})`;
