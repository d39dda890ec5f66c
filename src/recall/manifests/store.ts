/** manifests and manifest_cards: the record of every context, and which contexts a card was in. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { type Reach, trajectoryHolder, within } from '../../engine/sql.js';
import { visibleBox } from '../../facts/sql.js';
import type { ContextEntry, ContextFormat } from '../contexts/model.js';
import { cardsShownBy, cardsShownIn, entriesToText, type TurnPlace } from './entries.js';
import type { ManifestKind } from './model.js';

export interface ManifestRow {
  readonly manifest_id: string;
  readonly kind: ManifestKind;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly agent_turn_id: string | null;
  readonly agent_id: string | null;
  readonly box_id: string | null;
  readonly format: ContextFormat | null;
  readonly token_budget: number | null;
  readonly token_count: number | null;
  readonly truncated: number | null;
  readonly parameters: string;
  /** Null for a packing: its box has them. */
  readonly entries: string | null;
  /** Ids of the cards with the texts of the request. */
  readonly request_card_ids: string | null;
  /** JSON of the places of the turns that it shows. */
  readonly turn_ranges: string | null;
  /** Keyed. Null for a packing. */
  readonly content_hash: string | null;
  readonly held_by: string | null;
  readonly created_at: number;
}

/** Its entries and turns come beside it. */
export type NewManifest = Omit<ManifestRow, 'entries' | 'turn_ranges'>;

/** Turns that follow each other in a box, both ends included. */
export interface TurnRange {
  readonly box_id: string;
  readonly first: number;
  readonly last: number;
}

export interface ManifestContent {
  readonly entries: readonly ContextEntry[];
  readonly turns: readonly TurnRange[];
  /** Of the turns among the entries, by their ids. */
  readonly places: ReadonlyMap<string, TurnPlace>;
}

const manifestsTable: Table = {
  name: 'manifests',
  columns: {
    tenant_id: 'text',
    manifest_id: 'text',
    kind: 'text',
    trajectory_id: 'text',
    scope_id: 'text',
    agent_turn_id: 'text',
    agent_id: 'text',
    box_id: 'text',
    format: 'text',
    token_budget: 'bigint',
    token_count: 'bigint',
    truncated: 'bigint',
    parameters: 'json',
    entries: 'json',
    turn_ranges: 'json',
    request_card_ids: 'json',
    content_hash: 'text',
    held_by: 'text',
    created_at: 'bigint',
  },
};

const turnsTable: Table = {
  name: 'manifest_turns',
  columns: {
    tenant_id: 'text',
    box_id: 'text',
    last_position: 'bigint',
    first_position: 'bigint',
    manifest_id: 'text',
  },
};

const cardsTable: Table = {
  name: 'manifest_cards',
  columns: { tenant_id: 'text', card_id: 'text', manifest_id: 'text' },
};

/** A packing has nothing beside it: all is in its box. */
export async function insertManifest(tx: Tx, row: NewManifest, content: ManifestContent | null): Promise<void> {
  await tx.insert(manifestsTable, [
    [
      tx.tenant,
      row.manifest_id,
      row.kind,
      row.trajectory_id,
      row.scope_id,
      row.agent_turn_id,
      row.agent_id,
      row.box_id,
      row.format,
      row.token_budget,
      row.token_count,
      row.truncated,
      row.parameters,
      content && entriesToText(content.entries, content.places),
      content && JSON.stringify(content.turns),
      row.request_card_ids,
      row.content_hash,
      row.held_by,
      row.created_at,
    ],
  ]);
  if (content === null) return;
  await tx.insert(
    cardsTable,
    cardsShownBy(content.entries).map((card_id) => [tx.tenant, card_id, row.manifest_id]),
  );
  await tx.insert(
    turnsTable,
    content.turns.map(({ box_id, first, last }) => [tx.tenant, box_id, last, first, row.manifest_id]),
  );
}

