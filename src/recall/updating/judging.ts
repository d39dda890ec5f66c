/** Has a model compare a new statement with what is known, before the transaction. */
import { listToText } from '../../driver/index.js';
import { type Call, storedReplay, subjectsOf } from '../../engine/index.js';
import { comparisonOf, providers } from '../jobs/provider-calls.js';
import { findEntities } from '../search/service.js';
import { type JudgedNote, type Judgement, judgementOf } from './judgement.js';
import { type KnownNote, keysOf, momentOf, notesById, notesUnder } from './known-notes.js';
import { statementFrom } from './relations.js';
import type { Told } from './service.js';

/** Known notes that are compared with one statement. */
const MAX_KNOWN = 10;
/** A longer text is no statement. */
const MAX_LENGTH = 2000;
/** The writer waits for it. */
const TIMEOUT_MS = 10_000;

const OF_ONESELF = /\b(?:I|my|me|mine|we|our|us)\b/i;

/** "I" of two people is not the same person, whatever a model makes of it. */
const mayRelate = (told: Told, { statement }: KnownNote): boolean =>
  (told.speaker ?? '').toLowerCase() === (statement.speaker ?? '').toLowerCase() ||
  !(OF_ONESELF.test(told.text) || OF_ONESELF.test(statement.text));

async function knownTo(call: Call, told: Told): Promise<KnownNote[]> {
  const query = call.driver.at(call.tenant);
  const now = call.driver.now();
  const own = statementFrom(told.text, told.speaker, momentOf(told.occurred_at, now));
  const search = { query: told.text.slice(0, 500), entity_types: ['Note' as const], limit: MAX_KNOWN };
  const { all: keys } = keysOf(call, own, listToText(subjectsOf(call, undefined)));
  const [byKey, hits] = await Promise.all([notesUnder(query, keys, now), findEntities(call, search)]);
  const others = hits.map(({ doc }) => doc.entity_id).filter((id) => !byKey.some(({ row }) => row.memory_id === id));
  const known = [...byKey, ...(await notesById(query, others, now))].filter((one) => mayRelate(told, one));
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
