/** Replays an assembled context: renders its cards, which never change, in the order of its manifest. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { isWithin, type Reach } from '../../engine/sql.js';
import { cardsBeyondReach, openBox } from '../../facts/index.js';
import { type CardRow, findCards, isVisible, keyedHash } from '../../facts/sql.js';
import { mayReadCard, reachOf } from '../../identity/index.js';
import { CairnError, notFound } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { scopesOfTurn } from '../../memory/sql.js';
import { readEntries } from '../manifests/entries.js';
import { findManifest, type ManifestRow } from '../manifests/store.js';
import { sectionAccount } from '../windows/account.js';
import { conflictsAmong, withRemarks } from '../windows/conflicts.js';
import { excerptOf } from '../windows/cut.js';
import { renderers } from '../windows/formats.js';
import { GIVEN, type Section } from '../windows/sections.js';
import { shortenedTurn } from '../windows/turns.js';
import type { Rendering, Window, WindowPart } from '../windows/window.js';
import type { ContextEntry, ContextSection, SectionName } from './model.js';
import { cardsOf, conflictOf, givenPart, memoryPart, passagePart, turnCardOf } from './parts.js';
import { formerText, markOf } from './replaced-values.js';
import { type MemoryName, namesOf } from './sources.js';

/** A manifest and how it is read. */
export interface OpenManifest {
  readonly call: Call;
  readonly query: Query;
  readonly row: ManifestRow;
}

/** Access to a packed context is decided by its box; to others by the operation's `touches`. */
export async function openManifest(call: Call, query: Query, manifest_id: string): Promise<OpenManifest> {
  const row = await findManifest(query, manifest_id);
  if (!row) throw notFound(query, 'manifest', manifest_id, ', or it was deleted with its trajectory');
  if (row.box_id !== null) await openBox(call, query, row.box_id, 'read');
  return { call, query, row };
}

type Cards = ReadonlyMap<string, CardRow>;

interface Replay {
  readonly rendering: Rendering;
  readonly entries: ContextEntry[];
  readonly sections: ContextSection[];
  /** Of the rendering; a manifest stores it keyed. */
  readonly content_hash: string;
}

const parametersOf = (row: ManifestRow): { readonly sections: readonly Section[]; readonly turns_total: number } =>
  JSON.parse(row.parameters);

export const sectionsOf = (row: ManifestRow, entries: readonly ContextEntry[]): ContextSection[] => {
  const { sections, turns_total } = parametersOf(row);
  return sections.map(({ name }) => sectionAccount(name, entries, turns_total));
};

/** The same bytes again, or an error that names the erased cards. */
export async function replayContext(manifest: OpenManifest): Promise<Replay> {
  const { call, query, row } = manifest;
  const entries = await readEntries(query, row.entries!);
  const rendering = await render(manifest, entries);
  const content_hash = sha256(rendering.text);
  if (keyedHash(call.meta.erasure_key, content_hash) !== row.content_hash) {
    const cause = 'its content was altered in the database';
    throw new CairnError('STORAGE_FAILED', `manifest ${row.manifest_id} renders differently than recorded: ${cause}`);
  }
  return { rendering, entries, sections: sectionsOf(row, entries), content_hash };
}

/** The plain hash for callers who can replay the context; for others the keyed one, which confirms no guess. */
export async function visibleHash(manifest: OpenManifest, entries: readonly ContextEntry[]): Promise<string> {
  const kept = manifest.row.content_hash!;
  try {
    const hash = sha256((await render(manifest, entries)).text);
    return keyedHash(manifest.call.meta.erasure_key, hash) === kept ? hash : kept;
  } catch (error) {
    if (error instanceof CairnError) return kept;
    throw error;
  }
}

