/** Assembling a context: gathered and rendered beside all writers, then recorded as a manifest in one transaction. */
import type { Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change, keptAnswer, type Work } from '../../engine/index.js';
import { scopeHolder, trajectoryHolder } from '../../engine/sql.js';
import { addCard, type PreparedCard, prepareCard } from '../../facts/index.js';
import { type CardRow, findCards, keyedHash } from '../../facts/sql.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { lockTrajectory, noScope, noTrajectory, openTrajectory, refuseClosed } from '../../memory/index.js';
import { findScope, lockScope } from '../../memory/sql.js';
import type { TurnPlace } from '../manifests/entries.js';
import { insertManifest, lastRequestCards, type NewManifest, type TurnRange } from '../manifests/store.js';
import { defaultTrajectory, refuseCommonGround } from '../remember/default-place.js';
import { type Assembly, assemble as assembleWindow } from '../windows/assembly.js';
import { type Gathered, gather, type Wanted } from './material.js';
import type { AssembledContext, ContextEntry, SectionName } from './model.js';
import { newMeter } from './parts.js';
import { contextReferences } from './references.js';
import { openManifest, replayed } from './replay.js';

/** How much of the record an answer shows. */
const TRACED = 200;

/** The request, with the trajectory that its scope is in. */
async function wantedBy(call: Call, input: In<'context.assemble'>): Promise<Wanted> {
  const query = call.driver.at(call.tenant);
  if (input.query !== undefined && input.relevance_query !== undefined) {
    throw invalid('give either query or relevance_query, which are the same');
  }
  const about = input.query ?? input.relevance_query;
  const agent_turn_id = input.agent_turn_id ?? call.turn?.agent_turn_id;
  const isReferable = contextReferences.get('agent_turn');
  if (agent_turn_id !== undefined && !(await isReferable(call, query, agent_turn_id))) {
    throw new CairnError('UNKNOWN_ENTITY', `agent_turn_id names ${agent_turn_id}, which does not exist`, {
      missing_ids: [agent_turn_id],
    });
  }
  const { trajectory_id } = await placeOf(call, query, input);
  return { ...input, trajectory_id, query: about, agent_turn_id };
}

async function placeOf(call: Call, query: Query, input: In<'context.assemble'>): Promise<{ trajectory_id: string }> {
  const { trajectory_id, scope_id } = input;
  if (scope_id === undefined) {
    if (trajectory_id === undefined) refuseCommonGround(call, 'Card');
    return openTrajectory(call, query, trajectory_id ?? (await defaultTrajectory(call)));
  }
  const scope = await findScope(query, scope_id);
  if (!scope || scope.deleted_at !== null) throw noScope(scope_id);
  if (trajectory_id !== undefined && scope.trajectory_id !== trajectory_id) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `scope_id names ${scope_id}, which is no scope of trajectory ${trajectory_id}`,
      { missing_ids: [scope_id] },
    );
  }
  refuseClosed(scope);
  return scope;
}

/** What holds the manifest and the texts of its request: they end with it. Locked, so that it does not end meanwhile. */
async function lockHolder({ call, tx }: Work, { trajectory_id, scope_id }: Wanted): Promise<string> {
  if (scope_id !== undefined) {
    const scope = await lockScope(tx, scope_id);
    if (!scope || scope.deleted_at !== null) throw noScope(scope_id);
    refuseClosed(scope);
    return scopeHolder(scope_id);
  }
  const trajectory = await lockTrajectory(tx, trajectory_id);
  if (!trajectory || trajectory.deleted_at !== null) throw noTrajectory(call, trajectory_id);
  return trajectoryHolder(trajectory_id);
}

/** Texts that a request brings, and the cards that they become. */
const REQUEST_TEXTS = ['instructions', 'user_input', 'query'] as const;
type RequestText = (typeof REQUEST_TEXTS)[number];

function requestCards(call: Call, wanted: Wanted): Map<RequestText, PreparedCard> {
  const cards = new Map<RequestText, PreparedCard>();
  for (const name of REQUEST_TEXTS) {
    const content = wanted[name];
    if (content === undefined) continue;
    const role = name === 'instructions' ? 'system' : 'user';
    cards.set(name, prepareCard(call, { content, metadata: { type: `context.${name}`, role } }));
  }
  return cards;
}

/** Adds the texts as cards; one that the request before brought as well is not kept twice. */
async function keepTexts(
  work: Work,
  texts: ReadonlyMap<RequestText, PreparedCard>,
  held_by: string,
): Promise<Map<RequestText, string>> {
  const { tx } = work;
  if (texts.size === 0) return new Map();
  const before = await findCards(tx, await lastRequestCards(tx, held_by));
  const says = (row: CardRow, { content_hash, metadata, author_id }: PreparedCard): boolean =>
    row.erased_at === null &&
    row.held_by === held_by &&
    row.content_hash === content_hash &&
    row.metadata === metadata &&
    row.author_id === author_id;
  const kept = new Map<RequestText, string>();
  for (const [name, prepared] of texts) {
    const known = [...before.values()].find((row) => says(row, prepared));
    const card_id = known?.card_id ?? (await addCard(work, prepared, held_by)).card.card_id;
    kept.set(name, card_id);
  }
  return kept;
}

