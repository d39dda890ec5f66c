/** The search documents that stored content should have, by page; off the event loop, or with cooperative yields. */
import { parseThoughtContentId, type ThoughtExecution, thoughtContentId, thoughtDoc } from '../../checkpoints/sql.js';
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { type CardRow, cardDoc, isSearched, type PacketInput, packetDoc, RESERVED_PREFIX } from '../../facts/sql.js';
import { type Doc, describe, type NewDoc, newDoc } from '../../index/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { cooperativeYield } from '../../kernel/index.js';
import { memoryDoc, memoryLinks, type NewVersion, type TurnMetadata, turnDoc } from '../../memory/sql.js';

export const SOURCES = ['cards', 'packets', 'thoughts'] as const;
export type Source = (typeof SOURCES)[number];

interface Content {
  readonly content_id: string;
  /** Undefined for content that is not searchable. */
  readonly doc: NewDoc | undefined;
}

export interface PageRequest {
  readonly after: string;
  readonly limit: number;
  readonly now: number;
}

interface ContentPage {
  readonly contents: readonly Content[];
  /** Null at the end. */
  readonly next: string | null;
}

type Pager = (query: Query, page: PageRequest) => Promise<ContentPage>;

type StoredCard = Pick<
  CardRow,
  | 'card_id'
  | 'content'
  | 'tool_calls'
  | 'metadata'
  | 'author_id'
  | 'subject_ids'
  | 'created_at'
  | 'expires_at'
  | 'held_by'
  | 'deleted_at'
>;

const SCOPE = 'scope:';
/** Holders of artifacts and notes; other cards have no holder, or an agent_turn. */
const HOLDS_VERSIONS = /^(?:scope|session|trajectory|note):/;

const isTurn = ({ held_by }: StoredCard, metadata: JsonObject): boolean =>
  held_by?.startsWith(SCOPE) === true && metadata.type === 'turn';

const cards: Pager = async (query, { after, limit, now }) => {
  const rows = await query.all<StoredCard>(
    sql`SELECT c.card_id, c.content, c.tool_calls, c.metadata, c.author_id, c.subject_ids, c.created_at, c.expires_at,
          c.held_by, c.deleted_at
        FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id > ${after} ORDER BY c.card_id LIMIT ${limit}`,
  );
  const present = rows
    .filter(({ content, deleted_at }) => content !== null && deleted_at === null)
    .map((card) => ({ card, metadata: JSON.parse(card.metadata!) as JsonObject }));
  const turns = present.filter(({ card, metadata }) => isTurn(card, metadata));
  const positions = await positionsOf(query, turns);
  const held = present.filter(
    ({ card, metadata }) => HOLDS_VERSIONS.test(card.held_by ?? '') && !isTurn(card, metadata),
  );
  const versions = await versionsOf(query, held);
  const note_ids = [...versions.values()].flatMap(({ kind, memory_id }) => (kind === 'note' ? [memory_id] : []));
  const links = await memoryLinks(query, note_ids, { now, agent: null });
  const learnedIn = ({ kind, memory_id }: NewVersion) =>
    kind === 'note' ? links(memory_id).source_trajectory_ids : [];
  const maybeYield = cooperativeYield();
  const contents: Content[] = [];
  for (const { card, metadata } of present) {
    await maybeYield();
    const position = positions.get(card.card_id);
    const version = versions.get(card.card_id);
    const doc: Doc | undefined = position
      ? turnOf(card, metadata as unknown as TurnMetadata, position)
      : HOLDS_VERSIONS.test(card.held_by ?? '')
        ? version && memoryDoc(version, learnedIn(version))
        : cardOf(card, metadata);
    const { card_id, author_id, subject_ids, created_at, expires_at, held_by } = card;
    const owned = { content_id: card_id, agent_id: author_id, subject_ids };
    const [made] = newDoc(doc, { ...owned, created_at, expires_at, held_by });
    contents.push({ content_id: card_id, doc: made });
  }
  return { contents, next: rows.length < limit ? null : rows.at(-1)!.card_id };
};

interface TurnPosition {
  readonly card_id: string;
  readonly scope_id: string;
  readonly trajectory_id: string;
  readonly sequence: number;
}

const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/** The position of each turn in its own scope, not in scopes restored from it. */
async function positionsOf(
  query: Query,
  turns: readonly { readonly card: StoredCard }[],
): Promise<Map<string, TurnPosition>> {
  const scopes = new Map(turns.map(({ card }) => [card.card_id, card.held_by!.slice(SCOPE.length)]));
  if (scopes.size === 0) return new Map();
  const rows = await query.all<TurnPosition>(
    sql`SELECT e.card_id, s.scope_id, s.trajectory_id, e.ordinal AS sequence FROM ${entriesByCard} CROSS JOIN scopes s
        WHERE e.tenant_id = ${TENANT} AND e.card_id = ANY(${[...scopes.keys()]}) AND e.removed_revision IS NULL
          AND s.tenant_id = ${TENANT} AND s.box_id = e.box_id`,
  );
  const own = rows.filter(({ card_id, scope_id }) => scopes.get(card_id) === scope_id);
  return new Map(own.map((row) => [row.card_id, row]));
}

