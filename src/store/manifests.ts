/** manifests and manifest_cards: the record of every context, and which contexts a card was in. */
import type { Query, Table, Tx } from '../driver/driver.js';
import { byDialect, join, type Sql, sql } from '../driver/sql.js';
import type { ContextEntry, ContextFormat } from '../model/context.js';
import type { ManifestKind } from '../model/manifest.js';
import { visibleBox } from './boxes.js';
import { trajectoryHolder } from './endings.js';
import { manifestsWithin, type Reach } from './reach.js';

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
  readonly content_hash: string | null;
  readonly held_by: string | null;
  readonly created_at: number;
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
    request_card_ids: 'json',
    content_hash: 'text',
    held_by: 'text',
    created_at: 'bigint',
  },
};

const cardsTable: Table = {
  name: 'manifest_cards',
  columns: { tenant_id: 'text', card_id: 'text', manifest_id: 'text' },
};

/** The cards are those that it shows. */
export async function insertManifest(
  tx: Tx,
  tenant: string,
  row: ManifestRow,
  card_ids: readonly string[],
): Promise<void> {
  await tx.insert(manifestsTable, [
    [
      tenant,
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
      row.entries,
      row.request_card_ids,
      row.content_hash,
      row.held_by,
      row.created_at,
    ],
  ]);
  const shown = [...new Set(card_ids)].sort();
  if (shown.length > 0) {
    await tx.insert(
      cardsTable,
      shown.map((card_id) => [tenant, card_id, row.manifest_id]),
    );
  }
}

type Packed = [
  ContextEntry['action'],
  ContextEntry['section'],
  ContextEntry['reason'],
  ContextEntry['entity_type'],
  string,
  string | null,
  number | null,
  number | null,
  number | null,
  number | null,
  string | null,
];

/** As lists: the names of the members would be most of it. */
export const entriesToText = (entries: readonly ContextEntry[]): string =>
  JSON.stringify(
    entries.map(
      (e): Packed => [
        e.action,
        e.section,
        e.reason,
        e.entity_type,
        e.id,
        e.card_id === e.id ? null : e.card_id,
        e.tokens,
        e.score,
        e.place,
        e.kept_characters,
        e.by,
      ],
    ),
  );

export const textToEntries = (text: string): ContextEntry[] =>
  (JSON.parse(text) as Packed[]).map(
    ([action, section, reason, entity_type, id, card_id, tokens, score, place, kept_characters, by]) => ({
      action,
      section,
      reason,
      entity_type,
      id,
      card_id: card_id ?? id,
      tokens,
      score,
      place,
      kept_characters,
      by,
    }),
  );

const COLUMNS: Sql = sql`m.manifest_id, m.kind, m.trajectory_id, m.scope_id, m.agent_turn_id, m.agent_id, m.box_id, m.format,
  m.token_budget, m.token_count, m.truncated, m.parameters, m.entries, m.request_card_ids, m.content_hash, m.held_by,
  m.created_at`;

/** Those of a deleted trajectory are gone with it, though they may still be there for a moment. */
const there = (tenant: string): Sql =>
  sql`(m.trajectory_id IS NULL OR NOT EXISTS (SELECT 1 FROM endings x
    WHERE x.tenant_id = ${tenant} AND x.holder = ${trajectoryHolder('')} || m.trajectory_id))`;

