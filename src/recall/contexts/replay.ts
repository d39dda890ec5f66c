/** Giving an assembled context again: rendered from its cards, which never change, as the manifest has them in order. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { isWithin, type Reach, type ReachedBy } from '../../engine/sql.js';
import { cardsBeyond, openBox } from '../../facts/index.js';
import { type CardRow, findCards, isVisible, keyedHash } from '../../facts/sql.js';
import { mayReadCard, reachOf } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { placesOfTurn } from '../../memory/sql.js';
import { readEntries } from '../manifests/entries.js';
import { findManifest, type ManifestRow } from '../manifests/store.js';
import { sectionAccount } from '../windows/account.js';
import { conflictsAmong, withRemarks } from '../windows/conflicts.js';
import { shortened } from '../windows/cut.js';
import { shapes } from '../windows/formats.js';
import { GIVEN, type Section } from '../windows/sections.js';
import { shortenedTurn, type TurnCard } from '../windows/turns.js';
import type { Rendering, Window, WindowPart } from '../windows/window.js';
import type { ContextEntry, ContextSection, SectionName } from './model.js';
import { cardsOf, conflictOf, givenPart, memoryPart, passagePart, turnCardOf } from './parts.js';
import { type MemoryName, namesOf } from './sources.js';

/** That of this id, if the caller may see it: a packed context by its box, the others by what the table says. */
export async function openManifest(call: Call, query: Query, manifest_id: string): Promise<ManifestRow> {
  const row = await findManifest(query, manifest_id);
  if (!row) {
    throw new CairnError('MANIFEST_NOT_FOUND', `there is no manifest ${manifest_id}, or it went with its trajectory`);
  }
  if (row.box_id !== null) await openBox(call, query, row.box_id, 'read');
  return row;
}

export interface Replayed {
  readonly rendering: Rendering;
  readonly entries: ContextEntry[];
  readonly sections: ContextSection[];
  /** Of what is rendered: a manifest keeps it keyed. */
  readonly content_hash: string;
}

interface Parameters {
  readonly sections: readonly Section[];
  readonly turns_total: number;
}

export const parametersOf = (row: ManifestRow): Parameters => JSON.parse(row.parameters) as Parameters;

export const sectionsOf = (row: ManifestRow, entries: readonly ContextEntry[]): ContextSection[] => {
  const { sections, turns_total } = parametersOf(row);
  return sections.map(({ name }) => sectionAccount(name, entries, turns_total));
};

/** The same bytes again, or a refusal that names what is gone. */
export async function replayed(call: Call, query: Query, row: ManifestRow): Promise<Replayed> {
  const entries = await readEntries(query, row.entries!);
  const rendering = await renderedAgain(call, query, row, entries);
  const content_hash = sha256(rendering.text);
  if (keyedHash(call.meta.erasure_key, content_hash) !== row.content_hash) {
    throw new CairnError(
      'STORAGE_FAILED',
      `manifest ${row.manifest_id} renders otherwise than it did: what it showed was altered in the database`,
    );
  }
  return { rendering, entries, sections: sectionsOf(row, entries), content_hash };
}

/** For whom the context can be replayed, its own hash; else the keyed one, from which nobody can tell whether a guess was right. */
export async function shownHash(
  call: Call,
  query: Query,
  row: ManifestRow,
  entries: readonly ContextEntry[],
): Promise<string> {
  const kept = row.content_hash!;
  try {
    const hash = sha256((await renderedAgain(call, query, row, entries)).text);
    return keyedHash(call.meta.erasure_key, hash) === kept ? hash : kept;
  } catch (error) {
    if (error instanceof CairnError) return kept;
    throw error;
  }
}

async function renderedAgain(
  call: Call,
  query: Query,
  row: ManifestRow,
  entries: readonly ContextEntry[],
): Promise<Rendering> {
  const shown = entries.filter(({ place }) => place !== null).sort((a, b) => a.place! - b.place!);
  await refuseBeyond(call, query, shown);
  const { cards, erased } = await cardsShown(call, query, shown);
  refuseTexts(call, row, shown, cards);
  if (erased.length > 0) throw goneFrom(row, erased);
  const memories = shown
    .filter(({ entity_type }) => entity_type === 'Artifact' || entity_type === 'Note')
    .map(({ id, card_id }) => ({ memory_id: id, card_id }));
  const names = await namesOf(query, memories);
  return shapes[row.format!].render(windowOf(row, shown, cards, names));
}

export const goneFrom = (row: ManifestRow, card_ids: readonly string[]): CairnError =>
  new CairnError(
    'CONTENT_ERASED',
    `${card_ids.length} card(s) of the context of manifest ${row.manifest_id} were erased: ${card_ids.slice(0, 3).join(', ')}`,
    { manifest_id: row.manifest_id, card_ids: card_ids.slice(0, 100) },
  );

/** The cards that are shown and can be read, and which cannot. */
async function cardsShown(
  call: Call,
  query: Query,
  shown: readonly ContextEntry[],
): Promise<{ cards: Map<string, CardRow>; erased: string[] }> {
  const ids = shown.map(({ card_id }) => card_id);
  const cards = await cardsOf(query, ids);
  const now = call.driver.now();
  const erased: string[] = [];
  for (const card_id of new Set(ids)) {
    const row = cards.get(card_id);
    // A turn of a closed scope can be read where the scope was restored.
    const isThere =
      row &&
      (isVisible(row, now) || (row.held_by?.startsWith('scope:') && (await placesOfTurn(query, card_id)).length > 0));
    if (!isThere) erased.push(card_id);
  }
  return { cards, erased };
}

