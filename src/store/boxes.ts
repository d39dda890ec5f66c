/** boxes, box_entries, box_grants: append-only entries, read through views that need no copy. */
import type { Query, Table, Tx } from '../driver/driver.js';
import { byDialect, join, type Sql, sql } from '../driver/sql.js';
import { readableAt } from './cards.js';

/** What a change must know of a box. */
export interface BoxState {
  readonly box_id: string;
  readonly agent_id: string | null;
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  readonly base_box_id: string | null;
  readonly base_revision: number | null;
  readonly base_until: number | null;
  readonly sealed_at: number | null;
}

export interface BoxRow extends BoxState {
  readonly metadata: string;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

const boxesTable: Table = {
  name: 'boxes',
  columns: {
    tenant_id: 'text',
    box_id: 'text',
    agent_id: 'text',
    revision: 'bigint',
    length: 'bigint',
    next_position: 'bigint',
    base_box_id: 'text',
    base_revision: 'bigint',
    metadata: 'json',
    sent_hash: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
};

const entriesTable: Table = {
  name: 'box_entries',
  columns: {
    tenant_id: 'text',
    box_id: 'text',
    position: 'bigint',
    card_id: 'text',
    added_revision: 'bigint',
  },
};

export async function insertBox(tx: Tx, tenant: string, box: BoxRow): Promise<void> {
  await tx.insert(boxesTable, [
    [
      tenant,
      box.box_id,
      box.agent_id,
      box.revision,
      box.length,
      box.next_position,
      box.base_box_id,
      box.base_revision,
      box.metadata,
      box.sent_hash,
      box.created_at,
      box.updated_at,
    ],
  ]);
}

export async function findBox(query: Query, tenant: string, box_id: string): Promise<BoxRow | undefined> {
  return query.get<BoxRow>(sql`SELECT * FROM boxes WHERE tenant_id = ${tenant} AND box_id = ${box_id}`);
}

/** Finds a box and keeps others from changing it until the commit. */
export async function lockBox(tx: Tx, tenant: string, box_id: string): Promise<BoxRow | undefined> {
  return tx.get<BoxRow>(
    sql`SELECT * FROM boxes WHERE tenant_id = ${tenant} AND box_id = ${box_id} FOR UPDATE`,
  );
}

/** The same for an append, which asks for no more than it needs. */
export async function lockBoxState(tx: Tx, tenant: string, box_id: string): Promise<BoxState | undefined> {
  return tx.get<BoxState>(
    sql`SELECT box_id, agent_id, revision, length, next_position, base_box_id, base_revision, base_until, sealed_at
        FROM boxes WHERE tenant_id = ${tenant} AND box_id = ${box_id} FOR UPDATE`,
  );
}

export async function findBoxes(
  query: Query,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, BoxRow>> {
  const rows = await query.all<BoxRow>(
    sql`SELECT * FROM boxes WHERE tenant_id = ${tenant} AND box_id = ANY(${ids})`,
  );
  return new Map(rows.map((row) => [row.box_id, row]));
}

export async function insertEntries(
  tx: Tx,
  tenant: string,
  box_id: string,
  first: number,
  revision: number,
  card_ids: readonly string[],
): Promise<void> {
  await tx.insert(
    entriesTable,
    card_ids.map((card_id, i) => [tenant, box_id, first + i, card_id, revision]),
  );
}

export async function removeEntriesFrom(
  tx: Tx,
  tenant: string,
  box_id: string,
  position: number,
  revision: number,
): Promise<void> {
  await tx.run(
    sql`UPDATE box_entries SET removed_revision = ${revision} WHERE tenant_id = ${tenant} AND box_id = ${box_id}
        AND position >= ${position} AND removed_revision IS NULL`,
  );
}

export interface BoxChange {
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  readonly base_until: number | null;
  readonly updated_at: number;
}

export async function updateBox(tx: Tx, tenant: string, box_id: string, change: BoxChange): Promise<void> {
  await tx.send(
    sql`UPDATE boxes SET revision = ${change.revision}, length = ${change.length},
          next_position = ${change.next_position}, base_until = ${change.base_until}, updated_at = ${change.updated_at}
        WHERE tenant_id = ${tenant} AND box_id = ${box_id}`,
  );
}

export async function sealBox(tx: Tx, tenant: string, box_id: string, now: number): Promise<void> {
  await tx.run(
    sql`UPDATE boxes SET sealed_at = ${now}, updated_at = ${now} WHERE tenant_id = ${tenant} AND box_id = ${box_id}`,
  );
}

/** A stretch of a view: what one box held at one of its revisions. */
export interface Segment {
  readonly box_id: string;
  readonly revision: number;
}

/** The stretches that make up a box at a revision, the oldest first. Positions rise along them. */
export async function segmentsOf(
  query: Query,
  tenant: string,
  box: BoxState,
  revision = box.revision,
): Promise<Segment[]> {
  const segments: Segment[] = [{ box_id: box.box_id, revision }];
  let current: BoxState = box;
  let at = revision;
  while (current.base_box_id !== null && (current.base_until === null || at < current.base_until)) {
    at = current.base_revision!;
    const base = await findBox(query, tenant, current.base_box_id);
    if (!base)
      throw new Error(`box ${current.box_id} is based on ${current.base_box_id}, which is not there`);
    segments.push({ box_id: base.box_id, revision: at });
    current = base;
  }
  return segments.reverse();
}

/** The stretches that a fork has from its base; none for a box that stands on its own. */
export async function baseSegments(query: Query, tenant: string, box: BoxState): Promise<Segment[]> {
  return box.base_box_id === null ? [] : (await segmentsOf(query, tenant, box)).slice(0, -1);
}

const inSegment = (tenant: string, { box_id, revision }: Segment): Sql =>
  sql`e.tenant_id = ${tenant} AND e.box_id = ${box_id} AND e.added_revision <= ${revision}
      AND (e.removed_revision IS NULL OR e.removed_revision > ${revision})`;

export interface Entry {
  readonly position: number;
  readonly card_id: string;
}

/** The last entries of a view, in order. */
export async function tailOf(
  query: Query,
  tenant: string,
  segments: readonly Segment[],
  limit: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const segment of [...segments].reverse()) {
    if (found.length >= limit) break;
    const rows = await query.all<Entry>(
      sql`SELECT e.position, e.card_id FROM box_entries e WHERE ${inSegment(tenant, segment)}
          ORDER BY e.position DESC LIMIT ${limit - found.length}`,
    );
    found.push(...rows);
  }
  return found.reverse();
}

/** Entries of a view behind a position, in order. */
export async function entriesAfter(
  query: Query,
  tenant: string,
  segments: readonly Segment[],
  page: { after: number; limit: number; offset?: number | undefined },
): Promise<Entry[]> {
  const wanted = page.limit + (page.offset ?? 0);
  const found: Entry[] = [];
  for (const segment of segments) {
    if (found.length >= wanted) break;
    const rows = await query.all<Entry>(
      sql`SELECT e.position, e.card_id FROM box_entries e WHERE ${inSegment(tenant, segment)} AND e.position > ${page.after}
          ORDER BY e.position LIMIT ${wanted - found.length}`,
    );
    found.push(...rows);
  }
  return found.slice(page.offset ?? 0);
}

/** How many entries a view has; counted, since only the newest revision's length is kept. */
export async function countEntries(
  query: Query,
  tenant: string,
  segments: readonly Segment[],
): Promise<number> {
  let total = 0;
  for (const segment of segments) {
    const row = await query.get<{ total: number }>(
      sql`SELECT COUNT(*) AS total FROM box_entries e WHERE ${inSegment(tenant, segment)}`,
    );
    total += row!.total;
  }
  return total;
}

/** Which of these cards a view holds already. */
export async function presentCards(
  query: Query,
  tenant: string,
  segments: readonly Segment[],
  card_ids: readonly string[],
): Promise<Set<string>> {
  if (segments.length === 0 || card_ids.length === 0) return new Set();
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT e.card_id FROM box_entries e WHERE e.tenant_id = ${tenant} AND e.card_id = ANY(${card_ids})
        AND (${join(
          segments.map((segment) => sql`(${inSegment(tenant, segment)})`),
          ' OR ',
        )})`,
  );
  return new Set(rows.map(({ card_id }) => card_id));
}

export interface Standing {
  /** Cards that the box has an entry of its own for now, not one of its base. */
  readonly entered: Set<string>;
  /** Cards that can be read now. */
  readonly known: Set<string>;
}

/**
 * Whether an entry of a card is in a box. PostgreSQL without statistics may scan the whole box for it, unless it is
 * asked for by an interval of pairs, which the index by card alone can serve.
 */
const isIn = (box_id: string, card_id: string): Sql =>
  byDialect({
    sqlite: sql`e.box_id = ${box_id}`,
    postgres: sql`(e.card_id, e.box_id) >= (${card_id}, ${box_id}) AND (e.card_id, e.box_id) <= (${card_id}, ${box_id})`,
  });

/** What an append must know of its cards, in one statement. */
export async function standingOf(
  query: Query,
  tenant: string,
  box_id: string,
  card_ids: readonly string[],
  now: number,
): Promise<Standing> {
  const one = card_ids.length === 1 ? card_ids[0]! : undefined;
  // One card, the common case, is a statement that needs no list.
  const rows = await query.all<{ card_id: string; entered: number }>(
    one !== undefined
      ? sql`SELECT c.card_id, 0 AS entered FROM cards c
            WHERE c.tenant_id = ${tenant} AND c.card_id = ${one} AND ${readableAt(now)}
            UNION ALL
            SELECT e.card_id, 1 AS entered FROM box_entries e
            WHERE e.tenant_id = ${tenant} AND e.card_id = ${one} AND ${isIn(box_id, one)} AND e.removed_revision IS NULL`
      : sql`SELECT c.card_id, 0 AS entered FROM cards c
            WHERE c.tenant_id = ${tenant} AND c.card_id = ANY(${card_ids}) AND ${readableAt(now)}
            UNION ALL
            SELECT e.card_id, 1 AS entered FROM box_entries e
            WHERE e.tenant_id = ${tenant} AND e.card_id = ANY(${card_ids}) AND e.box_id = ${box_id}
              AND e.removed_revision IS NULL`,
  );
  const standing: Standing = { entered: new Set(), known: new Set() };
  for (const { card_id, entered } of rows) (entered === 1 ? standing.entered : standing.known).add(card_id);
  return standing;
}

/** The boxes an agent may see: its own and those granted to it. Without an agent, all of the tenant's. */
const visibleBoxes = (tenant: string, viewer: string | null, owner: string | undefined): Sql =>
  join(
    [
      sql`b.tenant_id = ${tenant}`,
      ...(owner === undefined ? [] : [sql`b.agent_id = ${owner}`]),
      ...(viewer === null
        ? []
        : [
            sql`(b.agent_id = ${viewer} OR EXISTS (SELECT 1 FROM box_grants g
                 WHERE g.tenant_id = ${tenant} AND g.box_id = b.box_id AND g.agent_id = ${viewer}))`,
          ]),
    ],
    ' AND ',
  );

export async function listBoxes(
  query: Query,
  tenant: string,
  viewer: string | null,
  owner: string | undefined,
  page: { after?: string | undefined; limit: number; offset?: number | undefined },
): Promise<BoxRow[]> {
  return query.all<BoxRow>(
    sql`SELECT b.* FROM boxes b WHERE ${visibleBoxes(tenant, viewer, owner)} AND b.box_id > ${page.after ?? ''}
        ORDER BY b.box_id LIMIT ${page.limit} OFFSET ${page.offset ?? 0}`,
  );
}

export const countBoxes = (tenant: string, viewer: string | null, owner: string | undefined): Sql =>
  sql`SELECT COUNT(*) AS total FROM boxes b WHERE ${visibleBoxes(tenant, viewer, owner)}`;

export interface GrantRow {
  readonly box_id: string;
  readonly agent_id: string;
  readonly access: 'read' | 'write';
  readonly granted_at: number;
}

export async function findGrant(
  query: Query,
  tenant: string,
  box_id: string,
  agent_id: string,
): Promise<GrantRow | undefined> {
  return query.get<GrantRow>(
    sql`SELECT box_id, agent_id, access, granted_at FROM box_grants
        WHERE tenant_id = ${tenant} AND box_id = ${box_id} AND agent_id = ${agent_id}`,
  );
}

export async function listGrants(query: Query, tenant: string, box_id: string): Promise<GrantRow[]> {
  return query.all<GrantRow>(
    sql`SELECT box_id, agent_id, access, granted_at FROM box_grants
        WHERE tenant_id = ${tenant} AND box_id = ${box_id} ORDER BY agent_id`,
  );
}

export async function putGrant(tx: Tx, tenant: string, grant: GrantRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO box_grants (tenant_id, box_id, agent_id, access, granted_at)
        VALUES (${tenant}, ${grant.box_id}, ${grant.agent_id}, ${grant.access}, ${grant.granted_at})
        ON CONFLICT (tenant_id, box_id, agent_id)
        DO UPDATE SET access = excluded.access, granted_at = excluded.granted_at`,
  );
}

export async function removeGrant(
  tx: Tx,
  tenant: string,
  box_id: string,
  agent_id: string,
): Promise<boolean> {
  const changed = await tx.run(
    sql`DELETE FROM box_grants WHERE tenant_id = ${tenant} AND box_id = ${box_id} AND agent_id = ${agent_id}`,
  );
  return changed > 0;
}
