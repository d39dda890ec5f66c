/** Assembles a context: gathers and renders without locks, then records a manifest in one transaction. */

import type { Query } from '../../driver/index.js';
import { listToText, textToList } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import {
  type AssumedRevision,
  type Call,
  change,
  event,
  type NewPacket,
  storedReplay,
  subjectsOf,
  type Work,
} from '../../engine/index.js';
import { scopeHolder, trajectoryHolder } from '../../engine/sql.js';
import { addCard, type PreparedCard, prepareCard } from '../../facts/index.js';
import { type CardRow, findCards, keyedHash } from '../../facts/sql.js';
import { DEFAULT_SETTINGS, type Settings } from '../../identity/contract.js';
import { type AssumedSettings, settingsAhead } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, present } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { lockTrajectory, openTrajectory, refuseClosed } from '../../memory/index.js';
import { findScope, lockScope } from '../../memory/sql.js';
import type { TurnPosition } from '../manifests/entries.js';
import { insertManifest, lastRequestCards, type NewManifest, type TurnRange } from '../manifests/store.js';
import { defaultTrajectory, refuseDefaultPlace } from '../remember/default-place.js';
import { type Assembly, assemble as assembleWindow } from '../windows/assembly.js';
import { type ContextRequest, type Gathered, gather } from './material.js';
import type { AssembledContext, ContextEntry, SectionName } from './model.js';
import { newMeter } from './parts.js';
import { contextReferences } from './references.js';
import { openManifest, replayContext } from './replay.js';

/** Maximum entries in an answer; the manifest has all. */
const MAX_TRACE = 200;

const unknown = (id: string, message: string): CairnError =>
  new CairnError('UNKNOWN_ENTITY', message, { missing_ids: [id] });

/** Members that settings of the tenant supply. */
const SETTINGS = { token_budget: 'context_token_budget', sections: 'context_sections' } as const;

async function resolve(call: Call, input: In<'context.assemble'>, settings: Settings): Promise<ContextRequest> {
  const query = call.driver.at(call.tenant);
  if (input.query !== undefined && input.relevance_query !== undefined) {
    throw invalid('`query` and `relevance_query` mean the same: give only one of them');
  }
  const agent_turn_id = input.agent_turn_id ?? call.turn?.agent_turn_id;
  const isReferable = contextReferences.get('agent_turn');
  if (agent_turn_id !== undefined && !(await isReferable(call, query, agent_turn_id))) {
    throw unknown(agent_turn_id, `agent_turn_id names ${agent_turn_id}, which does not exist`);
  }
  const trajectory_id = await trajectoryOf(call, query, input);
  return {
    ...input,
    trajectory_id,
    query: input.query ?? input.relevance_query,
    agent_turn_id,
    token_budget: input.token_budget ?? settings.context_token_budget,
    sections: input.sections ?? settings.context_sections,
  };
}

/** The members that the request left to the tenant, where the tenant has set them. */
function fromSettings(input: In<'context.assemble'>, settings: Settings): string[] {
  return Object.entries(SETTINGS)
    .filter(([name, setting]) => {
      const own = canonical(settings[setting] as Json) !== canonical(DEFAULT_SETTINGS[setting] as Json);
      return own && input[name as keyof typeof SETTINGS] === undefined;
    })
    .map(([name]) => name);
}

async function trajectoryOf(call: Call, query: Query, input: In<'context.assemble'>): Promise<string> {
  const { trajectory_id, scope_id } = input;
  if (scope_id === undefined) {
    if (trajectory_id === undefined) refuseDefaultPlace(call, 'Card');
    return (await openTrajectory(call, query, trajectory_id ?? (await defaultTrajectory(call)))).trajectory_id;
  }
  const scope = present(query, 'scope', scope_id, await findScope(query, scope_id));
  if (trajectory_id !== undefined && scope.trajectory_id !== trajectory_id) {
    throw unknown(scope_id, `scope_id names ${scope_id}, which is not a scope of trajectory ${trajectory_id}`);
  }
  refuseClosed(scope);
  return scope.trajectory_id;
}

/** Locks the holder of the manifest and its texts: they end with it, so it must not end meanwhile. */
interface ContextHolder {
  readonly held_by: string;
  /** Of the scope or trajectory. */
  readonly subject_ids: string | null;
}