async function render(manifest: OpenManifest, entries: readonly ContextEntry[]): Promise<Rendering> {
  const { call, query, row } = manifest;
  const shown = entries.filter(({ place }) => place !== null).sort((a, b) => a.place! - b.place!);
  await refuseBeyondReach(call, query, shown);
  const card_ids = shown.map(({ card_id }) => card_id);
  const marked = shown.flatMap(({ replaces }) => (replaces ? [replaces.card_id] : []));
  const cards = await cardsOf(query, [...card_ids, ...marked]);
  const erased = await erasedAmong(call, query, [...card_ids, ...marked], cards);
  refuseTexts(manifest, shown, cards);
  if (erased.length > 0) throw cardsErased(row, erased);
  const memories = shown
    .filter(({ entity_type }) => entity_type === 'Artifact' || entity_type === 'Note')
    .map(({ id, card_id }) => ({ memory_id: id, card_id }));
  return renderers[row.format!].render(windowOf(row, shown, cards, await namesOf(query, memories)));
}

export const cardsErased = (row: ManifestRow, card_ids: readonly string[]): CairnError =>
  new CairnError(
    'CONTENT_ERASED',
    `${card_ids.length} card(s) of the context of manifest ${row.manifest_id} were erased: ${card_ids.slice(0, 3).join(', ')}`,
    { manifest_id: row.manifest_id, card_ids: card_ids.slice(0, 100) },
  );

async function erasedAmong(call: Call, query: Query, card_ids: readonly string[], cards: Cards): Promise<string[]> {
  const now = call.driver.now();
  const erased: string[] = [];
  for (const card_id of new Set(card_ids)) {
    const row = cards.get(card_id);
    if (row && isVisible(row, now)) continue;
    // A turn of a closed scope is readable where the scope was restored.
    const isRestored = row?.held_by?.startsWith('scope:') && (await scopesOfTurn(query, card_id)).length > 0;
    if (!isRestored) erased.push(card_id);
  }
  return erased;
}

function windowOf(
  row: ManifestRow,
  shown: readonly ContextEntry[],
  cards: Cards,
  names: ReadonlyMap<string, MemoryName>,
): Window {
  const order = parametersOf(row)
    .sections.map(({ name }) => name)
    .filter((name) => name !== 'turns' && name !== 'user_input');
  const inSections = shown
    .filter(({ section }) => section !== 'turns')
    .map((entry) => {
      const card = cards.get(entry.card_id)!;
      const part = withMark(entry, partOf(entry, card, names), cards, names);
      const { contradicts, kept_characters: kept, kept_from = 0 } = entry;
      const conflict = contradicts && conflictOf(card, names.get(entry.card_id), part, contradicts);
      const text = kept === null ? part.text : excerptOf(part.text, kept_from, kept);
      return { id: entry.id, part: { ...part, text }, ...(conflict ? { conflict } : {}) };
    });
  const conflicts = conflictsAmong(inSections);
  const turns = shown
    .filter(({ section }) => section === 'turns')
    .map(({ card_id, kept_characters }) => {
      const turn = turnCardOf(cards.get(card_id)!);
      return kept_characters === null ? turn : shortenedTurn(turn, kept_characters);
    });
  return { order, parts: inSections.map((one) => withRemarks(one.part, one, conflicts.get(one))), turns };
}

/** The part with the mark that it had. */
function withMark(
  { card_id, replaces }: ContextEntry,
  part: WindowPart,
  cards: Cards,
  names: ReadonlyMap<string, MemoryName>,
): WindowPart {
  if (!replaces) return part;
  const former = formerText(cards.get(replaces.card_id), replaces);
  return { ...part, mark: markOf(cards.get(card_id)!, names.get(card_id)?.metadata, former) };
}

function partOf(entry: ContextEntry, row: CardRow, names: ReadonlyMap<string, MemoryName>): WindowPart {
  const section = entry.section as SectionName;
  if (GIVEN.includes(section)) return givenPart(section, row);
  return entry.entity_type === 'Turn' ? passagePart(row) : memoryPart(section, row, names.get(entry.card_id));
}

/** The texts of another agent's request are shown only to callers who may read their cards. */
function refuseTexts({ call, row }: OpenManifest, shown: readonly ContextEntry[], cards: Cards): void {
  if (row.agent_id !== null && row.agent_id === call.caller.agent_id) return;
  const texts = shown.filter(({ entity_type }) => entity_type === 'Card').map(({ card_id }) => card_id);
  const beyond = texts.filter((card_id) => {
    const card = cards.get(card_id);
    return card !== undefined && !mayReadCard(call, card);
  });
  if (beyond.length > 0) throw refusalForUser(call) ?? cardsBeyondReach(call, beyond);
}

