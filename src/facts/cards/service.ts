/** Use cases of cards. */
import { listToText, longQuery, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  agreedExpiry,
  allSucceeded,
  appendEvent,
  type Call,
  change,
  checkNamedAgent,
  equalsAnswer,
  formatBytes,
  inChunks,
  listPage,
  runEach,
  sizeOf,
  subjectsOf,
  totalBytes,
  type Work,
  withItemIndex,
} from '../../engine/index.js';
import { cardReachOf, isForeign, mayReadCard } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { afterYield, CairnError, invalid, notFound, present } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { hiddenAmong, refuseHidden, unreadableSources } from './access.js';
import { keyedHash, takeDeleteTime } from './lifetime.js';
import { type Card, type CardInput, cardInput } from './model.js';
import { alreadyExists, checkContent, checkMetadata, checkSize } from './rules.js';
import { cardDoc, isSearched } from './search-doc.js';
import {
  type CardRow,
  countCards,
  deleteCard,
  findCard,
  findCards,
  insertCards,
  isVisible,
  listCards,
  type NewCard,
  toCard,
} from './store.js';
import { cardConditions, isOfTurn } from './visibility.js';

/** Prepared before the transaction. */
export interface PreparedCard
  extends Pick<NewCard, 'author_id' | 'content' | 'tool_calls' | 'metadata' | 'content_hash' | 'sent_hash'> {
  readonly input: CardInput;
  readonly bytes: number;
  /** Not for the store's own records. */
  readonly is_searched: boolean;
}

/** `author_id` defaults to the calling agent, or to the author that the input names. */
export function prepareCard(
  call: Call,
  input: CardInput,
  author_id: string | null = checkNamedAgent(call, input.author_id, 'author_id') ?? input.author_id ?? null,
): PreparedCard {
  const checked = checkMetadata(input.metadata ?? {});
  const given = input.content ?? null;
  const text = canonical(given);
  const tool_calls = input.tool_calls == null ? null : canonical(input.tool_calls);
  const metadata = canonical(checked);
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(metadata) + Buffer.byteLength(tool_calls ?? '');
  checkSize('a card', bytes, call.limits);
  const fitting = checkContent(checked.type, given);
  const content = fitting === given ? text : canonical(fitting);
  return {
    input,
    author_id,
    content,
    tool_calls,
    metadata,
    bytes,
    is_searched: isSearched(checked.type),
    content_hash: sha256(content),
    // Only an id that the client chose can be sent again.
    sent_hash: input.card_id === undefined ? null : sha256(canonical({ ...input, card_id: null } as unknown as Json)),
  };
}

/** Returns the existing card of this id if the request is the same; refuses an id that is taken or was deleted. */
function sameCard(call: Call, row: CardRow, prepared: PreparedCard, now: number): Card {
  const { card_id } = row;
  // Compares no content for another agent's card: the answer would confirm a guess.
  const { caller, tenant } = call;
  const isOther = caller.agent_id !== null && row.author_id !== prepared.author_id;
  if (isOther || isForeign(call, row)) throw alreadyExists('card', card_id);
  if (!isVisible(row, now)) {
    throw new CairnError('ENTITY_GONE', `card ${card_id} was deleted or has expired: ids are never reused`);
  }
  const card = toCard(tenant, row);
  if (row.sent_hash === prepared.sent_hash || equalsAnswer(cardInput, card, prepared.input)) return card;
  throw alreadyExists('card', card_id);
}

async function inheritSubjects({ call, tx, now }: Work, input: CardInput): Promise<readonly string[]> {
  const sources = [...new Set(input.derived_from)];
  if (sources.length === 0) return subjectsOf(call, input.subject_ids);
  const rows = await findCards(tx, sources);
  const unreadable = await unreadableSources(call, tx, sources);
  const missing = sources.filter((id) => !rows.has(id) || !isVisible(rows.get(id)!, now) || unreadable.has(id));
  if (missing.length > 0) throw unknownCards('derived_from', missing);
  return subjectsOf(call, input.subject_ids, ...[...rows.values()].map(({ subject_ids }) => subject_ids));
}

export const unknownCards = (where: string, missing: readonly string[]): CairnError =>
  new CairnError(
    'UNKNOWN_CARD',
    `${where} names ${missing.length} card(s) that do not exist or were deleted: ${missing.slice(0, 3).join(', ')}`,
    { missing_card_ids: missing.slice(0, 100) },
  );

