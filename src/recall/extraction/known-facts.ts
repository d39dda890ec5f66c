/** What is known of a fact: what says the same, and what contradicts it. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { isWithin } from '../../engine/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { type GiveWay, isObject } from '../../kernel/index.js';
import type { VersionRow } from '../../memory/sql.js';
import { findEntities } from '../search/service.js';
import { textOf } from '../summaries/turn-sources.js';
import { factStated } from './english/extraction.js';
import { sameFact } from './english/same-fact.js';
import type { Statement } from './english/statements.js';
import { currentMemories, currentPlaces, type FactPlace, placesByFact } from './fact-keys.js';
import type { ComparableFact, ExtractedFact, FactRelation } from './facts.js';
import { isRecalled, statementsIn } from './recalled-facts.js';

/** How many passages are compared with a fact. */
const PASSAGES = 8;

interface StoredMetadata {
  readonly fact?: Json;
  readonly speaker?: Json;
  readonly occurred_at?: Json;
}

const textIn = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** What a stored artifact or note says, as a fact can be compared with it: what a caller wrote is read by the same rules. */
export function comparable(row: VersionRow): ComparableFact {
  const { fact, speaker, occurred_at } = JSON.parse(row.metadata ?? '{}') as StoredMetadata;
  const text = textOf(JSON.parse(row.content!) as Json);
  const { type } = row;
  const noted = notedFields(fact);
  if (noted) return { content: text, type, ...noted };
  const source = { id: '', text, speaker: textIn(speaker), occurred_at: textIn(occurred_at) };
  const stated = type === 'Code' ? undefined : factStated(source);
  return stated ? { content: stated.content, type: stated.type, ...factFields(stated) } : { content: text, type };
}

type FactFields = Pick<ExtractedFact, 'subject' | 'slot' | 'value' | 'negated'>;

/** What of a fact is kept in the metadata, to compare others with it. */
export const factFields = ({ subject, slot, value, negated }: ExtractedFact): FactFields => ({
  subject,
  slot,
  value,
  negated,
});

/** Metadata are the caller's, who may keep anything there under this name. */
function notedFields(fact: Json | undefined): FactFields | undefined {
  if (!isObject(fact)) return undefined;
  const { subject, slot, value, negated = false } = fact;
  const told = typeof subject === 'string' && typeof slot === 'string' && typeof value === 'string';
  return told && typeof negated === 'boolean' ? { subject, slot, value, negated } : undefined;
}

/** Whether this caller may read or change an artifact or note. */
export async function isReached(
  call: Call,
  query: Query,
  { kind, memory_id }: Pick<VersionRow, 'kind' | 'memory_id'>,
  need: 'read' | 'write',
): Promise<boolean> {
  const reach = reachOf(call, kind === 'note' ? 'Note' : 'Artifact', need);
  if (!reach) return true;
  return (await isWithin(query, `${kind}_id`, memory_id, reach)) === true;
}

/** What may say the same, of which the caller may read each; found before the transaction. */
export async function similarTo(call: Call, { content }: ExtractedFact): Promise<string[]> {
  const hits = await findEntities(call, {
    query: content.slice(0, 500),
    entity_types: ['Note', 'Artifact'],
    limit: PASSAGES,
  });
  return hits.map(({ doc }) => doc.entity_id);
}

/** A memory as far as it is needed to link a fact to it. */
export type KnownPlace = Pick<FactPlace, 'memory_id' | 'kind' | 'trajectory_id' | 'created_at'>;

export interface KnownFacts {
  readonly same: KnownPlace | undefined;
  readonly contradicted: readonly KnownPlace[];
  /** What says it among others, such as a summary; looked for where it may be repeated. */
  readonly telling: readonly KnownPlace[];
}

/** A fact, with where to look for what is known of it. */
export interface SoughtFact {
  readonly fact: ExtractedFact;
  readonly key: string;
  /** What may say the same, as it was found before the transaction. */
  readonly similar: readonly string[];
  /** Whether no User said it: then it may be told from memory. */
  readonly repeatable: boolean;
}

/** How a stored text stands to a fact; `tells`: it says it among other things. */
type Relation = FactRelation | 'tells';

/** Characters of one text that are searched for statements of a fact. */
const MAX_TOLD = 20_000;
/** Characters of stored text that one extraction compares; what it looks for under its key comes first. */
const MAX_COMPARED = 4_000_000;

