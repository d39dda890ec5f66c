/** cards and card_subjects: rows in, rows out. */
import {
  type KeysetPage,
  keyset,
  listToText,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
  textToList,
} from '../../driver/index.js';
import type { CardReach } from '../../engine/index.js';
import { CARD_ENDED } from '../../engine/sql.js';
import { type Doc, insertDocs, newDoc } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import type { Card } from './model.js';
import { cardsWithin } from './reach.js';
import { shownTo } from './visibility.js';

export interface NewCard {
  readonly card_id: string;
  readonly content: string;
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  readonly metadata: string;
  readonly author_id: string | null;
  readonly subject_ids: readonly string[];
  readonly derived_from: readonly string[];
  readonly content_hash: string;
  readonly sent_hash: string | null;
  readonly ttl_seconds: number | null;
  readonly expires_at: number | null;
  readonly created_at: number;
  /** What it ends with, if it belongs to something: see endings. */
  readonly held_by: string | null;
  /** What it is found by; null for what is not to be searched. */
  readonly doc: Doc | null;
}

const cardsTable: Table = {
  name: 'cards',
  columns: {
    tenant_id: 'text',
    card_id: 'text',
    content: 'json',
    tool_calls: 'json',
    tool_call_id: 'text',
    metadata: 'json',
    author_id: 'text',
    subject_ids: 'json',
    derived_from: 'json',
    content_hash: 'text',
    sent_hash: 'text',
    ttl_seconds: 'bigint',
    expires_at: 'bigint',
    created_at: 'bigint',
    held_by: 'text',
  },
};

const subjectsTable: Table = {
  name: 'card_subjects',
  columns: { tenant_id: 'text', subject_id: 'text', card_id: 'text' },
};

export async function insertCards(tx: Tx, cards: readonly NewCard[]): Promise<void> {
  await tx.insert(
    cardsTable,
    cards.map((c) => [
      tx.tenant,
      c.card_id,
      c.content,
      c.tool_calls,
      c.tool_call_id,
      c.metadata,
      c.author_id,
      listToText(c.subject_ids),
      listToText(c.derived_from),
      c.content_hash,
      c.sent_hash,
      c.ttl_seconds,
      c.expires_at,
      c.created_at,
      c.held_by,
    ]),
  );
  await tx.insert(
    subjectsTable,
    cards.flatMap((c) => c.subject_ids.map((subject) => [tx.tenant, subject, c.card_id])),
  );
  const docs = cards.map((c) => newDoc(c.doc, c.card_id, c.author_id, c.created_at, c.expires_at, c.held_by));
  await insertDocs(tx, docs.flat());
}

export interface CardRow {
  readonly card_id: string;
  readonly content: string | null;
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  readonly metadata: string | null;
  readonly author_id: string | null;
  readonly subject_ids: string | null;
  readonly derived_from: string | null;
  readonly content_hash: string;
  readonly sent_hash: string | null;
  readonly ttl_seconds: number | null;
  readonly expires_at: number | null;
  readonly created_at: number;
  readonly deleted_at: number | null;
  readonly erased_at: number | null;
  readonly held_by: string | null;
  /** When what holds it ended. */
  readonly ended_at: number | null;
}

export const CARD_COLUMNS = sql`c.card_id, c.content, c.tool_calls, c.tool_call_id, c.metadata, c.author_id,
  c.subject_ids, c.derived_from, c.content_hash, c.sent_hash, c.ttl_seconds, c.expires_at, c.created_at,
  c.deleted_at, c.erased_at, c.held_by, ${CARD_ENDED} AS ended_at`;

type Lifetime = Pick<CardRow, 'expires_at' | 'deleted_at' | 'erased_at' | 'ended_at'>;

/** Whether a card can be read now. A deleted one cannot, whatever the clock of the server that deleted it said. */
export const isVisible = (row: Lifetime, now: number): boolean =>
  row.deleted_at === null && row.ended_at === null && wasVisible(row, now);

/** Whether a card could be read at a moment that has passed, and was not erased since. */
export const wasVisible = (row: Lifetime, moment: number): boolean =>
  row.erased_at === null &&
  (row.deleted_at === null || row.deleted_at > moment) &&
  (row.ended_at === null || row.ended_at > moment) &&
  (row.expires_at === null || row.expires_at > moment);

const parse = <T>(text: string | null, absent: T): T => (text === null ? absent : (JSON.parse(text) as T));

export function toCard(tenant: string, row: CardRow): Card {
  return {
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
  };
}

export async function findCard(query: Query, card_id: string): Promise<CardRow | undefined> {
  return query.get<CardRow>(
    sql`SELECT ${CARD_COLUMNS} FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id = ${card_id}`,
  );
}

export async function findCards(query: Query, ids: readonly string[]): Promise<Map<string, CardRow>> {
  const rows = await query.all<CardRow>(
    sql`SELECT ${CARD_COLUMNS} FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids})`,
  );
  return new Map(rows.map((row) => [row.card_id, row]));
}

/** Whether a card can be referred to from now on: once deleted it cannot, whatever the clocks say. */
export const readableAt = (now: number): Sql =>
  sql`c.erased_at IS NULL AND c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > ${now})
      AND (c.held_by IS NULL OR ${CARD_ENDED} IS NULL)`;

/** Which of these ids are cards that can be read now. */
export async function knownCards(tx: Query, ids: readonly string[], now: number): Promise<Set<string>> {
  const rows = await tx.all<{ card_id: string }>(
    sql`SELECT c.card_id FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids}) AND ${readableAt(now)}`,
  );
  return new Set(rows.map(({ card_id }) => card_id));
}

export interface CardFilter {
  readonly subject_id?: string | undefined;
  /** A condition on the card, under the name c. */
  readonly current?: Sql | undefined;
  readonly reach?: CardReach | undefined;
  /** The agent that looks, if it is one. */
  readonly viewer?: string | undefined;
}

export interface CardPage extends CardFilter, KeysetPage {}

export async function listCards(query: Query, page: CardPage, now: number): Promise<CardRow[]> {
  // By the column of the table that leads, or SQLite would walk all cards and look for each in the subject's.
  const id = page.subject_id === undefined ? sql`c.card_id` : sql`s.card_id`;
  return query.all<CardRow>(
    sql`SELECT ${CARD_COLUMNS} FROM ${cardsAbout(page)} AND ${readableAt(now)}${keyset(id, page)}`,
  );
}

export const countCards = (filter: CardFilter, now: number): Sql =>
  sql`SELECT COUNT(*) AS total FROM ${cardsAbout(filter)} AND ${readableAt(now)}`;

function cardsAbout(filter: CardFilter): Sql {
  const { subject_id, current, reach, viewer } = filter;
  const listed = current ? sql` AND ${current}` : sql``;
  const within = reach ? sql`${listed} AND ${cardsWithin(reach)}` : listed;
  const shown = viewer === undefined ? within : sql`${within} AND ${shownTo(viewer)}`;
  return subject_id === undefined
    ? sql`cards c WHERE c.tenant_id = ${TENANT}${shown}`
    : sql`card_subjects s JOIN cards c ON c.tenant_id = s.tenant_id AND c.card_id = s.card_id
          WHERE s.tenant_id = ${TENANT} AND s.subject_id = ${subject_id}${shown}`;
}

export async function deleteCard(tx: Tx, card_id: string, now: number): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE cards SET deleted_at = ${now}
        WHERE tenant_id = ${TENANT} AND card_id = ${card_id} AND deleted_at IS NULL`,
  );
  return changed > 0;
}