const COLUMNS: Sql = sql`m.manifest_id, m.kind, m.trajectory_id, m.scope_id, m.agent_turn_id, m.agent_id, m.box_id, m.format,
  m.token_budget, m.token_count, m.truncated, m.parameters, m.entries, m.turn_ranges, m.request_card_ids, m.content_hash, m.held_by,
  m.created_at`;

/** Those of a deleted trajectory are gone with it, though they may still be there for a moment. */
const there = (): Sql =>
  sql`(m.trajectory_id IS NULL OR NOT EXISTS (SELECT 1 FROM endings x
    WHERE x.tenant_id = ${TENANT} AND x.holder = ${trajectoryHolder('')} || m.trajectory_id))`;

export function findManifest(query: Query, manifest_id: string): Promise<ManifestRow | undefined> {
  return query.get<ManifestRow>(
    sql`SELECT ${COLUMNS} FROM manifests m
        WHERE m.tenant_id = ${TENANT} AND m.manifest_id = ${manifest_id} AND ${there()}`,
  );
}

/** Who looks: an agent sees packed contexts by their boxes, and no more than it reaches. */
export interface ManifestViewer {
  readonly agent_id: string;
  readonly reach: Reach | undefined;
}

export interface ManifestFilter {
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly agent_turn_id?: string | undefined;
  /** Any of these. */
  readonly card_ids?: readonly string[] | undefined;
  readonly kind?: ManifestKind | undefined;
  readonly viewer: ManifestViewer | undefined;
}

const boxShown = (agent_id: string): Sql =>
  sql`(m.kind <> 'packing' OR EXISTS (SELECT 1 FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = m.box_id
    AND ${visibleBox(agent_id)}))`;

/** SQLite would rather walk a whole box than look for the card. */
const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/**
 * The contexts that any of these cards was in: assembled ones by their cards, or as a turn of a box or of one that was forked
 * from it, and packed ones by their boxes.
 */
export const withCard = (card_ids: readonly string[]): Sql =>
  sql`m.manifest_id IN (
    WITH RECURSIVE held(box_id, position) AS (
      SELECT e.box_id, e.position FROM ${entriesByCard} WHERE e.tenant_id = ${TENANT} AND e.card_id = ANY(${card_ids})
      UNION
      SELECT f.box_id, h.position FROM held h CROSS JOIN boxes f
        WHERE f.tenant_id = ${TENANT} AND f.base_box_id = h.box_id AND h.position < f.base_position
    )
    SELECT k.manifest_id FROM manifest_cards k WHERE k.tenant_id = ${TENANT} AND k.card_id = ANY(${card_ids})
    UNION ALL
    SELECT t.manifest_id FROM held h CROSS JOIN manifest_turns t
      WHERE t.tenant_id = ${TENANT} AND t.box_id = h.box_id AND t.last_position >= h.position
        AND t.first_position <= h.position
    UNION ALL
    SELECT p.manifest_id FROM held h CROSS JOIN manifests p
      WHERE p.tenant_id = ${TENANT} AND p.box_id = h.box_id)`;

function where(filter: ManifestFilter): Sql {
  const conditions: Sql[] = [sql`m.tenant_id = ${TENANT}`, there()];
  const add = <T>(value: T | undefined, condition: (value: T) => Sql) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(filter.trajectory_id, (id) => sql`m.trajectory_id = ${id}`);
  add(filter.scope_id, (id) => sql`m.scope_id = ${id}`);
  add(filter.agent_turn_id, (id) => sql`m.agent_turn_id = ${id}`);
  add(filter.kind, (kind) => sql`m.kind = ${kind}`);
  add(filter.card_ids, (ids) => withCard(ids));
  add(filter.viewer, ({ agent_id }) => boxShown(agent_id));
  add(filter.viewer?.reach, (reach) => manifestsWithin(reach));
  return join(conditions, ' AND ');
}

export function listManifests(query: Query, filter: ManifestFilter, page: KeysetPage): Promise<ManifestRow[]> {
  return query.all<ManifestRow>(
    sql`SELECT m.manifest_id, m.kind, m.trajectory_id, m.scope_id, m.agent_turn_id, m.agent_id, m.box_id, m.format,
          m.token_budget, m.token_count, m.truncated, '{}' AS parameters, NULL AS entries, NULL AS turn_ranges, NULL AS request_card_ids,
          NULL AS content_hash, m.held_by, m.created_at
        FROM manifests m WHERE ${where(filter)}${keyset(sql`m.manifest_id`, page)}`,
  );
}