/** The relations of stored texts to facts, by the card that holds the text: a new version is another card. */
export class Comparisons {
  /** Whether some were not compared, since there was too much to read. */
  exhausted = false;
  readonly #relations = new Map<string, Map<ExtractedFact, Relation>>();

  /** Undefined where they were not compared. */
  relationOf(card_id: string, fact: ExtractedFact): Relation | undefined {
    return this.#relations.get(card_id)?.get(fact);
  }

  note(card_id: string, fact: ExtractedFact, relation: Relation): void {
    const relations = this.#relations.get(card_id) ?? new Map<ExtractedFact, Relation>();
    this.#relations.set(card_id, relations.set(fact, relation));
  }
}

/** A stored text, read once for all facts that it is compared with. */
function comparer(row: VersionRow): (sought: SoughtFact) => Relation {
  const known = comparable(row);
  const isFact = row.abstraction_level === 'L0';
  let told: Statement[] | undefined;
  return ({ fact, repeatable }) => {
    // What is itself made of many is no fact, but may tell it.
    const relation = isFact ? sameFact(fact, known) : 'different';
    if (relation !== 'different' || !repeatable) return relation;
    told ??= statementsIn(known.content.slice(0, MAX_TOLD));
    return isRecalled(fact, told) ? 'tells' : 'different';
  };
}

/**
 * Compares facts with the stored texts that may say the same: before the transaction, text by text, with a bound on how
 * much is read, and with a cooperative yield between two comparisons.
 */
export async function compareKnown(call: Call, sought: readonly SoughtFact[], give_way: GiveWay): Promise<Comparisons> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const comparisons = new Comparisons();
  const byKey = new Map<string, SoughtFact[]>();
  const bySearch = new Map<string, SoughtFact[]>();
  const among = (places: Map<string, SoughtFact[]>, memory_id: string, one: SoughtFact): void =>
    void places.set(memory_id, [...(places.get(memory_id) ?? []), one]);
  for (const one of sought) {
    const kept = await placesByFact(query, one.key, driver.now());
    for (const { memory_id } of kept) among(byKey, memory_id, one);
    for (const memory_id of one.similar)
      if (!kept.some((place) => place.memory_id === memory_id)) among(bySearch, memory_id, one);
  }
  let left = MAX_COMPARED;
  for (const places of [byKey, bySearch])
    for (const [memory_id, facts] of places) {
      if (left <= 0) {
        comparisons.exhausted = true;
        return comparisons;
      }
      const [row] = await currentMemories(query, [memory_id], driver.now());
      if (!row) continue;
      left -= Math.min(row.content!.length, MAX_TOLD);
      const compare = comparer(row);
      for (const one of facts) {
        await give_way();
        comparisons.note(row.card_id, one.fact, compare(one));
      }
    }
  return comparisons;
}

/**
 * Among what is kept under the key of a fact and what was found like it, as they are in this transaction. Only what came
 * meanwhile is still to be compared.
 */
export async function knownFacts(
  call: Call,
  query: Query,
  sought: SoughtFact,
  comparisons: Comparisons,
  now: number,
): Promise<KnownFacts> {
  const { fact, key, similar } = sought;
  const byKey = await placesByFact(query, key, now);
  const ids = new Set(byKey.map(({ memory_id }) => memory_id));
  const others = similar.filter((id) => !ids.has(id));
  const found = others.length === 0 ? [] : await currentPlaces(query, others, now);
  const contradicted: KnownPlace[] = [];
  const telling: KnownPlace[] = [];
  for (const place of [...byKey, ...found]) {
    // What was kept for an agent is its own, also where it may read nothing.
    const own = call.acting !== undefined && place.agent_id === call.acting.agent_id;
    if (!own && !(await isReached(call, query, place, 'read'))) continue;
    const relation = comparisons.relationOf(place.card_id, fact) ?? (await comparedNow(place.memory_id));
    if (relation === 'same') return { same: place, contradicted: [], telling: [] };
    if (relation === 'contradicts') contradicted.push(place);
    else if (relation === 'tells') telling.push(place);
  }
  return { same: undefined, contradicted, telling };

  async function comparedNow(memory_id: string): Promise<Relation> {
    if (comparisons.exhausted) return 'different';
    const [row] = await currentMemories(query, [memory_id], now);
    return row ? comparer(row)(sought) : 'different';
  }
}