function expiry({ ttl_seconds, expires_at }: CardInput, now: number): number | null {
  if (expires_at == null) return ttl_seconds == null ? null : now + ttl_seconds * 1000;
  const duration_ms = ttl_seconds == null ? Number.POSITIVE_INFINITY : ttl_seconds * 1000;
  return agreedExpiry(expires_at, `ttl_seconds ${ttl_seconds}`, duration_ms, now);
}

type AddedCard = { readonly card: Card; readonly added: boolean };

export async function addCard(work: Work, prepared: PreparedCard, held_by: string | null = null): Promise<AddedCard> {
  const { call, tx, now } = work;
  const { input, content, tool_calls, metadata, author_id, content_hash, sent_hash, is_searched } = prepared;
  if (input.card_id !== undefined) {
    const existing = await findCard(tx, input.card_id);
    if (existing) return { card: sameCard(call, existing, prepared, now), added: false };
  }
  const card_id = input.card_id ?? newId();
  const expires_at = expiry(input, now);
  const ends = expires_at !== null || held_by !== null;
  const row: NewCard = {
    card_id,
    content,
    tool_calls,
    tool_call_id: input.tool_call_id ?? null,
    metadata,
    author_id,
    subject_ids: await inheritSubjects(work, input),
    derived_from: [...new Set(input.derived_from)],
    content_hash,
    sent_hash,
    ttl_seconds: input.ttl_seconds ?? null,
    expires_at,
    created_at: now,
    held_by,
    doc: is_searched ? cardDoc(card_id, input.metadata ?? {}, ends) : null,
  };
  await insertCards(tx, [row]);
  const card = toCard(call.tenant, {
    ...row,
    subject_ids: listToText(row.subject_ids),
    derived_from: listToText(row.derived_from),
    deleted_at: null,
    erased_at: null,
    ended_at: null,
  });
  return { card, added: true };
}

export const add = (call: Call, input: In<'cards.add'>): Promise<Card> =>
  addPrepared(call, input, prepareCard(call, input));

const addPrepared = (call: Call, input: In<'cards.add'>, prepared: PreparedCard): Promise<Card> =>
  change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const { card, added } = await addCard(work, prepared);
      if (added) {
        // The event outlives the content, so it has the keyed hash that an erased card keeps.
        const content_hash = keyedHash(call.meta.erasure_key, card.content_hash);
        appendEvent(work, 'cairn.card.added', { type: 'card', id: card.card_id }, { content_hash });
      }
      return card;
    },
    remember: ({ card_id }) => card_id,
    again: (query, kept) => readCard(call, query, kept as string),
  });

export async function add_batch(call: Call, input: In<'cards.add_batch'>): Promise<Out<'cards.add_batch'>> {
  if (input.atomic) return addTogether(call, input);
  return runEach(call, input, input.cards, addPrepared, {
    noun: 'card',
    prepare: (of, card) => afterYield(() => prepareCard(of, card)),
    about: ({ card_id, derived_from }) => ({ changes: card_id, names: derived_from }),
  });
}

async function addTogether(call: Call, input: In<'cards.add_batch'>): Promise<Out<'cards.add_batch'>> {
  const prepared: PreparedCard[] = [];
  for (const [i, card] of input.cards.entries())
    prepared.push(await afterYield(() => withItemIndex('cards', i, () => prepareCard(call, card))));
  const cards = await change<Card[]>(call, {
    input,
    bytes: totalBytes(prepared),
    work: async (work) => {
      const results: AddedCard[] = [];
      for (const [i, card] of prepared.entries())
        results.push(await withItemIndex('cards', i, () => addCard(work, card)));
      const ids = results.filter(({ added }) => added).map(({ card }) => card.card_id);
      // A batch appends one event, however many cards it adds.
      if (ids.length > 0) appendEvent(work, 'cairn.card.added', { type: 'card', id: ids[0]! }, { card_ids: ids });
      return results.map(({ card }) => card);
    },
    remember: (answer) => answer.map(({ card_id }) => card_id),
    again: (query, kept) => Promise.all((kept as string[]).map((id) => readCard(call, query, id))),
  });
  return allSucceeded(cards);
}

async function openCard(call: Call, query: Query, card_id: string): Promise<CardRow> {
  const row = present(call, 'card', card_id, await findCard(query, card_id));
  if (!isVisible(row, call.driver.now())) {
    throw new CairnError('CONTENT_ERASED', `card ${card_id} expired or was erased`, { card_ids: [card_id] });
  }
  return row;
}

