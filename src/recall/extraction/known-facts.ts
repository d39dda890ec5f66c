/** Compares facts with stored memories: which state the same, and which contradict it. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { isWithin } from '../../engine/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { type CooperativeYield, isObject } from '../../kernel/index.js';
import type { VersionRow } from '../../memory/sql.js';
import { findEntities } from '../search/service.js';
import { stringOrNull, textOf } from '../summaries/turn-sources.js';
import { factStated } from './english/extraction.js';
import { sameFact } from './english/same-fact.js';
import type { Statement } from './english/statements.js';
import type { ComparableFact, ExtractedFact, FactRelation } from './extractor.js';
import { currentMemories, type FactMemory, factMemories, memoriesByKey } from './fact-keys.js';
import { isRecalled, statementsIn } from './recalled-facts.js';

/** Search hits that are compared with one fact. */
const MAX_SIMILAR = 8;
/** Characters of one text that are searched for the statement of a fact. */
const MAX_SEARCHED = 20_000;
/** Characters of stored text that one extraction compares; memories under the key of a fact come first. */
const MAX_COMPARED = 4_000_000;

type FactFields = Pick<ExtractedFact, 'subject' | 'slot' | 'value' | 'negated'>;

/** The fields of a fact that its metadata keeps for later comparisons. */
export const factFields = ({ subject, slot, value, negated }: FactFields): FactFields => ({
  subject,
  slot,
  value,
  negated,
});

/** Checks the types: callers may put anything into metadata. */
function storedFields(fact: Json | undefined): FactFields | undefined {
  if (!isObject(fact)) return undefined;
  const { subject, slot, value, negated = false } = fact;
  const named = typeof subject === 'string' && typeof slot === 'string' && typeof value === 'string';
  return named && typeof negated === 'boolean' ? { subject, slot, value, negated } : undefined;
}

/** The fact that a stored artifact or note states; a text that a caller wrote is read by the rules. */
function comparable({ type, metadata, content: stored }: VersionRow): ComparableFact {
  const { fact, speaker, occurred_at } = JSON.parse(metadata ?? '{}') as JsonObject;
  const content = textOf(JSON.parse(stored!) as Json);
  const fields = storedFields(fact);
  if (fields) return { content, type, ...fields };
  const source = { id: '', text: content, speaker: stringOrNull(speaker), occurred_at: stringOrNull(occurred_at) };
  const stated = type === 'Code' ? undefined : factStated(source);
  return stated ? { content: stated.content, type: stated.type, ...factFields(stated) } : { content, type };
}

/** Whether the caller may read or write an artifact or note. */
export async function isReached(
  call: Call,
  query: Query,
  { kind, memory_id }: Pick<VersionRow, 'kind' | 'memory_id'>,
  need: 'read' | 'write',
): Promise<boolean> {
  const reach = reachOf(call, kind === 'note' ? 'Note' : 'Artifact', need);
  return !reach || (await isWithin(query, `${kind}_id`, memory_id, reach)) === true;
}

/** The call with all rights of its agent; still only about the same people. */
const asOwner = (call: Call): Call => ({ ...call, acting: call.acting && { ...call.acting, memory_access: {} } });

/** Ids of memories that may state the same, found by search within the reach of the caller. */
export async function similarTo(call: Call, { content }: ExtractedFact): Promise<string[]> {
  const query = content.slice(0, 500);
  const hits = await findEntities(call, { query, entity_types: ['Note', 'Artifact'], limit: MAX_SIMILAR });
  return hits.map(({ doc }) => doc.entity_id);
}

/** The part of a memory that linking a fact to it needs. */
export type KnownMemory = Pick<FactMemory, 'memory_id' | 'kind' | 'trajectory_id' | 'created_at'>;

export interface KnownFacts {
  readonly same: KnownMemory | undefined;
  readonly contradicted: readonly KnownMemory[];
  /** Memories that state it among other things, such as a summary; searched only for repeatable facts. */
  readonly containing: readonly KnownMemory[];
}

export interface SoughtFact {
  readonly fact: ExtractedFact;
  readonly key: string;
  /** Ids from `similarTo`, found before the transaction. */
  readonly similar: readonly string[];
  /** No User said it, so the turn may repeat a memory. */
  readonly repeatable: boolean;
}