/** How it was asked for: numbers, names and ids, no text. */
function parametersOf(
  wanted: Wanted,
  { material, query_from }: Gathered,
  texts: ReadonlyMap<RequestText, string>,
): JsonObject {
  const { user_input: _, instructions: __, query: ___, relevance_query: ____, ...asked } = wanted;
  const given = Object.entries({
    ...asked,
    format: material.format,
    token_budget: material.budget,
    sections: material.sections as unknown as Json,
    turns_total: material.turns_total,
    query_from,
    user_input_card_id: texts.get('user_input'),
    instructions_card_id: texts.get('instructions'),
    query_card_id: texts.get('query'),
  }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as JsonObject;
}

/** Entries of texts stand under the ids of their cards. */
const namedEntries = (entries: readonly ContextEntry[], texts: ReadonlyMap<RequestText, string>): ContextEntry[] =>
  entries.map((entry) => {
    const card_id = texts.get(entry.section as RequestText);
    return card_id === undefined || entry.entity_type !== 'Card' ? entry : { ...entry, id: card_id, card_id };
  });

/** The places of the turns that are shown, those that follow each other as one. */
function turnRanges(entries: readonly ContextEntry[], places: ReadonlyMap<string, TurnPlace>): TurnRange[] {
  const ranges: { -readonly [K in keyof TurnRange]: TurnRange[K] }[] = [];
  for (const { section, place, card_id } of entries) {
    if (section !== 'turns' || place === null) continue;
    const { box_id, position } = places.get(card_id)!;
    const last = ranges.at(-1);
    if (last?.box_id === box_id && last.last === position - 1) last.last = position;
    else ranges.push({ box_id, first: position, last: position });
  }
  return ranges;
}

const answerOf = (
  row: NewManifest,
  rendered: Pick<Assembly, 'messages' | 'text' | 'sections'> & { readonly content_hash: string },
  entries: readonly ContextEntry[],
): AssembledContext => ({
  manifest_id: row.manifest_id,
  trajectory_id: row.trajectory_id!,
  scope_id: row.scope_id,
  format: row.format!,
  messages: rendered.messages,
  text: rendered.messages === null ? rendered.text : null,
  token_count: row.token_count!,
  content_hash: rendered.content_hash,
  token_budget: row.token_budget!,
  truncated: row.truncated === 1,
  included_sections: rendered.sections.filter(({ included }) => included > 0).map(({ name }): SectionName => name),
  sections: rendered.sections,
  trace: entries.slice(0, TRACED),
});

export async function assemble(call: Call, input: In<'context.assemble'>): Promise<AssembledContext> {
  const { tenant, driver } = call;
  const kept = await keptAnswer(call, input);
  if (kept !== undefined) return assembledAgain(call, driver.at(tenant), kept as string);
  const wanted = await wantedBy(call, input);
  const meter = newMeter();
  const gathered = await gather(call, wanted, meter);
  const assembly = await assembleWindow(gathered.material, meter);
  const content_hash = sha256(assembly.text);
  const texts = requestCards(call, wanted);
  const turns = turnRanges(assembly.entries, gathered.places);
  return change(call, {
    input,
    bytes: [...texts.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    work: async (work) => {
      const { tx, now } = work;
      const held_by = await lockHolder(work, wanted);
      const text_ids = await keepTexts(work, texts, held_by);
      const entries = namedEntries(assembly.entries, text_ids);
      const row = manifestRow(call, wanted, gathered, assembly, { content_hash, held_by, now }, text_ids);
      await insertManifest(tx, row, { entries, turns, places: gathered.places });
      journalAssembly(work, row);
      return answerOf(row, { ...assembly, content_hash }, entries);
    },
    remember: ({ manifest_id }) => manifest_id,
    again: (query, id) => assembledAgain(call, query, id as string),
  });
}

function manifestRow(
  call: Call,
  wanted: Wanted,
  gathered: Gathered,
  { token_count, truncated }: Assembly,
  { content_hash, held_by, now }: { content_hash: string; held_by: string; now: number },
  texts: ReadonlyMap<RequestText, string>,
): NewManifest {
  const { format, budget } = gathered.material;
  return {
    manifest_id: newId(),
    kind: 'assembly',
    trajectory_id: wanted.trajectory_id,
    scope_id: wanted.scope_id ?? null,
    agent_turn_id: wanted.agent_turn_id ?? null,
    agent_id: call.caller.agent_id,
    box_id: null,
    format,
    token_budget: budget,
    token_count,
    truncated: truncated ? 1 : 0,
    parameters: canonical(parametersOf(wanted, gathered, texts)),
    request_card_ids: texts.size === 0 ? null : JSON.stringify([...texts.values()]),
    // Keyed, as in events: it outlives the content, whose hash would tell whether a guess at it was right.
    content_hash: keyedHash(call.meta.erasure_key, content_hash),
    held_by,
    created_at: now,
  };
}

function journalAssembly(work: Work, row: NewManifest): void {
  const facts = {
    ...(row.scope_id === null ? {} : { scope_id: row.scope_id }),
    ...(row.agent_turn_id === null ? {} : { agent_turn_id: row.agent_turn_id }),
    format: row.format,
    token_count: row.token_count,
    token_budget: row.token_budget,
    content_hash: row.content_hash,
  };
  const { manifest_id, trajectory_id } = row;
  appendEvent(work, 'cairn.context.assembled', { type: 'manifest', id: manifest_id }, facts, trajectory_id);
}

async function assembledAgain(call: Call, query: Query, manifest_id: string): Promise<AssembledContext> {
  const row = await openManifest(call, query, manifest_id);
  const { rendering, entries, ...rest } = await replayed(call, query, row);
  return answerOf(row, { ...rendering, ...rest }, entries);
}