const readCard = async (call: Call, query: Query, card_id: string): Promise<Card> =>
  toCard(call.tenant, await openCard(call, query, card_id));

export async function get(call: Call, input: In<'cards.get'>): Promise<Card> {
  const query = call.driver.at(call.tenant);
  const row = await openCard(call, query, input.card_id);
  if (isOfTurn(row)) await refuseHidden(call, query, [row.card_id]);
  return toCard(call.tenant, row);
}

const MAX_BATCH_IDS = 100;

export function distinctIds(name: string, ids: readonly string[]): string[] {
  const distinct = [...new Set(ids)];
  if (distinct.length <= MAX_BATCH_IDS) return distinct;
  throw invalid(`${name} has ${distinct.length} different ids, the limit is ${MAX_BATCH_IDS}`);
}

export const cardBytes = ({ content, tool_calls, metadata, subject_ids, derived_from }: CardRow): number =>
  sizeOf(content) + sizeOf(tool_calls) + sizeOf(metadata) + sizeOf(subject_ids) + sizeOf(derived_from);

/** Reads each card once. Refuses early if the answer, with each card `shown` times, would be too large. */
export async function readCards(
  call: Call,
  query: Query,
  card_ids: Iterable<string>,
  shown: (row: CardRow) => number,
  fewer: string,
): Promise<Map<string, CardRow>> {
  const limit = call.limits.max_answer_bytes;
  const cards = new Map<string, CardRow>();
  let bytes = 0;
  const read = async (ids: readonly string[]) => [...(await findCards(query, ids)).values()];
  for await (const rows of inChunks([...new Set(card_ids)], read, cardBytes)) {
    for (const row of rows) {
      const times = shown(row);
      if (times === 0) continue;
      bytes += times * cardBytes(row);
      if (bytes > limit) {
        const message = `the answer would exceed ${formatBytes(limit)}: ask for fewer ${fewer}`;
        throw new CairnError('TOO_LARGE', message, { limit });
      }
      cards.set(row.card_id, row);
    }
  }
  return cards;
}

export async function get_batch(call: Call, input: In<'cards.get_batch'>): Promise<Out<'cards.get_batch'>> {
  const ids = distinctIds('card_ids', input.card_ids);
  if (ids.length === 0) return { cards: [], missing_ids: [] };
  const now = call.driver.now();
  const query = call.driver.at(call.tenant);
  const hidden = await hiddenAmong(call, query, ids);
  const isShown = (row: CardRow) => isVisible(row, now) && mayReadCard(call, row) && !hidden.has(row.card_id);
  const rows = await readCards(call, query, ids, (row) => (isShown(row) ? 1 : 0), 'cards');
  return {
    cards: ids.filter((id) => rows.has(id)).map((id) => toCard(call.tenant, rows.get(id)!)),
    missing_ids: ids.filter((id) => !rows.has(id)),
  };
}

export async function list(call: Call, input: In<'cards.list'>): Promise<Out<'cards.list'>> {
  const { driver, tenant } = call;
  const now = driver.now();
  const { subject_id, include_superseded = false } = input;
  const viewer = call.caller.agent_id ?? undefined;
  const current = include_superseded ? undefined : cardConditions.get('not_superseded')(now);
  const filter = { subject_id, current, reach: cardReachOf(call), viewer };
  // An agent's page may scan many cards.
  const query = viewer !== undefined ? longQuery(driver, tenant) : driver.at(tenant);
  const { rows, ...page } = await listPage<CardRow, string>(call, {
    input,
    filters: { subject_id: subject_id ?? null, include_superseded },
    key: 'string',
    keyOf: (row) => row.card_id,
    read: (request) => listCards(query, { ...filter, ...request }, now),
    bytesOf: cardBytes,
    count: countCards(filter, now),
  });
  return { cards: rows.map((row) => toCard(tenant, row)), ...page };
}

async function remove(call: Call, input: In<'cards.delete'>): Promise<void> {
  await change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = await findCard(tx, input.card_id);
      if (!row) throw notFound(call, 'card', input.card_id);
      if (row.deleted_at !== null) return null;
      if (row.held_by !== null) {
        throw new CairnError(
          'CARD_HELD',
          `card ${row.card_id} belongs to ${row.held_by.replace(':', ' ')}: delete or close that instead`,
        );
      }
      const deleted = await deleteCard(tx, input.card_id, await takeDeleteTime(tx, now));
      if (deleted > 0) appendEvent(work, 'cairn.card.deleted', { type: 'card', id: input.card_id }, {});
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };
