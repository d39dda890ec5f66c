/** Use cases of manifests: get, list, replay and diff. */
import { longQuery } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, listPage } from '../../engine/index.js';
import { readCards } from '../../facts/index.js';
import { type BoxRow, type CardRow, entriesAfter, findBox, segmentsOf, toCard, wasVisible } from '../../facts/sql.js';
import { reachOf, seesAll } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, type ErrorCode, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { cardsOfMemory } from '../../memory/sql.js';
import type { ContextEntry } from '../contexts/model.js';
import { newMeter } from '../contexts/parts.js';
import {
  cardsErased,
  type OpenManifest,
  openManifest,
  readableEntries,
  replayContext,
  sectionsOf,
  visibleHash,
} from '../contexts/replay.js';
import { diffContexts } from '../windows/diff.js';
import { readEntries } from './entries.js';
import {
  MAX_CONTEXT_CARDS,
  type Manifest,
  type ManifestDiff,
  type ManifestSummary,
  type ReplayedContext,
} from './model.js';
import { countManifests, listManifests, type ManifestRow, type ManifestSummaryRow } from './store.js';

/** Maximum entries of a packing in an answer; its box has all. */
const MAX_BOX_ENTRIES = 1000;
/** The tokens of a larger packing are not counted. */
const MAX_COUNTED_BYTES = 4 * 1024 * 1024;

const summaryOf = (row: ManifestSummaryRow): ManifestSummary => ({
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

const manifestOf = (row: ManifestRow) => ({ ...summaryOf(row), parameters: JSON.parse(row.parameters) as JsonObject });

interface Packing {
  /** Undefined if it was deleted with its trajectory. */
  readonly box: BoxRow | undefined;
  readonly entries: ContextEntry[];
  readonly total: number;
}

/** The cards of a packing as entries. */
async function boxEntries({ query, row }: OpenManifest, limit: number): Promise<Packing> {
  const box = await findBox(query, row.box_id!);
  if (!box || box.ended_at !== null) return { box: undefined, entries: [], total: 0 };
  const rows = await entriesAfter(query, await segmentsOf(query, box), { after: 0, limit });
  const fate = { action: 'include', section: 'box', reason: 'given', entity_type: 'Card' } as const;
  const unknown = { tokens: null, score: null, kept_characters: null, by: null };
  const entries = rows.map(({ card_id }, i) => ({ ...fate, id: card_id, card_id, ...unknown, place: i + 1 }));
  return { box, entries, total: box.length };
}

async function entriesOf(manifest: OpenManifest): Promise<ContextEntry[]> {
  const { query, row } = manifest;
  if (row.kind === 'packing') return (await boxEntries(manifest, MAX_CONTEXT_CARDS)).entries;
  return readableEntries(manifest, await readEntries(query, row.entries!));
}

export async function get(call: Call, { manifest_id }: In<'manifests.get'>): Promise<Manifest> {
  const query = call.driver.at(call.tenant);
  const manifest = await openManifest(call, query, manifest_id);
  const { row } = manifest;
  if (row.kind === 'packing') return getPacking(manifest);
  const recorded = await readEntries(query, row.entries!);
  const entries = await readableEntries(manifest, recorded);
  return {
    ...manifestOf(row),
    sections: sectionsOf(row, entries),
    entries,
    entries_total: entries.length,
    content_hash: await visibleHash(manifest, recorded),
  };
}

/** Counts a packing on each read: its box never changes. */
async function getPacking(manifest: OpenManifest): Promise<Manifest> {
  const packing = await boxEntries(manifest, MAX_BOX_ENTRIES);
  const { entries, total: entries_total } = packing;
  const counts = entries_total > MAX_BOX_ENTRIES ? {} : await countPacking(manifest, packing);
  return { ...manifestOf(manifest.row), sections: [], entries, entries_total, content_hash: null, ...counts };
}

/** Expected reasons why a packing cannot be counted; other errors are thrown. */
const UNCOUNTED: readonly ErrorCode[] = ['CONTENT_ERASED', 'TOO_LARGE'];

async function countPacking(
  manifest: OpenManifest,
  packing: Packing,
): Promise<Partial<Pick<Manifest, 'entries' | 'token_count' | 'content_hash'>>> {
  const limits = { ...manifest.call.limits, max_answer_bytes: MAX_COUNTED_BYTES };
  try {
    const cards = await cardsIn({ ...manifest, call: { ...manifest.call, limits } }, packing);
    const { count } = newMeter();
    const entries: ContextEntry[] = [];
    for (const [i, entry] of packing.entries.entries()) {
      entries.push({ ...entry, tokens: await count(canonical(cards[i]!)) });
    }
    const text = canonical(cards);
    return { entries, token_count: await count(text), content_hash: sha256(text) };
  } catch (error) {
    if (error instanceof CairnError && UNCOUNTED.includes(error.code)) return {};
    throw error;
  }
}

export async function list(call: Call, input: In<'manifests.list'>): Promise<Out<'manifests.list'>> {
  const { limit, cursor, offset, order, ...filters } = input;
  const { agent_id } = call.caller;
  const viewer = seesAll(call) ? undefined : { agent_id, reach: reachOf(call, 'Card') };
  const query = longQuery(call.driver, call.tenant);
  const { card_id, ...others } = filters;
  // The id of an artifact or note stands for the cards of all its versions, whose ids callers do not know.
  const card_ids = card_id === undefined ? undefined : [card_id, ...(await cardsOfMemory(query, card_id))];
  const filter = { ...others, card_ids, viewer };
  const { rows, ...page } = await listPage<ManifestSummaryRow, string>(call, {
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
  const manifest = await openManifest(call, call.driver.at(call.tenant), manifest_id);
  const { kind, format, token_count } = manifest.row;
  if (kind === 'packing') {
    const longRead = { ...manifest, query: longQuery(call.driver, call.tenant) };
    const cards = await cardsIn(longRead, await boxEntries(longRead, MAX_CONTEXT_CARDS));
    const content_hash = sha256(canonical(cards));
    return { manifest_id, kind, format: null, messages: null, text: null, cards, token_count: null, content_hash };
  }
  const { rendering, content_hash } = await replayContext(manifest);
  const { messages } = rendering;
  const text = messages === null ? rendering.text : null;
  return { manifest_id, kind, format, messages, text, cards: null, token_count, content_hash };
}

/** The cards of a box as it was sealed, each verified against its hash. */
async function cardsIn({ call, query, row }: OpenManifest, { box, entries }: Packing): Promise<Json[]> {
  const ids = entries.map(({ card_id }) => card_id);
  const rows = box ? await readCards(call, query, ids, () => 1, 'cards: read the box page by page') : new Map();
  const moment = box?.sealed_at ?? row.created_at;
  const erased = ids.filter((id) => !wasReadable(rows.get(id), moment));
  if (!box || erased.length > 0) throw cardsErased(row, erased);
  return ids.map((id): Json => {
    const { card_id, content, tool_calls, tool_call_id, metadata } = toCard(call.tenant, rows.get(id)!);
    // In alphabetical order, so that a client that serialises the cards gets the bytes that were hashed.
    return { card_id, content, metadata, tool_call_id, tool_calls: tool_calls as Json };
  });
}

function wasReadable(row: CardRow | undefined, moment: number): boolean {
  if (!row || !wasVisible(row, moment)) return false;
  if (sha256(row.content ?? 'null') === row.content_hash) return true;
  throw new CairnError('STORAGE_FAILED', `card ${row.card_id} was altered in the database`);
}

export async function diff(call: Call, input: In<'manifests.diff'>): Promise<ManifestDiff> {
  const query = call.driver.at(call.tenant);
  const after = await openManifest(call, query, input.manifest_id);
  const before = await openManifest(call, query, input.against);
  const entries = await entriesOf(after);
  const changes = diffContexts(await entriesOf(before), entries);
  const isSame = changes.came_in.length + changes.went_out.length + changes.changed.length === 0;
  return {
    manifest_id: input.manifest_id,
    against: input.against,
    same: after.row.content_hash === null ? isSame : after.row.content_hash === before.row.content_hash,
    ...changes,
    tokens: { before: before.row.token_count, after: after.row.token_count },
  };
}
