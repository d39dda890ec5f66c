/** Entities of all types that an edge may link: how they are told apart, and which of them can be read. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import { BOX_ENDED, CARD_ENDED, type ContainerReach, type Reach } from '../../engine/sql.js';
import { cardsWithin, readableAt, shownTo, visibleBox, visibleTo } from '../../facts/sql.js';
import { artifactsWithin, notesWithin, scopesReadable, trajectoriesReadable, turnsWithin } from '../access/reach.js';
import type { EntityType } from '../edges/model.js';
import { versionsAmong } from '../versions/lookups.js';
import { heldAt, livesAt } from '../versions/store.js';

export interface EntityRef {
  readonly entity_type: EntityType;
  readonly entity_id: string;
}

/** Entities with the same key are one. A turn is its card, by whichever name it is linked. */
export const entityKey = ({ entity_type, entity_id }: EntityRef): string =>
  `${entity_type === 'Turn' ? 'Card' : entity_type} ${entity_id}`;

/** How far an agent reads entities of each type, where that is not all. */
export interface EntityReach {
  readonly turn: Reach | undefined;
  readonly artifact: Reach | undefined;
  readonly note: Reach | undefined;
  readonly packet: Reach | undefined;
  readonly card: CardReach | undefined;
  readonly container: ContainerReach | undefined;
}

/** Whether they can be read: now, or as far as the past is asked about, at a moment. */
export interface Moment {
  readonly now: number;
  /** What was deleted after it counts as there; what has expired or ended since is gone all the same. */
  readonly as_of?: number | undefined;
  /** Boxes, events about them and cards of agent_turns that this agent may not see do not exist for it; null sees all. */
  readonly agent: string | null;
  /** What lies beyond it does not exist for the agent either. */
  readonly reach?: EntityReach | undefined;
}

interface Among {
  /** Versions of artifacts and notes, under the name v. */
  readonly versions: Sql;
  /** Whether this column has one of the ids. */
  readonly has: (id: Sql) => Sql;
}
type Known = (among: Among, moment: Moment) => Sql;

/** One more condition, where there is a reach. */
const reached = <R>(reach: R | undefined, within: (own: R) => Sql): Sql =>
  reach === undefined ? sql`` : sql` AND ${within(reach)}`;

const versions =
  (kind: 'artifact' | 'note'): Known =>
  (among, { now, as_of, reach }) => {
    const within = kind === 'artifact' ? artifactsWithin : notesWithin;
    return sql`SELECT v.memory_id AS id FROM ${among.versions}
        WHERE v.tenant_id = ${TENANT} AND ${among.has(sql`v.memory_id`)} AND v.kind = ${kind}
          AND ${heldAt(as_of)} AND ${livesAt(now)}${reached(reach?.[kind], (own) => within(own))}`;
  };

/** The turns of a scope are in its box; other cards that it holds are of artifacts. */
const IS_TURN: Sql = sql`EXISTS (SELECT 1 FROM box_entries e WHERE e.tenant_id = c.tenant_id AND e.card_id = c.card_id
  AND e.box_id = (SELECT s.box_id FROM scopes s WHERE s.tenant_id = c.tenant_id AND s.scope_id = SUBSTR(c.held_by, 7)))`;

const seenBy = (agent: string | null): Sql => (agent === null ? sql`` : sql` AND ${shownTo(agent)}`);

