/** Conditions on search_docs (alias d): readable, visible to the caller, passing the filters. */
import { acrossTenants, byDialect, join, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import { type Reach, subjectsWithin, type UserReach } from '../../engine/sql.js';
import { visibleBox } from '../../facts/sql.js';
import { toMs } from '../../kernel/index.js';
import { artifactsWithin, type MemoryColumns, notesWithin, ownsOrWorksIn } from '../../memory/sql.js';
import type { Comparison, Filter } from './model.js';

/** The reach of an agent, by type of entity; absent if unlimited. */
export interface Viewer {
  /** Null for a caller that is restricted to a user alone. */
  readonly agent_id: string | null;
  readonly user?: UserReach | undefined;
  readonly turn?: Reach | undefined;
  readonly artifact?: Reach | undefined;
  readonly note?: Reach | undefined;
  readonly packet?: Reach | undefined;
  readonly thought?: Reach | undefined;
  readonly card?: CardReach | undefined;
}

const NEVER = sql`1 = 0`;

/** Whether an open restored scope contains the turn, as in turns.get. */
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

/** The holder has not ended, or an open scope was restored from it. Most holders have no row in `endings`. */
const notEnded = (): Sql =>
  sql`(d.held_by IS NULL
    OR (SELECT x.ended_at FROM endings x WHERE x.tenant_id = ${TENANT} AND x.holder = d.held_by) IS NULL
    OR (d.position IS NOT NULL AND ${isRestored()}))`;

export const isReadable = (now: number): Sql =>
  sql`d.gone IS NULL AND (d.expires_at IS NULL OR d.expires_at > ${now}) AND ${notEnded()}`;

function inReach(reach: Reach): Sql {
  if (reach.extent === 'all') return sql`1 = 1`;
  if (reach.extent === 'none') return NEVER;
  if (reach.extent === 'own') return sql`d.agent_id = ${reach.agent_id}`;
  return sql`(d.agent_id = ${reach.agent_id} OR ${ownsOrWorksIn(reach, sql`d.trajectory_id`)})`;
}

/** Its author, or the owner of its scope. */
function turnInReach(reach: Reach): Sql {
  if (reach.extent === 'none' || reach.extent === 'all') return inReach(reach);
  return sql`(${inReach(reach)} OR EXISTS (SELECT 1 FROM scopes o
    WHERE o.tenant_id = ${TENANT} AND o.scope_id = d.scope_id AND o.agent_id = ${reach.agent_id}))`;
}

const memoryColumns: MemoryColumns = {
  id: sql`d.entity_id`,
  owner: sql`d.agent_id`,
  trajectory: sql`d.trajectory_id`,
  subjects: sql`d.subject_ids`,
  type: sql`d.type`,
  level: sql`d.abstraction_level`,
};

function cardInReach({ loose, held, agent_id }: CardReach): Sql {
  const by = (extent: string): Sql =>
    extent === 'all' ? sql`1 = 1` : extent === 'none' ? NEVER : sql`d.agent_id = ${agent_id}`;
  return sql`((d.held_by IS NULL AND ${by(loose)}) OR (d.held_by IS NOT NULL AND ${by(held)}))`;
}

/** A card of an agent_turn is visible to agents that may see a box with it. */
const shownCard = (agent_id: string): Sql =>
  sql`(d.held_by IS NULL OR SUBSTR(d.held_by, 1, 11) <> 'agent_turn:'
    OR EXISTS (SELECT 1 FROM box_entries seen CROSS JOIN boxes b
      WHERE seen.tenant_id = ${TENANT} AND seen.card_id = d.content_id AND b.tenant_id = ${TENANT}
        AND b.box_id = seen.box_id AND ${visibleBox(agent_id)}))`;

/** The same rules as in lists and reads. */
export function visibleTo(viewer: Viewer | null): Sql {
  if (viewer === null) return sql`1 = 1`;
  const { turn, artifact, note, packet, thought, card } = viewer;
  const others: Sql[] = [viewer.user ? subjectsWithin(viewer.user, sql`d.subject_ids`) : sql`1 = 1`];
  const rule = (type: Sql, condition: Sql) => others.push(sql`(d.entity_type <> ${type} OR ${condition})`);
  if (turn) rule(sql`'turn'`, turnInReach(turn));
  if (artifact) rule(sql`'artifact'`, artifactsWithin(artifact, memoryColumns));
  if (note) rule(sql`'note'`, notesWithin(note, memoryColumns));
  if (packet) rule(sql`'packet'`, inReach(packet));
  if (thought) rule(sql`'thought'`, inReach(thought));
  if (card) rule(sql`'card'`, cardInReach(card));
  if (viewer.agent_id !== null) rule(sql`'card'`, shownCard(viewer.agent_id));
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

/** Ignores the case of ASCII letters. */
const contains = (column: Sql, part: string): Sql =>
  byDialect({
    sqlite: sql`INSTR(LOWER(${column}), ${asciiLower(part)}) > 0`,
    postgres: sql`STRPOS(TRANSLATE(${column}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), ${asciiLower(part)}) > 0`,
  });

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Written in one of the trajectories; for a note, derived from one. */
const inTrajectories = (trajectory_ids: readonly string[]): Sql =>
  sql`(d.trajectory_id = ANY(${trajectory_ids}) OR (d.entity_type = 'note' AND EXISTS (SELECT 1
    FROM edge_participants learned CROSS JOIN edge_participants source
    WHERE learned.tenant_id = ${TENANT} AND learned.entity_id = d.entity_id AND learned.edge_type = 'DerivedFrom'
      AND learned.position = 1 AND learned.deleted_at IS NULL
      AND source.tenant_id = ${TENANT} AND source.edge_id = learned.edge_id AND source.position > 1
      AND source.entity_type = 'Trajectory' AND source.entity_id = ANY(${trajectory_ids}))))`;

/** Fields of one entity type only. */
const typedFields = {
  artifact_type: { type: 'artifact', column: sql`d.type` },
  note_type: { type: 'note', column: sql`d.type` },
  title: { type: 'note', column: sql`d.name` },
} as const;

const inState = (states: readonly string[]): Sql =>
  sql`EXISTS (SELECT 1 FROM trajectories t WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = d.trajectory_id
    AND t.status = ANY(${states}))`;

/** Stored in lower case, accepted in any. */
const LOWER_CASE_FIELDS: readonly string[] = ['role', 'entity_type'];

const SIGNS = { eq: sql`=`, gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const;

function compare(one: Comparison): Sql {
  const { field, operator } = one;
  const given = Array.isArray(one.value) ? one.value : [one.value];
  const values = LOWER_CASE_FIELDS.includes(field) ? given.map(asciiLower) : given;
  if (field === 'artifact_type' || field === 'note_type' || field === 'title') {
    const { type, column } = typedFields[field];
    const isIt = operator === 'contains' ? contains(column, values[0]!) : sql`COALESCE(${column}, '') = ANY(${values})`;
    const has = sql`(d.entity_type = ${type} AND ${isIt})`;
    return operator === 'ne' ? sql`NOT ${has}` : has;
  }
  if (field === 'status') return operator === 'ne' ? sql`NOT ${inState(values)}` : inState(values);
  if (field === 'tag') return operator === 'ne' ? sql`NOT ${hasTag(values)}` : hasTag(values);
  if (field === 'trajectory_id' && operator !== 'contains')
    return sql`CASE WHEN ${inTrajectories(values)} THEN 1 ELSE 0 END = ${operator === 'ne' ? 0 : 1}`;
  const column = columns[field];
  if (operator === 'in') return sql`${column} = ANY(${values})`;
  if (operator === 'contains') return contains(column, values[0]!);
  const isTime = field === 'created_at' || field === 'occurred_at' || field === 'expires_at';
  const other = isTime ? toMs(one.value as string) : values[0]!;
  if (operator === 'ne') return sql`(${column} IS NULL OR ${column} <> ${other})`;
  return sql`${column} ${SIGNS[operator]} ${other}`;
}

/** Two-valued logic: an unknown comparison is false, so its negation is true. */
function passes(one: Filter): Sql {
  if ('and' in one) return sql`(${join(one.and.map(passes), ' AND ')})`;
  if ('or' in one) return sql`(${join(one.or.map(passes), ' OR ')})`;
  if ('not' in one) return sql`(NOT ${passes(one.not)})`;
  return sql`(CASE WHEN ${compare(one)} THEN 1 ELSE 0 END = 1)`;
}

/** A scope whose turns are searched, up to a position. */
export interface ScopeRange {
  readonly scope_id: string;
  /** Excluded; null for all. */
  readonly until: number | null;
}

export interface DocFilter {
  readonly tenant: string;
  readonly entity_types?: readonly string[] | undefined;
  readonly trajectory_id?: string | undefined;
  readonly scopes?: readonly ScopeRange[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}

export interface DocQuery extends DocFilter {
  readonly now: number;
  readonly viewer: Viewer | null;
}

export function passesFilter({ entity_types, trajectory_id, scopes, filters = [] }: DocFilter): Sql {
  const conditions = filters.map(passes);
  if (entity_types) conditions.push(sql`d.entity_type = ANY(${entity_types})`);
  if (trajectory_id !== undefined) conditions.push(inTrajectories([trajectory_id]));
  if (scopes) conditions.push(sql`(${join(scopes.map(isOfScope), ' OR ')})`);
  return conditions.length === 0 ? sql`1 = 1` : join(conditions, ' AND ');
}

const isOfScope = ({ scope_id, until }: ScopeRange): Sql =>
  until === null ? sql`d.scope_id = ${scope_id}` : sql`(d.scope_id = ${scope_id} AND d.position < ${until})`;
