/** manifests, manifest_cards and manifest_turns: the record of every context, and which contexts showed a card. */
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
import type { ContextEntry } from '../contexts/model.js';
import { cardsShownBy, cardsShownIn, entriesToText, type TurnPosition } from './entries.js';
import type { ManifestKind, ManifestSummary } from './model.js';

export interface ManifestSummaryRow extends Omit<ManifestSummary, 'truncated' | 'created_at'> {
  readonly truncated: number | null;
  readonly created_at: number;
}

export interface ManifestRow extends ManifestSummaryRow {
  readonly subject_ids: string | null;
  readonly parameters: string;
  /** Null for a packing: its box has them. */
  readonly entries: string | null;
  /** JSON of the ids of the cards with the texts of the request. */
  readonly request_card_ids: string | null;
  /** JSON of the ranges of the turns that it shows. */
  readonly turn_ranges: string | null;
  /** Keyed. Null for a packing. */
  readonly content_hash: string | null;
  readonly held_by: string | null;
}

export type NewManifest = Omit<ManifestRow, 'entries' | 'turn_ranges'>;

/** Consecutive turns of a box, both ends included. */
export interface TurnRange {
  readonly box_id: string;
  readonly first: number;
  readonly last: number;
}

interface ManifestContent {
  readonly entries: readonly ContextEntry[];
  readonly turns: readonly TurnRange[];
  /** Positions of the turns among the entries, by card. */
  readonly positions: ReadonlyMap<string, TurnPosition>;
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
    subject_ids: 'text',
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

/** `content` is null for a packing: its box holds everything. */
export async function insertManifest(tx: Tx, row: NewManifest, content: ManifestContent | null): Promise<void> {
  const stored: ManifestRow = {
    ...row,
    entries: content && entriesToText(content.entries, content.positions),
    turn_ranges: content && JSON.stringify(content.turns),
  };
  const [, ...columns] = Object.keys(manifestsTable.columns) as [string, ...(keyof ManifestRow)[]];
  await tx.insert(manifestsTable, [[tx.tenant, ...columns.map((column) => stored[column])]]);
  if (content === null) return;
  const card_ids = cardsShownBy(content.entries);
  await tx.insert(
    cardsTable,
    card_ids.map((card_id) => [tx.tenant, card_id, row.manifest_id]),
  );
  // Scopes restored from the same checkpoint show the same turns.
  const ranges = new Map(content.turns.map((range) => [`${range.first} ${range.last} ${range.box_id}`, range]));
  await tx.insert(
    turnsTable,
    Array.from(ranges.values(), ({ box_id, first, last }) => [tx.tenant, box_id, last, first, row.manifest_id]),
  );
}

const SUMMARY_COLUMNS: Sql = sql`m.manifest_id, m.kind, m.trajectory_id, m.scope_id, m.agent_turn_id, m.agent_id, m.box_id,
  m.format, m.token_budget, m.token_count, m.truncated, m.created_at`;

/** Hides the manifests of a deleted trajectory until they are erased. */
const notDeleted = (): Sql =>
  sql`(m.trajectory_id IS NULL OR NOT EXISTS (SELECT 1 FROM endings x
    WHERE x.tenant_id = ${TENANT} AND x.holder = ${trajectoryHolder('')} || m.trajectory_id))`;

export function findManifest(query: Query, manifest_id: string): Promise<ManifestRow | undefined> {
  return query.get<ManifestRow>(
    sql`SELECT ${SUMMARY_COLUMNS}, m.parameters, m.entries, m.turn_ranges, m.request_card_ids, m.content_hash, m.held_by,
          m.subject_ids
        FROM manifests m
        WHERE m.tenant_id = ${TENANT} AND m.manifest_id = ${manifest_id} AND ${notDeleted()}`,
  );
}

/** An agent sees packed contexts whose boxes it may see, and only those within its reach. */
interface ManifestViewer {
  readonly agent_id: string | null;
  readonly reach: Reach | undefined;
}

interface ManifestFilter {
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly agent_turn_id?: string | undefined;
  readonly card_ids?: readonly string[] | undefined;
  readonly kind?: ManifestKind | undefined;
  readonly viewer: ManifestViewer | undefined;
}

const boxShown = (agent_id: string): Sql =>
  sql`(m.kind <> 'packing' OR EXISTS (SELECT 1 FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = m.box_id
    AND ${visibleBox(agent_id)}))`;

/** Without the hint SQLite scans a whole box instead of looking up the card. */
export const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/** Contexts that showed any of the cards: by card, as a turn of a box or of a fork of it, or packed in a box. */
export const showedAnyCard = (card_ids: readonly string[]): Sql =>
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
  const conditions: Sql[] = [sql`m.tenant_id = ${TENANT}`, notDeleted()];
  const add = <T>(value: T | undefined, condition: (value: T) => Sql) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(filter.trajectory_id, (id) => sql`m.trajectory_id = ${id}`);
  add(filter.scope_id, (id) => sql`m.scope_id = ${id}`);
  add(filter.agent_turn_id, (id) => sql`m.agent_turn_id = ${id}`);
  add(filter.kind, (kind) => sql`m.kind = ${kind}`);
  add(filter.card_ids, (ids) => showedAnyCard(ids));
  add(filter.viewer?.agent_id ?? undefined, (agent_id) => boxShown(agent_id));
  add(filter.viewer?.reach, (reach) => manifestsWithin(reach));
  return join(conditions, ' AND ');
}

export function listManifests(query: Query, filter: ManifestFilter, page: KeysetPage): Promise<ManifestSummaryRow[]> {
  return query.all<ManifestSummaryRow>(
    sql`SELECT ${SUMMARY_COLUMNS} FROM manifests m WHERE ${where(filter)}${keyset(sql`m.manifest_id`, page)}`,
  );
}

export const countManifests = (filter: ManifestFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM manifests m WHERE ${where(filter)}`;

/** The cards of the last request of a holder: the next request may repeat their texts. */
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

/** A batch of manifests of an ended holder whose texts are not erased yet. */
export async function manifestsHeldBy(query: Query, held_by: string, limit: number): Promise<HeldManifest[]> {
  const rows = await query.all<{ manifest_id: string; request_card_ids: string | null }>(
    sql`SELECT manifest_id, request_card_ids FROM manifests
        WHERE tenant_id = ${TENANT} AND held_by = ${held_by} AND erased_at IS NULL
        ORDER BY manifest_id LIMIT ${limit}`,
  );
  return rows.map(toHeld);
}

const idsOf = (manifests: readonly HeldManifest[]): string[] => manifests.map(({ manifest_id }) => manifest_id);

export function markTextsErased(tx: Tx, manifests: readonly HeldManifest[], now: number): Promise<void> {
  return tx.send(
    sql`UPDATE manifests SET erased_at = ${now} WHERE tenant_id = ${TENANT} AND manifest_id = ANY(${idsOf(manifests)})`,
  );
}

interface WholeManifest extends HeldManifest {
  readonly shown_card_ids: readonly string[];
  readonly turns: readonly TurnRange[];
}

/** A batch of manifests of a deleted trajectory, of any holder. */
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
  await tx.send(sql`DELETE FROM manifests WHERE tenant_id = ${TENANT} AND manifest_id = ANY(${idsOf(manifests)})`);
}

export const manifestsWithin = (reach: Reach): Sql =>
  within(reach, { owner: sql`m.agent_id`, trajectory: sql`m.trajectory_id`, subjects: sql`m.subject_ids` });