function windowOf(
  row: ManifestRow,
  shown: readonly ContextEntry[],
  cards: ReadonlyMap<string, CardRow>,
  names: ReadonlyMap<string, MemoryName>,
): Window {
  const order = parametersOf(row)
    .sections.map(({ name }) => name)
    .filter((name) => name !== 'turns' && name !== 'user_input');
  const cut = (text: string, { kept_characters: kept }: ContextEntry): string =>
    kept === null ? text : shortened(text, kept);
  const told = shown
    .filter(({ section }) => section !== 'turns')
    .map((entry) => {
      const card = cards.get(entry.card_id)!;
      const part = partOf(entry, card, names);
      const { contradicts } = entry;
      const conflict = contradicts && conflictOf(card, names.get(entry.card_id), part, contradicts);
      return { id: entry.id, part: { ...part, text: cut(part.text, entry) }, ...(conflict ? { conflict } : {}) };
    });
  const conflicts = conflictsAmong(told);
  const parts = told.map((one) => withRemarks(one.part, one, conflicts.get(one)));
  const turns = shown
    .filter(({ section }) => section === 'turns')
    .map(({ card_id, kept_characters }): TurnCard => {
      const turn = turnCardOf(cards.get(card_id)!);
      return kept_characters === null ? turn : shortenedTurn(turn, kept_characters);
    });
  return { order, parts, turns };
}

function partOf(
  { section: named, entity_type, card_id }: ContextEntry,
  row: CardRow,
  names: ReadonlyMap<string, MemoryName>,
): WindowPart {
  const section = named as SectionName;
  if (GIVEN.includes(section)) return givenPart(section, row);
  return entity_type === 'Turn' ? passagePart(row) : memoryPart(section, row, names.get(card_id));
}

/** What another's request said is shown to those who may read its cards. */
function refuseTexts(
  call: Call,
  row: ManifestRow,
  shown: readonly ContextEntry[],
  cards: ReadonlyMap<string, CardRow>,
): void {
  if (row.agent_id !== null && row.agent_id === call.caller.agent_id) return;
  const beyond = shown.filter(({ entity_type, card_id }) => {
    const card = cards.get(card_id);
    return entity_type === 'Card' && card !== undefined && !mayReadCard(call, card);
  });
  if (beyond.length > 0)
    throw cardsBeyond(
      call,
      beyond.map(({ card_id }) => card_id),
    );
}

const REACHED_BY = { Artifact: 'artifact_id', Note: 'note_id', Turn: 'turn_id' } as const;

type Reached = keyof typeof REACHED_BY;

/** The reach that an entity lies beyond. */
async function reachBehind(call: Call, query: Query, entity_type: Reached, id: string): Promise<Reach | undefined> {
  const reach = reachOf(call, entity_type);
  if (!reach) return undefined;
  const by: ReachedBy = REACHED_BY[entity_type];
  const within = reach.extent !== 'none' && (await isWithin(query, by, id, reach)) !== false;
  return within ? undefined : reach;
}

/** The entries whose entities the caller can read, without the ids of others in them. */
export async function readableEntries(
  call: Call,
  query: Query,
  row: ManifestRow,
  entries: readonly ContextEntry[],
): Promise<ContextEntry[]> {
  if (!call.acting) return [...entries];
  const isOwn = row.agent_id === call.acting.agent_id;
  const given = isOwn ? [] : entries.filter(({ entity_type }) => entity_type === 'Card');
  const cards = await findCards(
    query,
    given.map(({ card_id }) => card_id),
  );
  const known = new Map<string, boolean>();
  const reads = async (entity_type: Reached, id: string): Promise<boolean> => {
    const name = `${entity_type} ${id}`;
    const is = known.get(name) ?? (await reachBehind(call, query, entity_type, id)) === undefined;
    known.set(name, is);
    return is;
  };
  const readable: ContextEntry[] = [];
  for (const entry of entries) {
    const { entity_type, id, card_id, by } = entry;
    const card = cards.get(card_id);
    const shown = entity_type === 'Card' ? !card || mayReadCard(call, card) : await reads(entity_type, id);
    if (!shown) continue;
    readable.push({ ...entry, by: by !== null && (await reads('Artifact', by)) ? by : null });
  }
  const ids = new Set(readable.map(({ id }) => id));
  return readable.map((entry) =>
    entry.contradicts ? { ...entry, contradicts: entry.contradicts.filter((id) => ids.has(id)) } : entry,
  );
}

/** What an agent saw once it is shown again only as far as it still reaches. */
async function refuseBeyond(call: Call, query: Query, shown: readonly ContextEntry[]): Promise<void> {
  if (!call.acting) return;
  for (const { entity_type, id } of shown) {
    if (entity_type === 'Card') continue;
    const reach = await reachBehind(call, query, entity_type, id);
    if (!reach) continue;
    throw new CairnError(
      'FORBIDDEN',
      `agent ${reach.agent_id} may no longer read ${entity_type} ${id}, which is in this context`,
      { rule: 'memory_access', memory_type: entity_type, need: 'read', scope: reach.turns ?? reach.extent },
    );
  }
}
