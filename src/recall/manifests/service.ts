/** Use cases of manifests: what was in a context and why, the context again, and what differs between two. */
import { atLength, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, listPage } from '../../engine/index.js';
import { readCards } from '../../facts/index.js';
import { type BoxRow, type CardRow, entriesAfter, findBox, segmentsOf, toCard, wasVisible } from '../../facts/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, type ErrorCode, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { cardsOfMemory } from '../../memory/sql.js';
import type { ContextEntry } from '../contexts/model.js';
import { newMeter } from '../contexts/parts.js';
import { goneFrom, openManifest, readableEntries, replayed, sectionsOf, shownHash } from '../contexts/replay.js';
import { diffContexts } from '../windows/diff.js';
import { readEntries } from './entries.js';
import {
  MAX_CONTEXT_CARDS,
  type Manifest,
  type ManifestDiff,
  type ManifestSummary,
  type ReplayedContext,
} from './model.js';
import { countManifests, listManifests, type ManifestRow } from './store.js';

/** How many cards of a packing are shown; its box has all. */
const SHOWN_OF_BOX = 1000;
/** So much of a packing is read to be counted: of a larger one the box tells. */
const COUNTED_BYTES = 4 * 1024 * 1024;

const summaryOf = (row: ManifestRow): ManifestSummary => ({
  manifest_id: row.manifest_id,
  kind: row.kind,
  trajectory_id: row.trajectory_id,
  scope_id: row.scope_id,
  agent_turn_id: row.agent_turn_id,
  agent_id: row.agent_id,
  box_id: row.box_id,
  format: row.format,
  token_budget: row.token_budget,
  token_count: row.token_count,
  truncated: row.truncated === null ? null : row.truncated === 1,
  created_at: toIso(row.created_at),
});

/** What a packing put in, as entries: all of it was given. */
async function boxEntries(query: Query, row: ManifestRow, limit: number): Promise<Packing> {
  const box = await findBox(query, row.box_id!);
  if (!box || box.ended_at !== null) return { box: undefined, entries: [], total: 0 };
  const segments = await segmentsOf(query, box);
  const rows = await entriesAfter(query, segments, { after: 0, limit });
  const entries = rows.map(
    ({ card_id }, i): ContextEntry => ({
      action: 'include',
      section: 'box',
      reason: 'given',
      entity_type: 'Card',
      id: card_id,
      card_id,
      tokens: null,
      score: null,
      place: i + 1,
      kept_characters: null,
      by: null,
    }),
  );
  return { box, entries, total: box.length };
}

interface Packing {
  /** Undefined when it went with its trajectory. */
  readonly box: BoxRow | undefined;
  readonly entries: ContextEntry[];
  readonly total: number;
}

const entriesOf = async (
  call: Call,
  query: Query,
  row: ManifestRow,
  limit: number,
): Promise<{ entries: ContextEntry[]; total: number }> => {
  if (row.kind === 'packing') return boxEntries(query, row, limit);
  const recorded = await readEntries(query, row.entries!);
  const entries = await readableEntries(call, query, row, recorded);
  return { entries, total: entries.length };
};

export async function get(call: Call, { manifest_id }: In<'manifests.get'>): Promise<Manifest> {
  const query = call.driver.at(call.tenant);
  const row = await openManifest(call, query, manifest_id);
  if (row.kind === 'packing') return packed(call, query, row);
  const recorded = await readEntries(query, row.entries!);
  const entries = await readableEntries(call, query, row, recorded);
  return {
    ...summaryOf(row),
    parameters: JSON.parse(row.parameters) as JsonObject,
    sections: sectionsOf(row, entries),
    entries,
    entries_total: entries.length,
    content_hash: await shownHash(call, query, row, recorded),
  };
}

/** A packing as it would be replayed: its box never changes, so it is counted when somebody looks. */
async function packed(call: Call, query: Query, row: ManifestRow): Promise<Manifest> {
  const packing = await boxEntries(query, row, SHOWN_OF_BOX);
  return {
    ...summaryOf(row),
    parameters: JSON.parse(row.parameters) as JsonObject,
    sections: [],
    entries: packing.entries,
    entries_total: packing.total,
    content_hash: null,
    ...(packing.total > SHOWN_OF_BOX ? {} : await counted(call, query, row, packing)),
  };
}

/** Of these it is known why nothing is counted; any other failure is one. */
const UNCOUNTED: readonly ErrorCode[] = ['CONTENT_ERASED', 'TOO_LARGE'];

