/** cards and card_subjects: reads and writes rows. */
import {
  insertRows,
  type KeysetPage,
  keyset,
  listToText,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
  tenantTable,
  textToList,
} from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import { CARD_ENDED } from '../../engine/sql.js';
import { addDocs, type Doc, hideDocs, newDoc } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import type { Card } from './model.js';
import { cardsWithin, shownTo } from './visibility.js';

interface CardColumns {
  readonly card_id: string;
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  readonly author_id: string | null;
  readonly content_hash: string;
  readonly sent_hash: string | null;
  readonly ttl_seconds: number | null;
  readonly expires_at: number | null;
  readonly created_at: number;
  /** The holder that it ends with, if any (`engine/lifetimes/endings.ts`). */
  readonly held_by: string | null;
}

export interface NewCard extends CardColumns {
  readonly content: string;
  readonly metadata: string;
  readonly subject_ids: readonly string[];
  readonly derived_from: readonly string[];
  /** Its search document; null if it is not searched. */
  readonly doc: Doc | null;
}

export interface CardRow extends CardColumns {
  readonly content: string | null;
  readonly metadata: string | null;
  readonly subject_ids: string | null;
  readonly derived_from: string | null;
  readonly deleted_at: number | null;
  readonly erased_at: number | null;
  /** When its holder ended. */
  readonly ended_at: number | null;
}

const cardsTable = tenantTable('cards', {
  text: ['card_id', 'tool_call_id', 'author_id', 'subject_ids', 'content_hash', 'sent_hash', 'held_by'],
  json: ['content', 'tool_calls', 'metadata', 'derived_from'],
  bigint: ['ttl_seconds', 'expires_at', 'created_at'],
});

const subjectsTable: Table = {
  name: 'card_subjects',
  columns: { tenant_id: 'text', subject_id: 'text', card_id: 'text' },
};

const sourcesTable: Table = {
  name: 'card_sources',
  columns: { tenant_id: 'text', source_id: 'text', card_id: 'text' },
};

export async function insertCards(tx: Tx, cards: readonly NewCard[]): Promise<void> {
  const tenant_id = tx.tenant;
  const rows = cards.map((card) => ({
    ...card,
    subject_ids: listToText(card.subject_ids),
    derived_from: listToText(card.derived_from),
  }));
  await insertRows(tx, cardsTable, rows);
  const subjects = cards.flatMap(({ card_id, subject_ids }) => subject_ids.map((id) => [tenant_id, id, card_id]));
  await tx.insert(subjectsTable, subjects);
  const sources = cards.flatMap(({ card_id, derived_from }) => derived_from.map((id) => [tenant_id, id, card_id]));
  await tx.insert(sourcesTable, sources);
  const docs = cards.flatMap(({ doc, card_id, author_id, subject_ids, created_at, expires_at, held_by }) =>
    newDoc(doc, {
      content_id: card_id,
      agent_id: author_id,
      subject_ids: listToText(subject_ids),
      created_at,
      expires_at,
      held_by,
    }),
  );
  addDocs(tx, docs);
}

const CARD_COLUMNS = sql`c.card_id, c.content, c.tool_calls, c.tool_call_id, c.metadata, c.author_id,
  c.subject_ids, c.derived_from, c.content_hash, c.sent_hash, c.ttl_seconds, c.expires_at, c.created_at,
  c.deleted_at, c.erased_at, c.held_by, ${CARD_ENDED} AS ended_at`;

type Lifetime = Pick<CardRow, 'expires_at' | 'deleted_at' | 'erased_at' | 'ended_at'>;

/** Whether a card is readable now. A deleted one is not, whatever the clock of the server that deleted it said. */
export const isVisible = (row: Lifetime, now: number): boolean =>
  row.deleted_at === null && row.ended_at === null && wasVisible(row, now);

/** Whether a card was readable at a past moment, and has not been erased since. */
export const wasVisible = (row: Lifetime, moment: number): boolean =>
  row.erased_at === null &&
  (row.deleted_at === null || row.deleted_at > moment) &&
  (row.ended_at === null || row.ended_at > moment) &&
  (row.expires_at === null || row.expires_at > moment);

