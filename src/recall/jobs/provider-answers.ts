/**
 * What summarisers and extractors answer, read once and field by field: whatever an answer is, nothing of it is taken but
 * what is sound and can be kept.
 */
import { costFrom, memberOf, PlainFailure, type ProviderCost, plainReason } from '../../providers/index.js';
import { countTokens, LONGEST_TOKEN } from '../../text/index.js';
import type { ExtractedFact, Extraction, ExtractionRequest } from '../extraction/extractor.js';
import type { Summary, SummaryRequest } from '../summaries/summarizer.js';

/** Of one stretch of turns: more is no silence, but junk. */
const MAX_FACTS = 200;
const MAX_TYPE = 100;
/** Of a title, and of what a fact is about: more is no key. */
const MAX_FIELD = 10_000;
const MAX_SOURCE_IDS = 10_000;

interface Answer {
  readonly cost: ProviderCost;
  readonly fallback_reason?: string;
}

/** What an answer of any kind has. */
export function readAnswer(answer: unknown, provider: unknown): Answer {
  const reason = memberOf(answer, 'fallback_reason');
  const cost = costFrom(memberOf(answer, 'cost'), memberOf(provider, 'name'));
  return { cost, ...(typeof reason === 'string' ? { fallback_reason: plainReason(reason) } : {}) };
}

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max && value.isWellFormed() && !value.includes('\u0000');

/** Whether a card takes it: as JSON it is longer than it looks. */
const fits = (text: string, max_bytes: number): boolean =>
  Buffer.byteLength(JSON.stringify(text)) + EMPTY_METADATA <= max_bytes;
const EMPTY_METADATA = '{}'.length;

export async function readSummary(
  answer: unknown,
  { sources, max_tokens }: SummaryRequest,
  max_bytes: number,
): Promise<Pick<Summary, 'text' | 'source_ids'>> {
  const text = memberOf(answer, 'text');
  if (typeof text !== 'string') throw new PlainFailure('the summary is no text');
  // What is far too long is not counted.
  if (text.length > max_tokens * LONGEST_TOKEN || text.length > max_bytes)
    throw new PlainFailure(`the summary has ${text.length} characters, too many for ${max_tokens} tokens`);
  if (!isText(text, max_bytes) || !fits(text, max_bytes)) throw new PlainFailure('the summary is no text');
  const tokens = await countTokens(text);
  if (tokens > max_tokens) throw new PlainFailure(`the summary has ${tokens} tokens, more than ${max_tokens}`);
  return { text: text.trim() === '' ? '' : text, source_ids: idsAmong(memberOf(answer, 'source_ids'), sources) };
}

/** The ids, each once. */
function idsAmong(ids: unknown, sources: readonly { readonly id: string }[]): string[] {
  const known = new Set<unknown>(sources.map(({ id }) => id));
  // Only so many are looked at: a list may say that it is longer than anything.
  const count = Array.isArray(ids) ? ids.length : Number.POSITIVE_INFINITY;
  const own = count <= MAX_SOURCE_IDS ? Array.from({ length: count }, (_, i) => memberOf(ids, String(i))) : [null];
  if (own.some((id) => !known.has(id))) throw new PlainFailure('it names sources that it was not given');
  return [...new Set(own as string[])];
}

export function readFacts(
  answer: unknown,
  { sources }: ExtractionRequest,
  max_bytes: number,
): Pick<Extraction, 'facts'> {
  const facts = memberOf(answer, 'facts');
  if (!Array.isArray(facts)) throw new PlainFailure('the facts are no list');
  const count = Math.min(facts.length, MAX_FACTS);
  return { facts: Array.from({ length: count }, (_, i) => factOf(memberOf(facts, String(i)), sources, max_bytes)) };
}

function factOf(told: unknown, sources: ExtractionRequest['sources'], max_bytes: number): ExtractedFact {
  const [kind, type, title, content] = ['kind', 'type', 'title', 'content'].map((name) => memberOf(told, name));
  const confidence = memberOf(told, 'confidence');
  const [subject = '', slot = '', value = ''] = ['subject', 'slot', 'value'].map((name) => memberOf(told, name));
  const negated = memberOf(told, 'negated') ?? false;
  const named = (text: unknown, max: number): text is string => isText(text, max) && text !== '';
  if (
    (kind !== 'note' && kind !== 'artifact') ||
    !named(type, MAX_TYPE) ||
    !named(title, MAX_FIELD) ||
    !named(content, max_bytes) ||
    !fits(content, max_bytes) ||
    typeof confidence !== 'number' ||
    !(confidence >= 0 && confidence <= 1)
  )
    throw new PlainFailure('a fact has no type, title, content or confidence that can be kept');
  if (
    !isText(subject, MAX_FIELD) ||
    !isText(slot, MAX_FIELD) ||
    !isText(value, max_bytes) ||
    typeof negated !== 'boolean'
  )
    throw new PlainFailure('a fact does not say what it is about in texts that can be kept');
  const source_ids = idsAmong(memberOf(told, 'source_ids'), sources);
  if (source_ids.length === 0) throw new PlainFailure('a fact names no source');
  const [happens_at, language] = ['happens_at', 'language'].map((name) => memberOf(told, name));
  return {
    kind,
    type,
    title,
    content,
    confidence,
    source_ids,
    subject,
    slot,
    value,
    negated,
    ...(named(happens_at, MAX_TYPE) ? { happens_at } : {}),
    ...(named(language, MAX_TYPE) ? { language } : {}),
  };
}
