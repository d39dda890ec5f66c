/** Entities of all types that an edge can link: their keys, and which of them can be read. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import {
  BOX_ENDED,
  CARD_ENDED,
  type ContainerReach,
  type Reach,
  subjectsWithin,
  type UserReach,
} from '../../engine/sql.js';
import { cardsWithin, readableAt, shownTo, visibleBox, visibleTo } from '../../facts/sql.js';
import { groupBy } from '../../kernel/index.js';
import {
  andWithin,
  artifactsWithin,
  notesWithin,
  scopesReadable,
  trajectoriesReadable,
  turnsWithin,
} from '../access/reach.js';
import type { EntityType } from '../edges/model.js';
import { versionsAmong } from '../lookups.js';
import { selectIds } from '../rows.js';
import { currentAt, liveAt } from '../versions/store.js';

export interface EntityRef {
  readonly entity_type: EntityType;
  readonly entity_id: string;
}

/** Identifies an entity. A turn and its card have the same key. */
export const entityKey = ({ entity_type, entity_id }: EntityRef): string =>
  `${entity_type === 'Turn' ? 'Card' : entity_type} ${entity_id}`;

/** The read reach of an agent per type; undefined: everything. */
export interface EntityReach {
  readonly turn: Reach | undefined;
  readonly artifact: Reach | undefined;
  readonly note: Reach | undefined;
  readonly packet: Reach | undefined;
  readonly card: CardReach | undefined;
  readonly container: ContainerReach | undefined;
  /** For boxes, which have no other reach. */
  readonly user: UserReach | undefined;
}

/** When, and by which agent, entities are read. */
export interface Moment {
  readonly now: number;
  /** Entities deleted after it exist; those that have expired or ended since do not. */
  readonly as_of?: number | undefined;
  /** Boxes, their events and cards of agent_turns that this agent may not see do not exist; null sees all. */
  readonly agent: string | null;
  readonly reach?: EntityReach | undefined;
}

interface Candidates {
  /** Versions v of artifacts and notes. */
  readonly versions: Sql;
  /** Whether a column has one of the ids. */
  readonly has: (id: Sql) => Sql;
}
type ReadableIds = (among: Candidates, moment: Moment) => Sql;

const versions =
  (kind: 'artifact' | 'note'): ReadableIds =>
  (among, { now, as_of, reach }) => {
    const within = kind === 'artifact' ? artifactsWithin : notesWithin;
    return sql`SELECT v.memory_id AS id FROM ${among.versions}
        WHERE v.tenant_id = ${TENANT} AND ${among.has(sql`v.memory_id`)} AND v.kind = ${kind}
          AND ${currentAt(as_of)} AND ${liveAt(now)}${andWithin(reach?.[kind], within)}`;
  };

/** The turns of a scope are in its box; its other cards are of artifacts. */
const IS_TURN: Sql = sql`EXISTS (SELECT 1 FROM box_entries e WHERE e.tenant_id = c.tenant_id AND e.card_id = c.card_id
  AND e.box_id = (SELECT s.box_id FROM scopes s WHERE s.tenant_id = c.tenant_id AND s.scope_id = SUBSTR(c.held_by, 7)))`;

const visibleCard = (agent: string | null): Sql => (agent === null ? sql`` : sql` AND ${shownTo(agent)}`);

const readableAsOf = (as_of: number, now: number): Sql =>
  sql`c.erased_at IS NULL AND (c.deleted_at IS NULL OR c.deleted_at > ${as_of})
    AND (c.expires_at IS NULL OR c.expires_at > ${now}) AND (c.held_by IS NULL OR ${CARD_ENDED} IS NULL)`;