const knownBy: Readonly<Record<EntityType, Known>> = {
  Trajectory: (among, { reach }) =>
    sql`SELECT t.trajectory_id AS id FROM trajectories t
        WHERE t.tenant_id = ${TENANT} AND ${among.has(sql`t.trajectory_id`)} AND t.deleted_at IS NULL
          ${reached(reach?.container, (own) => trajectoriesReadable(own))}`,
  Scope: (among, { reach }) =>
    sql`SELECT s.scope_id AS id FROM scopes s
        WHERE s.tenant_id = ${TENANT} AND ${among.has(sql`s.scope_id`)} AND s.deleted_at IS NULL
          ${reached(reach?.container, (own) => scopesReadable(own))}`,
  Turn: (among, { now, reach }) =>
    sql`SELECT c.card_id AS id FROM cards c
        WHERE c.tenant_id = ${TENANT} AND ${among.has(sql`c.card_id`)} AND SUBSTR(c.held_by, 1, 6) = 'scope:'
          AND ${readableAt(now)} AND ${IS_TURN}${reached(reach?.turn, (own) => turnsWithin(own))}`,
  Artifact: versions('artifact'),
  Note: versions('note'),
  Card: (among, { now, as_of, agent, reach }) =>
    as_of === undefined
      ? sql`SELECT c.card_id AS id FROM cards c
            WHERE c.tenant_id = ${TENANT} AND ${among.has(sql`c.card_id`)} AND ${readableAt(now)}${seenBy(agent)}
              ${reached(reach?.card, cardsWithin)}`
      : sql`SELECT c.card_id AS id FROM cards c
            WHERE c.tenant_id = ${TENANT} AND ${among.has(sql`c.card_id`)} AND c.erased_at IS NULL
              AND (c.deleted_at IS NULL OR c.deleted_at > ${as_of})
              AND (c.expires_at IS NULL OR c.expires_at > ${now}) AND (c.held_by IS NULL OR ${CARD_ENDED} IS NULL)${seenBy(agent)}
              ${reached(reach?.card, cardsWithin)}`,
  Box: (among, { agent }) =>
    sql`SELECT b.box_id AS id FROM boxes b
        WHERE b.tenant_id = ${TENANT} AND ${among.has(sql`b.box_id`)} AND (b.held_by IS NULL OR ${BOX_ENDED} IS NULL)
          ${agent === null ? sql`` : sql` AND ${visibleBox(agent)}`}`,
  Packet: (among, { now, agent, reach }) =>
    sql`SELECT p.packet_id AS id FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND ${among.has(sql`p.packet_id`)} AND p.erased_at IS NULL
          AND (p.expires_at IS NULL OR p.expires_at > ${now})${agent === null ? sql`` : sql` AND ${visibleTo({ agent, reach: reach?.packet })}`}`,
};

/**
 * The id of an end of an edge, under the name f, if what stands there can be read; else null. A turn is a card, but its
 * reach is that of turns.
 */
export function readableEntity(moment: Moment): Sql {
  const id = (entity_type: EntityType) =>
    knownBy[entity_type]({ versions: sql`memory_versions v`, has: (column) => sql`${column} = f.entity_id` }, moment);
  return sql`CASE f.entity_type WHEN 'Artifact' THEN (${id('Artifact')} LIMIT 1) WHEN 'Note' THEN (${id('Note')} LIMIT 1)
    WHEN 'Trajectory' THEN (${id('Trajectory')}) WHEN 'Scope' THEN (${id('Scope')}) WHEN 'Packet' THEN (${id('Packet')}) WHEN 'Box' THEN (${id('Box')})
    ${moment.reach ? sql`WHEN 'Turn' THEN (${id('Turn')})` : sql``} ELSE (${id('Card')}) END`;
}

const amongIds = (ids: readonly string[], { as_of }: Moment): Among => ({
  versions: versionsAmong(ids, as_of),
  has: (column) => sql`${column} = ANY(${ids})`,
});

/** The keys of those that can be read, in one statement a type. */
export async function knownEntities(query: Query, entities: Iterable<EntityRef>, moment: Moment): Promise<Set<string>> {
  const wanted = new Map<EntityType, Set<string>>();
  for (const { entity_type, entity_id } of entities) {
    const ids = wanted.get(entity_type);
    if (ids) ids.add(entity_id);
    else wanted.set(entity_type, new Set([entity_id]));
  }
  const found = await Promise.all(
    [...wanted].map(async ([entity_type, ids]) => {
      const rows = await query.all<{ id: string }>(knownBy[entity_type](amongIds([...ids], moment), moment));
      return rows.map(({ id }) => nameOf({ entity_type, entity_id: id }));
    }),
  );
  return new Set(found.flat());
}

/** By the type it was asked for: a card need not be a turn. */
export const nameOf = ({ entity_type, entity_id }: EntityRef): string => `${entity_type} ${entity_id}`;