/** `contains`: the text states the fact among other things. */
type Relation = FactRelation | 'contains';

/** Relations of stored texts to facts, by card: a new version of a memory has another card. */
export interface Comparisons {
  readonly byCard: ReadonlyMap<string, ReadonlyMap<ExtractedFact, Relation>>;
  /** The budget of compared text is spent. */
  readonly exhausted: boolean;
}

/** Compares one stored text, parsed once, with any number of facts. */
function comparer(row: VersionRow): (sought: SoughtFact) => Relation {
  const known = comparable(row);
  let statements: Statement[] | undefined;
  return ({ fact, repeatable }) => {
    // A memory of L1 or L2 is no fact, but may contain it.
    const relation = row.abstraction_level === 'L0' ? sameFact(fact, known) : 'different';
    if (relation !== 'different' || !repeatable) return relation;
    statements ??= statementsIn(known.content.slice(0, MAX_SEARCHED));
    return isRecalled(fact, statements) ? 'contains' : 'different';
  };
}

/** Compares facts with stored texts before the transaction, within a budget, with a yield between comparisons. */
export async function compareKnown(
  call: Call,
  sought: readonly SoughtFact[],
  maybe_yield: CooperativeYield,
): Promise<Comparisons> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const byCard = new Map<string, Map<ExtractedFact, Relation>>();
  const byKey = new Map<string, SoughtFact[]>();
  const bySearch = new Map<string, SoughtFact[]>();
  const add = (memories: Map<string, SoughtFact[]>, memory_id: string, one: SoughtFact): void =>
    void memories.set(memory_id, [...(memories.get(memory_id) ?? []), one]);
  for (const one of sought) {
    const kept = await memoriesByKey(query, one.key, driver.now());
    for (const { memory_id } of kept) add(byKey, memory_id, one);
    for (const id of one.similar) if (!kept.some(({ memory_id }) => memory_id === id)) add(bySearch, id, one);
  }
  let left = MAX_COMPARED;
  for (const [memory_id, facts] of [...byKey, ...bySearch]) {
    if (left <= 0) return { byCard, exhausted: true };
    const [row] = await currentMemories(query, [memory_id], driver.now());
    if (!row) continue;
    left -= Math.min(row.content!.length, MAX_SEARCHED);
    const compare = comparer(row);
    const relations = byCard.get(row.card_id) ?? new Map<ExtractedFact, Relation>();
    byCard.set(row.card_id, relations);
    for (const one of facts) {
      await maybe_yield();
      relations.set(one.fact, compare(one));
    }
  }
  return { byCard, exhausted: false };
}

/** The known facts as of this transaction. Only memories stored since `compareKnown` are compared here. */
export async function knownFacts(
  call: Call,
  query: Query,
  sought: SoughtFact,
  { byCard, exhausted }: Comparisons,
  now: number,
): Promise<KnownFacts> {
  const { fact, key, similar } = sought;
  const byKey = await memoriesByKey(query, key, now);
  const others = similar.filter((id) => !byKey.some(({ memory_id }) => memory_id === id));
  const bySearch = others.length === 0 ? [] : await factMemories(query, others, now);
  const contradicted: KnownMemory[] = [];
  const containing: KnownMemory[] = [];
  for (const memory of [...byKey, ...bySearch]) {
    // An agent knows its own facts, even if it may read nothing.
    const own = memory.agent_id !== null && memory.agent_id === call.acting?.agent_id;
    if (!(await isReached(own ? asOwner(call) : call, query, memory, 'read'))) continue;
    const relation = byCard.get(memory.card_id)?.get(fact) ?? (await compareNow(memory.memory_id));
    if (relation === 'same') return { same: memory, contradicted: [], containing: [] };
    if (relation === 'contradicts') contradicted.push(memory);
    else if (relation === 'contains') containing.push(memory);
  }
  return { same: undefined, contradicted, containing };

  async function compareNow(memory_id: string): Promise<Relation> {
    const [row] = exhausted ? [] : await currentMemories(query, [memory_id], now);
    return row ? comparer(row)(sought) : 'different';
  }
}