export function findManifest(
  query: Query,
  tenant: string,
  manifest_id: string,
): Promise<ManifestRow | undefined> {
  return query.get<ManifestRow>(
    sql`SELECT ${COLUMNS} FROM manifests m
        WHERE m.tenant_id = ${tenant} AND m.manifest_id = ${manifest_id} AND ${there(tenant)}`,
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
  readonly card_id?: string | undefined;
  readonly kind?: ManifestKind | undefined;
  readonly viewer: ManifestViewer | undefined;
}

const boxShown = (tenant: string, agent_id: string): Sql =>
  sql`(m.kind <> 'packing' OR EXISTS (SELECT 1 FROM boxes b WHERE b.tenant_id = ${tenant} AND b.box_id = m.box_id
    AND ${visibleBox(tenant, agent_id)}))`;

/** SQLite would rather walk a whole box than look for the card. */
const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/** The contexts that a card was in: assembled ones by their cards, packed ones by their boxes. */
const withCard = (tenant: string, card_id: string): Sql =>
  sql`m.manifest_id IN (
    SELECT k.manifest_id FROM manifest_cards k WHERE k.tenant_id = ${tenant} AND k.card_id = ${card_id}
    UNION ALL
    SELECT p.manifest_id FROM ${entriesByCard} CROSS JOIN manifests p
      WHERE e.tenant_id = ${tenant} AND e.card_id = ${card_id} AND p.tenant_id = ${tenant} AND p.box_id = e.box_id)`;

function where(tenant: string, filter: ManifestFilter): Sql {
  const conditions: Sql[] = [sql`m.tenant_id = ${tenant}`, there(tenant)];
  const add = <T>(value: T | undefined, condition: (value: T) => Sql) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(filter.trajectory_id, (id) => sql`m.trajectory_id = ${id}`);
  add(filter.scope_id, (id) => sql`m.scope_id = ${id}`);
  add(filter.agent_turn_id, (id) => sql`m.agent_turn_id = ${id}`);
  add(filter.kind, (kind) => sql`m.kind = ${kind}`);
  add(filter.card_id, (id) => withCard(tenant, id));
  add(filter.viewer, ({ agent_id }) => boxShown(tenant, agent_id));
  add(filter.viewer?.reach, (reach) => manifestsWithin(tenant, reach));
  return join(conditions, ' AND ');
}

export function listManifests(
  query: Query,
  tenant: string,
  filter: ManifestFilter,
  page: { readonly after?: string | undefined; readonly limit: number; readonly offset: number },
): Promise<ManifestRow[]> {
  return query.all<ManifestRow>(
    sql`SELECT m.manifest_id, m.kind, m.trajectory_id, m.scope_id, m.agent_turn_id, m.agent_id, m.box_id, m.format,
          m.token_budget, m.token_count, m.truncated, '{}' AS parameters, NULL AS entries, NULL AS request_card_ids,
          NULL AS content_hash, m.held_by, m.created_at
        FROM manifests m WHERE ${where(tenant, filter)} AND m.manifest_id > ${page.after ?? ''}
        ORDER BY m.manifest_id LIMIT ${page.limit} OFFSET ${page.offset}`,
  );
}

export const countManifests = (tenant: string, filter: ManifestFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM manifests m WHERE ${where(tenant, filter)}`;

/** The cards with the texts of the last request whose manifest this holds: the next one may bring the same. */
export async function lastRequestCards(query: Query, tenant: string, held_by: string): Promise<string[]> {
  const row = await query.get<{ request_card_ids: string | null }>(
    sql`SELECT request_card_ids FROM manifests
        WHERE tenant_id = ${tenant} AND held_by = ${held_by} AND erased_at IS NULL
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
export async function manifestsHeldBy(
  query: Query,
  tenant: string,
  held_by: string,
  limit: number,
): Promise<HeldManifest[]> {
  const rows = await query.all<{ manifest_id: string; request_card_ids: string | null }>(
    sql`SELECT manifest_id, request_card_ids FROM manifests
        WHERE tenant_id = ${tenant} AND held_by = ${held_by} AND erased_at IS NULL
        ORDER BY manifest_id LIMIT ${limit}`,
  );
  return rows.map(toHeld);
}

export function noteTextsErased(
  tx: Tx,
  tenant: string,
  manifest_ids: readonly string[],
  now: number,
): Promise<void> {
  return tx.send(
    sql`UPDATE manifests SET erased_at = ${now} WHERE tenant_id = ${tenant} AND manifest_id = ANY(${manifest_ids})`,
  );
}

/** Some manifests of a deleted trajectory, whoever holds them. */
export async function manifestsOf(
  query: Query,
  tenant: string,
  trajectory_id: string,
  limit: number,
): Promise<HeldManifest[]> {
  const rows = await query.all<{ manifest_id: string; request_card_ids: string | null }>(
    sql`SELECT manifest_id, request_card_ids FROM manifests
        WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id} ORDER BY manifest_id LIMIT ${limit}`,
  );
  return rows.map(toHeld);
}

export async function removeManifests(
  tx: Tx,
  tenant: string,
  manifest_ids: readonly string[],
): Promise<void> {
  await tx.send(
    sql`DELETE FROM manifest_cards WHERE tenant_id = ${tenant} AND manifest_id = ANY(${manifest_ids})`,
  );
  await tx.send(
    sql`DELETE FROM manifests WHERE tenant_id = ${tenant} AND manifest_id = ANY(${manifest_ids})`,
  );
}