const ID_FIELDS = { Artifact: 'artifact_id', Note: 'note_id', Turn: 'turn_id' } as const;

type MemoryType = keyof typeof ID_FIELDS;

/** The reach of the acting agent, if the entity is beyond it. */
async function reachExceeded(call: Call, query: Query, type: MemoryType, id: string): Promise<Reach | undefined> {
  const reach = reachOf(call, type);
  if (!reach) return undefined;
  const isWithinReach = reach.extent !== 'none' && (await isWithin(query, ID_FIELDS[type], id, reach)) !== false;
  return isWithinReach ? undefined : reach;
}

/** The entries of entities that the caller may read, without ids of other entities. */
export async function readableEntries(
  { call, query, row }: OpenManifest,
  entries: readonly ContextEntry[],
): Promise<ContextEntry[]> {
  if (!call.acting) return [...entries];
  const isOwn = row.agent_id === call.acting.agent_id;
  const given = isOwn ? [] : entries.filter(({ entity_type }) => entity_type === 'Card');
  const card_ids = given.map(({ card_id }) => card_id);
  const cards = await findCards(query, card_ids);
  const known = new Map<string, boolean>();
  const mayRead = async (type: MemoryType, id: string): Promise<boolean> => {
    const key = `${type} ${id}`;
    const may = known.get(key) ?? (await reachExceeded(call, query, type, id)) === undefined;
    known.set(key, may);
    return may;
  };
  const readable: ContextEntry[] = [];
  for (const entry of entries) {
    const { entity_type, id, card_id, by } = entry;
    const card = cards.get(card_id);
    const may = entity_type === 'Card' ? !card || mayReadCard(call, card) : await mayRead(entity_type, id);
    if (!may) continue;
    // `by` is the turn itself, if it is shown among the turns instead of as a passage; else a summary.
    const mayReadBy = by !== null && (by === card_id || (await mayRead('Artifact', by)));
    readable.push({ ...entry, by: mayReadBy ? by : null });
  }
  const ids = new Set(readable.map(({ id }) => id));
  const marked = readable.flatMap(({ replaces }) => replaces ?? []);
  const hidden = new Set<string>();
  for (const { entity_type, id } of marked) if (!(await mayRead(entity_type, id))) hidden.add(id);
  const visible = readable.map(({ replaces, ...entry }) =>
    replaces && !hidden.has(replaces.id) ? { ...entry, replaces } : entry,
  );
  return visible.map((entry) =>
    entry.contradicts ? { ...entry, contradicts: entry.contradicts.filter((id) => ids.has(id)) } : entry,
  );
}

/** A user is told no id of what is about others. */
function refusalForUser({ caller: { user_id } }: Call): CairnError | undefined {
  if (user_id === undefined) return undefined;
  const message = `user ${user_id} may not read all of this context: some of it is about somebody else`;
  return new CairnError('FORBIDDEN', message, { rule: 'user', user_id });
}

/** An agent that lost access to an entity cannot replay a context that shows it. */
async function refuseBeyondReach(call: Call, query: Query, shown: readonly ContextEntry[]): Promise<void> {
  if (!call.acting) return;
  const marked = shown.flatMap(({ replaces }) => replaces ?? []);
  for (const { entity_type, id } of [...shown, ...marked]) {
    const reach = entity_type === 'Card' ? undefined : await reachExceeded(call, query, entity_type, id);
    if (!reach) continue;
    const forUser = refusalForUser(call);
    if (forUser) throw forUser;
    throw new CairnError(
      'FORBIDDEN',
      `agent ${reach.agent_id} may no longer read ${entity_type} ${id}, which is in this context`,
      { rule: 'memory_access', memory_type: entity_type, need: 'read', scope: reach.turns ?? reach.extent },
    );
  }
}
