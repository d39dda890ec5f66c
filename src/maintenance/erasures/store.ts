/** erasures, erasure_items and erasure_marks: receipts, and the progress of what is forgotten. */
import {
  insertRows,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
  tenantTable,
} from '../../driver/index.js';
import type { Forgettable } from '../../engine/index.js';

/** 0: to be erased. */
export const STATE = { todo: 0, erased: 1, shared: 2, copy: 3 } as const;

type Origin = 'named' | 'contained' | 'derived' | 'copy';

interface NewErasure {
  readonly erasure_id: string;
  readonly selected_by: 'ids' | 'filter' | 'user' | 'tenant';
  readonly request_hash: string;
  /** JSON of what is still to be selected; null once everything is. */
  readonly selection: string | null;
  readonly shared: number;
  readonly copies: number;
  readonly agent_id: string | null;
  readonly key_id: string | null;
  readonly created_at: number;
}

export interface ErasureRow extends NewErasure {
  readonly erased_at: number | null;
  /** When the database's log was emptied after it. */
  readonly verified_at: number | null;
}

export interface NewItem extends Forgettable {
  readonly origin: Origin;
  readonly state: number;
}

const erasuresTable = tenantTable('erasures', {
  text: ['erasure_id', 'selected_by', 'request_hash', 'agent_id', 'key_id'],
  json: ['selection'],
  bigint: ['shared', 'copies', 'created_at'],
});

export const erasureHolder = (erasure_id: string): string => `erasure:${erasure_id}`;

export const insertErasure = (tx: Tx, row: NewErasure): Promise<void> => insertRows(tx, erasuresTable, [row]);

const COLUMNS: Sql = sql`r.erasure_id, r.selected_by, r.request_hash, r.selection, r.shared, r.copies, r.agent_id, r.key_id,
  r.created_at, r.erased_at, COALESCE(r.verified_at, x.done_at) AS verified_at`;
const ERASURES: Sql = sql`erasures r LEFT JOIN endings x
  ON x.tenant_id = r.tenant_id AND x.holder = ${erasureHolder('')} || r.erasure_id`;

export const findErasure = (query: Query, erasure_id: string): Promise<ErasureRow | undefined> =>
  query.get<ErasureRow>(
    sql`SELECT ${COLUMNS} FROM ${ERASURES} WHERE r.tenant_id = ${TENANT} AND r.erasure_id = ${erasure_id}`,
  );

export const listErasures = (query: Query, page: KeysetPage): Promise<ErasureRow[]> =>
  query.all<ErasureRow>(
    sql`SELECT ${COLUMNS} FROM ${ERASURES} WHERE r.tenant_id = ${TENANT}${keyset(sql`r.erasure_id`, page)}`,
  );

export const COUNT_ERASURES: Sql = sql`SELECT COUNT(*) AS total FROM erasures r WHERE r.tenant_id = ${TENANT}`;

/** Stores how far the selection is; null at its end. */
export const storeSelection = (tx: Tx, erasure_id: string, selection: string | null): Promise<void> =>
  tx.send(sql`UPDATE erasures SET selection = ${selection} WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id}`);

export const noteErased = (tx: Tx, erasure_id: string, now: number): Promise<void> =>
  tx.send(
    sql`UPDATE erasures SET erased_at = COALESCE(erased_at, ${now})
        WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id}`,
  );

/** Adds items that the erasure does not have yet. */
export async function addItems(tx: Tx, erasure_id: string, items: readonly NewItem[]): Promise<void> {
  for (const { kind, id, origin, state } of items)
    await tx.send(
      sql`INSERT INTO erasure_items (tenant_id, erasure_id, entity_type, entity_id, origin, state, contents)
          VALUES (${TENANT}, ${erasure_id}, ${kind}, ${id}, ${origin}, ${state}, 0)
          ON CONFLICT (tenant_id, erasure_id, entity_type, entity_id) DO NOTHING`,
    );
}

/** Items that are to be erased, of one kind after another. */
export const itemsToDo = (query: Query, erasure_id: string, limit: number): Promise<Forgettable[]> =>
  query.all<Forgettable>(
    sql`SELECT entity_type AS kind, entity_id AS id FROM erasure_items
        WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id} AND state = 0
        ORDER BY entity_type, entity_id LIMIT ${limit}`,
  );