async function lockHolder({ tx }: Work, { trajectory_id, scope_id }: ContextRequest): Promise<ContextHolder> {
  if (scope_id !== undefined) {
    const scope = present(tx, 'scope', scope_id, await lockScope(tx, scope_id));
    refuseClosed(scope);
    return { held_by: scopeHolder(scope_id), subject_ids: scope.subject_ids };
  }
  const { subject_ids } = present(tx, 'trajectory', trajectory_id, await lockTrajectory(tx, trajectory_id));
  return { held_by: trajectoryHolder(trajectory_id), subject_ids };
}

/** Texts of a request that become cards. */
const REQUEST_TEXTS = ['instructions', 'user_input', 'query'] as const;
type RequestText = (typeof REQUEST_TEXTS)[number];
type TextCards = ReadonlyMap<RequestText, string>;

function requestCards(call: Call, request: ContextRequest): Map<RequestText, PreparedCard> {
  const cards = new Map<RequestText, PreparedCard>();
  for (const name of REQUEST_TEXTS) {
    const content = request[name];
    if (content === undefined) continue;
    const role = name === 'instructions' ? 'system' : 'user';
    cards.set(name, prepareCard(call, { content, metadata: { type: `context.${name}`, role } }));
  }
  return cards;
}

/** Adds the texts as cards, or reuses those of the previous request with the same text. */
async function addTexts(
  work: Work,
  texts: ReadonlyMap<RequestText, PreparedCard>,
  { held_by, subject_ids }: ContextHolder,
): Promise<TextCards> {
  const { tx } = work;
  if (texts.size === 0) return new Map();
  const before = await findCards(tx, await lastRequestCards(tx, held_by));
  const isSame = (row: CardRow, { content_hash, metadata, author_id }: PreparedCard): boolean =>
    row.erased_at === null &&
    row.held_by === held_by &&
    row.subject_ids === subject_ids &&
    row.content_hash === content_hash &&
    row.metadata === metadata &&
    row.author_id === author_id;
  const card_ids = new Map<RequestText, string>();
  for (const [name, prepared] of texts) {
    const known = [...before.values()].find((row) => isSame(row, prepared));
    const input = { ...prepared.input, subject_ids: textToList(subject_ids) };
    card_ids.set(name, known?.card_id ?? (await addCard(work, { ...prepared, input }, held_by)).card.card_id);
  }
  return card_ids;
}

/** The request as numbers, names and ids, without its texts. */
function parametersOf(
  request: ContextRequest,
  { material, query_from }: Gathered,
  texts: TextCards,
  from_settings: readonly string[],
): JsonObject {
  const { user_input: _, instructions: __, query: ___, relevance_query: ____, ...asked } = request;
  const given = Object.entries({
    ...asked,
    format: material.format,
    token_budget: material.budget,
    sections: material.sections as unknown as Json,
    turns_total: material.turns_total,
    query_from,
    from_settings: from_settings.length === 0 ? undefined : from_settings,
    user_input_card_id: texts.get('user_input'),
    instructions_card_id: texts.get('instructions'),
    query_card_id: texts.get('query'),
  }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as JsonObject;
}

/** Gives the entries of texts the ids of their cards. */
const withCardIds = (entries: readonly ContextEntry[], texts: TextCards): ContextEntry[] =>
  entries.map((entry) => {
    const card_id = texts.get(entry.section as RequestText);
    return card_id === undefined || entry.entity_type !== 'Card' ? entry : { ...entry, id: card_id, card_id };
  });

/** The positions of the shown turns, consecutive ones as one range. */
function turnRanges(entries: readonly ContextEntry[], positions: ReadonlyMap<string, TurnPosition>): TurnRange[] {
  const ranges: { -readonly [K in keyof TurnRange]: TurnRange[K] }[] = [];
  for (const { section, place, card_id } of entries) {
    if (section !== 'turns' || place === null) continue;
    const { box_id, position } = positions.get(card_id)!;
    const last = ranges.at(-1);
    if (last?.box_id === box_id && last.last === position - 1) last.last = position;
    else ranges.push({ box_id, first: position, last: position });
  }
  return ranges;
}

const answerOf = (
  row: NewManifest,
  {
    messages,
    text,
    sections,
    content_hash,
  }: Pick<Assembly, 'messages' | 'text' | 'sections'> & { content_hash: string },
  entries: readonly ContextEntry[],
): AssembledContext => ({
  manifest_id: row.manifest_id,
  trajectory_id: row.trajectory_id!,
  scope_id: row.scope_id,
  format: row.format!,
  messages,
  text: messages === null ? text : null,
  token_count: row.token_count!,
  content_hash,
  token_budget: row.token_budget!,
  truncated: row.truncated === 1,
  included_sections: sections.filter(({ included }) => included > 0).map(({ name }): SectionName => name),
  sections,
  trace: entries.slice(0, MAX_TRACE),
});

/** Thrown in the transaction when the settings that a context was assembled with have changed. */
class SettingsChanged extends Error {}

export async function assemble(call: Call, input: In<'context.assemble'>): Promise<AssembledContext> {
  const kept = await storedReplay(call, input);
  if (kept !== undefined) return assembledAgain(call, call.driver.at(call.tenant), kept as string);
  for (;;) {
    const assumed = await settingsFor(call, input);
    try {
      return await assembleWith(call, input, assumed);
    } catch (error) {
      if (error instanceof SettingsChanged) continue;
      // A cached budget may be out of date, and a refusal reaches no commit that would notice: it is read anew.
      if (assumed.assumes === undefined || !isTooSmall(error)) throw error;
      assumed.assumes.drop();
    }
  }
}

const isTooSmall = (error: unknown): boolean =>
  error instanceof CairnError && error.code === 'CONTEXT_BUDGET_TOO_SMALL';

/** A request that gives all that settings could supply depends on none. */
const settingsFor = async (call: Call, input: In<'context.assemble'>): Promise<AssumedSettings> => {
  const assumed = await settingsAhead(call);
  const needed = input.token_budget === undefined || input.sections === undefined;
  return needed ? assumed : { ...assumed, assumes: undefined };
};

async function assembleWith(
  call: Call,
  input: In<'context.assemble'>,
  { settings, assumes }: AssumedSettings,
): Promise<AssembledContext> {
  let outdated = false;
  const checked = assumes && {
    ...assumes,
    drop: () => {
      outdated = true;
      assumes.drop();
    },
  };
  const request = await resolve(call, input, settings);
  const meter = newMeter();
  const gathered = await gather(call, request, meter);
  const assembly = await assembleWindow(gathered.material, meter);
  const content_hash = sha256(assembly.text);
  const prepared = requestCards(call, request);
  const turns = turnRanges(assembly.entries, gathered.positions);
  return change(call, {
    input,
    bytes: [...prepared.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    work: async (work) => {
      // Run again because of its settings: the context has to be assembled with the new ones.
      if (outdated) throw new SettingsChanged();
      const locked = await lockHolder(work, request);
      const { held_by } = locked;
      const subject_ids = listToText(subjectsOf(call, [], locked.subject_ids));
      const texts = await addTexts(work, prepared, { held_by, subject_ids });
      const entries = withCardIds(assembly.entries, texts);
      const row: NewManifest = {
        manifest_id: newId(),
        kind: 'assembly',
        trajectory_id: request.trajectory_id,
        scope_id: request.scope_id ?? null,
        agent_turn_id: request.agent_turn_id ?? null,
        agent_id: call.caller.agent_id,
        subject_ids,
        box_id: null,
        format: gathered.material.format,
        token_budget: gathered.material.budget,
        token_count: assembly.token_count,
        truncated: assembly.truncated ? 1 : 0,
        parameters: canonical(parametersOf(request, gathered, texts, fromSettings(input, settings))),
        request_card_ids: texts.size === 0 ? null : JSON.stringify([...texts.values()]),
        // Keyed, as in events: it outlives the content, and a plain hash would confirm a guess.
        content_hash: keyedHash(call.meta.erasure_key, content_hash),
        held_by,
        created_at: work.now,
      };
      await insertManifest(work.tx, row, { entries, turns, positions: gathered.positions });
      journalAssembly(work, row, checked);
      return answerOf(row, { ...assembly, content_hash }, entries);
    },
    remember: ({ manifest_id }) => manifest_id,
    again: (query, id) => assembledAgain(call, query, id as string),
  });
}

function journalAssembly(work: Work, row: NewManifest, assumes: AssumedRevision | undefined): void {
  const { manifest_id, trajectory_id, scope_id, agent_turn_id, format, token_count, token_budget, content_hash } = row;
  const facts = {
    ...(scope_id === null ? {} : { scope_id }),
    ...(agent_turn_id === null ? {} : { agent_turn_id }),
    format,
    token_count,
    token_budget,
    content_hash,
  };
  const packet: NewPacket = {
    ...event(work, 'cairn.context.assembled', { type: 'manifest', id: manifest_id }, facts, trajectory_id),
    assumes,
  };
  work.tx.journal(packet);
}

async function assembledAgain(call: Call, query: Query, manifest_id: string): Promise<AssembledContext> {
  const manifest = await openManifest(call, query, manifest_id);
  const { rendering, entries, ...rest } = await replayContext(manifest);
  return answerOf(manifest.row, { ...rendering, ...rest }, entries);
}