export const countManifests = (filter: ManifestFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM manifests m WHERE ${where(filter)}`;

/** The cards with the texts of the last request whose manifest this holds: the next one may bring the same. */
export async function lastRequestCards(query: Query, held_by: string): Promise<string[]> {
  const row = await query.get<{ request_card_ids: string | null }>(
    sql`SELECT request_card_ids FROM manifests
        WHERE tenant_id = ${TENANT} AND held_by = ${held_by} AND erased_at IS NULL
        ORDER BY manifest_id DESC LIMIT 1`,
  );
  return row?.request_card_ids ? (JSON.parse(row.request_card_ids) as string[]) : [];
}

export interface HeldManifest {
  readonly manifest_id: string;
  readonly card_ids: readonly string[];
}

const toHeld = (row: { manifest_id: string; request_card_ids: string | null }): HeldManifest => ({
  manifest_id: row.manifest_id,
  card_ids: JSON.parse(row.request_card_ids ?? '[]') as string[],
});

/** Some manifests whose texts are still to be erased, now that what holds them has ended. */
export async function manifestsHeldBy(query: Query, held_by: string, limit: number): Promise<HeldManifest[]> {
  const rows = await query.all<{ manifest_id: string; request_card_ids: string | null }>(
    sql`SELECT manifest_id, request_card_ids FROM manifests
        WHERE tenant_id = ${TENANT} AND held_by = ${held_by} AND erased_at IS NULL
        ORDER BY manifest_id LIMIT ${limit}`,
  );
  return rows.map(toHeld);
}

export function noteTextsErased(tx: Tx, manifest_ids: readonly string[], now: number): Promise<void> {
  return tx.send(
    sql`UPDATE manifests SET erased_at = ${now} WHERE tenant_id = ${TENANT} AND manifest_id = ANY(${manifest_ids})`,
  );
}

export interface WholeManifest extends HeldManifest {
  readonly shown_card_ids: readonly string[];
  readonly turns: readonly TurnRange[];
}

/** Some manifests of a deleted trajectory, whoever holds them. */
export async function manifestsOf(query: Query, trajectory_id: string, limit: number): Promise<WholeManifest[]> {
  const rows = await query.all<Pick<ManifestRow, 'manifest_id' | 'request_card_ids' | 'entries' | 'turn_ranges'>>(
    sql`SELECT manifest_id, request_card_ids, entries, turn_ranges FROM manifests
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} ORDER BY manifest_id LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    ...toHeld(row),
    shown_card_ids: row.entries === null ? [] : cardsShownIn(row.entries),
    turns: JSON.parse(row.turn_ranges ?? '[]') as TurnRange[],
  }));
}

export async function removeManifests(tx: Tx, manifests: readonly WholeManifest[]): Promise<void> {
  for (const { manifest_id, shown_card_ids, turns } of manifests) {
    for (const { box_id, first, last } of turns) {
      await tx.send(
        sql`DELETE FROM manifest_turns WHERE tenant_id = ${TENANT} AND box_id = ${box_id} AND last_position = ${last}
              AND first_position = ${first} AND manifest_id = ${manifest_id}`,
      );
    }
    await tx.send(
      sql`DELETE FROM manifest_cards WHERE tenant_id = ${TENANT} AND card_id = ANY(${shown_card_ids})
          AND manifest_id = ${manifest_id}`,
    );
  }
  const ids = manifests.map(({ manifest_id }) => manifest_id);
  await tx.send(sql`DELETE FROM manifests WHERE tenant_id = ${TENANT} AND manifest_id = ANY(${ids})`);
}

/** Whose context it is, or what it was made for. */
export const manifestsWithin = (reach: Reach): Sql => within(reach, sql`m.agent_id`, sql`m.trajectory_id`);