/** The current versions whose content is in these cards. */
async function versionsOf(
  query: Query,
  held: readonly { readonly card: StoredCard }[],
): Promise<Map<string, NewVersion>> {
  if (held.length === 0) return new Map();
  const holders = [...new Set(held.map(({ card }) => card.held_by!))];
  const ids = held.map(({ card }) => card.card_id);
  const rows = await query.all<NewVersion>(
    sql`SELECT v.* FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.held_by = ANY(${holders}) AND v.erased_at IS NULL
          AND v.card_id = ANY(${ids}) AND v.superseded_at IS NULL`,
  );
  return new Map(rows.map((row) => [row.card_id, row]));
}

const turnOf = (card: StoredCard, kept: TurnMetadata, position: TurnPosition): Doc =>
  turnDoc(
    { turn_id: card.card_id, sequence: Number(position.sequence), role: kept.role, scope: position },
    describe(kept.metadata),
  );

function cardOf(card: StoredCard, metadata: JsonObject): Doc | undefined {
  if (!isSearched(metadata.type)) return undefined;
  return cardDoc(card.card_id, metadata, card.expires_at !== null || card.held_by !== null);
}

interface StoredPacket {
  readonly seq: number;
  readonly packet_id: string;
  readonly packet_type: string;
  readonly timestamp: number;
  readonly thread_id: string | null;
  readonly agent: string | null;
  readonly subject_ids: string | null;
  readonly expires_at: number | null;
  readonly envelope: string | null;
}

const packets: Pager = async (query, { after, limit }) => {
  const rows = await query.all<StoredPacket>(
    sql`SELECT p.seq, p.packet_id, p.packet_type, p.timestamp, p.thread_id, p.agent, p.subject_ids, p.expires_at,
          CASE WHEN SUBSTR(p.packet_type, 1, ${RESERVED_PREFIX.length}) = ${RESERVED_PREFIX} THEN NULL
            ELSE p.envelope END AS envelope
        FROM packet_store p WHERE p.tenant_id = ${TENANT} AND p.seq > ${Number(after)} ORDER BY p.seq LIMIT ${limit}`,
  );
  const maybeYield = cooperativeYield();
  const contents: Content[] = [];
  for (const row of rows) {
    if (row.envelope === null) continue;
    await maybeYield();
    const packet = JSON.parse(row.envelope) as PacketInput;
    const { packet_id: content_id, agent: agent_id, subject_ids, timestamp: created_at, expires_at } = row;
    const doc = packetDoc(row, packet);
    const [made] = newDoc(doc, { content_id, agent_id, subject_ids, created_at, expires_at, held_by: null });
    contents.push({ content_id, doc: made });
  }
  return { contents, next: rows.length < limit ? null : String(rows.at(-1)!.seq) };
};

interface StoredThought extends ThoughtExecution {
  readonly checkpoint_id: string;
  readonly id: string;
  readonly removed: number;
  readonly body: string;
}

const thoughts: Pager = async (query, { after, limit }) => {
  const [checkpoint_id, id] = parseThoughtContentId(after);
  const rows = await query.all<StoredThought>(
    sql`SELECT t.checkpoint_id, t.id, t.removed, t.body, x.execution_id, x.agent_id, x.subject_ids,
          x.trajectory_id
        FROM thoughts t JOIN executions x ON x.tenant_id = t.tenant_id AND x.execution_id = t.execution_id
        WHERE t.tenant_id = ${TENANT} AND (t.checkpoint_id, t.id) > (${checkpoint_id}, ${id})
        ORDER BY t.checkpoint_id, t.id LIMIT ${limit}`,
  );
  const maybeYield = cooperativeYield();
  const contents: Content[] = [];
  for (const row of rows) {
    if (row.removed === 0) continue;
    await maybeYield();
    const doc = thoughtDoc(row, row);
    contents.push({ content_id: doc.content_id, doc });
  }
  const last = rows.at(-1);
  return { contents, next: rows.length < limit ? null : thoughtContentId(last!.checkpoint_id, last!.id) };
};

const pagers: Record<Source, Pager> = { cards, packets, thoughts };

/** A page of the contents of a source, without erased ones. */
export const contentsAfter = (query: Query, source: Source, page: PageRequest): Promise<ContentPage> =>
  pagers[source](query, page);