const readableIds: Readonly<Record<EntityType, ReadableIds>> = {
  Trajectory: (among, { reach }) =>
    sql`SELECT t.trajectory_id AS id FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND ${among.has(sql`t.trajectory_id`)} AND t.deleted_at IS NULL
          ${andWithin(reach?.container, trajectoriesReadable)}`,
  Scope: (among, { reach }) =>
    sql`SELECT s.scope_id AS id FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND ${among.has(sql`s.scope_id`)} AND s.deleted_at IS NULL
          ${andWithin(reach?.container, scopesReadable)}`,
  Turn: (among, { now, reach }) =>
    sql`SELECT c.card_id AS id FROM cards c
        WHERE c.tenant_id = ${TENANT} AND ${among.has(sql`c.card_id`)} AND SUBSTR(c.held_by, 1, 6) = 'scope:'
          AND ${readableAt(now)} AND ${IS_TURN}${andWithin(reach?.turn, turnsWithin)}`,
  Artifact: versions('artifact'),
  Note: versions('note'),
  Card: (among, { now, as_of, agent, reach }) =>
    sql`SELECT c.card_id AS id FROM cards c
        WHERE c.tenant_id = ${TENANT} AND ${among.has(sql`c.card_id`)}
          AND ${as_of === undefined ? readableAt(now) : readableAsOf(as_of, now)}${visibleCard(agent)}
          ${andWithin(reach?.card, cardsWithin)}`,
  Box: (among, { agent, reach }) =>
    sql`SELECT b.box_id AS id FROM boxes b
        WHERE b.tenant_id = ${TENANT} AND ${among.has(sql`b.box_id`)} AND (b.held_by IS NULL OR ${BOX_ENDED} IS NULL)
          ${agent === null ? sql`` : sql` AND ${visibleBox(agent)}`}
          ${andWithin(reach?.user, (user) => subjectsWithin(user, sql`b.subject_ids`))}`,
  Packet: (among, { now, agent, reach }) =>
    sql`SELECT p.packet_id AS id FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND ${among.has(sql`p.packet_id`)} AND p.erased_at IS NULL
          AND (p.expires_at IS NULL OR p.expires_at > ${now})${agent === null && reach === undefined ? sql`` : sql` AND ${visibleTo({ agent, reach: reach?.packet })}`}`,
};

/** The id of a participant f if the entity can be read, else null. A turn is a card, but has the reach of turns. */
export function readableEntity(moment: Moment): Sql {
  const id = (entity_type: EntityType) =>
    readableIds[entity_type](
      { versions: sql`memory_versions v`, has: (column) => sql`${column} = f.entity_id` },
      moment,
    );
  return sql`CASE f.entity_type WHEN 'Artifact' THEN (${id('Artifact')} LIMIT 1) WHEN 'Note' THEN (${id('Note')} LIMIT 1)
    WHEN 'Trajectory' THEN (${id('Trajectory')}) WHEN 'Scope' THEN (${id('Scope')}) WHEN 'Packet' THEN (${id('Packet')}) WHEN 'Box' THEN (${id('Box')})
    ${moment.reach ? sql`WHEN 'Turn' THEN (${id('Turn')})` : sql``} ELSE (${id('Card')}) END`;
}

/** The names of those that can be read, with one statement per type. */
export async function knownEntities(
  query: Query,
  entities: readonly EntityRef[],
  moment: Moment,
): Promise<Set<string>> {
  const byType = groupBy(entities, ({ entity_type }) => entity_type);
  const found = await Promise.all(
    [...byType].map(async ([type, refs]) => {
      const entity_type = type as EntityType;
      const wanted = [...new Set(refs.map(({ entity_id }) => entity_id))];
      const among = { versions: versionsAmong(wanted, moment.as_of), has: (id: Sql) => sql`${id} = ANY(${wanted})` };
      const ids = await selectIds(query, readableIds[entity_type](among, moment));
      return ids.map((entity_id) => nameOf({ entity_type, entity_id }));
    }),
  );
  return new Set(found.flat());
}

/** Includes the requested type: a card need not be a turn. */
export const nameOf = ({ entity_type, entity_id }: EntityRef): string => `${entity_type} ${entity_id}`;