/** The cards of all versions of artifacts and notes: they can be sources too. */
export async function versionCards(query: Query, memory_ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT v.card_id FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids})`,
  );
  return rows.map(({ card_id }) => card_id);
}

/** Counts erased contents of an item, and marks it as erased if it is done. */
export const noteItem = (tx: Tx, erasure_id: string, { kind, id }: Forgettable, contents: number, done: boolean) =>
  tx.send(
    sql`UPDATE erasure_items SET contents = contents + ${contents}, state = ${done ? STATE.erased : STATE.todo}
        WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id} AND entity_type = ${kind} AND entity_id = ${id}
          AND state = 0`,
  );

/** Cards of versions, so that reads of them find the receipt too. */
export async function addVersions(tx: Tx, erasure_id: string, card_ids: readonly string[]): Promise<void> {
  for (const id of card_ids)
    await tx.send(
      sql`INSERT INTO erasure_items (tenant_id, erasure_id, entity_type, entity_id, origin, state, contents)
          VALUES (${TENANT}, ${erasure_id}, 'version', ${id}, 'contained', 1, 0)
          ON CONFLICT (tenant_id, erasure_id, entity_type, entity_id) DO NOTHING`,
    );
}

interface ItemCount {
  readonly kind: string;
  readonly origin: Origin;
  readonly state: number;
  readonly entities: number;
  readonly contents: number;
}

export const countItems = (query: Query, erasure_id: string): Promise<ItemCount[]> =>
  query.all<ItemCount>(
    sql`SELECT entity_type AS kind, origin, state, COUNT(*) AS entities, CAST(SUM(contents) AS BIGINT) AS contents
        FROM erasure_items WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id} AND entity_type <> 'version'
        GROUP BY entity_type, origin, state ORDER BY entity_type, origin, state`,
  );

export interface ItemRow {
  readonly kind: string;
  readonly id: string;
  readonly origin: Origin;
  readonly state: number;
}

/** Items in the order of their keys, versions included. */
export const itemsAfter = (
  query: Query,
  erasure_id: string,
  after: Pick<ItemRow, 'kind' | 'id'>,
  limit: number,
): Promise<ItemRow[]> =>
  query.all<ItemRow>(
    sql`SELECT entity_type AS kind, entity_id AS id, origin, state FROM erasure_items
        WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id}
          AND (entity_type, entity_id) > (${after.kind}, ${after.id})
        ORDER BY entity_type, entity_id LIMIT ${limit}`,
  );

/** The entities of a receipt, without versions. */
export const listedItems = (query: Query, erasure_id: string, limit: number): Promise<ItemRow[]> =>
  query.all<ItemRow>(
    sql`SELECT entity_type AS kind, entity_id AS id, origin, state FROM erasure_items
        WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id} AND entity_type <> 'version'
        ORDER BY entity_type, entity_id LIMIT ${limit}`,
  );

/** The newest receipts that name any of these ids. */
export async function receiptsOf(query: Query, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await query.all<{ entity_id: string; erasure_id: string }>(
    sql`SELECT i.entity_id, MAX(i.erasure_id) AS erasure_id FROM erasure_items i
        WHERE i.tenant_id = ${TENANT} AND i.entity_id = ANY(${ids}) AND i.state <= 1 GROUP BY i.entity_id`,
  );
  return new Map(rows.map(({ entity_id, erasure_id }) => [entity_id, erasure_id]));
}

/** The keyed hashes of the erased cards of an erasure. */
export async function erasedHashes(query: Query, erasure_id: string): Promise<Set<string>> {
  const rows = await query.all<{ content_hash: string }>(
    sql`SELECT DISTINCT c.content_hash FROM erasure_items i
          JOIN cards c ON c.tenant_id = i.tenant_id AND c.card_id = i.entity_id
        WHERE i.tenant_id = ${TENANT} AND i.erasure_id = ${erasure_id} AND i.state = 1
          AND i.entity_type IN ('turn', 'card', 'version') AND c.erased_at IS NOT NULL`,
  );
  return new Set(rows.map(({ content_hash }) => content_hash));
}

interface LiveCard {
  readonly card_id: string;
  readonly held_by: string | null;
  readonly content_hash: string;
}

/** Cards with a text of some length, by id. */
export const liveCards = (query: Query, after: string, least: number, limit: number): Promise<LiveCard[]> =>
  query.all<LiveCard>(
    sql`SELECT c.card_id, c.held_by, c.content_hash FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id > ${after} AND c.erased_at IS NULL
          AND LENGTH(CAST(c.content AS TEXT)) >= ${least} ORDER BY c.card_id LIMIT ${limit}`,
  );

export async function addMarks(tx: Tx, erasure_id: string, marks: readonly string[]): Promise<void> {
  for (const mark of marks)
    await tx.send(
      sql`INSERT INTO erasure_marks (tenant_id, erasure_id, mark) VALUES (${TENANT}, ${erasure_id}, ${mark})
          ON CONFLICT (tenant_id, erasure_id, mark) DO NOTHING`,
    );
}

export async function marksOf(query: Query, erasure_id: string): Promise<string[]> {
  const rows = await query.all<{ mark: string }>(
    sql`SELECT mark FROM erasure_marks WHERE tenant_id = ${TENANT} AND erasure_id = ${erasure_id}`,
  );
  return rows.map(({ mark }) => mark);
}
