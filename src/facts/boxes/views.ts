/** Use cases that read boxes, at the newest revision or an earlier one. */
import { longQuery, type Query, textToList } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, listPage, type Page, type PageInput } from '../../engine/index.js';
import { isTurnBox } from '../../engine/sql.js';
import { mayReadCard, userReachOf } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { invalid, toIso } from '../../kernel/index.js';
import { type CursorScope, decodeCursor, encodeCursor, invalidCursor } from '../../kernel/node.js';
import type { Card } from '../cards/model.js';
import { distinctIds, readCards } from '../cards/service.js';
import { type CardRow, isVisible, toCard, wasVisible } from '../cards/store.js';
import { mayUse, openBox } from './access.js';
import { type Entry, entriesAfter, type Segment, segmentsOf, tailOf } from './entries.js';
import { BATCH_TAIL, type Box, type BoxState, type Grant, MAX_BOX_CARDS } from './model.js';
import { type BoxRow, cardsOfOthers, countBoxes, findBoxes, type GrantRow, listBoxes, listGrants } from './store.js';

const clamp = (limit: number, max: number) => Math.min(max, Math.max(1, limit));

export function describe(call: Call, row: BoxRow): BoxState {
  return {
    box_id: row.box_id,
    project_id: call.tenant,
    agent_id: row.agent_id,
    subject_ids: textToList(row.subject_ids),
    length: row.length,
    revision: row.revision,
    sealed_at: row.sealed_at === null ? null : toIso(row.sealed_at),
    forked_from: row.forked_box_id === null ? null : { box_id: row.forked_box_id, revision: row.forked_revision! },
    metadata: JSON.parse(row.metadata) as JsonObject,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}

/** A box with all its card ids or the last ones. A part has no revision, so that it cannot be saved as the whole. */
export async function show(
  call: Call,
  query: Query,
  row: BoxRow,
  { limit = MAX_BOX_CARDS, revision: asked, cursor }: Omit<In<'boxes.load'>, 'box_id'> = {},
): Promise<Box> {
  const filters = { box_id: row.box_id, revision: asked ?? null };
  const page = cursor === undefined ? undefined : pageOf(call, filters, row, cursor);
  const revision = page?.revision ?? reached(row, asked);
  const segments = await segmentsOf(query, row, revision);
  const length = segments.at(-1)!.through;
  const before = page?.before ?? length;
  if (before > length) throw invalidCursor();
  const from = Math.max(0, before - clamp(limit, MAX_BOX_CARDS));
  const entries =
    page === undefined
      ? await tailOf(query, segments, length - from)
      : await entriesAfter(query, segments, { after: 0, offset: from, limit: before - from });
  const { revision: _newest, ...state } = describe(call, row);
  const ids = entries.map(({ card_id }) => card_id);
  const foreign = await cardsOfOthers(query, ids, userReachOf(call));
  return {
    ...state,
    length,
    card_ids: ids.filter((id) => !foreign.has(id)),
    ...(before - from === length && foreign.size === 0 ? { revision } : {}),
    next_cursor: from === 0 ? null : encodeCursor(loadOf(call), filters, `${revision}:${from}`),
  };
}

/** The cursor is of boxes.load, whatever operation answers with the box. */
const loadOf = ({ tenant }: Call): CursorScope => ({ tenant, operation: 'boxes.load' });

/** The page of a cursor: the cards before an ordinal, at the revision of the first page. */
function pageOf(call: Call, filters: JsonObject, row: BoxRow, cursor: string): { revision: number; before: number } {
  const key = decodeCursor(loadOf(call), filters, cursor, 'string') as string;
  // Clients can forge a cursor: its parts are input.
  const parts = /^([1-9]\d{0,14}):([1-9]\d{0,14})$/.exec(key);
  if (!parts || Number(parts[1]) > row.revision) throw invalidCursor();
  return { revision: Number(parts[1]), before: Number(parts[2]) };
}

/** Refuses a revision that the box has not reached; default: the newest. */
export function reached(row: BoxRow, revision = row.revision): number {
  if (revision <= row.revision) return revision;
  throw invalid(`box ${row.box_id} is at revision ${row.revision}, there is no ${revision} yet`);
}

export function load(call: Call, input: In<'boxes.load'>): Promise<Box> {
  return call.driver.snapshot(call.tenant, async (query) => {
    const row = await openBox(call, query, input.box_id, 'read');
    return show(call, query, row, input);
  });
}

export function load_batch(call: Call, input: In<'boxes.load_batch'>): Promise<Out<'boxes.load_batch'>> {
  const ids = distinctIds('box_ids', input.box_ids);
  const limit = clamp(input.limit ?? BATCH_TAIL.default, BATCH_TAIL.max);
  return call.driver.snapshot(call.tenant, async (query) => {
    const rows = await findBoxes(query, ids);
    const shown: { row: BoxRow; box: Box }[] = [];
    const missing_box_ids: string[] = [];
    for (const id of ids) {
      const row = rows.get(id);
      // A box that the caller may not see counts as missing, as in lists.
      if (row && (await mayUse(call, query, row, 'read')))
        shown.push({ row, box: await show(call, query, row, { limit }) });
      else missing_box_ids.push(id);
    }
    if (!input.hydrate) return { boxes: shown.map(({ box }) => box), missing_box_ids, missing_card_ids: [] };
    const views = shown.map(({ row, box }) => ({ row, card_ids: box.card_ids }));
    const hydrated = await hydrateViews(call, query, views, 'boxes, or fewer cards of each by limit');
    return {
      boxes: shown.map(({ box }, i) => ({ ...box, cards: hydrated[i]!.cards })),
      missing_box_ids,
      missing_card_ids: [...new Set(hydrated.flatMap(({ missing }) => missing))],
    };
  });
}

/** Reads the cards as each box shows them, each card once. Cards beyond the agent's reach count as missing. */
export async function hydrateViews(
  call: Call,
  query: Query,
  views: readonly { row: BoxRow; card_ids: readonly string[] }[],
  fewer: string,
  now = call.driver.now(),
): Promise<{ cards: Card[]; missing: string[] }[]> {
  const shows = ({ sealed_at, held_by }: BoxRow, card: CardRow) => {
    if (!mayReadCard(call, card)) return false;
    if (held_by !== null) {
      // The box of a scope or checkpoint shows all that it pins, the output box of an agent_turn no expired card.
      const lasts = sealed_at !== null || !isTurnBox(held_by);
      return card.erased_at === null && (lasts || card.expires_at === null || card.expires_at > now);
    }
    return sealed_at === null ? isVisible(card, now) : wasVisible(card, sealed_at);
  };
  const boxesOf = new Map<string, BoxRow[]>();
  for (const { row, card_ids } of views) {
    for (const id of card_ids) {
      const known = boxesOf.get(id);
      if (known) known.push(row);
      else boxesOf.set(id, [row]);
    }
  }
  const times = (card: CardRow) => boxesOf.get(card.card_id)!.filter((row) => shows(row, card)).length;
  const found = await readCards(call, query, boxesOf.keys(), times, fewer);
  const foreign = await cardsOfOthers(query, [...boxesOf.keys()], userReachOf(call));
  return views.map(({ row, card_ids }) => {
    const cards: Card[] = [];
    const missing: string[] = [];
    for (const id of card_ids) {
      const card = found.get(id);
      if (card && shows(row, card)) cards.push(toCard(call.tenant, card));
      else if (!foreign.has(id)) missing.push(id);
    }
    return { cards, missing };
  });
}

export async function list(call: Call, input: In<'boxes.list'>): Promise<Out<'boxes.list'>> {
  const { driver, tenant } = call;
  const filter = { viewer: call.caller.agent_id, owner: input.agent_id, user: userReachOf(call) };
  // An agent's page may scan all boxes.
  const query = filter.viewer === null ? driver.at(tenant) : longQuery(driver, tenant);
  const { rows, ...page } = await listPage<BoxRow, string>(call, {
    input,
    filters: { agent_id: input.agent_id ?? null },
    key: 'string',
    keyOf: (row) => row.box_id,
    read: (request) => listBoxes(query, filter, request),
    bytesOf: ({ metadata }) => Buffer.byteLength(metadata),
    count: countBoxes(filter),
  });
  return { boxes: rows.map((row) => describe(call, row)), ...page };
}

export interface EntryList {
  readonly segments: readonly Segment[];
  /** `tail`: only that many of the last entries, instead of pages. */
  readonly input: PageInput & { readonly tail?: number | undefined };
  readonly filters: Json;
  readonly total: number;
}

/** A page of entries, from the start or the end of a box. */
export async function entryPage(call: Call, query: Query, list: EntryList): Promise<Page<Entry>> {
  const { segments, input, filters, total } = list;
  const descending = input.order === 'desc';
  if (input.tail !== undefined) {
    const last = await tailOf(query, segments, input.tail);
    return { rows: descending ? last.reverse() : last, next_cursor: null, total };
  }
  const shared = { input, filters, key: 'number', count: async () => total } as const;
  if (!descending) {
    return listPage<Entry, number>(call, {
      ...shared,
      keyOf: ({ position }) => position,
      read: ({ after = 0, ...request }) => entriesAfter(query, segments, { after, ...request }),
    });
  }
  // Keyed by ordinals, which have no gaps: finds the page before an entry without scanning the box.
  return listPage<Entry & { readonly ordinal: number }, number>(call, {
    ...shared,
    keyOf: ({ ordinal }) => ordinal,
    read: async ({ after = total + 1, limit, offset }) => {
      // A save may have shortened the box since the previous page.
      const until = Math.max(0, Math.min(total, after - 1) - offset);
      const from = Math.max(0, until - limit);
      if (until === from) return [];
      const rows = await entriesAfter(query, segments, { after: 0, offset: from, limit: until - from });
      return rows.map((row, i) => ({ ...row, ordinal: from + i + 1 })).reverse();
    },
  });
}

export function cards(call: Call, input: In<'boxes.cards'>): Promise<Out<'boxes.cards'>> {
  if (input.tail !== undefined && (input.cursor ?? input.offset ?? input.limit) !== undefined) {
    throw invalid('tail cannot be combined with limit, cursor or offset');
  }
  return call.driver.snapshot(call.tenant, async (query) => {
    const row = await openBox(call, query, input.box_id, 'read');
    const segments = await segmentsOf(query, row, reached(row, input.revision));
    const total = segments.at(-1)!.through;
    const filters = { box_id: input.box_id, revision: input.revision ?? null };
    const { rows, ...page } = await entryPage(call, query, { segments, input, filters, total });
    const card_ids = rows.map(({ card_id }) => card_id);
    const [hydrated] = await hydrateViews(call, query, [{ row, card_ids }], 'cards by limit or tail');
    return { cards: hydrated!.cards, missing_card_ids: hydrated!.missing, ...page };
  });
}

export const toGrant = (row: GrantRow): Grant => ({ ...row, granted_at: toIso(row.granted_at) });

export function grants(call: Call, input: In<'boxes.grants'>): Promise<Out<'boxes.grants'>> {
  return call.driver.snapshot(call.tenant, async (query) => {
    await openBox(call, query, input.box_id, 'read');
    return { grants: (await listGrants(query, input.box_id, input.order)).map(toGrant) };
  });
}