const parse = <T>(text: string | null, absent: T): T => (text === null ? absent : (JSON.parse(text) as T));

export const toCard = (tenant: string, row: CardRow): Card => ({
  card_id: row.card_id,
  project_id: tenant,
  content: parse<Json>(row.content, null),
  tool_calls: parse<Card['tool_calls']>(row.tool_calls, null),
  tool_call_id: row.tool_call_id,
  metadata: parse<JsonObject>(row.metadata, {}),
  author_id: row.author_id,
  subject_ids: textToList(row.subject_ids),
  derived_from: textToList(row.derived_from),
  content_hash: row.content_hash,
  ttl_seconds: row.ttl_seconds,
  expires_at: row.expires_at === null ? null : toIso(row.expires_at),
  created_at: toIso(row.created_at),
  deleted_at: row.deleted_at === null ? null : toIso(row.deleted_at),
});

export const findCard = (query: Query, card_id: string): Promise<CardRow | undefined> =>
  query.get(sql`SELECT ${CARD_COLUMNS} FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id = ${card_id}`);

export async function findCards(query: Query, ids: readonly string[]): Promise<Map<string, CardRow>> {
  const rows = await query.all<CardRow>(
    sql`SELECT ${CARD_COLUMNS} FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids})`,
  );
  return new Map(rows.map((row) => [row.card_id, row]));
}

/** `isVisible`, in SQL. */
export const readableAt = (now: number): Sql =>
  sql`c.erased_at IS NULL AND c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > ${now})
      AND (c.held_by IS NULL OR ${CARD_ENDED} IS NULL)`;

export async function knownCards(tx: Query, ids: readonly string[], now: number): Promise<Set<string>> {
  const rows = await tx.all<{ card_id: string }>(
    sql`SELECT c.card_id FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids}) AND ${readableAt(now)}`,
  );
  return new Set(rows.map(({ card_id }) => card_id));
}

interface CardFilter {
  readonly subject_id?: string | undefined;
  /** A condition on a card named c. */
  readonly current?: Sql | undefined;
  readonly reach?: CardReach | undefined;
  /** The calling agent, if there is one. */
  readonly viewer?: string | undefined;
}

export function listCards(query: Query, page: CardFilter & KeysetPage, now: number): Promise<CardRow[]> {
  // Key on the leading table: otherwise SQLite scans all cards and probes card_subjects for each.
  const id = page.subject_id === undefined ? sql`c.card_id` : sql`s.card_id`;
  return query.all(sql`SELECT ${CARD_COLUMNS} FROM ${cardsAbout(page)} AND ${readableAt(now)}${keyset(id, page)}`);
}

export const countCards = (filter: CardFilter, now: number): Sql =>
  sql`SELECT COUNT(*) AS total FROM ${cardsAbout(filter)} AND ${readableAt(now)}`;

function cardsAbout({ subject_id, current, reach, viewer }: CardFilter): Sql {
  const listed = current ? sql` AND ${current}` : sql``;
  const within = reach ? sql`${listed} AND ${cardsWithin(reach)}` : listed;
  const shown = viewer === undefined ? within : sql`${within} AND ${shownTo(viewer)}`;
  return subject_id === undefined
    ? sql`cards c WHERE c.tenant_id = ${TENANT}${shown}`
    : sql`card_subjects s JOIN cards c ON c.tenant_id = s.tenant_id AND c.card_id = s.card_id
          WHERE s.tenant_id = ${TENANT} AND s.subject_id = ${subject_id}${shown}`;
}

export function deleteCard(tx: Tx, card_id: string, now: number): Promise<number> {
  hideDocs(tx, 'card', [card_id]);
  return tx.run(
    sql`UPDATE cards SET deleted_at = ${now}
        WHERE tenant_id = ${TENANT} AND card_id = ${card_id} AND deleted_at IS NULL`,
  );
}