/** Nothing where a card of it is gone, or it is too large. */
async function counted(
  call: Call,
  query: Query,
  row: ManifestRow,
  packing: Packing,
): Promise<Partial<Pick<Manifest, 'entries' | 'token_count' | 'content_hash'>>> {
  const limits = { ...call.limits, max_answer_bytes: COUNTED_BYTES };
  try {
    const cards = await cardsIn({ ...call, limits }, query, row, packing);
    const { count } = newMeter();
    const entries: ContextEntry[] = [];
    for (const [i, entry] of packing.entries.entries())
      entries.push({ ...entry, tokens: await count(canonical(cards[i]!)) });
    const text = canonical(cards);
    return { entries, token_count: await count(text), content_hash: sha256(text) };
  } catch (error) {
    if (error instanceof CairnError && UNCOUNTED.includes(error.code)) return {};
    throw error;
  }
}

export async function list(call: Call, input: In<'manifests.list'>): Promise<Out<'manifests.list'>> {
  const { driver, tenant } = call;
  const { limit, cursor, offset, order, ...filters } = input;
  const { agent_id } = call.caller;
  const viewer = agent_id === null ? undefined : { agent_id, reach: reachOf(call, 'Card') };
  const query = atLength(driver, tenant);
  const { card_id, ...others } = filters;
  // Who knows an artifact or note knows its id, and not those of its cards.
  const card_ids = card_id === undefined ? undefined : [card_id, ...(await cardsOfMemory(query, card_id))];
  const filter = { ...others, card_ids, viewer };
  const { rows, ...page } = await listPage<ManifestRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filters as Json,
    key: 'string',
    keyOf: ({ manifest_id }) => manifest_id,
    read: (request) => listManifests(query, filter, request),
    count: countManifests(filter),
  });
  return { manifests: rows.map(summaryOf), ...page };
}

export async function replay(call: Call, { manifest_id }: In<'manifests.replay'>): Promise<ReplayedContext> {
  const query = call.driver.at(call.tenant);
  const row = await openManifest(call, query, manifest_id);
  if (row.kind === 'packing') return replayedBox(call, row);
  const { rendering, content_hash } = await replayed(call, query, row);
  const { text, messages } = rendering;
  return {
    manifest_id,
    kind: row.kind,
    format: row.format,
    messages,
    text: messages === null ? text : null,
    cards: null,
    token_count: row.token_count,
    content_hash,
  };
}

/** The cards of a sealed box, as it was sealed. Each is held against its own hash. */
async function cardsIn(call: Call, query: Query, row: ManifestRow, { box, entries }: Packing): Promise<Json[]> {
  const ids = entries.map(({ card_id }) => card_id);
  const rows = box ? await readCards(call, query, ids, () => 1, 'cards: read the box page by page') : new Map();
  const moment = box?.sealed_at ?? row.created_at;
  const erased = ids.filter((id) => !wasThere(rows.get(id), moment));
  if (!box || erased.length > 0) throw goneFrom(row, erased);
  return ids.map((id): Json => {
    const { card_id, content, tool_calls, tool_call_id, metadata } = toCard(call.tenant, rows.get(id)!);
    // In the order of their names, so that whoever writes them as JSON writes the bytes that are hashed.
    return { card_id, content, metadata, tool_call_id, tool_calls: tool_calls as Json };
  });
}

async function replayedBox(call: Call, row: ManifestRow): Promise<ReplayedContext> {
  const query = atLength(call.driver, call.tenant);
  const cards = await cardsIn(call, query, row, await boxEntries(query, row, MAX_CONTEXT_CARDS));
  return {
    manifest_id: row.manifest_id,
    kind: row.kind,
    format: null,
    messages: null,
    text: null,
    cards,
    token_count: null,
    content_hash: sha256(canonical(cards)),
  };
}

function wasThere(row: CardRow | undefined, moment: number): boolean {
  if (!row || !wasVisible(row, moment)) return false;
  if (sha256(row.content ?? 'null') === row.content_hash) return true;
  throw new CairnError('STORAGE_FAILED', `card ${row.card_id} was altered in the database`);
}

export async function diff(call: Call, input: In<'manifests.diff'>): Promise<ManifestDiff> {
  const query = call.driver.at(call.tenant);
  const [after, before] = [
    await openManifest(call, query, input.manifest_id),
    await openManifest(call, query, input.against),
  ];
  const [now, then] = [
    await entriesOf(call, query, after, MAX_CONTEXT_CARDS),
    await entriesOf(call, query, before, MAX_CONTEXT_CARDS),
  ];
  const changes = diffContexts(then.entries, now.entries);
  const isSame = changes.came_in.length + changes.went_out.length + changes.changed.length === 0;
  return {
    manifest_id: after.manifest_id,
    against: before.manifest_id,
    same: after.content_hash === null ? isSame : after.content_hash === before.content_hash,
    ...changes,
    tokens: { before: before.token_count, after: after.token_count },
  };
}
