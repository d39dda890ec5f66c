/** Has a model compare a new statement with what is known, before the transaction. */
import { listToText } from '../../driver/index.js';
import { type Call, storedReplay, subjectsOf } from '../../engine/index.js';
import { comparisonOf, providers } from '../jobs/provider-calls.js';
import { findEntities } from '../search/service.js';
import { type JudgedNote, type Judgement, judgementOf } from './judgement.js';
import { type KnownNote, keysOf, momentOf, notesById, notesUnder } from './known-notes.js';
import { statementFrom } from './relations.js';
import { readingOf, tellsOfChange } from './revisions/reading.js';
import { mayRelate } from './revisions/revising.js';
import type { Told } from './service.js';

/** Known notes that are compared with one statement. */
const MAX_KNOWN = 10;
/** Of a longer statement its rarest words are searched for. */
const MAX_SOUGHT = 6;
/** A longer text is no statement. */
const MAX_LENGTH = 2000;
/** The writer waits for it. */
const TIMEOUT_MS = 10_000;

/** The ids of notes that a search finds, best first. */
async function similarTo(call: Call, query: string): Promise<string[]> {
  const search = { query: query.slice(0, 500), entity_types: ['Note' as const], limit: MAX_KNOWN };
  return (await findEntities(call, search)).map(({ doc }) => doc.entity_id);
}

async function knownTo(call: Call, told: Told): Promise<KnownNote[]> {
  const query = call.driver.at(call.tenant);
  const now = call.driver.now();
  const own = statementFrom(told.text, told.speaker, momentOf(told.occurred_at, now));
  const { all: keys } = keysOf(call, own, listToText(subjectsOf(call, undefined)));
  const [byKey, similar] = await Promise.all([notesUnder(query, keys, now), similarTo(call, told.text)]);
  const others = similar.filter((id) => !byKey.some(({ row }) => row.memory_id === id));
  const known = [...byKey, ...(await notesById(query, others, now))].filter(({ statement }) =>
    mayRelate(told, statement),
  );
  return known.slice(0, MAX_KNOWN);
}

/** Undefined without a model, if it fails, or if nothing similar is known: then rules compare. */
export async function judge(call: Call, input: unknown, told: Told): Promise<Judgement | undefined> {
  if (!providers.of(call).comparer || told.text.length > MAX_LENGTH) return undefined;
  if ((await storedReplay(call, input)) !== undefined) return undefined;
  const known = await knownTo(call, told);
  if (known.length === 0) return undefined;
  const at = momentOf(told.occurred_at, call.driver.now()).ms;
  const request = {
    told: { text: told.text, speaker: told.speaker, at },
    known: known.map(({ statement }) => ({ text: statement.text, speaker: statement.speaker, at: statement.at.ms })),
  };
  const comparison = await comparisonOf(call, request, { timeout_ms: TIMEOUT_MS, final: true });
  return comparison && judgementOf(comparison.relations.map((one) => judged(known[one.index]!, one)));
}

/** Notes that a statement may change, by a search: only for one that tells of a change, as few do. */
export async function notesToRevise(call: Call, input: unknown, told: Told): Promise<readonly string[]> {
  const reading = readingOf(told.text);
  if (!reading || !tellsOfChange(reading) || (await storedReplay(call, input)) !== undefined) return [];
  if (reading.words.length <= MAX_SOUGHT) return similarTo(call, told.text);
  const rarest = [...reading.words].sort((a, b) => b.weight - a.weight).slice(0, MAX_SOUGHT);
  return similarTo(call, rarest.map(({ start, end }) => told.text.slice(start, end)).join(' '));
}

function judged(
  { row, statement }: KnownNote,
  {
    relation,
    value,
    whole,
  }: { readonly relation: JudgedNote['relation']; readonly value: string; readonly whole: boolean },
): JudgedNote {
  const start = Math.max(0, statement.text.indexOf(value));
  const end = value === '' ? statement.text.length : start + value.length;
  return { memory_id: row.memory_id, card_id: row.card_id, relation, start, end, whole };
}
