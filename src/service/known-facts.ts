/** What is known of a fact: what says the same, and what contradicts it. */

import { factStated } from '../domain/extraction-rules.js';
import type { ComparableFact, ExtractedFact } from '../domain/facts.js';
import { isObject } from '../domain/json-values.js';
import { isSaidIn } from '../domain/recalled-facts.js';
import { sameFact } from '../domain/same-fact.js';
import { textOf } from '../domain/turn-sources.js';
import type { Query } from '../driver/driver.js';
import type { Json } from '../model/json.js';
import { currentMemories, memoriesByFact } from '../store/fact-keys.js';
import type { VersionRow } from '../store/memories.js';
import { isWithin } from '../store/reach.js';
import { reachOf } from './memory-access.js';
import type { Call } from './runtime.js';
import { findEntities } from './search.js';

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
  return stated
    ? { content: stated.content, type: stated.type, ...factFields(stated) }
    : { content: text, type };
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
  return (await isWithin(query, call.tenant, `${kind}_id`, memory_id, reach)) === true;
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

export interface KnownFacts {
  readonly same: VersionRow | undefined;
  readonly contradicted: readonly VersionRow[];
  /** What says it among others, such as a summary; looked for where it may be repeated. */
  readonly telling: readonly VersionRow[];
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

/** Of a long text, so much is looked through for a fact. */
const MAX_TOLD = 20_000;

/** Among what is kept under the key of a fact and what was found like it, as they are in this transaction. */
export async function knownFacts(
  call: Call,
  query: Query,
  { fact, key, similar, repeatable }: SoughtFact,
  now: number,
): Promise<KnownFacts> {
  const { tenant } = call;
  const byKey = await memoriesByFact(query, tenant, key, now);
  const ids = new Set(byKey.map(({ memory_id }) => memory_id));
  const others = similar.filter((id) => !ids.has(id));
  const found = others.length === 0 ? [] : await currentMemories(query, tenant, others, now);
  const contradicted: VersionRow[] = [];
  // What is itself made of many is no fact, but may tell it.
  const telling: VersionRow[] = [];
  for (const row of [...byKey, ...found]) {
    // What was kept for an agent is its own, also where it may read nothing.
    const own = call.acting !== undefined && row.agent_id === call.acting.agent_id;
    if (!own && !(await isReached(call, query, row, 'read'))) continue;
    const known = comparable(row);
    const relation = row.abstraction_level === 'L0' ? sameFact(fact, known) : 'different';
    if (relation === 'same') return { same: row, contradicted: [], telling: [] };
    if (relation === 'contradicts') contradicted.push(row);
    else if (repeatable && isSaidIn(fact, known.content.slice(0, MAX_TOLD))) telling.push(row);
  }
  return { same: undefined, contradicted, telling };
}
